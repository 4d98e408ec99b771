//! gRPC-Web against grpc-go in the wrapper of `improbable-eng/grpc-web`, over HTTP/1.1 and HTTP/2, in both modes; the
//! server counts calls and statuses itself. Responses that no correct server sends come from the ruler, as text.

use crate::grpc::ended;
use crate::help::count;
use crate::provoke::{Then, canned, faults, no_faults, only};
use crate::support::peers::GoServer;
use crate::support::{Ruler, Scratch, Tool};
use serde_json::{Value, json};
use std::path::Path;

const HTTP: [&str; 2] = ["1.1", "2"];
const MODES: [&str; 2] = ["grpc-web", "grpc-web-text"];
const SEND: &str =
    "- grpc: echo.v1.Echo/Send\n  message: { an_int64: 7 }\n  check: { json: { $.an_int64: 7 } }";

fn experiment(target: &str, protocol: &str, http: &str, steps: &str, load: &str) -> String {
    let proto = Path::new(env!("CARGO_MANIFEST_DIR")).join("testbed/peers/grpc/echo.proto");
    let indented: String = steps.lines().map(|line| format!("    {line}\n")).collect();
    format!(
        "target: {target}\nconnection: {{ http: {http} }}\ngrpc: {{ protos: {}, protocol: {protocol} }}\n\
         limits: {{ kept_body_bytes: 16k }}\nscenarios:\n  one:\n{indented}load: {load}\n",
        proto.display()
    )
}

/// Runs the steps of one scenario, and returns the result of a run that ended with this code.
#[track_caller]
fn run(target: &str, (protocol, http): (&str, &str), steps: &str, load: &str, code: i32) -> Value {
    let scratch = Scratch::new();
    let file = scratch.file("experiment.yaml", &experiment(target, protocol, http, steps, load));
    Tool::run(&["run", &file, "--json", "--out", &scratch.path("run.plim")]).expect_code(code).json()
}

/// Every mode over every version of HTTP.
fn ways() -> impl Iterator<Item = (&'static str, &'static str)> {
    MODES.into_iter().flat_map(|mode| HTTP.map(|http| (mode, http)))
}

#[test]
fn every_call_is_counted_by_both_sides() {
    for (mode, http) in ways() {
        let server = GoServer::start_with("grpc", &["-web"]);
        // Messages of different lengths, so that the text needs every padding.
        let steps = "- grpc: echo.v1.Echo/Send\n  message: { an_int64: \"${counter}\", a_string: \"a${counter}\" }\n  \
                     check: { status: OK, json: { $.a_string: { matches: \"^a[0-9]+$\" } } }";
        let said = run(&server.url(""), (mode, http), steps, "{ users: 4, requests: 1200 }", 0);
        no_faults(&said);
        let seen = server.stats();
        assert_eq!(
            [count(&said, "/totals/requests"), count(&seen, "/calls"), count(&seen, "/messages")],
            [1200; 3]
        );
        assert_eq!(ended(&said, "OK"), 1200.0, "{}", said["metrics"]);
        let version = if http == "2" { "HTTP/2.0" } else { "HTTP/1.1" };
        assert_eq!(seen["protocols"], json!({ format!("{version} application/{mode}+proto"): 1200 }));
        assert_eq!(seen["metadata"]["x-grpc-web"], json!(["1"]), "{}", seen["metadata"]);
    }
}

