// The contract of the streams, which a client that reads one answer at a time cannot check.
package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

const (
	anna = "d9428888-122b-11e1-b85c-61cd3cbb3210"
	otto = "d9428888-122b-11e1-b85c-61cd3cbb3211"
)

// Nothing here takes longer, unless it hangs.
const patience = 10 * time.Second

type bench struct {
	*testing.T
	hub    hub
	server *httptest.Server
}

func both(t *testing.T, check func(b bench)) {
	for name, clients := range map[string]hub{"locked": newLocked(), "queued": newQueued()} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(routes(clients))
			defer server.Close()
			server.Client().Timeout = patience
			check(bench{t, clients, server})
		})
	}
}

func (b bench) ask(method, path string) (int, string) {
	b.Helper()
	request, err := http.NewRequest(method, b.server.URL+path, nil)
	if err != nil {
		b.Fatal(err)
	}
	response, err := b.server.Client().Do(request)
	if err != nil {
		b.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		b.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// connect opens a stream in the background: the locked server's head comes with the first event only.
func (b bench) connect(query string) <-chan *http.Response {
	opened := make(chan *http.Response, 1)
	go func() {
		response, err := b.server.Client().Get(b.server.URL + "/event/connect?" + query)
		if err != nil {
			b.Error(err)
			close(opened)
			return
		}
		opened <- response
	}()
	return opened
}

// joined waits until so many are connected.
func (b bench) joined(count int) {
	b.Helper()
	for deadline := time.Now().Add(patience); size(b.hub) != count; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			b.Fatalf("%d are connected, not %d", size(b.hub), count)
		}
	}
}

func size(clients hub) int {
	switch h := clients.(type) {
	case *locked:
		h.mu.Lock()
		defer h.mu.Unlock()
		return len(h.clients)
	case *queued:
		h.mu.Lock()
		defer h.mu.Unlock()
		return len(h.clients)
	}
	return -1
}

func TestAStreamGetsNineBytesARoundUntilItIsSentAway(t *testing.T) {
	both(t, func(b bench) {
		opened := b.connect("id=" + anna)
		b.joined(1)
		for number := range int64(3) {
			b.hub.fanOut(event{number: number, due: time.Now()})
		}
		if status, body := b.ask("GET", "/event/writedata?message=a%0Ab&id="+anna); status != 200 || body != "written\n" {
			b.Error(status, body)
		}
		response := <-opened
		defer response.Body.Close()
		if kind := response.Header.Get("Content-Type"); kind != "text/event-stream" {
			b.Error(kind)
		}
		wanted := strings.Repeat("data: 0\n\n", 3) + "data: a\ndata: b\n\n"
		got := make([]byte, len(wanted))
		if _, err := io.ReadFull(response.Body, got); err != nil || string(got) != wanted {
			b.Errorf("%q %v", got, err)
		}
		// An id is an id in capitals, too.
		status, body := b.ask("DELETE", "/event/forcedisconnect?id="+strings.ToUpper(anna))
		if status != 200 || body != "removed\n" {
			b.Error(status, body)
		}
		if rest, err := io.ReadAll(response.Body); err != nil || len(rest) != 0 {
			b.Errorf("%q %v", rest, err)
		}
		if status, _ := b.ask("DELETE", "/event/forcedisconnect?id="+anna); status != 400 {
			b.Error(status)
		}
	})
}

func TestAnIDIsConnectedOnceAndAgainBehindItsEnd(t *testing.T) {
	both(t, func(b bench) {
		first := b.connect("id=" + anna)
		b.joined(1)
		if status, body := b.ask("GET", "/event/connect?id="+anna); status != 400 || !strings.Contains(body, "already") {
			b.Error(status, body)
		}
		b.hub.fanOut(event{due: time.Now()})
		response := <-first
		// Who goes away without a word is forgotten.
		response.Body.Close()
		b.joined(0)
		second := b.connect("id=" + anna)
		b.joined(1)
		b.hub.disconnect(anna)
		(<-second).Body.Close()
	})
}

func TestNumberedEventsSayTheirRoundAndWhenItWasDue(t *testing.T) {
	both(t, func(b bench) {
		opened := b.connect("numbered=1&id=" + otto)
		b.joined(1)
		b.hub.fanOut(event{number: 17, due: time.UnixMilli(1234)})
		response := <-opened
		defer response.Body.Close()
		reader := bufio.NewReader(response.Body)
		for _, wanted := range []string{"id: 17\n", "data: {\"due_ms\":1234}\n", "\n"} {
			if line, err := reader.ReadString('\n'); err != nil || line != wanted {
				b.Errorf("%q %v", line, err)
			}
		}
	})
}

// The two defects: the head that waits, and the lock that is held by who does not read.
func TestOnlyTheQueuedServersHeadComesAtOnce(t *testing.T) {
	both(t, func(b bench) {
		opened := b.connect("id=" + anna)
		b.joined(1)
		if _, is := b.hub.(*queued); is {
			(<-opened).Body.Close()
			return
		}
		select {
		case <-opened:
			b.Error("the head came before the first event")
		default:
		}
		b.hub.fanOut(event{due: time.Now()})
		(<-opened).Body.Close()
	})
}

func TestAClientThatDoesNotReadHoldsUpTheLockedServerOnly(t *testing.T) {
	both(t, func(b bench) {
		stuck := b.connect("id=" + anna)
		b.joined(1)
		b.hub.fanOut(event{due: time.Now()})
		defer (<-stuck).Body.Close()
		message := strings.Repeat("x", 1<<20)
		full := make(chan struct{})
		go func() {
			// More than any socket's buffer; ends when the stream does.
			for range 64 {
				if !b.hub.write(anna, message) {
					break
				}
			}
			close(full)
		}()
		if _, is := b.hub.(*queued); is {
			// Cut off when the queue is full, and the others never noticed.
			select {
			case <-full:
			case <-time.After(patience):
				b.Fatal("a full queue held up the writer")
			}
			b.hub.fanOut(event{due: time.Now()})
			return
		}
		h := b.hub.(*locked)
		// Held for much longer than a write that does not block takes.
		for held, deadline := 0, time.Now().Add(patience); held < 100; time.Sleep(time.Millisecond) {
			if h.mu.TryLock() {
				h.mu.Unlock()
				held = 0
			} else {
				held++
			}
			if time.Now().After(deadline) {
				b.Fatal("the lock was never held for long")
			}
		}
	})
}

func TestOtherIDsAreRefused(t *testing.T) {
	both(t, func(b bench) {
		for _, id := range []string{"", "12", anna + "0", strings.Replace(anna, "d", "g", 1)} {
			if status, _ := b.ask("GET", fmt.Sprintf("/event/connect?id=%s", id)); status != 400 {
				b.Error(id, status)
			}
		}
	})
}
