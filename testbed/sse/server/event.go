package main

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// event is one round. Its number is the count of intervals since 1970, so that a round that was left out is missing
// from the numbers.
type event struct {
	number int64
	due    time.Time
}

// The original's nine bytes: without a number, so a lost one cannot be told from one that was never due.
const plain = "data: 0\n\n"

// text is what a stream gets. With `numbered=1` in the request's query it says which round it is and when it was due.
func (e event) text(numbered bool) string {
	if !numbered {
		return plain
	}
	return fmt.Sprintf("id: %d\ndata: {\"due_ms\":%d}\n\n", e.number, e.due.UnixMilli())
}

func messageText(message string) string {
	lines := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(message)
	return "data: " + strings.ReplaceAll(lines, "\n", "\ndata: ") + "\n\n"
}

// stream is the way to one client. It is used by one goroutine at a time, and not after its handler has returned.
type stream struct {
	w        http.ResponseWriter
	control  *http.ResponseController
	numbered bool
}

func newStream(w http.ResponseWriter, r *http.Request) stream {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	return stream{w, http.NewResponseController(w), r.URL.Query().Get("numbered") == "1"}
}

// send writes and flushes. It blocks for as long as the client's window and the socket's buffer are full.
func (s stream) send(text string) {
	_, err := s.w.Write([]byte(text))
	if err == nil {
		err = s.control.Flush()
	}
	if err != nil {
		writeErrors.Inc()
		return
	}
	eventsSent.Inc()
}