#[test]
fn every_status_is_the_failure_that_it_is_in_grpc() {
    let server = GoServer::start_with("grpc", &["-web"]);
    let steps: String = (1..=17)
        .map(|code| {
            format!(
                "- grpc: echo.v1.Echo/Send\n  name: s{code}\n  metadata: {{ x-status: {code} }}\n  \
                 on_failure: continue\n"
            )
        })
        .collect();
    for way in ways() {
        let said = run(&server.url(""), way, &steps, "{ users: 1, iterations: 3 }", 99);
        let found = faults(&said);
        assert_eq!(found.len(), 16, "{found:?}");
        for (class, (side, count)) in found {
            // A number that gRPC does not define is `UNKNOWN`.
            let expected = if class == "grpc_unknown" { 6 } else { 3 };
            assert_eq!(
                (side.as_str(), count, class.starts_with("grpc_")),
                ("server", expected, true),
                "{class}"
            );
        }
        assert_eq!([ended(&said, "UNKNOWN"), ended(&said, "NOT_FOUND")], [6.0, 3.0]);
    }
}

#[test]
fn a_status_has_its_text_and_details_and_may_be_expected() {
    let server = GoServer::start_with("grpc", &["-web"]);
    let call = "- grpc: echo.v1.Echo/Send\n  metadata: { x-status: 5, x-message: \"no such item: ä\", x-details: 1 }";
    let load = "{ users: 2, requests: 40 }";
    for way in ways() {
        let said = run(&server.url(""), way, call, load, 99);
        assert_eq!(only(&said, "grpc_not_found", "server"), 40);
        assert_eq!(ended(&said, "NOT_FOUND"), 40.0, "{}", said["metrics"]);
        let example = &said["failure_examples"][0];
        assert_eq!(example["observed"], "NOT_FOUND: no such item: ä", "{example}");
        assert_eq!(example["excerpt"], "google.protobuf.StringValue \"more\"", "{example}");
        let expects =
            format!("{call}\n  check: {{ status: \"OK,NOT_FOUND\", message: {{ contains: \"item: ä\" }} }}");
        no_faults(&run(&server.url(""), way, &expects, load, 0));
    }
    assert_eq!(server.stats()["statuses"], json!({ "NotFound": 320 }));
}

#[test]
fn metadata_trailers_and_compressed_messages_are_those_of_grpc() {
    let server = GoServer::start_with("grpc", &["-web"]);
    let text = "x".repeat(5000);
    let steps = format!(
        "- grpc: echo.v1.Echo/Send\n  metadata: {{ x-echo: \"u${{user}}\" }}\n  \
         check: {{ metadata: {{ x-header: \"u${{user}}\", x-trailer: end, x-none: {{ exists: false }} }} }}\n  \
         extract: {{ end: {{ header: x-trailer }}, status: status }}\n\
         - grpc: echo.v1.Echo/Send\n  name: second\n  compression: gzip\n  \
         message: {{ a_string: \"${{end}} ${{status}} {text}\" }}\n  \
         check: {{ json: {{ $.a_string: {{ contains: {text} }} }} }}\n"
    );
    for way in ways() {
        let said = run(&server.url(""), way, &steps, "{ users: 2, iterations: 10 }", 0);
        no_faults(&said);
        assert_eq!(server.stats()["last"], json!({ "a_string": format!("end OK {text}") }));
        for field in ["bytes_out", "bytes_in"] {
            let bytes = count(&said, &format!("/totals/{field}"));
            assert!(bytes < 20_000, "{field} of 10 messages above 5,000 bytes: {bytes}");
        }
    }
}

#[test]
fn the_server_knows_the_deadline_and_the_client_keeps_it() {
    let server = GoServer::start_with("grpc", &["-web"]);
    let call = |delay: &str, deadline: &str| {
        format!(
            "- grpc: echo.v1.Echo/Send\n  metadata: {{ x-delay: {delay} }}\n  deadline: {deadline}\n  \
             on_failure: continue"
        )
    };
    for way in ways() {
        let said = run(&server.url(""), way, &call("5s", "100ms"), "{ users: 2, requests: 10 }", 99);
        let found = faults(&said);
        // Both sides measure the same time, so either may notice first.
        let of = |class: &str| found.get(class).map_or(0, |row| row.1);
        assert_eq!(of("timeout") + of("grpc_deadline_exceeded"), 10, "{found:?}");
        no_faults(&run(&server.url(""), way, &call("20ms", "5s"), "{ users: 2, requests: 10 }", 0));
        assert_eq!(server.stats()["metadata"]["x-delay"], json!(["20ms"]));
    }
}

