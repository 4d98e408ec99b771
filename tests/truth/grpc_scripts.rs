//! Calls of scripts (`k6/net/grpc`) against grpc-go: what the server decoded, and what scripts see of its responses.

use crate::help::count;
use crate::provoke::{faults, no_faults};
use crate::support::peers::{GoServer, Pki};
use crate::support::{Output, Scratch, Tool};
use serde_json::Value;

fn proto() -> String {
    format!("{}/testbed/peers/grpc", env!("CARGO_MANIFEST_DIR"))
}

/// Runs a script with users as `load` says; `body` is its default function with a connected client.
fn run(server: &GoServer, load: &str, body: &str) -> Output {
    let scratch = Scratch::new();
    let text = format!(
        "import grpc from 'k6/net/grpc';\nimport {{ check, fail }} from 'k6';\nimport exec from 'k6/execution';\n\
         const client = new grpc.Client();\nclient.load(['{}'], 'echo.proto');\n\
         export const options = {load};\n\
         const equal = (a, b) => {{ if (JSON.stringify(a) !== JSON.stringify(b)) \
         throw new Error(`${{JSON.stringify(a)}} instead of ${{JSON.stringify(b)}}`); }};\n\
         export default function () {{\n\
         client.connect('{}', {{ plaintext: true }});\n{body}\n}}\n",
        proto(),
        server.address()
    );
    let file = scratch.file("load.js", &text);
    Tool::run(&["run", &file, "--json"])
}

const ONCE: &str = "{ vus: 1, iterations: 1 }";

#[test]
fn a_message_reaches_the_server_and_comes_back_in_the_json_of_protocol_buffers() {
    let server = GoServer::start("grpc");
    let said = run(
        &server,
        // Of shared iterations, a user could get none.
        "{ scenarios: { each: { executor: 'per-vu-iterations', vus: 3, iterations: 4 } } }",
        "const message = { aDouble: NaN, anInt64: '-9007199254740993', a_uint32: 7, aBool: true, aString: 'grüße',
           someBytes: 'AP8=', color: 'COLOR_BLUE', item: { id: 1, tags: ['a', 'b'] }, items: [{ name: 'x' }, {}],
           numbers: [1, -2], counts: { a: 1 }, byId: { '-5': { name: 'five' } }, right: { id: 3 }, maybe: 0,
           at: '2026-01-31T12:00:00.5Z', took: '1.5s', label: 'l', big: '5', shape: { a: [1, null, { b: true }] },
           anyValue: [1], list: ['x'], mask: 'aString,item.id', byFlag: { true: 'yes' },
           packed: { '@type': 'type.googleapis.com/echo.v1.Item', id: 9 }, farAway: 'end' };
         const { status, message: back, error } = client.invoke('echo.v1.Echo/Send', message);
         equal([status, error], [grpc.StatusOK, null]);
         equal([back.aDouble, back.anInt64, back.aUint32, back.aString], ['NaN', '-9007199254740993', 7, 'grüße']);
         equal([back.color, back.someBytes, back.colors, back.aFloat], ['COLOR_BLUE', 'AP8=', [], 0]);
         equal(back.item, { id: '1', name: '', tags: ['a', 'b'], color: 'COLOR_UNSPECIFIED' });
         equal([back.byId['-5'].name, back.counts, back.maybe], ['five', { a: 1 }, 0]);
         equal([back.at, back.took, back.label, back.big], ['2026-01-31T12:00:00.500Z', '1.500s', 'l', '5']);
         equal([back.shape, back.mask, back.byFlag], [message.shape, message.mask, { true: 'yes' }]);
         equal([back.packed['@type'], back.packed.id], ['type.googleapis.com/echo.v1.Item', '9']);
         equal([back.left, back.right.id, back.farAway], [undefined, '3', 'end']);
         equal(client.invoke('/echo.v1.Echo/Send', {}).message.item, null);",
    );
    let json = said.expect_code(0).json();
    no_faults(&json);
    assert_eq!(count(&json, "/totals/requests"), 24);
    let seen = server.stats();
    assert_eq!([count(&seen, "/calls"), count(&seen, "/messages")], [24, 24]);
    // Each user has one connection; one more was the trial.
    assert_eq!(count(&seen, "/connections"), 4);
}

