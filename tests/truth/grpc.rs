//! plimsoll against grpc-go: messages are decoded and encoded by the reference implementation of Protocol Buffers, and
//! the server counts calls, messages, and statuses itself. Responses that are not gRPC come from the ruler.

use crate::help::count;
use crate::provoke::{faults, no_faults, only};
use crate::support::peers::GoServer;
use crate::support::{Ruler, Scratch, Tool};
use serde_json::{Value, json};
use std::path::Path;

/// Runs the steps of one scenario against a target, and returns the result of a run that ended with this code.
#[track_caller]
pub fn run(target: &str, steps: &str, load: &str, code: i32) -> Value {
    let scratch = Scratch::new();
    let proto = Path::new(env!("CARGO_MANIFEST_DIR")).join("testbed/peers/grpc/echo.proto");
    let indented: String = steps.lines().map(|line| format!("    {line}\n")).collect();
    let text = format!(
        "target: {target}\ngrpc: {{ protos: {} }}\nscenarios:\n  one:\n{indented}load: {load}\n",
        proto.display()
    );
    let file = scratch.file("experiment.yaml", &text);
    let output = Tool::run(&["run", &file, "--json", "--out", &scratch.path("run.plim")]);
    output.expect_code(code).json()
}

/// The number of calls that ended with a status, as plimsoll counted it.
pub fn ended(said: &Value, status: &str) -> f64 {
    let metrics = said["metrics"].as_array().cloned().unwrap_or_default();
    let all = metrics.iter().filter(|metric| metric["name"] == "grpc_status");
    let mut series = all.flat_map(|metric| metric["series"].as_array().cloned().unwrap_or_default());
    series.find(|one| one["labels"]["status"] == status).and_then(|one| one["total"].as_f64()).unwrap_or(0.0)
}

#[test]
fn every_call_is_counted_by_both_sides() {
    let server = GoServer::start("grpc");
    let steps = "- grpc: echo.v1.Echo/Send\n  message: { an_int64: \"${counter}\", a_string: \"${uuid}\" }\n  \
                 check: { json: { $.a_string: { matches: \"^[0-9a-f-]{36}$\" } } }";
    let said = run(&server.url(""), steps, "{ users: 8, requests: 3000 }", 0);
    no_faults(&said);
    let seen = server.stats();
    assert_eq!(
        [count(&said, "/totals/requests"), count(&seen, "/calls"), count(&seen, "/messages")],
        [3000; 3]
    );
    assert_eq!(seen["statuses"], json!({ "OK": 3000 }));
    assert_eq!(ended(&said, "OK"), 3000.0, "{}", said["metrics"]);
    // The trial connection before the load sends no call.
    assert_eq!(count(&seen, "/connections"), 9);
}

#[test]
fn thresholds_judge_the_share_of_each_status() {
    let server = GoServer::start("grpc");
    // Of 40 calls, 10 end with NOT_FOUND, which is expected, and none with UNAVAILABLE.
    let steps = "- repeat: 3\n  steps: [ { grpc: echo.v1.Echo/Send, message: {} } ]\n\
                 - grpc: echo.v1.Echo/Send\n  message: {}\n  metadata: { x-status: 5 }\n  check: { status: NOT_FOUND }";
    let load = |rules: &str| format!("{{ users: 2, iterations: 10 }}\nthresholds: {rules}");
    let met = "[ \"grpc_status{status: OK} == 75%\", \"grpc_status{status: NOT_FOUND} <= 25%\", \
               \"grpc_status{status: UNAVAILABLE} == 0%\", \"grpc_status{status: 'OK, NOT_FOUND'} == 100%\" ]";
    let said = run(&server.url(""), steps, &load(met), 0);
    no_faults(&said);
    let judged = |said: &Value, at: usize| {
        (said["thresholds"][at]["observed"].clone(), said["thresholds"][at]["samples"].clone())
    };
    assert_eq!(
        [0, 1, 2, 3].map(|at| judged(&said, at)),
        [0.75, 0.25, 0.0, 1.0].map(|share| (json!(share), json!(40)))
    );
    assert_eq!(server.stats()["statuses"], json!({ "OK": 30, "NotFound": 10 }));
    // The same statuses, judged more strictly.
    let said = run(&server.url(""), steps, &load("[ \"grpc_status{status: NOT_FOUND} < 25%\" ]"), 99);
    let sentence = said["verdict"]["sentence"].as_str().unwrap();
    assert!(
        sentence.contains("25% of 40 gRPC calls ended with NOT_FOUND; the threshold is < 25%"),
        "{sentence}"
    );
}

