//! Servers of other projects: nginx over plain HTTP and TLS, Node and Go with a login and an upload, and an
//! event-stream library. Their logs and counters are compared with the results.

use crate::support::peers::{GoServer, LogLine, Nginx, Node, Options, SseServer};
use crate::support::{Output, Scratch, Tool};
use serde_json::Value;
use std::collections::BTreeSet;

/// Runs an experiment and returns what came of it.
fn run(text: &str) -> (Output, Value, Scratch) {
    run_with(text, &[])
}

fn run_with(text: &str, files: &[(&str, &str)]) -> (Output, Value, Scratch) {
    let scratch = Scratch::new();
    for (name, content) in files {
        scratch.file(name, content);
    }
    let file = scratch.file("experiment.yaml", text);
    let output = Tool::run(&["run", &file, "--json", "--out", &scratch.path("run.plim")]);
    let said = serde_json::from_str(&output.stdout).unwrap_or(Value::Null);
    (output, said, scratch)
}

#[track_caller]
fn passed(output: &Output, said: &Value, requests: u64) {
    assert!([0, 3].contains(&output.code), "{}\n{}", output.stderr, output.stdout);
    assert_eq!(
        (&said["totals"]["requests"], &said["totals"]["errors"]),
        (&requests.into(), &0.into()),
        "{said:#}"
    );
}

/// Connections on which requests of this path came.
fn connections(lines: &[LogLine]) -> BTreeSet<u64> {
    lines.iter().map(|line| line.connection).collect()
}

/// Requests for `/plain`: the handshake before the load sends none.
fn loaded(nginx: &Nginx, number: usize) -> Vec<LogLine> {
    let lines = nginx.wait_for_log_lines(number);
    assert!(lines.iter().all(|line| line.request == "GET /plain HTTP/1.1"), "{lines:?}");
    assert_eq!(lines.len(), number);
    lines
}

#[test]
fn nginx_keeps_connections_as_long_as_it_likes() {
    let nginx = Nginx::start(Options { keepalive_requests: 5, ..Options::default() });
    let target = nginx.http_url("");
    let text = format!(
        "target: {target}\nscenarios: {{ one: [ {{ get: /plain, check: {{ body: {{ \
            equals: fine }} }} }} ] }}\nload: {{ users: 2, iterations_per_user: 10 }}\n"
    );
    let (output, said, _scratch) = run(&text);
    passed(&output, &said, 20);
    let lines = loaded(&nginx, 20);
    assert_eq!(connections(&lines).len(), 4, "5 requests each: {lines:?}");
    assert!(lines.iter().all(|line| line.tls.is_none() && line.status == 200));
}

#[test]
fn https_is_spoken_by_version_name_and_trust() {
    let nginx =
        Nginx::start(Options { names: "DNS:localhost,DNS:shop.test,IP:127.0.0.1", ..Options::default() });
    let port = nginx.ports()[1];
    let ca = nginx.ca_file().display().to_string();
    let mut before = 0;
    for (host, tls, version, name) in [
        ("localhost", "", None, "localhost"),
        ("localhost", ", versions: \"1.2\"", Some("TLSv1.2"), "localhost"),
        ("localhost", ", versions: \"1.3\"", Some("TLSv1.3"), "localhost"),
        ("127.0.0.1", ", server_name: shop.test", Some("TLSv1.3"), "shop.test"),
        ("shop.test", "", Some("TLSv1.3"), "shop.test"),
    ] {
        let text = format!(
            "target: https://{host}:{port}\ntls: {{ ca: {ca}{tls} }}\nconnection: {{ \
                resolve: {{ {host}: 127.0.0.1 }} }}\n\
             scenarios: {{ one: [ {{ get: /plain, check: {{ body: fine }} }} ] }}\nload: \
                 {{ users: 2, iterations_per_user: 3 }}\n"
        );
        let (output, said, _scratch) = run(&text);
        passed(&output, &said, 6);
        let lines = nginx.wait_for_log_lines(before + 6);
        assert_eq!(lines.len(), before + 6);
        for line in &lines[before..] {
            assert_eq!((line.server_name.as_deref(), line.status), (Some(name), 200), "{tls}");
            assert!(version.is_none_or(|version| line.tls.as_deref() == Some(version)), "{tls}: {line:?}");
        }
        assert_eq!(connections(&lines[before..]).len(), 2, "a user keeps its connection");
        assert_eq!(said["tls"]["handshakes"], 2, "{}", said["tls"]);
        before += 6;
    }
}