#[test]
fn metadata_deadlines_and_statuses_are_those_of_grpc() {
    let server = GoServer::start("grpc");
    let said = run(
        &server,
        ONCE,
        "const metadata = { 'X-Status': '5', 'x-message': 'no such item', 'x-details': '1' };
         let response = client.invoke('echo.v1.Echo/Send', { aString: 'x' }, { metadata, tags: { kind: 'one' } });
         equal([response.status, grpc.StatusNotFound], [5, 5]);
         equal(response.message.aString, '');
         equal([response.error.code, response.error.message], [5, 'no such item']);
         equal(response.error.details[0]['@type'], 'type.googleapis.com/google.protobuf.StringValue');
         equal(response.trailers['x-trailer'], ['end']);
         response = client.invoke('echo.v1.Echo/Send', {}, { metadata: { 'x-echo': 'one' } });
         equal([response.headers['x-header'], response.headers['content-type']], [['one'], ['application/grpc']]);
         equal([response.trailers['x-trailer'], response.error], [['end'], null]);
         response = client.invoke('echo.v1.Echo/Send', {}, { metadata: { 'x-delay': '5s' }, timeout: '50ms' });
         equal([response.status, response.error.code], [grpc.StatusDeadlineExceeded, 4]);
         equal(client.invoke('echo.v1.Echo/Send', {}, { discardResponseMessage: true }).message, null);
         equal(client.healthCheck().status, grpc.HealthCheckServing);
         client.close();",
    );
    let json = said.json();
    assert!(!said.stderr.contains("Error: "), "{}", said.stderr);
    assert_eq!(only_named(&json, "grpc_not_found"), 1);
    assert_eq!(count(&json, "/totals/requests"), 5);
}

fn only_named(said: &Value, class: &str) -> u64 {
    faults(said).get(class).map_or(0, |row| row.1)
}

#[test]
fn a_close_ends_the_connection_and_the_next_connect_opens_another() {
    let server = GoServer::start("grpc");
    let said = run(
        &server,
        "{ vus: 2, iterations: 10 }",
        "client.invoke('echo.v1.Echo/Send', {}); client.invoke('echo.v1.Echo/Send', {}); client.close();
         let thrown = '';
         try { client.invoke('echo.v1.Echo/Send', {}); } catch (error) { thrown = error.message; }
         equal(thrown, 'no connection: call connect() first');",
    );
    no_faults(&said.expect_code(0).json());
    assert_eq!(count(&server.stats(), "/connections"), 11);
}

#[test]
fn promises_of_calls_run_at_the_same_time() {
    let server = GoServer::start("grpc");
    let said = run(
        &server,
        ONCE,
        "const slow = { metadata: { 'x-delay': '200ms' } };
         const began = Date.now();
         const all = [1, 2, 3].map((id) => client.asyncInvoke('echo.v1.Echo/Send', { anInt32: id }, slow));
         return Promise.all(all).then((responses) => {
           equal(responses.map((one) => one.message.anInt32), [1, 2, 3]);
           if (Date.now() - began > 550) throw new Error(`${Date.now() - began} ms`);
           return client.asyncInvoke('echo.v1.Echo/None', {}).then(() => fail('it resolves'), (error) => {
             equal(error.message, 'method `echo.v1.Echo/None` is not in the schemas that the client has loaded');
           });
         });",
    );
    no_faults(&said.expect_code(0).json());
    assert_eq!(count(&server.stats(), "/calls"), 3);
}

