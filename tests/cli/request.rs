//! The requests at the server: methods, headers, bodies, curl lines, experiment files, and their number.

use crate::support::{Ruler, Scratch, Tool};

#[test]
fn n_requests_are_n_requests() {
    let ruler = Ruler::start(&[]);
    let output = Tool::run(&[&ruler.url("/a"), "-n", "500", "-c", "7", "--json"]).expect_code(0);
    assert_eq!(ruler.requests(), 500);
    let json = output.json();
    assert_eq!(json["totals"]["requests"], 500);
    assert_eq!(json["stopped_by"], "requests");
    assert_eq!(json["status_codes"]["200"], 500);
}

#[test]
fn a_share_of_a_schedule_and_the_rest_are_the_whole() {
    let ruler = Ruler::start(&[]);
    for share in ["1/2", "2/2"] {
        Tool::run(&[&ruler.url("/a"), "-n", "101", "-c", "4", "--shard", share, "--quiet"]).expect_code(0);
    }
    assert_eq!(ruler.requests(), 101);
}

#[test]
fn method_headers_and_body_arrive_as_given() {
    let ruler = Ruler::start(&[]);
    let url = ruler.url("/users?x=1");
    let args = [
        &url,
        "-n",
        "1",
        "-c",
        "1",
        "-X",
        "PUT",
        "-H",
        "X-One: 1",
        "-H",
        "Accept: text/plain",
        "-b",
        "name=x",
        "-q",
    ];
    Tool::run(&args).expect_code(0);
    let sent = ruler.last_request();
    assert!(sent.starts_with("PUT /users?x=1 HTTP/1.1\r\n"), "{sent}");
    for line in [
        format!("Host: {}\r\n", ruler.address()),
        format!("User-Agent: plimsoll/{}\r\n", env!("CARGO_PKG_VERSION")),
        "X-One: 1\r\n".into(),
        "Accept: text/plain\r\n".into(),
        "Content-Length: 6\r\n".into(),
    ] {
        assert!(sent.contains(&line), "`{line}` is not in:\n{sent}");
    }
    assert!(sent.ends_with("\r\n\r\nname=x"), "{sent}");
}

#[test]
fn a_body_from_a_file_makes_a_get_a_post() {
    let ruler = Ruler::start(&[]);
    let scratch = Scratch::new();
    let file = scratch.file("body.json", "{\"a\": 1}");
    Tool::run(&[&ruler.url("/"), "-n", "1", "-b", &format!("@{file}"), "-q"]).expect_code(0);
    let sent = ruler.last_request();
    assert!(sent.starts_with("POST / ") && sent.ends_with("{\"a\": 1}"), "{sent}");
}

#[test]
fn credentials_in_a_url_are_sent_and_never_shown() {
    let ruler = Ruler::start(&[]);
    let url = format!("http://user:sesame@{}/?token=hush", ruler.address());
    let output = Tool::run(&[&url, "-n", "1", "--json"]).expect_code(0);
    // user:sesame
    assert!(
        ruler.last_request().contains("Authorization: Basic dXNlcjpzZXNhbWU=\r\n"),
        "{}",
        ruler.last_request()
    );
    for secret in ["sesame", "dXNlcjpzZXNhbWU", "hush"] {
        assert!(!output.stdout.contains(secret) && !output.stderr.contains(secret), "`{secret}` is shown");
    }
}

#[test]
fn a_pasted_curl_line_accepts_plimsolls_flags_before_it() {
    let ruler = Ruler::start(&[]);
    let url = ruler.url("/users");
    let json = "{\"name\": \"x\"}";
    let args = [
        "-n",
        "3",
        "-c",
        "1",
        "-q",
        "curl",
        &url,
        "-H",
        "Content-Type: application/json",
        "--data-raw",
        json,
    ];
    Tool::run(&args).expect_code(0);
    let sent = ruler.last_request();
    assert!(sent.starts_with("POST /users ") && sent.ends_with(json), "{sent}");
    assert!(sent.contains("Content-Type: application/json\r\n"), "{sent}");
    assert_eq!(ruler.requests(), 3);
}

#[test]
fn a_pasted_curl_line_as_one_word_is_split_as_a_shell_would() {
    let ruler = Ruler::start(&[]);
    let line = format!("curl '{}' -X DELETE \\\n  -H 'X-Note: two words'", ruler.url("/one"));
    Tool::run(&["-n", "1", "-q", "curl", &line]).expect_code(0);
    let sent = ruler.last_request();
    assert!(sent.starts_with("DELETE /one ") && sent.contains("X-Note: two words\r\n"), "{sent}");
}