#[test]
fn a_threshold_on_a_status_stops_a_run_by_its_windows() {
    let server = GoServer::start("grpc");
    let steps = "- { grpc: echo.v1.Echo/Send, message: {}, metadata: { x-status: 14 }, think: 10ms }";
    let load = "{ users: 2, duration: 60s }\nthresholds: [ error_rate <= 100%, \
                { threshold: \"grpc_status{status: UNAVAILABLE} < 50%\", abort_after: 1s } ]";
    let said = run(&server.url(""), steps, load, 99);
    assert_eq!(said["stopped_by"], "threshold");
}

#[test]
fn every_kind_of_field_arrives_and_returns() {
    let server = GoServer::start("grpc");
    let steps = r#"- set: { n: "7", text: "a \"b\"", flag: "true", at: "2026-01-31T12:00:00.25Z" }
- grpc: echo.v1.Echo/Send
  message:
    a_double: 1.5
    a_float: "${n}"
    an_int32: -1
    an_int64: "-${n}"
    a_uint32: 4294967295
    aUint64: 18446744073709551615
    a_sint32: "-${n}"
    a_sint64: -9223372036854775808
    a_fixed32: "${n}"
    a_fixed64: 8
    a_sfixed32: -9
    a_sfixed64: "-${n}"
    a_bool: "${flag}"
    a_string: "${text}"
    some_bytes: AP8=
    color: COLOR_BLUE
    item: { id: "${n}", name: "${text}", tags: [a, "${n}"], color: 1 }
    items: [ { id: 1 }, { id: "${n}" }, {} ]
    numbers: [1, "${n}", -300]
    texts: [a, ""]
    counts: { one: 1, seven: "${n}" }
    by_id: { 5: { name: five }, -6: { id: "${n}" } }
    right: { id: 3 }
    maybe: 0
    at: "${at}"
    took: -1.5s
    label: "${text}"
    big: 9007199254740993
    shape: { a: 1, b: [ x, null, true, { c: "${n}" } ] }
    any_value: [ 1.5, "2" ]
    list: [ {}, [] ]
    mask: "a,b.c"
    packed: { "@type": type.googleapis.com/echo.v1.Item, id: "${n}", tags: [z] }
    colors: [ COLOR_RED, 0, COLOR_BLUE ]
    by_flag: { true: yes }
    far_away: "${n}"
  check:
    json:
      $.a_double: 1.5
      $.a_float: 7
      $.an_int32: -1
      $.an_int64: -7
      $.a_uint32: 4294967295
      $.a_uint64: 18446744073709551615
      $.a_sint32: -7
      $.a_sint64: -9223372036854775808
      $.a_fixed32: 7
      $.a_fixed64: 8
      $.a_sfixed32: -9
      $.a_sfixed64: -7
      $.a_bool: true
      $.a_string: "a \"b\""
      $.some_bytes: AP8=
      $.color: COLOR_BLUE
      $.item.name: "a \"b\""
      $.item.tags[1]: 7
      $.item.color: COLOR_RED
      $.items[1].id: 7
      $.items[2].name: ""
      $.numbers[2]: -300
      $.texts[1]: ""
      $.counts.seven: 7
      $.by_id['5'].name: five
      $.by_id['-6'].id: 7
      $.left: { exists: false }
      $.right.id: 3
      $.maybe: 0
      $.at: "2026-01-31T12:00:00.250Z"
      $.took: "-1.500s"
      $.label: "a \"b\""
      $.big: 9007199254740993
      $.shape.b[3].c: 7
      $.shape.b[1]: null
      $.any_value[1]: "2"
      $.list: "[{},[]]"
      $.mask: "a,b.c"
      $.packed.id: 7
      $.packed.tags[0]: z
      $.colors: "[\"COLOR_RED\",\"COLOR_UNSPECIFIED\",\"COLOR_BLUE\"]"
      $.by_flag.true: yes
      $.far_away: 7
"#;
    let said = run(&server.url(""), steps, "{ users: 1, iterations: 2 }", 0);
    no_faults(&said);
    let text = "a \"b\"";
    let item = json!({ "id": "7", "name": text, "tags": ["a", "7"], "color": "COLOR_RED" });
    // The JSON form of Protocol Buffers: numbers of 64 bits are texts, and defaults are left out.
    let expected = json!({
        "a_double": 1.5, "a_float": 7, "an_int32": -1, "an_int64": "-7", "a_uint32": 4_294_967_295_u32,
        "a_uint64": "18446744073709551615", "a_sint32": -7, "a_sint64": "-9223372036854775808", "a_fixed32": 7,
        "a_fixed64": "8", "a_sfixed32": -9, "a_sfixed64": "-7", "a_bool": true, "a_string": text,
        "some_bytes": "AP8=", "color": "COLOR_BLUE", "item": item,
        "items": [{ "id": "1" }, { "id": "7" }, {}], "numbers": [1, 7, -300], "texts": ["a", ""],
        "counts": { "one": 1, "seven": 7 }, "by_id": { "5": { "name": "five" }, "-6": { "id": "7" } },
        "right": { "id": "3" }, "maybe": 0, "at": "2026-01-31T12:00:00.250Z", "took": "-1.500s", "label": text,
        "big": "9007199254740993", "shape": { "a": 1, "b": ["x", null, true, { "c": "7" }] },
        "any_value": [1.5, "2"], "list": [{}, []], "mask": "a,b.c",
        "packed": { "@type": "type.googleapis.com/echo.v1.Item", "id": "7", "tags": ["z"] },
        "colors": ["COLOR_RED", "COLOR_UNSPECIFIED", "COLOR_BLUE"], "by_flag": { "true": "yes" },
        "far_away": "7",
    });
    assert_eq!(server.stats()["last"], expected);
}