/// A message of `an_int64: 7`, and trailers of OK, in their frames.
const MESSAGE: &[u8] = b"\0\0\0\0\x02\x20\x07";
const OK: &[u8] = b"\x80\0\0\0\x10grpc-status: 0\r\n";

/// Base64 (RFC 4648 section 4) by its definition.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |three: &[u8]| {
        let number = (0..3).fold(0, |sum, at| sum << 8 | three.get(at).map_or(0, |byte| u32::from(*byte)));
        let digit = |at: usize| match at <= three.len() {
            true => char::from(DIGITS[(number >> (18 - 6 * at) & 63) as usize]),
            false => '=',
        };
        (0..4).map(digit).collect::<String>()
    };
    bytes.chunks(3).map(group).collect()
}

/// The response of a server over HTTP/1.1, in chunks of one byte.
fn chunked(body: &[u8]) -> Vec<u8> {
    let mut response =
        b"HTTP/1.1 200 OK\r\ncontent-type: application/grpc-web+proto\r\ntransfer-encoding: chunked\r\n\r\n"
            .to_vec();
    for byte in body {
        response.extend_from_slice(b"1\r\n");
        response.push(*byte);
        response.extend_from_slice(b"\r\n");
    }
    response.extend_from_slice(b"0\r\n\r\n");
    response
}

#[test]
fn a_body_is_a_message_and_trailers_and_nothing_else() {
    let not_found = b"\x80\0\0\0\x25grpc-status:5\r\ngrpc-message:gone%21\r\n";
    let long = [b"\0\0\0\x50\0\x12".as_slice(), &vec![b'x'; 20_479], OK].concat();
    let cases: [(&str, Vec<u8>, &str); 12] = [
        ("a message and trailers", [MESSAGE, OK].concat(), ""),
        ("another case and no last line end", [MESSAGE, b"\x80\0\0\0\x0dGRPC-STATUS:0"].concat(), ""),
        ("trailers after nothing", not_found.to_vec(), "grpc_not_found"),
        ("trailers of a failure after a message", [MESSAGE, not_found].concat(), "grpc_not_found"),
        ("no trailers", MESSAGE.to_vec(), "grpc_no_status"),
        ("nothing", Vec::new(), "grpc_no_status"),
        ("trailers without a status", [MESSAGE, b"\x80\0\0\0\x06x-a: b"].concat(), "grpc_no_status"),
        ("no message", OK.to_vec(), "grpc_invalid_message"),
        ("two messages", [MESSAGE, MESSAGE, OK].concat(), "grpc_invalid_message"),
        ("a cut frame", [MESSAGE, &OK[..OK.len() - 1]].concat(), "grpc_invalid_message"),
        ("a frame after the trailers", [MESSAGE, OK, MESSAGE].concat(), "grpc_invalid_message"),
        ("a body above the limit", long, "client_limit"),
    ];
    let load = "{ users: 1, requests: 3 }";
    let judge = |name: &str, said: &Value, class: &str| match class {
        "" => no_faults(said),
        class => {
            let side = if class == "client_limit" { "client" } else { "server" };
            assert_eq!(only(said, class, side), 3, "{name}");
        }
    };
    for (name, body, class) in cases {
        let code = match class {
            "" => 0,
            // The load generator's own limit says nothing about the server.
            "client_limit" => 3,
            _ => 99,
        };
        let port = canned("127.0.0.1", chunked(&body), Then::KeepOpen);
        let said = run(&format!("http://127.0.0.1:{port}"), ("grpc-web", "1.1"), SEND, load, code);
        judge(name, &said, class);
        // As text over both versions.
        let text = base64(&body).replace('+', "%2B").replace('/', "%2F");
        for http in HTTP {
            let ruler = Ruler::start(if http == "2" { &["--http2"] } else { &[] });
            ruler.set(&format!("body=0&text={text}&content_type=application/grpc-web-text%2Bproto"));
            let said = run(&ruler.url(""), ("grpc-web-text", http), SEND, load, code);
            judge(name, &said, class);
        }
    }
}

