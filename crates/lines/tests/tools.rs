//! Command lines of load generators: each flag does what it does in its tool, or is rejected by name.

use plimsoll_lines::{ab, hey, loadtest, oha, vegeta, wrk};
use plimsoll_plan::diag::Place;
use plimsoll_plan::link::{Http, Reuse};
use plimsoll_plan::{Diagnostic, Draft};

const SECOND_NS: u64 = 1_000_000_000;

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// `METHOD path`, a line for each header, and the body after `> `.
fn sent(draft: &Draft) -> Vec<String> {
    let request = &draft.requests[0];
    let mut all = vec![format!("{} {}", request.method, request.path)];
    all.extend(request.headers.iter().map(|(n, v)| format!("{n}: {v}")));
    all.extend(request.body.as_ref().map(|b| format!("> {}", String::from_utf8_lossy(b))));
    all
}

fn flag(all: &[Diagnostic]) -> &str {
    assert!(["C004", "C005"].contains(&all[0].code), "{}", all[0].code);
    match &all[0].place {
        Place::Flag(flag) => flag,
        _ => "",
    }
}

#[test]
fn wrk_reads_clusters_units_and_long_names() {
    let line = wrk::parse(&words("-t4 -c 1k -d2m --latency --timeout=3s -HX-A:b http://h:8080/a")).unwrap();
    let load = &line.draft.load;
    assert_eq!((load.users, load.duration_ns), (Some(1_000), Some(120 * SECOND_NS)));
    assert_eq!((line.draft.workers, line.draft.timeout_ns), (Some(4), Some(3 * SECOND_NS)));
    assert_eq!(sent(&line.draft), ["GET /a", "X-A: b"]);
    assert!(line.has_latency && line.draft.link.http == Http::V11);
    let line = wrk::parse(&words("http://h/")).unwrap();
    assert_eq!((line.threads, line.connections, line.duration_s), (2, 10, 10));
}

#[test]
fn only_scripts_of_wrk_have_arguments() {
    let line = wrk::parse(&words("-s a.lua http://h/ -- one -two")).unwrap();
    assert_eq!((line.script.as_deref(), line.arguments), (Some("a.lua"), words("one -two")));
    let wrong = wrk::parse(&words("http://h/ one")).unwrap_err();
    assert!(wrong[0].message.contains("only scripts have arguments"), "{}", wrong[0].message);
}

#[test]
fn wrk_threads_are_workers_and_require_connections() {
    let wrong = wrk::parse(&words("-t20 -c10 http://h/")).unwrap_err();
    assert_eq!(flag(&wrong), "-c");
    assert!(wrong[0].message.contains("20 threads"), "{}", wrong[0].message);
}

#[test]
fn ab_speaks_http_1_0_without_keep_alive() {
    let line = ab::parse(&words("-n 100 -c 5 -C a=1 -H X-A:b -A u:p http://h/x")).unwrap();
    let draft = &line.draft;
    assert_eq!(
        (draft.load.users, draft.load.requests_total, draft.load.duration_ns),
        (Some(5), Some(100), None)
    );
    assert_eq!((draft.link.http, draft.link.reuse), (Http::V10, Reuse::Request));
    assert_eq!(sent(draft), ["GET /x", "X-A: b", "Authorization: Basic dTpw", "Cookie: a=1"]);
    let line = ab::parse(&words("-k -n 10 http://h/")).unwrap();
    assert_eq!((line.draft.link.reuse, line.draft.keep_alive), (Reuse::User, Some(true)));
}

#[test]
fn the_time_limit_of_ab_sets_a_number_of_requests_and_says_so() {
    let line = ab::parse(&words("-n 10 -t 5 -c 2 http://h/")).unwrap();
    assert_eq!(
        (line.draft.load.requests_total, line.draft.load.duration_ns),
        (Some(50_000), Some(5 * SECOND_NS))
    );
    assert!(line.notes[0].contains("-n 50000"), "{:?}", line.notes);
    let line = ab::parse(&words("-t 5 -n 10 -c 2 http://h/")).unwrap();
    assert_eq!((line.draft.load.requests_total, line.notes.len()), (Some(10), 0));
    // A content type without a body is not sent.
    let line = ab::parse(&words("-T a/b http://h/")).unwrap();
    assert_eq!((sent(&line.draft), line.notes.len()), (vec!["GET /".to_owned()], 1));
}

