// Pins on a map, the Go twin: net/http and pgx. Its Node twin (../node) keeps the same contract; both together ask what
// the language changes when the database, the proxy and the network are the same.
package main

import (
	"context"
	"encoding/json"
	"errors"
	_ "expvar" // Serves /debug/vars on the default mux: memory, garbage collections, command line.
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	radius = 500
	// The end of the map, and far enough from that of an int32.
	farthest = 1_000_000
)

// pgx prepares a query on each connection when it is first seen there.
const pinsAround = `SELECT id::text, title, created_at, x, y FROM pins
	WHERE x >= $1 AND x <= $2 AND y >= $3 AND y <= $4`

type pin struct {
	ID        string `json:"id"`
	Title     string `json:"title"`
	CreatedAt int64  `json:"created_at"`
	X         int32  `json:"x"`
	Y         int32  `json:"y"`
}

type service struct{ pool *pgxpool.Pool }

func (s service) pins(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("X-Player") == "" {
		refuse(w, http.StatusUnauthorized, 2, "the header X-Player is missing")
		return
	}
	x, onMapX := place(r.PathValue("x"))
	y, onMapY := place(r.PathValue("y"))
	if !onMapX || !onMapY {
		refuse(w, http.StatusBadRequest, 3, "there is no such place")
		return
	}
	found, err := s.around(r.Context(), x, y)
	if err != nil {
		log.Print(err)
		refuse(w, http.StatusInternalServerError, 4, "the database did not answer")
		return
	}
	rows, err := json.Marshal(found)
	if err != nil {
		log.Print(err)
		refuse(w, http.StatusInternalServerError, 5, "the answer could not be written")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	// The lines of the frame make this answer four bytes longer than that of the Node twin, as it was with the originals.
	fmt.Fprintf(w, "{\"response\":{\"count\":%d,\n\"rows\":", len(found))
	w.Write(rows)
	fmt.Fprint(w, "},\n\"status_code\":1,\n\"status_message\":\"OK\"}\n")
}

func place(text string) (at int, onMap bool) {
	at, err := strconv.Atoi(text)
	return at, err == nil && -farthest <= at && at <= farthest
}

func (s service) around(ctx context.Context, x, y int) ([]pin, error) {
	rows, err := s.pool.Query(ctx, pinsAround, x-radius, x+radius, y-radius, y+radius)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[pin])
}

func refuse(w http.ResponseWriter, status, code int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, "{\"response\":{},\n\"status_code\":%d,\n\"status_message\":%q}\n", code, message)
}

func main() {
	config, err := pgxpool.ParseConfig(os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	connections, err := strconv.Atoi(os.Getenv("POOL"))
	if err != nil {
		log.Fatalf("POOL must be a number of connections: %v", err)
	}
	config.MaxConns = int32(connections)
	config.MinConns = config.MaxConns
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		log.Fatal(err)
	}
	if err := fill(pool); err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("GET /pins/{x}/{y}", service{pool}.pins)
	ended := make(chan error)
	listen(ended, "tcp", net.JoinHostPort("127.0.0.1", os.Getenv("PORT")))
	if socket := os.Getenv("SOCKET"); socket != "" {
		// For a front in another network namespace, which shares files but no addresses. A process that was killed
		// leaves it.
		if err := os.Remove(socket); err != nil && !errors.Is(err, os.ErrNotExist) {
			log.Fatal(err)
		}
		listen(ended, "unix", socket)
	}
	log.Fatal(<-ended)
}

// fill opens all connections and prepares the statement on each before the first player comes. A pool that fills under
// load finds no descriptor left where the players have taken them all, and then every answer is a 500.
func fill(pool *pgxpool.Pool) error {
	for range pool.Config().MaxConns {
		connection, err := pool.Acquire(context.Background())
		if err != nil {
			return err
		}
		defer connection.Release()
		if _, err := connection.Exec(context.Background(), pinsAround, 0, 0, 0, 0); err != nil {
			return err
		}
	}
	return nil
}

func listen(ended chan<- error, network, place string) {
	listener, err := net.Listen(network, place)
	if err != nil {
		log.Fatal(err)
	}
	go func() { ended <- http.Serve(listener, nil) }()
}