#[test]
fn a_status_is_a_failure_unless_the_call_expects_it() {
    let server = GoServer::start("grpc");
    let call = "- grpc: echo.v1.Echo/Send\n  metadata: { x-status: 5, x-message: \"no such item: ä\", x-details: 1 }";
    let load = "{ users: 2, requests: 40 }";
    let said = run(&server.url(""), call, load, 99);
    assert_eq!(only(&said, "grpc_not_found", "server"), 40);
    assert_eq!(ended(&said, "NOT_FOUND"), 40.0, "{}", said["metrics"]);
    let example = &said["failure_examples"][0];
    assert_eq!(example["observed"], "NOT_FOUND: no such item: ä", "{example}");
    assert_eq!(example["excerpt"], "google.protobuf.StringValue \"more\"", "{example}");
    let expects =
        format!("{call}\n  check: {{ status: \"OK,NOT_FOUND\", message: {{ contains: \"item: ä\" }} }}");
    no_faults(&run(&server.url(""), &expects, load, 0));
    let other = format!("{call}\n  check: {{ status: NOT_FOUND, message: gone }}");
    assert_eq!(only(&run(&server.url(""), &other, load, 99), "check_failed", "server"), 40);
    let ok = "- grpc: echo.v1.Echo/Send\n  check: { status: NOT_FOUND }";
    assert_eq!(only(&run(&server.url(""), ok, load, 99), "check_failed", "server"), 40);
    assert_eq!(server.stats()["statuses"], json!({ "NotFound": 120, "OK": 40 }));
}

#[test]
fn every_status_is_a_failure_of_its_own() {
    let server = GoServer::start("grpc");
    let steps: String = (1..=17)
        .map(|code| {
            format!(
                "- grpc: echo.v1.Echo/Send\n  name: s{code}\n  metadata: {{ x-status: {code} }}\n  \
                 on_failure: continue\n"
            )
        })
        .collect();
    let said = run(&server.url(""), &steps, "{ users: 1, iterations: 3 }", 99);
    let found = faults(&said);
    assert_eq!(found.len(), 16, "{found:?}");
    for (class, (side, count)) in found {
        // A number that gRPC does not define is `UNKNOWN`.
        let expected = if class == "grpc_unknown" { 6 } else { 3 };
        assert_eq!((side.as_str(), count, class.starts_with("grpc_")), ("server", expected, true), "{class}");
    }
}