#[test]
fn a_server_that_is_not_trusted_gets_no_request() {
    let nginx = Nginx::start(Options { names: "DNS:other.test", ..Options::default() });
    let (good, strange) =
        (nginx.ca_file().display().to_string(), nginx.pki().strange_ca_file().display().to_string());
    let text = |tls: &str| {
        let target = nginx.https_url("");
        format!(
            "target: {target}\n{tls}scenarios: {{ one: [ {{ get: /plain }} ] \
            }}\nload: {{ users: 1, iterations: 4 }}\n"
        )
    };
    for (tls, says) in [
        (String::new(), "certificate"),
        (format!("tls: {{ ca: {strange} }}\n"), "certificate"),
        (format!("tls: {{ ca: {good} }}\n"), "other.test"),
        (format!("tls: {{ ca: {good}, server_name: third.test }}\n"), "third.test"),
    ] {
        let (output, _, _scratch) = run(&text(&tls));
        assert_eq!((output.code, output.stdout.as_str()), (1, ""), "{tls}\n{}", output.stderr);
        assert!(output.stderr.contains(says), "`{says}` is not in:\n{}", output.stderr);
        assert!(output.stderr.lines().count() <= 4, "{}", output.stderr);
    }
    assert_eq!(nginx.log_lines(), []);
    // No client certificate is required.
    let (output, said, _scratch) = run(&text("tls: { insecure: true }\n"));
    passed(&output, &said, 4);
    loaded(&nginx, 4);
}

#[test]
fn a_client_shows_its_certificate() {
    let nginx = Nginx::start(Options::default());
    let ca = nginx.ca_file().display().to_string();
    let (certificate, key) = nginx.client_cert();
    let own = format!(", certificate: {}, key: {}", certificate.display(), key.display());
    let text = |own: &str| {
        let target = nginx.client_verify_url("");
        format!(
            "target: {target}\ntls: {{ ca: {ca}{own} }}\nscenarios: {{ one: [ {{ \
            get: /plain }} ] }}\nload: {{ users: 2, iterations_per_user: 2 }}\n"
        )
    };
    let (output, said, _scratch) = run(&text(&own));
    passed(&output, &said, 4);
    let lines = loaded(&nginx, 4);
    assert!(lines.iter().all(|line| line.client_verify.as_deref() == Some("SUCCESS")), "{lines:?}");
    // Without one nginx answers 400, which is an error of the run.
    let (output, said, _scratch) = run(&text(""));
    assert_eq!((output.code, &said["totals"]["errors"]), (99, &4.into()), "{}\n{said:#}", output.stderr);
    let lines = nginx.wait_for_log_lines(8);
    assert!(lines[4..].iter().all(|line| line.status == 400), "{lines:?}");
}

#[test]
fn sessions_are_resumed_only_where_that_is_asked_for() {
    for protocol in ["TLSv1.2", "TLSv1.3"] {
        let nginx = Nginx::start(Options { protocols: vec![protocol], ..Options::default() });
        let ca = nginx.ca_file().display().to_string();
        let mut before = 0;
        for resume in [true, false] {
            let text = format!(
                "target: {}\ntls: {{ ca: {ca}, session_resumption: {resume} }}\nconnection: {{ \
                    reuse: request }}\nworkers: 1\n\
                 scenarios: {{ one: [ {{ get: /plain }} ] }}\nload: {{ users: 1, iterations: 10 }}\n",
                nginx.https_url("")
            );
            let (output, said, _scratch) = run(&text);
            passed(&output, &said, 10);
            let lines = nginx.wait_for_log_lines(before + 10);
            let resumed = lines[before..].iter().filter(|line| line.session_reused).count();
            assert_eq!(connections(&lines[before..]).len(), 10, "a connection for every request");
            match resume {
                // The first of a user has nothing to go by.
                true => assert!((9..=10).contains(&resumed), "{protocol}: {resumed} of 10 resumed"),
                false => assert_eq!(resumed, 0, "{protocol}"),
            }
            assert_eq!(said["tls"]["resumptions"], resumed, "{}", said["tls"]);
            before += 10;
        }
    }
}

