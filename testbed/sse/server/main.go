// A server of event streams: who is connected gets an event at every full interval of the wall clock. How the events
// reach the streams is the switch: one after the other behind the lock that everything needs, or through a queue of
// each client's own.
//
//	PORT      where to listen on 127.0.0.1
//	INTERVAL  time between two events (default 15s)
//	FANOUT    locked or queued
package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

var guid = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// hub knows who is connected. serve blocks until the stream is over; the others say whether the id was known.
type hub interface {
	serve(w http.ResponseWriter, r *http.Request, id string)
	disconnect(id string) bool
	write(id string, message string) bool
	fanOut(e event)
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	interval, err := time.ParseDuration(setting("INTERVAL", "15s"))
	if err != nil || interval < time.Millisecond {
		return fmt.Errorf("INTERVAL is `%s`: a time from 1ms on such as 15s is expected", os.Getenv("INTERVAL"))
	}
	var clients hub
	switch mode := setting("FANOUT", "locked"); mode {
	case "locked":
		clients = newLocked()
	case "queued":
		clients = newQueued()
	default:
		return fmt.Errorf("FANOUT is `%s`: locked or queued is expected", mode)
	}
	go everyInterval(interval, clients.fanOut)
	server := http.Server{
		Addr:              "127.0.0.1:" + setting("PORT", "8080"),
		Handler:           routes(clients),
		ReadHeaderTimeout: 10 * time.Second,
	}
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func setting(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}

func routes(clients hub) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /event/connect", func(w http.ResponseWriter, r *http.Request) {
		id := strings.ToLower(r.URL.Query().Get("id"))
		if !guid.MatchString(id) {
			http.Error(w, "id is not a GUID", http.StatusBadRequest)
			return
		}
		clients.serve(w, r, id)
	})
	mux.HandleFunc("DELETE /event/forcedisconnect", func(w http.ResponseWriter, r *http.Request) {
		answer(w, clients.disconnect(strings.ToLower(r.URL.Query().Get("id"))), "removed\n")
	})
	mux.HandleFunc("GET /event/writedata", func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		answer(w, clients.write(strings.ToLower(query.Get("id")), query.Get("message")), "written\n")
	})
	mux.Handle("GET /metrics", promhttp.Handler())
	return mux
}

func answer(w http.ResponseWriter, known bool, text string) {
	if !known {
		http.Error(w, "no such id", http.StatusBadRequest)
		return
	}
	fmt.Fprint(w, text)
}

// everyInterval calls fanOut at each full interval of the wall clock, as a cron job does. A round that takes longer
// than the interval swallows the ones that came due meanwhile.
func everyInterval(interval time.Duration, fanOut func(event)) {
	last := time.Now().UnixNano() / int64(interval)
	for {
		next := max(time.Now().UnixNano()/int64(interval), last) + 1
		due := time.Unix(0, next*int64(interval))
		time.Sleep(time.Until(due))
		roundsSkipped.Add(float64(next - last - 1))
		last = next
		start := time.Now()
		fanOut(event{number: next, due: due})
		fanOutTime.Observe(time.Since(start).Seconds())
	}
}
