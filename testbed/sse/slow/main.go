// A client that does not read, in cycles: it opens a stream with a tiny receive window, has messages written to it
// until the server's socket is full, keeps the server waiting, and leaves. It is a reader whose network went away, made
// to happen every few seconds instead of once a week.
//
//	TARGET  the server, such as 127.0.0.1:8080
//	HOLD    how long a full stream is kept (default 1500ms)
//	PAUSE   time between two cycles (default 1500ms)
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"
)

// One message fills a good part of a socket's buffer and still fits into a request line that Go accepts.
const messageBytes = 200_000

func main() {
	target := os.Getenv("TARGET")
	hold, err := duration("HOLD")
	if err == nil && target == "" {
		err = errors.New("TARGET is not set: a server such as 127.0.0.1:8080 is expected")
	}
	pause, pauseErr := duration("PAUSE")
	if err = errors.Join(err, pauseErr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for {
		messages, err := cycle(target, hold)
		fmt.Printf("%s %d messages: %v\n", time.Now().Format(time.TimeOnly), messages, err)
		time.Sleep(pause)
	}
}

func duration(name string) (time.Duration, error) {
	text := os.Getenv(name)
	if text == "" {
		text = "1500ms"
	}
	value, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%s is `%s`: a time such as 1500ms is expected", name, text)
	}
	return value, nil
}

// cycle says how many messages the server took before it stood still, or why there were no more.
func cycle(target string, hold time.Duration) (int, error) {
	id := newGUID()
	connection, err := open(target, id)
	if err != nil {
		return 0, err
	}
	// What was not read makes the kernel answer with a reset: the server's write fails at once and goes no further.
	defer connection.Close()
	client := http.Client{Timeout: hold}
	defer client.CloseIdleConnections()
	query := url.Values{"id": {id}, "message": {strings.Repeat("x", messageBytes)}}
	address := "http://" + target + "/event/writedata?" + query.Encode()
	joined := time.Now().Add(hold)
	for count := 0; ; count++ {
		response, err := client.Get(address)
		if errors.Is(err, context.DeadlineExceeded) {
			return count, fmt.Errorf("the server stood still for %s", hold)
		}
		if err != nil {
			// Without its URL, which holds the message.
			return count, errors.Unwrap(err)
		}
		_, err = io.Copy(io.Discard, response.Body)
		response.Body.Close()
		if count == 0 && response.StatusCode == http.StatusBadRequest && time.Now().Before(joined) {
			// The message overtook the stream's own request.
			count--
			time.Sleep(time.Millisecond)
			continue
		}
		if err != nil || response.StatusCode != http.StatusOK {
			return count, errors.Join(err, fmt.Errorf("the server answered %s", response.Status))
		}
	}
}

func open(target, id string) (net.Conn, error) {
	dialer := net.Dialer{Control: func(_, _ string, raw syscall.RawConn) (failed error) {
		// Before the connection: afterwards the window has been offered already.
		err := raw.Control(func(fd uintptr) {
			failed = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096)
		})
		return errors.Join(err, failed)
	}}
	connection, err := dialer.Dial("tcp", target)
	if err != nil {
		return nil, err
	}
	if _, err = fmt.Fprintf(connection, "GET /event/connect?id=%s HTTP/1.1\r\nHost: %s\r\n\r\n", id, target); err != nil {
		connection.Close()
		return nil, err
	}
	return connection, nil
}

func newGUID() string {
	bytes := make([]byte, 16)
	_, _ = rand.Read(bytes) // never fails: it ends the program instead
	return fmt.Sprintf("%x-%x-%x-%x-%x", bytes[:4], bytes[4:6], bytes[6:8], bytes[8:10], bytes[10:])
}