#[test]
fn metadata_and_trailers_are_checked_and_extracted() {
    let server = GoServer::start("grpc");
    let steps = "- grpc: echo.v1.Echo/Send\n  metadata: { x-echo: \"u${user}\" }\n  \
                 check: { metadata: { x-header: \"u${user}\", x-trailer: end, x-none: { exists: false } } }\n  \
                 extract: { end: { header: x-trailer }, status: status }\n\
                 - grpc: echo.v1.Echo/Send\n  name: second\n  message: { a_string: \"${end} ${status}\" }\n";
    no_faults(&run(&server.url(""), steps, "{ users: 2, iterations: 10 }", 0));
    assert_eq!(server.stats()["last"], json!({ "a_string": "end OK" }));
}

#[test]
fn messages_are_compressed_both_ways() {
    let server = GoServer::start("grpc");
    let text = "x".repeat(5000);
    let call = |compression: &str| {
        format!(
            "- grpc: echo.v1.Echo/Send\n  message: {{ a_string: \"${{user}}{text}\" }}\n  \
             compression: {compression}\n  check: {{ json: {{ $.a_string: {{ contains: {text} }} }} }}"
        )
    };
    let bytes = |said: &Value, field: &str| count(said, &format!("/totals/{field}"));
    let load = "{ users: 1, requests: 20 }";
    let plain = run(&server.url(""), &call("none"), load, 0);
    let coded = run(&server.url(""), &call("gzip"), load, 0);
    for said in [&plain, &coded] {
        no_faults(said);
    }
    for field in ["bytes_out", "bytes_in"] {
        assert!(bytes(&plain, field) > 100_000, "{}", plain["totals"]);
        assert!(bytes(&coded, field) < 20_000, "{}", coded["totals"]);
    }
    assert_eq!(count(&server.stats(), "/messages"), 40);
}

#[test]
fn the_server_knows_the_deadline_and_the_client_keeps_it() {
    let server = GoServer::start("grpc");
    let steps =
        "- grpc: echo.v1.Echo/Send\n  metadata: { x-delay: 5s }\n  deadline: 100ms\n  on_failure: continue";
    let said = run(&server.url(""), steps, "{ users: 2, requests: 10 }", 99);
    let found = faults(&said);
    // Both sides measure the same time, so either may notice first.
    let of = |class: &str| found.get(class).map_or(0, |row| row.1);
    assert_eq!(of("timeout") + of("grpc_deadline_exceeded"), 10, "{found:?}");
    assert!(said["duration_s"].as_f64().is_none_or(|s| s < 3.0), "{}", said["duration_s"]);
    let steps = "- grpc: echo.v1.Echo/Send\n  metadata: { x-delay: 20ms }\n  deadline: 5s";
    no_faults(&run(&server.url(""), steps, "{ users: 2, requests: 10 }", 0));
}

#[test]
fn a_method_that_the_server_lacks_is_unimplemented() {
    let server = GoServer::start("grpc");
    let scratch = Scratch::new();
    let proto =
        "syntax = \"proto3\"; package echo.v1; service Other { rpc Send(A) returns (A); } message A {}";
    scratch.file("other.proto", proto);
    let text = format!(
        "target: {}\ngrpc: {{ protos: other.proto }}\nscenarios: {{ one: [ {{ grpc: echo.v1.Other/Send }} ] }}\n\
         load: {{ users: 1, requests: 5 }}\n",
        server.url("")
    );
    let file = scratch.file("experiment.yaml", &text);
    let said = Tool::run(&["run", &file, "--json"]).expect_code(99).json();
    assert_eq!(only(&said, "grpc_unimplemented", "server"), 5);
}

#[test]
fn a_response_that_is_not_grpc_has_a_name_and_a_side() {
    let steps = "- grpc: echo.v1.Echo/Send\n  check: { json: { $.a_string: { exists: true } } }";
    let load = "{ users: 1, requests: 4 }";
    for (keys, class) in [
        ("text=hello&content_type=text/html", "grpc_content_type"),
        ("status=503&text=busy", "http_status"),
        ("text=hello&content_type=application/grpc", "grpc_no_status"),
        // `h` is not a flag of a message, a message is missing, and the bytes are not a message of the type.
        ("text=hello&content_type=application/grpc%2Bproto&header=grpc-status:0", "grpc_invalid_message"),
        ("body=0&content_type=application/grpc&header=grpc-status:0", "grpc_invalid_message"),
    ] {
        let ruler = Ruler::start(&["--http2"]);
        ruler.set(keys);
        let said = run(&ruler.url(""), steps, load, 99);
        assert_eq!(only(&said, class, "server"), 4, "{keys}");
    }
}

