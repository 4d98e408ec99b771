//! The interoperability test cases of gRPC against the test server of grpc-go, with the names of gRPC's description.
//! Not here are the cases for logins of Google, for its load balancer, and for channels that a client keeps,
//! and those that the server of grpc-go does not serve (`client_compressed_*`, `server_compressed_*`).

use crate::grpc::ended;
use crate::help::count;
use crate::provoke::{json, no_faults, only};
use crate::support::Scratch;
use crate::support::peers::GoServer;
use serde_json::Value;

const SERVICE: &str = "grpc.testing.TestService";

/// Base64 of zero bytes, as the payloads of the cases are.
fn zeros(bytes: usize) -> String {
    let rest = ["", "AA==", "AAA="][bytes % 3];
    "AAAA".repeat(bytes / 3) + rest
}

/// Runs the steps of one call, twice for each of two users. The schema comes from the server's reflection.
#[track_caller]
fn run(server: &GoServer, steps: &str, code: i32) -> Value {
    let indented: String = steps.lines().map(|line| format!("    {line}\n")).collect();
    let text = format!(
        "target: {}\ngrpc: {{ reflection: true }}\nscenarios:\n  one:\n{indented}\
         load: {{ users: 2, iterations_per_user: 2 }}\n",
        server.url("")
    );
    json(&["run", &Scratch::new().file("interop.yaml", &text)], code)
}

fn stream<const N: usize>(said: &Value, row: &str, fields: [&str; N]) -> [u64; N] {
    fields.map(|field| count(said, &format!("/{row}/0/{field}")))
}

#[test]
fn empty_unary_and_large_unary() {
    let server = GoServer::start("interop");
    let said = run(&server, &format!("- grpc: {SERVICE}/EmptyCall\n  message: {{}}"), 0);
    no_faults(&said);
    assert_eq!(ended(&said, "OK"), 4.0);
    let large = format!(
        "- grpc: {SERVICE}/UnaryCall\n  message: {{ response_size: 314159, payload: {{ body: {} }} }}\n  \
         check: {{ json: {{ $.payload.body: {} }} }}",
        zeros(271_828),
        zeros(314_159)
    );
    let said = run(&server, &large, 0);
    no_faults(&said);
    assert_eq!(count(&said, "/checks/0/evaluations"), 4);
    assert!(
        count(&said, "/totals/bytes_out") > 4 * 271_828 && count(&said, "/totals/bytes_in") > 4 * 314_159
    );
}

#[test]
fn client_streaming() {
    let server = GoServer::start("interop");
    let messages: Vec<String> =
        [27_182, 8, 1_828, 45_904].map(|bytes| format!("{{ payload: {{ body: {} }} }}", zeros(bytes))).into();
    let steps = format!(
        "- grpc: {SERVICE}/StreamingInputCall\n  messages: [ {} ]\n  check: {{ json: {{ \
         $.aggregated_payload_size: 74922 }} }}",
        messages.join(", ")
    );
    let said = run(&server, &steps, 0);
    no_faults(&said);
    assert_eq!(stream(&said, "websockets", ["messages_sent", "messages_received"]), [16, 4]);
}

#[test]
fn server_streaming() {
    let server = GoServer::start("interop");
    let steps = format!(
        "- grpc: {SERVICE}/StreamingOutputCall\n  message: {{ response_parameters: [ {{ size: 31415 }}, \
         {{ size: 9 }}, {{ size: 2653 }}, {{ size: 58979 }} ] }}\n  stream: {{ closed_by: server }}"
    );
    let said = run(&server, &steps, 0);
    no_faults(&said);
    assert_eq!(stream(&said, "streams", ["streams", "closed_by_server", "events"]), [4, 4, 16]);
    assert_eq!(ended(&said, "OK"), 4.0);
    let bytes = count(&said, "/totals/bytes_in");
    let payload = 4 * (31_415 + 9 + 2_653 + 58_979);
    assert!((payload..payload + 4_000).contains(&bytes), "{bytes} of {payload}");
}

#[test]
fn ping_pong_and_empty_stream() {
    let server = GoServer::start("interop");
    let pairs = [(31_415, 27_182), (9, 8), (2_653, 1_828), (58_979, 45_904)];
    let dialog: String = pairs
        .iter()
        .map(|(wanted, sent)| {
            format!(
                "\n      - send: {{ message: {{ response_parameters: [ {{ size: {wanted} }} ], \
                 payload: {{ body: {} }} }} }}\n      - expect: {{ json: {{ $.payload.body: {} }} }}",
                zeros(*sent),
                zeros(*wanted)
            )
        })
        .collect();
    let steps = format!("- grpc: {SERVICE}/FullDuplexCall\n  stream:\n    while_open:{dialog}");
    let said = run(&server, &steps, 0);
    no_faults(&said);
    assert_eq!(stream(&said, "websockets", ["messages_sent", "messages_received"]), [16, 16]);
    assert_eq!(count(&said, "/websockets/0/round_trip/count"), 16);
    let said = run(&server, &format!("- grpc: {SERVICE}/FullDuplexCall"), 0);
    no_faults(&said);
    assert_eq!(stream(&said, "websockets", ["opened", "messages_received"]), [4, 0]);
    assert_eq!(ended(&said, "OK"), 4.0);
}