#[test]
fn a_response_that_is_not_grpc_web_has_a_name_and_a_side() {
    let load = "{ users: 1, requests: 4 }";
    for http in HTTP {
        let ruler = Ruler::start(if http == "2" { &["--http2"] } else { &[] });
        for (keys, class) in [
            // Trailers only: the status is in the head.
            ("body=0&content_type=application/grpc-web%2Bproto&header=grpc-status:14", "grpc_unavailable"),
            ("body=0&content_type=application/grpc-web&header=grpc-status:0", "grpc_invalid_message"),
            ("status=503&text=&content_type=application/grpc-web&header=grpc-status:14", "grpc_unavailable"),
            ("text=hello&content_type=text/html", "grpc_content_type"),
            ("text=AAAA&content_type=application/grpc-web-text", "grpc_content_type"),
            ("text=hello&content_type=application/grpc", "grpc_content_type"),
            ("text=hello&content_type=application/grpc-web", "grpc_invalid_message"),
            ("status=503&text=<html>&content_type=application/grpc-web", "http_status"),
        ] {
            ruler.set(keys);
            let said = run(&ruler.url(""), ("grpc-web", http), SEND, load, 99);
            assert_eq!(only(&said, class, "server"), 4, "{keys} over HTTP/{http}");
            ruler.set("header=&status=200&text=");
        }
        ruler.set("text=b24=bGU&content_type=application/grpc-web-text");
        let said = run(&ruler.url(""), ("grpc-web-text", http), SEND, load, 99);
        assert_eq!(only(&said, "grpc_invalid_message", "server"), 4);
    }
}

#[test]
fn an_http_status_is_a_failure_with_the_status_of_other_clients() {
    for (status, name) in [
        (400, "INTERNAL"),
        (401, "UNAUTHENTICATED"),
        (403, "PERMISSION_DENIED"),
        (404, "UNIMPLEMENTED"),
        (429, "UNAVAILABLE"),
        (500, "UNKNOWN"),
        (502, "UNAVAILABLE"),
        (503, "UNAVAILABLE"),
        (504, "UNAVAILABLE"),
    ] {
        let ruler = Ruler::start(&[]);
        ruler.set(&format!("status={status}&text=sorry"));
        let said = run(&ruler.url(""), ("grpc-web", "1.1"), SEND, "{ users: 1, requests: 2 }", 99);
        assert_eq!(only(&said, "http_status", "server"), 2);
        let expected = format!("expected `200` and a gRPC status, found `{status}` ({name} to gRPC clients)");
        assert_eq!(said["failure_examples"][0]["observed"], expected);
        assert_eq!(ended(&said, name), 0.0, "it is not a status of gRPC");
    }
}

#[test]
fn a_stream_and_a_version_without_frames_are_refused_by_name() {
    let scratch = Scratch::new();
    let refused = |http: &str, method: &str, sentence: &str| {
        let steps = format!("- grpc: echo.v1.Echo/{method}");
        let text = experiment("http://127.0.0.1:9", "grpc-web", http, &steps, "{ users: 1, requests: 1 }");
        let output = Tool::run(&["check", &scratch.file("experiment.yaml", &text)]).expect_code(2);
        assert!(output.stderr.contains(sentence), "{}", output.stderr);
    };
    for method in ["Repeat", "Collect", "Chat"] {
        let sentence = format!("`{method}` streams messages, which is not supported over gRPC-Web");
        refused("1.1", method, &sentence);
    }
    refused("1.0", "Send", "gRPC-Web requires HTTP/1.1 or HTTP/2, but `http` of `connection` is `1.0`");
}