#[test]
fn streams_send_and_receive_until_each_side_ends() {
    let server = GoServer::start("grpc");
    let said = run(
        &server,
        "{ vus: 2, iterations: 4 }",
        "const seen = [];
         const chat = new grpc.Stream(client, 'echo.v1.Echo/Chat');
         chat.on('data', (item) => {
           seen.push(item.name);
           if (seen.length < 3) chat.write({ name: `m${seen.length}` }); else chat.end();
         });
         chat.on('error', (error) => fail(`${error.code}: ${error.message}`));
         chat.on('end', () => {
           equal(seen, ['m0', 'm1', 'm2']);
           const collect = new grpc.Stream(client, 'echo.v1.Echo/Collect');
           collect.on('data', ({ items }) => equal(items.map((item) => item.id), ['1', '2']));
           collect.on('end', () => {
             const times = { metadata: { 'x-times': '4' } };
             const repeat = new grpc.Stream(client, 'echo.v1.Echo/Repeat', times);
             const ids = [];
             repeat.on('data', (item) => ids.push(item.id));
             repeat.on('end', () => { equal(ids, ['5', '6', '7', '8']); exec.vu.metrics.tags.done = '1'; });
             repeat.write({ id: 5 });
             repeat.end();
           });
           collect.write({ id: 1 });
           collect.write({ id: 2 });
           collect.end();
         });
         chat.write({ name: 'm0' });",
    );
    let json = said.expect_code(0).json();
    no_faults(&json);
    let seen = server.stats();
    assert_eq!([count(&seen, "/calls"), count(&seen, "/messages")], [12, 24]);
    let rows = json["websockets"].as_array().unwrap_or_else(|| panic!("{json}"));
    let sum = |field: &str| rows.iter().map(|row| count(row, &format!("/{field}"))).sum::<u64>();
    assert_eq!(["opened", "messages_sent", "messages_received"].map(sum), [12, 24, 32]);
}

#[test]
fn the_status_of_a_stream_is_an_error_for_its_script() {
    let server = GoServer::start("grpc");
    let said = run(
        &server,
        ONCE,
        "const events = [];
         const end = () => {
           if (events.length === 4) equal(events, ['7: not allowed', 'end', '4: the deadline has passed', 'end']);
         };
         const open = (params) => {
           const stream = new grpc.Stream(client, 'echo.v1.Echo/Repeat', params);
           stream.on('error', (error) => events.push(`${error.code}: ${error.message}`));
           stream.on('end', () => { events.push('end'); end(); });
           stream.write({ id: 1 });
           stream.end();
         };
         open({ metadata: { 'x-status': '7', 'x-message': 'not allowed' } });
         open({ metadata: { 'x-times': '100', 'x-pause': '20ms' }, timeout: '300ms' });",
    );
    let json = said.json();
    assert!(!said.stderr.contains("Error: "), "{}", said.stderr);
    assert_eq!(only_named(&json, "grpc_permission_denied"), 1, "{json}");
}

#[test]
fn a_server_that_is_not_there_fails_the_iteration_and_its_threshold() {
    let server = GoServer::start("grpc");
    let address = server.address();
    drop(server);
    let scratch = Scratch::new();
    let text = format!(
        "import grpc from 'k6/net/grpc';\nconst client = new grpc.Client();\n\
         export default () => client.connect('{address}', {{ plaintext: true }});\n"
    );
    let output = Tool::run(&["k6", "run", &scratch.file("load.js", &text)]).expect_code(99);
    assert!(output.stderr.contains(&format!("connect to `{address}`: ")), "{}", output.stderr);
}

#[test]
fn calls_go_over_tls_with_the_authorities_of_the_script() {
    let pki = Pki::new("DNS:localhost,IP:127.0.0.1");
    let ((certificate, key), ca) = (pki.server(), pki.ca_file().display().to_string());
    let files = [certificate.display().to_string(), key.display().to_string()];
    let server = GoServer::start_with("grpc", &["-certificate", &files[0], "-key", &files[1]]);
    let scratch = Scratch::new();
    let script = |tls: &str| {
        let text = format!(
            "import grpc from 'k6/experimental/grpc';\nconst client = new grpc.Client();\n\
             client.load(['{}'], 'echo.proto');\nconst ca = open('{ca}');\n\
             export default () => {{ client.connect('localhost:{}', {tls});\n\
             if (client.invoke('echo.v1.Echo/Send', {{}}).status !== 0) throw new Error('a status'); }};\n",
            proto(),
            server.address().port()
        );
        scratch.file("load.js", &text)
    };
    no_faults(
        &Tool::run(&["run", &script("{ tls: { cacerts: [ca] } }"), "-n", "3", "--json"])
            .expect_code(0)
            .json(),
    );
    let output = Tool::run(&["k6", "run", &script("{}")]).expect_code(99);
    assert!(output.stderr.contains("certificate"), "{}", output.stderr);
}