#[test]
fn custom_metadata() {
    let server = GoServer::start("interop");
    let (initial, trailing) = ("x-grpc-test-echo-initial", "x-grpc-test-echo-trailing-bin");
    let sent = format!("{{ {initial}: test_initial_metadata_value, {trailing}: q6ur }}");
    let checks = format!("{{ {initial}: test_initial_metadata_value, {trailing}: q6ur }}");
    let unary = format!(
        "- grpc: {SERVICE}/UnaryCall\n  message: {{ response_size: 314159, payload: {{ body: {} }} }}\n  \
         metadata: {sent}\n  check: {{ metadata: {checks} }}",
        zeros(271_828)
    );
    let said = run(&server, &unary, 0);
    no_faults(&said);
    assert_eq!(count(&said, "/checks/0/evaluations"), 4);
    let duplex = format!(
        "- grpc: {SERVICE}/FullDuplexCall\n  messages: [ {{ response_parameters: [ {{ size: 314159 }} ] }} ]\n  \
         metadata: {sent}\n  check: {{ metadata: {checks} }}"
    );
    no_faults(&run(&server, &duplex, 0));
    assert_eq!(
        only(
            &run(&server, &unary.replace("q6ur }\n  check", "q6us }\n  check"), 99),
            "check_failed",
            "server"
        ),
        4
    );
}

#[test]
fn status_code_and_message_and_special_status_message() {
    let server = GoServer::start("interop");
    for (message, written) in [
        ("test status message", "test status message"),
        (
            "\t\ntest with whitespace\r\nand Unicode BMP ☺ and non-BMP 😈\t\n",
            "\\t\\ntest with whitespace\\r\\nand Unicode BMP ☺ and non-BMP 😈\\t\\n",
        ),
    ] {
        let status = format!("{{ response_status: {{ code: 2, message: \"{written}\" }} }}");
        let check = format!("check: {{ status: UNKNOWN, message: \"{written}\" }}");
        for steps in [
            format!("- grpc: {SERVICE}/UnaryCall\n  message: {status}\n  {check}"),
            format!("- grpc: {SERVICE}/FullDuplexCall\n  messages: [ {status} ]\n  {check}"),
        ] {
            let said = run(&server, &steps, 0);
            no_faults(&said);
            assert_eq!(ended(&said, "UNKNOWN"), 4.0, "{message:?}");
        }
    }
    let steps =
        format!("- grpc: {SERVICE}/UnaryCall\n  message: {{ response_status: {{ code: 2, message: no }} }}");
    assert_eq!(only(&run(&server, &steps, 99), "grpc_unknown", "server"), 4);
}

#[test]
fn unimplemented_method_and_unimplemented_service() {
    let server = GoServer::start("interop");
    for method in
        ["grpc.testing.TestService/UnimplementedCall", "grpc.testing.UnimplementedService/UnimplementedCall"]
    {
        let said = run(&server, &format!("- grpc: {method}\n  message: {{}}"), 99);
        assert_eq!(only(&said, "grpc_unimplemented", "server"), 4, "{method}");
        assert_eq!(ended(&said, "UNIMPLEMENTED"), 4.0);
    }
}

#[test]
fn cancel_after_begin_and_cancel_after_first_response() {
    let server = GoServer::start("interop");
    // A call that sends nothing and receives nothing until its time is over.
    let begin = format!(
        "- grpc: {SERVICE}/FullDuplexCall\n  stream: {{ duration: 50ms, while_open: [ {{ think: 5s }} ] }}"
    );
    let said = run(&server, &begin, 0);
    no_faults(&said);
    assert_eq!(stream(&said, "websockets", ["opened", "closed_by_client", "messages_received"]), [4, 4, 0]);
    let first = format!(
        "- grpc: {SERVICE}/FullDuplexCall\n  stream:\n    events: 1\n    while_open:\n      \
         - send: {{ message: {{ response_parameters: [ {{ size: 31415 }} ], payload: {{ body: {} }} }} }}\n      \
         - think: 5s",
        zeros(27_182)
    );
    let said = run(&server, &first, 0);
    no_faults(&said);
    assert_eq!(stream(&said, "websockets", ["closed_by_client", "messages_received"]), [4, 4]);
}

#[test]
fn timeout_on_sleeping_server() {
    let server = GoServer::start("interop");
    let steps = format!(
        "- grpc: {SERVICE}/FullDuplexCall\n  deadline: 20ms\n  messages: [ {{ response_parameters: [ {{ size: 1, \
         interval_us: 2000000 }} ], payload: {{ body: {} }} }} ]",
        zeros(27_182)
    );
    let said = run(&server, &steps, 99);
    let timed_out = |class: &str| crate::provoke::faults(&said).get(class).map_or(0, |row| row.1);
    // Both sides measure the same time.
    assert_eq!(timed_out("timeout") + timed_out("grpc_deadline_exceeded"), 4, "{}", said["faults"]);
}