#[test]
fn a_curl_option_that_would_change_the_request_is_refused_by_name() {
    let ruler = Ruler::start(&[]);
    let output = Tool::run(&["curl", &ruler.url("/"), "--digest"]).expect_code(2);
    assert!(output.stderr.contains("--digest"), "{}", output.stderr);
    assert_eq!(ruler.requests(), 0);
}

#[test]
fn an_experiment_file_runs_its_requests_in_sequence_and_flags_override_it() {
    let ruler = Ruler::start(&[]);
    let scratch = Scratch::new();
    let text = [
        "name: two steps",
        &format!("target: http://{}", ruler.address()),
        "scenarios:",
        "  browse:",
        "    - get: /pick",
        "    - { post: /users, name: create, json: { a: 1 } }",
        "load: { users: 1, requests: 8 }",
        "thresholds: [ error_rate == 0% ]",
    ]
    .join("\n");
    let file = scratch.file("two.yaml", &text);
    let json = Tool::run(&["run", &file, "--json"]).expect_code(0).json();
    assert_eq!(ruler.requests(), 8);
    assert_eq!(ruler.counters()["by_path"], serde_json::json!({"/pick": 4, "/users": 4}));
    assert_eq!(json["name"], "two steps");
    assert_eq!(json["requests"][1]["name"], "create");
    // Flags on either side of the command's name.
    Tool::run(&["-n", "2", "run", &file, "-c", "2", "-H", "X-Run: 2", "-q"]).expect_code(0);
    assert_eq!(ruler.requests(), 10);
    assert!(ruler.last_request().contains("X-Run: 2\r\n"));
}

#[test]
fn without_keep_alive_every_request_has_its_own_connection() {
    let ruler = Ruler::start(&[]);
    let json = Tool::run(&[&ruler.url("/"), "-n", "20", "-c", "2", "--no-keepalive", "--json"])
        .expect_code(0)
        .json();
    assert_eq!(json["client"]["connections"]["opened"], 20);
    // One more was accepted: the trial connection before the load.
    assert_eq!(ruler.accepted(), 21);
}

#[test]
fn the_request_limit_ends_a_run_without_a_number_of_requests() {
    let ruler = Ruler::start(&[]);
    for load in [&["-c", "4"][..], &["-r", "100"]] {
        let before = ruler.requests();
        let url = ruler.url("/");
        let args = [&[url.as_str(), "-d", "1s", "--limit", "requests=10", "--json"], load].concat();
        let json = Tool::run(&args).json();
        assert_eq!(ruler.requests() - before, 10, "{load:?}");
        assert_eq!((&json["totals"]["requests"], &json["stopped_by"]), (&10.into(), &"requests".into()));
    }
}

#[test]
fn the_hard_cap_on_the_length_ends_a_run_that_only_counts() {
    let ruler = Ruler::start(&["--delay", "20ms"]);
    let args = [&ruler.url("/"), "-n", "1000000", "-c", "2", "--limit", "duration_ns=1s", "--json"];
    let begin = std::time::Instant::now();
    let json = Tool::run(&args).json();
    assert!(begin.elapsed().as_secs() < 5, "{:?}", begin.elapsed());
    assert_eq!(json["stopped_by"], "duration");
    let sent = json["totals"]["requests_sent"].as_u64().unwrap();
    assert!(sent > 10 && sent < 110 && ruler.requests() == sent, "{sent}");
}

#[test]
fn a_monitor_by_flag_is_one_of_the_plan() {
    let ruler = Ruler::start(&[]);
    let process = format!("process=:{}", ruler.port());
    let url = ruler.url("/");
    let run = |more: &[&str]| {
        Tool::run(&[&[url.as_str(), "-n", "10", "-c", "1", "--json", "--monitor", "host"], more].concat())
    };
    let json = run(&["--monitor", &process]).json();
    let told: Vec<&str> =
        json["plan"]["monitors"].as_array().unwrap().iter().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(told, ["host".to_owned(), format!("process {}", ruler.port())]);
    for (wrong, said) in [
        ("proces=:1", "unknown kind of monitor"),
        ("host", "duplicate monitor name"),
        ("redis=x", "127.0.0.1:6379"),
    ] {
        let refused = run(&["--monitor", wrong]).expect_code(2);
        assert!(
            refused.stderr.contains("U011") && refused.stderr.contains(said),
            "{wrong}: {}",
            refused.stderr
        );
    }
}