#[test]
fn messages_of_a_stream_are_counted_and_their_gaps_are_measured() {
    let server = GoServer::start("grpc");
    let steps = "- grpc: echo.v1.Echo/Repeat\n  message: { id: 5, name: \"${uuid}\" }\n  \
                 metadata: { x-times: 20, x-pause: 10ms, x-echo: early }\n  check: { status: OK, metadata: { x-header: \
                 early, x-trailer: end } }\n  \
                 stream: { sequence: $.id, closed_by: server }";
    let said = run(&server.url(""), steps, "{ users: 3, iterations_per_user: 2 }", 0);
    no_faults(&said);
    let row = &said["streams"][0];
    let counts = ["streams", "closed_by_server", "events", "events_expected", "events_lost"];
    assert_eq!(counts.map(|field| row[field].as_u64()), [6, 6, 120, 120, 0].map(Some), "{row}");
    let gap = row["gap"]["p50_ns"].as_f64().unwrap_or(0.0);
    assert!((5e6..50e6).contains(&gap), "{}", row["gap"]);
    assert_eq!(ended(&said, "OK"), 6.0);
    assert_eq!(server.stats()["statuses"], json!({ "OK": 6 }));
}

#[test]
fn a_stream_fails_by_its_status_and_ends_as_the_client_wants() {
    let server = GoServer::start("grpc");
    let load = "{ users: 2, iterations_per_user: 3 }";
    let call = |metadata: &str, more: &str| {
        format!(
            "- grpc: echo.v1.Echo/Repeat\n  message: {{ id: 1 }}\n  metadata: {{ {metadata} }}\n  \
             on_failure: continue\n{more}"
        )
    };
    // After messages, and without any, so that the head has the status.
    for times in [4, 0] {
        let said = run(&server.url(""), &call(&format!("x-times: {times}, x-status: 14"), ""), load, 99);
        assert_eq!(only(&said, "grpc_unavailable", "server"), 6, "{times} messages");
        assert_eq!(ended(&said, "UNAVAILABLE"), 6.0);
        assert_eq!(said["streams"][0]["events"].as_u64(), Some(6 * times), "{}", said["streams"]);
    }
    let expects = call("x-times: 0, x-status: 14", "  check: { status: UNAVAILABLE }\n");
    no_faults(&run(&server.url(""), &expects, load, 0));
    let closes = call("x-times: 1000, x-pause: 5ms", "  stream: { events: 3, closed_by: client }\n");
    let said = run(&server.url(""), &closes, load, 0);
    no_faults(&said);
    let row = &said["streams"][0];
    assert_eq!(["closed_by_client", "events"].map(|field| row[field].as_u64()), [6, 18].map(Some), "{row}");
    let late = call("x-times: 2, x-pause: 2s", "  stream: { idle_timeout: 100ms }\n");
    assert_eq!(only(&run(&server.url(""), &late, load, 99), "stream_idle_timeout", "server"), 6);
}

#[test]
fn a_message_above_a_limit_fails_on_the_side_that_has_the_limit() {
    let server = GoServer::start("grpc");
    let call = |text: &str| {
        format!(
            "- grpc: echo.v1.Echo/Send\n  message: {{ a_string: \"${{user}}{text}\" }}\n  on_failure: continue"
        )
    };
    // The server accepts at most 1 MiB.
    let said = run(&server.url(""), &call(&"x".repeat(1_100_000)), "{ users: 1, requests: 3 }", 99);
    assert_eq!(only(&said, "grpc_resource_exhausted", "server"), 3);
    let load = "{ users: 1, requests: 3 }\nlimits: { kept_body_bytes: 1k }";
    let said = run(&server.url(""), &call(&"x".repeat(5_000)), load, 3);
    assert_eq!(only(&said, "client_limit", "client"), 3);
    no_faults(&run(&server.url(""), &call(&"x".repeat(500)), load, 0));
}
