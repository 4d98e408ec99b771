// The interoperability test server of grpc-go, on a free port. It prints `listening on ADDRESS:PORT` and ends when its
// stdin does. The service is that of the package `interop`; only starting it and reflection are done here.
package main

import (
	"fmt"
	"io"
	"net"
	"os"

	"google.golang.org/grpc"
	_ "google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/interop"
	testing "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/reflection"
)

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	server := grpc.NewServer()
	testing.RegisterTestServiceServer(server, interop.NewTestServer())
	reflection.Register(server)
	go func() {
		fmt.Printf("listening on %s\n", listener.Addr())
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	if err := server.Serve(listener); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
