// A gRPC server by grpc-go, which decodes and encodes messages with the reference implementation. Its methods are those
// of echo.proto; ../README.md describes what metadata commands. It prints `listening on ADDRESS:PORT` and ends when its
// stdin does. HTTP/1 on the same port has the counts, unless the server has a certificate. With `-web`, calls may also
// be those of gRPC-Web, over HTTP/1 and HTTP/2.
package main

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bufbuild/protocompile"
	"github.com/improbable-eng/grpc-web/go/grpcweb"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/h2c"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	_ "google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection"
	reflectv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	reflectv1alpha "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

//go:embed echo.proto
var source string

// counts are what the server saw; Last is the last message as JSON, with the names of the schema.
type counts struct {
	sync.Mutex
	Connections, Calls, Messages, Deadlines int
	Statuses, Protocols                     map[string]int
	Metadata                                map[string][]string
	Last                                    json.RawMessage
}

// resolver finds the types of messages within messages.
var resolver *dynamicpb.Types

var seen = counts{Statuses: map[string]int{}, Protocols: map[string]int{}}

func main() {
	reflects := flag.String("reflection", "both", "`version` of reflection: v1, v1alpha, both, or none")
	isHealthy := flag.Bool("healthy", true, "whether there is a health service")
	servesAfter := flag.Duration("serves-after", 0, "time until the health is SERVING")
	certificate := flag.String("certificate", "", "`file` with a certificate, for TLS")
	key := flag.String("key", "", "`file` with its key")
	token := flag.String("token", "", "require `text` as the authorization of reflection")
	isWeb := flag.Bool("web", false, "serve gRPC-Web, too")
	flag.Parse()
	compiler := protocompile.Compiler{Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{
		Accessor: protocompile.SourceAccessorFromMap(map[string]string{"echo.proto": source}),
	})}
	files, err := compiler.Compile(context.Background(), "echo.proto")
	if err != nil {
		fail(err)
	}
	service := files[0].Services().ByName("Echo")
	settings := []grpc.ServerOption{grpc.MaxRecvMsgSize(1 << 20)}
	if *certificate != "" {
		own, err := credentials.NewServerTLSFromFile(*certificate, *key)
		if err != nil {
			fail(err)
		}
		settings = append(settings, grpc.Creds(own))
	}
	if *token != "" {
		settings = append(settings, grpc.StreamInterceptor(required(*token)))
	}
	server := grpc.NewServer(settings...)
	server.RegisterService(describe(service), nil)
	if *isHealthy {
		state := health.NewServer()
		healthpb.RegisterHealthServer(server, state)
		if *servesAfter > 0 {
			state.SetServingStatus("", healthpb.HealthCheckResponse_NOT_SERVING)
			time.AfterFunc(*servesAfter, func() {
				state.SetServingStatus("", healthpb.HealthCheckResponse_SERVING)
			})
		}
	}
	registry := new(protoregistry.Files)
	if err := register(registry, files[0]); err != nil {
		fail(err)
	}
	resolver = dynamicpb.NewTypes(registry)
	options := reflection.ServerOptions{Services: server, DescriptorResolver: registry}
	if *reflects == "v1" || *reflects == "both" {
		reflectv1.RegisterServerReflectionServer(server, reflection.NewServerV1(options))
	}
	if *reflects == "v1alpha" || *reflects == "both" {
		reflectv1alpha.RegisterServerReflectionServer(server, reflection.NewServer(options))
	}

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fail(err)
	}
	fmt.Printf("listening on %s\n", listener.Addr())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // the end of it is all that matters
		os.Exit(0)
	}()
	if *certificate != "" {
		fail(server.Serve(listener))
	}
	if *isWeb {
		fail(http.Serve(&counted{listener}, h2c.NewHandler(web(server), &http2.Server{})))
	}
	calls, pages := fork(listener)
	go func() { _ = http.Serve(pages, http.HandlerFunc(stats)) }()
	fail(server.Serve(calls))
}

