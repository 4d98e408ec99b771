// A Go program that a monitor can look into: the variables that the standard library publishes, one of its own, and
// garbage for the collector at each request to /work.
package main

import (
	"expvar"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime"
)

var kept []byte

func main() {
	expvar.Publish("goroutines", expvar.Func(func() any { return runtime.NumGoroutine() }))
	http.HandleFunc("/work", func(w http.ResponseWriter, r *http.Request) {
		for range 64 {
			kept = make([]byte, 1<<20)
		}
		runtime.GC()
	})
	listener, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("listening on", listener.Addr())
	fmt.Println(http.Serve(listener, nil))
}