/// Log in, list, add, read back and upload, as a browser would.
fn shop(target: &str) -> String {
    format!(
        "target: {target}\ncookies: true\nredirects: true\ndata: {{ people: {{ file: \
            people.csv, sharing: unique, on_end: stop }} }}\nscenarios:
  buy:
    - post: /login
      json: {{ user: \"${{people.name}}\", password: secret }}
      check: {{ status: 200, json: {{ $.user.name: \"${{people.name}}\" }} }}
      extract: {{ token: $.token }}
    - get: /me
      auth: {{ bearer: \"${{token}}\" }}
      check: {{ json: {{ $.user.name: \"${{people.name}}\" }} }}
    - get: /items
      query: {{ limit: 2 }}
      check: {{ json: {{ \"$.items[1].id\": 2 }} }}
      extract: {{ price: {{ json: \"$.items[*].price\", pick: last }} }}
    - post: /items
      auth: {{ bearer: \"${{token}}\" }}
      json:
        name: \"of ${{people.name}} \\\"q\\\"\"
        price: ${{price}}
      check: {{ status: 201 }}
      extract: {{ place: {{ header: Location }}, id: $.id }}
    - get: ${{place}}
      encode: false
      check: {{ json: {{ $.id: \"${{id}}\", $.name: \"of ${{people.name}} \\\"q\\\"\" }} }}
    - post: /upload
      multipart: {{ note: hello, file: {{ path: a.bin, type: application/x-abc }} }}
      check: {{ json: {{ \"$.parts[0].bytes\": 5, \"$.parts[1].sha256\": \
          ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad }} }}
    - get: /session
    - get: /session
      check: {{ json: {{ $.count: {{ at_least: 2 }} }} }}
    - get: /redirect?to=/items/1&status=302
      check: {{ json: {{ $.id: 1 }} }}
    - get: /compressed
      headers: {{ Accept-Encoding: gzip }}
      check: {{ length: 1..2000, body: {{ matches: \"^(a line that repeats\\n){{1000}}$\" }} }}
load: {{ users: 3, duration: 20s }}
"
    )
}

#[test]
fn node_and_go_serve_sessions_of_separate_users() {
    let (node, go) = (Node::start("server.mjs"), GoServer::start("go"));
    let people: String = (0..12).map(|n| format!("ann {n} ü\n")).collect();
    let files = [("people.csv", format!("name\n{people}")), ("a.bin", "abc".to_owned())];
    let files = files.each_ref().map(|(name, text)| (*name, text.as_str()));
    for (name, target, stats) in
        [("node", node.url(""), &(|| node.stats()) as &dyn Fn() -> Value), ("go", go.url(""), &|| go.stats())]
    {
        let (output, said, _scratch) = run_with(&shop(&target), &files);
        assert!([0, 3].contains(&output.code), "{name}\n{}\n{}", output.stderr, said["failure_examples"]);
        let stats = stats();
        let counts = ["requests", "logins", "refused", "uploads"].map(|field| stats[field].as_u64().unwrap());
        // 12 rows; of the 11 requests of a round one follows the redirect.
        assert_eq!(counts, [12 * 11, 12, 0, 12], "{name}: {stats}");
        let totals = &said["totals"];
        assert_eq!(
            (&totals["requests"], &totals["errors"]),
            (&(12 * 11).into(), &0.into()),
            "{name}: {totals}"
        );
        assert_eq!(
            (&totals["redirects"], &totals["users_out_of_data"]),
            (&12.into(), &3.into()),
            "{name}: {totals}"
        );
    }
}

#[test]
fn a_library_of_events_is_read_to_the_last_one() {
    let server = SseServer::start();
    let text = format!(
        "target: {}\nscenarios: {{ read: [ {{ get: /events?every=20&count=15, name: \
            events, stream: {{ sequence: $.seq, \
         timestamp: {{ json: $.at_ms, unit: ms }} }} }} ] }}\nload: {{ users: 20, iterations_per_user: 1 }}\n",
        server.url("")
    );
    let (output, said, _scratch) = run(&text);
    assert!([0, 3].contains(&output.code), "{}\n{said:#}", output.stderr);
    let row = &said["streams"][0];
    let told = [
        "streams",
        "events",
        "events_expected",
        "events_lost",
        "events_duplicated",
        "events_out_of_order",
        "failures",
    ]
    .map(|f| row[f].as_u64());
    assert_eq!(told, [20, 300, 300, 0, 0, 0, 0].map(Some), "{row}");
    let stats = server.stats();
    assert_eq!((&stats["pushed"], &stats["sessions"]), (&300.into(), &20.into()), "{stats}");
    // A stream that ends after 6 of 15 and reopens continues at 7.
    let text = format!(
        "target: {}\nscenarios: {{ read: [ {{ get: /events?every=20&count=5&retry=20, \
            name: events, stream: {{ sequence: id, \
         reconnect: 1 }} }} ] }}\nload: {{ users: 1, iterations_per_user: 1 }}\n",
        server.url("")
    );
    let (output, said, _scratch) = run(&text);
    let last = server.stats()["last_ids"].as_array().and_then(|all| all.last().cloned());
    assert_eq!(last, Some("5".into()), "{}\n{said:#}", output.stderr);
}
