// A TCP proxy that makes a server far away: each byte arrives `-delay` later than it was sent, in both directions and in
// order. It exists because a delay by the kernel (netem) needs root and a network namespace, and this needs neither.
//
// What it cannot do: the handshake of TCP itself ends at the proxy, so connecting costs the client nothing. TLS and
// everything above it pays the way. The width of the way is not limited beyond `window` bytes under way.
package main

import (
	"errors"
	"flag"
	"io"
	"log"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"
)

const (
	// A reader takes what there is up to this size; larger pieces would only hold memory for each connection.
	pieceBytes = 16 << 10
	// Pieces under way in one direction of one connection. With 25 ms it is no limit below 64 x 16 KiB / 25 ms = 42 MB/s.
	pieces = 64
)

// A piece of the stream and when it is due. Without bytes it is the end of the stream, in the manner of `err`.
type piece struct {
	due   time.Time
	bytes []byte
	err   error
}

func main() {
	listen := flag.String("listen", "", "`address` to listen on, such as 127.0.0.1:4120")
	to := flag.String("to", "", "`address` of the server, such as 127.0.0.1:4101")
	delay := flag.Duration("delay", 25*time.Millisecond, "how much later bytes arrive, each way")
	flag.Parse()
	if *listen == "" || *to == "" || *delay < 0 || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		log.Fatal(err)
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		<-ended
		os.Exit(0)
	}()
	for {
		client, err := listener.Accept()
		if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
			// The connection stays in the kernel's queue; without a rest this loop would take a whole core.
			log.Print(err)
			time.Sleep(10 * time.Millisecond)
			continue
		}
		if err != nil {
			log.Fatal(err)
		}
		go carry(client.(*net.TCPConn), *to, *delay)
	}
}

// carry joins a client to the server. The server learns of the client one delay after it came.
func carry(client *net.TCPConn, to string, delay time.Duration) {
	came := time.Now()
	up := make(chan piece, pieces)
	// The client may speak at once: what it says while the connection is under way is due one delay after it was said.
	go read(client, up, delay)
	time.Sleep(time.Until(came.Add(delay)))
	dialled, err := net.Dial("tcp", to)
	if err != nil {
		log.Print(err)
		time.Sleep(delay)
		reset(client)
		drain(up)
		return
	}
	server := dialled.(*net.TCPConn)
	down := make(chan piece, pieces)
	go read(server, down, delay)
	done := make(chan struct{})
	go func() {
		write(client, down)
		close(done)
	}()
	write(server, up)
	<-done
	client.Close()
	server.Close()
}

func read(from *net.TCPConn, out chan<- piece, delay time.Duration) {
	buffer := make([]byte, pieceBytes)
	for {
		n, err := from.Read(buffer)
		due := time.Now().Add(delay)
		if n > 0 {
			out <- piece{due: due, bytes: append([]byte(nil), buffer[:n]...)}
		}
		if err != nil {
			out <- piece{due: due, err: err}
			close(out)
			return
		}
	}
}

// write sends each piece when it is due. An orderly end stays one (the other direction goes on), a reset stays a reset.
func write(to *net.TCPConn, in <-chan piece) {
	defer drain(in)
	for piece := range in {
		time.Sleep(time.Until(piece.due))
		if piece.err != nil {
			if errors.Is(piece.err, io.EOF) {
				to.CloseWrite()
			} else {
				reset(to)
			}
			return
		}
		if _, err := to.Write(piece.bytes); err != nil {
			return // The other direction sees the same end and carries it to the other side.
		}
	}
}

// reset closes without the farewell of TCP, as an aborted connection does.
func reset(connection *net.TCPConn) {
	connection.SetLinger(0)
	connection.Close()
}

// drain lets a reader come to its end after its writer has given up.
func drain(in <-chan piece) {
	for range in {
	}
}
