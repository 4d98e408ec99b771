// A market: every 50 ms, each symbol has a new quote. gRPC serves the current one and a stream of them (messages.go), and
// HTTP/1.1 serves the current one as JSON. Switches (environment): SLOW is waited for in each lookup, FAIL=10 fails every
// tenth lookup, and LOSE=10 sends every tenth quote to no subscriber.
package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

const (
	symbols = 100
	every   = 50 * time.Millisecond
	// Quotes that may wait for a subscriber; one that reads too slowly loses the others.
	waiting = 256
)

// symbol is the current quote of a symbol, and who wants the next ones.
type symbol struct {
	sync.Mutex
	quote       *quote
	subscribers map[chan *quote]struct{}
}

type market struct {
	all                                        map[string]*symbol
	slow                                       time.Duration
	fail, lose                                 int64
	lookups, failed, subscriptions, sent, lost atomic.Int64
}

func main() {
	m := &market{all: map[string]*symbol{}, fail: number("FAIL"), lose: number("LOSE")}
	if text := os.Getenv("SLOW"); text != "" {
		var err error
		if m.slow, err = time.ParseDuration(text); err != nil {
			fail(err)
		}
	}
	for at := 0; at < symbols; at++ {
		name := fmt.Sprintf("S%d", at)
		first := &quote{Symbol: name, Seq: 1, AtUnixNs: time.Now().UnixNano(), BidCents: 1000 + int64(at), AskCents: 1002 + int64(at)}
		m.all[name] = &symbol{quote: first, subscribers: map[chan *quote]struct{}{}}
	}
	go func() {
		for range time.Tick(every) {
			for _, one := range m.all {
				m.move(one)
			}
		}
	}()
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("GRPC_PORT"))
	if err != nil {
		fail(err)
	}
	server := grpc.NewServer(grpc.MaxConcurrentStreams(1000), grpc.ForceServerCodec(codec{}))
	server.RegisterService(&service, m)
	go func() { fail(server.Serve(listener)) }()
	pages := http.NewServeMux()
	pages.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) { write(w, 200, map[string]bool{"ok": true}) })
	pages.HandleFunc("GET /stats", m.stats)
	pages.HandleFunc("GET /quote/{symbol}", m.page)
	fail(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), pages))
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func number(name string) int64 {
	text := os.Getenv(name)
	if text == "" {
		return 0
	}
	value, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		fail(err)
	}
	return value
}

// move makes the next quote of a symbol and hands it to its subscribers. Quotes are never changed once they are made.
func (m *market) move(one *symbol) {
	one.Lock()
	defer one.Unlock()
	old := one.quote
	step := old.Seq*7919%5 - 2
	next := &quote{Symbol: old.Symbol, Seq: old.Seq + 1, AtUnixNs: time.Now().UnixNano(), BidCents: old.BidCents + step, AskCents: old.AskCents + step}
	one.quote = next
	if m.lose > 0 && next.Seq%m.lose == 0 {
		m.lost.Add(int64(len(one.subscribers)))
		return
	}
	for subscriber := range one.subscribers {
		select {
		case subscriber <- next:
		default:
			m.lost.Add(1)
		}
	}
}

// lookup returns the current quote, or the status that a switch or an unknown symbol commands.
func (m *market) lookup(name string) (*quote, *status.Status) {
	if m.slow > 0 {
		time.Sleep(m.slow)
	}
	count := m.lookups.Add(1)
	if m.fail > 0 && count%m.fail == 0 {
		m.failed.Add(1)
		return nil, outage("north")
	}
	one, isKnown := m.all[name]
	if !isKnown {
		return nil, status.Newf(codes.NotFound, "no such symbol: %s", name)
	}
	one.Lock()
	defer one.Unlock()
	return one.quote, nil
}

// get is the call for one quote.
func (m *market) get(name string) (*quote, error) {
	found, problem := m.lookup(name)
	if problem != nil {
		return nil, problem.Err()
	}
	return found, nil
}

// watch is the call for all quotes from now on.
func (m *market) watch(name string, stream grpc.ServerStream) error {
	one, isKnown := m.all[name]
	if !isKnown {
		return status.Errorf(codes.NotFound, "no such symbol: %s", name)
	}
	mine := make(chan *quote, waiting)
	one.Lock()
	one.subscribers[mine] = struct{}{}
	one.Unlock()
	m.subscriptions.Add(1)
	defer func() {
		one.Lock()
		delete(one.subscribers, mine)
		one.Unlock()
	}()
	for {
		select {
		case next := <-mine:
			if err := stream.SendMsg(next); err != nil {
				return err
			}
			m.sent.Add(1)
		case <-stream.Context().Done():
			return nil
		}
	}
}

// page is the same lookup over HTTP/1.1: the status of HTTP says what that of gRPC does.
func (m *market) page(w http.ResponseWriter, r *http.Request) {
	found, problem := m.lookup(r.PathValue("symbol"))
	switch {
	case problem == nil:
		write(w, 200, found)
	case problem.Code() == codes.NotFound:
		write(w, 404, map[string]string{"error": problem.Message()})
	default:
		write(w, 503, map[string]string{"error": problem.Message()})
	}
}

func (m *market) stats(w http.ResponseWriter, _ *http.Request) {
	write(w, 200, map[string]int64{"lookups": m.lookups.Load(), "failed": m.failed.Load(),
		"subscriptions": m.subscriptions.Load(), "sent": m.sent.Load(), "lost": m.lost.Load()})
}

func write(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) // the client is gone
}
