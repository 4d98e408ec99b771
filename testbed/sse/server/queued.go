package main

import (
	"net/http"
	"sync"
	"time"
)

// A client that is so many events behind is cut off: a reader who does not read has no claim to unbounded memory.
const queueLength = 64

// How long a write may take before the connection is given up.
const writeTimeout = 10 * time.Second

// queued is the mended server: headers leave at once, a round only puts the event into each client's own queue, and
// each stream is written to by its own goroutine. A client that does not read holds up nobody.
type queued struct {
	mu      sync.Mutex
	clients map[string]*queuedClient
}

type queuedClient struct {
	queue    chan string
	removed  chan struct{}
	numbered bool
}

func newQueued() *queued {
	return &queued{clients: map[string]*queuedClient{}}
}

func (h *queued) serve(w http.ResponseWriter, r *http.Request, id string) {
	out := newStream(w, r)
	client := &queuedClient{make(chan string, queueLength), make(chan struct{}), out.numbered}
	if !h.add(id, client) {
		http.Error(w, "id is connected already", http.StatusBadRequest)
		return
	}
	defer h.forget(id, client)
	streams.Inc()
	defer streams.Dec()
	if err := out.control.Flush(); err != nil {
		return
	}
	for {
		select {
		case text := <-client.queue:
			if out.control.SetWriteDeadline(time.Now().Add(writeTimeout)) != nil {
				return
			}
			out.send(text)
		case <-client.removed:
			return
		case <-r.Context().Done():
			return
		}
	}
}

func (h *queued) add(id string, client *queuedClient) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, taken := h.clients[id]; taken {
		return false
	}
	h.clients[id] = client
	return true
}

// forget removes this client and not another one that came under the same id since.
func (h *queued) forget(id string, client *queuedClient) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.clients[id] == client {
		delete(h.clients, id)
	}
}

func (h *queued) disconnect(id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	client, known := h.clients[id]
	if known {
		h.cut(id, client)
	}
	return known
}

func (h *queued) write(id string, message string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	client, known := h.clients[id]
	return known && h.offer(id, client, messageText(message))
}

func (h *queued) fanOut(e event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for id, client := range h.clients {
		h.offer(id, client, e.text(client.numbered))
	}
}

// offer never waits. The lock is held by the caller.
func (h *queued) offer(id string, client *queuedClient, text string) bool {
	select {
	case client.queue <- text:
		return true
	default:
		h.cut(id, client)
		clientsCut.Inc()
		return false
	}
}

func (h *queued) cut(id string, client *queuedClient) {
	delete(h.clients, id)
	close(client.removed)
}
