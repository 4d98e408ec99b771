package main

import (
	"net/http"
	"sync"
)

// locked is the server of the report: one lock around everything, held while all streams are written to in turn, and
// headers that leave with the first event. One client that does not read holds up all others, and whoever wants to
// come or to go as well.
type locked struct {
	mu      sync.Mutex
	clients map[string]*lockedClient
}

type lockedClient struct {
	stream
	removed chan struct{}
}

func newLocked() *locked {
	return &locked{clients: map[string]*lockedClient{}}
}

func (h *locked) serve(w http.ResponseWriter, r *http.Request, id string) {
	client := &lockedClient{newStream(w, r), make(chan struct{})}
	h.mu.Lock()
	if _, taken := h.clients[id]; taken {
		h.mu.Unlock()
		http.Error(w, "id is connected already", http.StatusBadRequest)
		return
	}
	h.clients[id] = client
	h.mu.Unlock()
	streams.Inc()
	defer streams.Dec()
	select {
	case <-client.removed:
	case <-r.Context().Done():
		h.forget(id, client)
	}
}

// forget waits for the lock like everybody else: a round may be writing to this stream, and a handler that returned
// would take it away. Another client may have come under the same id since.
func (h *locked) forget(id string, client *lockedClient) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.clients[id] == client {
		delete(h.clients, id)
	}
}

func (h *locked) disconnect(id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	client, known := h.clients[id]
	if known {
		delete(h.clients, id)
		close(client.removed)
	}
	return known
}

func (h *locked) write(id string, message string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	client, known := h.clients[id]
	if known {
		client.send(messageText(message))
	}
	return known
}

func (h *locked) fanOut(e event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, client := range h.clients {
		client.send(e.text(client.numbered))
	}
}