#[test]
fn flags_of_ab_that_contradict_each_other_are_rejected() {
    for (text, expected) in [
        ("-n 5 -c 10 http://h/", "-c"),
        ("-P a:b http://h/", "-P"),
        ("-i -m PUT http://h/", "-m"),
        ("-b 4096 http://h/", "-b"),
        ("-I http://h/", "-I"),
        ("-f SSL3 http://h/", "-f"),
        ("-v 4 http://h/", "-v"),
        ("-n x http://h/", "-n"),
        ("-W 2 http://h/", "-W"),
    ] {
        assert_eq!(flag(&ab::parse(&words(text)).unwrap_err()), expected, "{text}");
    }
}

#[test]
fn hey_limits_the_rate_of_each_worker() {
    let line = hey::parse(&words("-z 10s -c 5 -q 20 -m post -d a=1 http://h/")).unwrap();
    let load = &line.draft.load;
    assert_eq!((load.rate_per_s, load.max_connections, load.users), (Some(100.0), Some(5), None));
    assert_eq!((load.duration_ns, load.requests_total), (Some(10 * SECOND_NS), None));
    let expected = ["POST /", "Content-Type: text/html", "Accept-Encoding: gzip", "> a=1"];
    assert_eq!(sent(&line.draft), expected);
    let line =
        hey::parse(&words("-disable-redirects -disable-keepalive=true -disable-compression http://h/"));
    let draft = line.unwrap().draft;
    assert_eq!((draft.load.requests_total, draft.load.users), (Some(200), Some(50)));
    assert_eq!((draft.redirects, draft.link.reuse), (None, Reuse::Request));
    assert_eq!(sent(&draft), ["GET /", "Content-Type: text/html"]);
    assert_eq!(flag(&hey::parse(&words("-o csv http://h/")).unwrap_err()), "-o");
    assert_eq!(flag(&hey::parse(&words("-n 10 http://h/")).unwrap_err()), "-c");
}

#[test]
fn oha_ends_by_requests_or_by_time() {
    let line = oha::parse(&words("-n 10k -c 5 --no-tui -r 3 http://h/")).unwrap();
    assert_eq!((line.draft.load.requests_total, line.draft.load.users), (Some(10_000), Some(5)));
    assert_eq!((line.draft.redirects, line.has_rate), (Some(3), false));
    let line = oha::parse(&words("-z 10s -q 50 --latency-correction http://h/")).unwrap();
    assert_eq!((line.draft.load.rate_per_s, line.draft.load.max_connections), (Some(50.0), Some(50)));
    assert!(line.has_rate && line.is_corrected);
    for (text, expected) in [
        ("-n 5 -z 1s http://h/", "-n"),
        ("--rand-regex-url http://h/", "--rand-regex-url"),
        ("--http-version 3 http://h/", "--http-version"),
        ("-p 4 http://h/", "-p"),
        ("--output-format csv http://h/", "--output-format"),
    ] {
        assert_eq!(flag(&oha::parse(&words(text)).unwrap_err()), expected, "{text}");
    }
}

fn attack(flags: &str, targets: &str) -> Result<Draft, Vec<Diagnostic>> {
    vegeta::attack(&words(flags), || Ok(targets.as_bytes().to_vec())).map(|line| line.draft)
}

#[test]
fn vegeta_reads_targets_and_rates() {
    let targets = "GET http://h/a\nX-A: 1\n\nDELETE http://h/b\n";
    let draft = attack("-rate=100/1m -duration=30s -header X-B:2", targets).unwrap();
    let load = &draft.load;
    assert_eq!((load.rate_per_s, load.duration_ns), (Some(100.0 / 60.0), Some(30 * SECOND_NS)));
    // Each arrival sends the next target.
    let script = draft.script.unwrap();
    let asks: Vec<_> = script.asks.iter().map(|ask| (ask.method.as_str(), ask.headers.len())).collect();
    assert_eq!(asks, [("GET", 3), ("DELETE", 2)]);
    let json = r#"{"method":"POST","url":"http://h/c","body":"YT0x","header":{"X-A":["1"]}}"#;
    let draft = attack("-format json -duration 1s -redirects -1", json).unwrap();
    assert_eq!(sent(&draft), ["POST /c", "X-A: 1", "Accept-Encoding: gzip", "> a=1"]);
    assert_eq!(draft.load.rate_per_s, Some(50.0));
    let draft = attack("--rate 0 -max-workers 7 -duration 1s", "GET http://h/\n").unwrap();
    assert_eq!((draft.load.users, draft.load.rate_per_s), (Some(7), None));
}