#[test]
fn thresholds_and_the_text_of_k6_have_the_metrics_of_calls() {
    let server = GoServer::start("grpc");
    let scratch = Scratch::new();
    let text = format!(
        "import grpc from 'k6/net/grpc';\nconst client = new grpc.Client();\nclient.load(['{}'], 'echo.proto');\n\
         export const options = {{ iterations: 6, thresholds: {{ grpc_req_duration: ['max < 5000', 'max > 0'],\n\
         'grpc_req_duration{{method:Send}}': ['avg < 5000'], http_req_duration: ['p(95) < 0.001'] }} }};\n\
         export default () => {{ client.connect('{}', {{ plaintext: true }});\n\
         client.invoke('echo.v1.Echo/Send', {{}}); }};\n",
        proto(),
        server.address()
    );
    let file = scratch.file("load.js", &text);
    let output = Tool::run(&["k6", "run", &file]).expect_code(0);
    assert!(output.stdout.contains("grpc_req_duration"), "{}", output.stdout);
    assert!(!output.stdout.contains("http_reqs"), "{}", output.stdout);
    let json = Tool::run(&["run", &file, "--json"]).json();
    let rows = json["thresholds"].as_array().unwrap_or_else(|| panic!("{json}"));
    let row =
        |text: &str| rows.iter().find(|row| row["text"].as_str().is_some_and(|own| own.starts_with(text)));
    let samples = |text: &str| row(text).map(|row| (row["samples"].as_u64(), row["is_met"].as_bool()));
    assert_eq!(samples("grpc_req_duration: max <"), Some((Some(6), Some(true))), "{rows:?}");
    assert_eq!(samples("grpc_req_duration{method:Send}"), Some((Some(6), Some(true))), "{rows:?}");
    assert_eq!(samples("http_req_duration"), Some((Some(0), Some(false))), "{rows:?}");
}

#[test]
fn a_schema_with_a_mistake_is_refused_with_its_place() {
    let scratch = Scratch::new();
    scratch.file("broken.proto", "syntax = \"proto3\";\nmessage A { Missing b = 1; }\n");
    let text = "import grpc from 'k6/net/grpc';\nconst client = new grpc.Client();\n\
                client.load([], 'broken.proto');\nexport default () => {};\n";
    let output = Tool::run(&["run", &scratch.file("load.js", text)]).expect_code(2);
    assert!(output.stderr.contains("broken.proto:2:13: "), "{}", output.stderr);
    assert!(output.stderr.contains("load.js:3:"), "{}", output.stderr);
}

#[test]
fn schemas_come_from_the_server_once_for_all_users() {
    let server = GoServer::start_with("grpc", &["-reflection", "v1alpha", "-token", "Bearer abc"]);
    let scratch = Scratch::new();
    let script = |token: &str| {
        let text = format!(
            "import grpc from 'k6/net/grpc';\nconst client = new grpc.Client();\n\
             export const options = {{ vus: 3, iterations: 9 }};\nexport default () => {{\n\
             const reflectMetadata = {{ authorization: '{token}' }};\n\
             client.connect('{}', {{ plaintext: true, reflect: true, reflectMetadata }});\n\
             const {{ message }} = client.invoke('echo.v1.Echo/Send', {{ aString: 'x' }});\n\
             if (message.aString !== 'x') throw new Error(JSON.stringify(message));\n}};\n",
            server.address()
        );
        scratch.file("load.js", &text)
    };
    let json = Tool::run(&["run", &script("Bearer abc"), "--json"]).json();
    assert_eq!(count(&server.stats(), "/calls"), 9, "{json}");
    let output = Tool::run(&["run", &script("none")]);
    assert!(output.stderr.contains("UNAUTHENTICATED: a token is required"), "{}", output.stderr);
    assert_eq!(count(&server.stats(), "/calls"), 9);
}
