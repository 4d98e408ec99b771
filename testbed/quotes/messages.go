// The service and the messages of quotes.proto, written with the library of the wire format: code that protoc generates
// would be twice as long as the market, and every build would need protoc.
package main

import (
	"context"
	"fmt"

	statuspb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/types/known/anypb"
)

// quote is the message Quote. It is never changed once it is made.
type quote struct {
	Symbol   string `json:"symbol"`
	Seq      int64  `json:"seq"`
	AtUnixNs int64  `json:"at_unix_ns"`
	BidCents int64  `json:"bid_cents"`
	AskCents int64  `json:"ask_cents"`
}

// wanted is the message Symbol.
type wanted struct{ symbol string }

// service is what RegisterService needs of Quotes.
var service = grpc.ServiceDesc{
	ServiceName: "quotes.v1.Quotes",
	HandlerType: (*any)(nil),
	Methods: []grpc.MethodDesc{{
		MethodName: "Get",
		Handler: func(m any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			var of wanted
			if err := decode(&of); err != nil {
				return nil, err
			}
			return m.(*market).get(of.symbol)
		},
	}},
	Streams: []grpc.StreamDesc{{
		StreamName:    "Watch",
		ServerStreams: true,
		Handler: func(m any, stream grpc.ServerStream) error {
			var of wanted
			if err := stream.RecvMsg(&of); err != nil {
				return err
			}
			return m.(*market).watch(of.symbol, stream)
		},
	}},
}

// codec reads and writes these messages.
type codec struct{}

func (codec) Name() string { return "proto" }

func (codec) Marshal(message any) ([]byte, error) {
	one, isQuote := message.(*quote)
	if !isQuote {
		return nil, fmt.Errorf("not a quote: %T", message)
	}
	out := text(make([]byte, 0, 64), 1, one.Symbol)
	for at, value := range []int64{one.Seq, one.AtUnixNs, one.BidCents, one.AskCents} {
		out = protowire.AppendTag(out, protowire.Number(at+2), protowire.VarintType)
		out = protowire.AppendVarint(out, uint64(value))
	}
	return out, nil
}

func (codec) Unmarshal(bytes []byte, message any) error {
	of, isWanted := message.(*wanted)
	if !isWanted {
		return fmt.Errorf("not a symbol: %T", message)
	}
	for len(bytes) > 0 {
		number, kind, n := protowire.ConsumeTag(bytes)
		if n < 0 {
			return protowire.ParseError(n)
		}
		bytes = bytes[n:]
		if number == 1 && kind == protowire.BytesType {
			if of.symbol, n = protowire.ConsumeString(bytes); n < 0 {
				return protowire.ParseError(n)
			}
		} else if n = protowire.ConsumeFieldValue(number, kind, bytes); n < 0 {
			return protowire.ParseError(n)
		}
		bytes = bytes[n:]
	}
	return nil
}

func text(out []byte, number protowire.Number, value string) []byte {
	return protowire.AppendString(protowire.AppendTag(out, number, protowire.BytesType), value)
}

// outage is the status of a lookup that a switch lets fail, with the message Outage as its detail.
func outage(feed string) *status.Status {
	detail := &anypb.Any{TypeUrl: "type.googleapis.com/quotes.v1.Outage", Value: text(nil, 1, feed)}
	return status.FromProto(&statuspb.Status{
		Code: int32(codes.Unavailable), Message: "the feed is down", Details: []*anypb.Any{detail},
	})
}