#[test]
fn vegeta_rejects_an_attack_without_an_end_and_what_it_cannot_do() {
    let target = "GET http://h/\n";
    for (text, expected) in [
        ("-rate 5", "-duration"),
        ("-rate 0 -duration 1s", "-rate"),
        ("-rate 5/x -duration 1s", "-rate"),
        ("-duration 1s -chunked", "-chunked"),
        ("-duration 1s -dns-ttl 5s", "-dns-ttl"),
        ("-duration 1s -prometheus-addr :1", "-prometheus-addr"),
    ] {
        assert_eq!(flag(&attack(text, target).unwrap_err()), expected, "{text}");
    }
    assert_eq!(attack("-duration 1s", "nonsense\n").unwrap_err()[0].code, "C003");
    let report = vegeta::report(&words("-type=hist[10ms,1s] run.plim")).unwrap();
    assert_eq!(report.kind, vegeta::ReportType::Histogram(vec![0, 10_000_000, SECOND_NS]));
    assert_eq!(report.files, ["run.plim"]);
}

#[test]
fn loadtest_opens_a_connection_for_each_request_by_default() {
    let line = loadtest::parse(&words("-n 100 -c 4 -m POST --data a=1 -H X-A:b http://h/")).unwrap();
    assert_eq!((line.draft.load.requests_total, line.draft.load.users), (Some(100), Some(4)));
    assert_eq!(line.draft.link.reuse, Reuse::Request);
    assert_eq!(sent(&line.draft), ["POST /", "X-A: b", "Content-Type: text/plain", "> a=1"]);
    let line = loadtest::parse(&words("-t 20 --rps 200 -k --cores 2 http://h/")).unwrap();
    assert_eq!((line.draft.load.rate_per_s, line.draft.load.users), (Some(200.0), None));
    assert_eq!((line.draft.workers, line.draft.link.reuse), (Some(2), Reuse::User));
    let line = loadtest::parse(&words("http://h/")).unwrap();
    assert_eq!(line.max_seconds, Some(10));
    for (text, expected) in [
        ("-R gen.js http://h/", "-R"),
        ("--index i http://h/", "--index"),
        ("--tcp http://h/", "--tcp"),
        ("-s SSLv3_method http://h/", "-s"),
    ] {
        assert_eq!(flag(&loadtest::parse(&words(text)).unwrap_err()), expected, "{text}");
    }
}

#[test]
fn flags_of_plimsoll_are_accepted_by_each_line() {
    let own = "--save a.plim --allow h --allow i --report=r.html --verdict";
    let line = wrk::parse(&words(&format!("{own} http://h/"))).unwrap().own;
    assert_eq!((line.save.as_deref(), line.report.as_deref()), (Some("a.plim"), Some("r.html")));
    assert!(line.has_verdict && line.allow == ["h", "i"]);
    for parsed in [
        ab::parse(&words(&format!("{own} http://h/"))).unwrap().own,
        hey::parse(&words(&format!("{own} http://h/"))).unwrap().own,
        oha::parse(&words(&format!("{own} http://h/"))).unwrap().own,
        loadtest::parse(&words(&format!("{own} http://h/"))).unwrap().own,
    ] {
        assert_eq!(parsed, line);
    }
}

#[test]
fn unknown_flags_are_rejected_with_the_nearest_one() {
    let wrong = wrk::parse(&words("--latncy http://h/")).unwrap_err();
    assert_eq!((flag(&wrong), wrong[0].hint.as_str()), ("--latncy", "did you mean `--latency`?"));
    let wrong = hey::parse(&words("-disable-keepaliv http://h/")).unwrap_err();
    assert_eq!(wrong[0].hint, "did you mean `-disable-keepalive`?");
    let wrong = wrk::parse(&words("-c")).unwrap_err();
    assert_eq!(wrong[0].message, "missing value of `-c`");
}