// required rejects reflection without the token; calls of the service are never rejected.
func required(token string) grpc.StreamServerInterceptor {
	return func(service any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
		given := metadata.ValueFromIncomingContext(stream.Context(), "authorization")
		if strings.HasPrefix(info.FullMethod, "/grpc.reflection.") && (len(given) != 1 || given[0] != token) {
			return status.Error(codes.Unauthenticated, "a token is required")
		}
		return handle(service, stream)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// register adds a file and all that it imports.
func register(to *protoregistry.Files, file protoreflect.FileDescriptor) error {
	if _, err := to.FindFileByPath(file.Path()); err == nil {
		return nil
	}
	for at := 0; at < file.Imports().Len(); at++ {
		if err := register(to, file.Imports().Get(at).FileDescriptor); err != nil {
			return err
		}
	}
	return to.RegisterFile(file)
}

func describe(service protoreflect.ServiceDescriptor) *grpc.ServiceDesc {
	all := &grpc.ServiceDesc{ServiceName: string(service.FullName()), HandlerType: (*any)(nil)}
	for at := 0; at < service.Methods().Len(); at++ {
		method := service.Methods().Get(at)
		all.Streams = append(all.Streams, grpc.StreamDesc{
			StreamName:    string(method.Name()),
			ClientStreams: method.IsStreamingClient(),
			ServerStreams: method.IsStreamingServer(),
			Handler:       func(_ any, stream grpc.ServerStream) error { return answer(method, stream) },
		})
	}
	return all
}

func answer(method protoreflect.MethodDescriptor, stream grpc.ServerStream) error {
	err := echo(method, stream)
	seen.Lock()
	defer seen.Unlock()
	seen.Calls++
	seen.Statuses[status.Code(err).String()]++
	if stream.Context().Err() == context.DeadlineExceeded {
		seen.Deadlines++
	}
	return err
}

func echo(method protoreflect.MethodDescriptor, stream grpc.ServerStream) error {
	given, _ := metadata.FromIncomingContext(stream.Context())
	command := func(name string) string {
		if values := given.Get(name); len(values) > 0 {
			return values[0]
		}
		return ""
	}
	seen.Lock()
	seen.Metadata = given
	seen.Unlock()
	stream.SetTrailer(metadata.Pairs("x-trailer", "end", "x-bytes-bin", "\x00\xff"))
	if err := stream.SetHeader(metadata.Pairs("x-header", command("x-echo"))); err != nil {
		return err
	}
	items := []*dynamicpb.Message{}
	for {
		message := dynamicpb.NewMessage(method.Input())
		if err := stream.RecvMsg(message); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		note(message)
		if method.IsStreamingServer() && method.IsStreamingClient() {
			if err := stream.SendMsg(message); err != nil {
				return err
			}
		}
		items = append(items, message)
		if !method.IsStreamingClient() || strconv.Itoa(len(items)) == command("x-stop-after") {
			break
		}
	}
	if text := command("x-delay"); text != "" {
		delay, err := time.ParseDuration(text)
		if err != nil {
			return status.Error(codes.InvalidArgument, err.Error())
		}
		select {
		case <-time.After(delay):
		case <-stream.Context().Done():
			return status.FromContextError(stream.Context().Err()).Err()
		}
	}
	repeats := method.IsStreamingServer() && !method.IsStreamingClient()
	if repeats {
		times, _ := strconv.Atoi(command("x-times"))
		pause, _ := time.ParseDuration(command("x-pause"))
		if err := repeat(stream, items[0], times, pause); err != nil {
			return err
		}
	}
	if text := command("x-status"); text != "" {
		return commanded(text, command("x-message"), command("x-details") != "")
	}
	switch {
	case repeats:
		return nil
	case method.IsStreamingServer() && method.IsStreamingClient():
		return nil
	case method.IsStreamingClient():
		all := dynamicpb.NewMessage(method.Output())
		list := all.Mutable(method.Output().Fields().ByName("items")).List()
		for _, item := range items {
			list.Append(protoreflect.ValueOfMessage(item))
		}
		return stream.SendMsg(all)
	default:
		return stream.SendMsg(items[0])
	}
}

// repeat sends an item several times; its id counts up.
func repeat(stream grpc.ServerStream, item *dynamicpb.Message, times int, pause time.Duration) error {
	field := item.Descriptor().Fields().ByName("id")
	first := item.Get(field).Int()
	for at := 0; at < times; at++ {
		if at > 0 {
			time.Sleep(pause)
		}
		item.Set(field, protoreflect.ValueOfInt64(first+int64(at)))
		if err := stream.SendMsg(item); err != nil {
			return err
		}
	}
	return nil
}

func commanded(text, message string, details bool) error {
	number, err := strconv.Atoi(text)
	if err != nil {
		return status.Error(codes.InvalidArgument, err.Error())
	}
	result := status.New(codes.Code(number), message)
	if details {
		any, err := anypb.New(wrapperspb.String("more"))
		if err != nil {
			return err
		}
		whole := result.Proto()
		whole.Details = append(whole.Details, any)
		result = status.FromProto(whole)
	}
	return result.Err()
}

func note(message proto.Message) {
	text, err := protojson.MarshalOptions{UseProtoNames: true, Resolver: resolver}.Marshal(message)
	seen.Lock()
	defer seen.Unlock()
	seen.Messages++
	if err == nil {
		seen.Last = text
	}
}

func stats(w http.ResponseWriter, _ *http.Request) {
	seen.Lock()
	defer seen.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"connections": seen.Connections, "calls": seen.Calls, "messages": seen.Messages,
		"deadlines": seen.Deadlines, "statuses": seen.Statuses, "protocols": seen.Protocols, "metadata": seen.Metadata, "last": seen.Last,
	})
}

// web serves calls of gRPC and gRPC-Web, and the counts.
func web(server *grpc.Server) http.Handler {
	wrapped := grpcweb.WrapServer(server)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case wrapped.IsGrpcWebRequest(r):
			seen.Lock()
			seen.Protocols[r.Proto+" "+r.Header.Get("Content-Type")]++
			seen.Unlock()
			wrapped.ServeHTTP(w, r)
		case r.ProtoMajor == 2:
			server.ServeHTTP(w, r)
		default:
			stats(w, r)
		}
	})
}

// counted counts the connections of a listener.
type counted struct{ net.Listener }

func (c *counted) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	seen.Lock()
	seen.Connections++
	seen.Unlock()
	return conn, err
}

// branch is the half of a listener whose connections speak one protocol.
type branch struct {
	net.Listener
	taken chan net.Conn
}

func (b branch) Accept() (net.Conn, error) { return <-b.taken, nil }

// begun is a connection whose first bytes were read ahead.
type begun struct {
	net.Conn
	reader *bufio.Reader
}

func (b begun) Read(to []byte) (int, error) { return b.reader.Read(to) }

// fork tells HTTP/2 and HTTP/1 apart by the first bytes.
func fork(listener net.Listener) (calls, pages branch) {
	calls = branch{listener, make(chan net.Conn)}
	pages = branch{listener, make(chan net.Conn)}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				fail(err)
			}
			go func() {
				reader := bufio.NewReader(conn)
				first, _ := reader.Peek(4)
				if string(first) == "PRI " {
					seen.Lock()
					seen.Connections++
					seen.Unlock()
					calls.taken <- begun{conn, reader}
				} else {
					pages.taken <- begun{conn, reader}
				}
			}()
		}
	}()
	return calls, pages
}
