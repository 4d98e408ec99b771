//! The Prometheus monitor, with pages of metrics and a Prometheus server: names, labels, and types. Nothing that a
//! server sends breaks more than one sample.

use crate::certificate::{Certificate, trusting};
use crate::servers::{Looking, Scratch, Server, deaf, dripping, fact, free_port, page, pages, silent, value};
use plimsoll_control::monitor::Trust;
use plimsoll_plan::value::Secret;
use plimsoll_plan::watch::{Prometheus, Source, Unit};
use plimsoll_stats::random::SplitMix64;
use std::io::{Read, Write};

fn scrape(port: u16, metrics: &[&str]) -> Looking {
    scrape_url(&format!("http://127.0.0.1:{port}/metrics"), metrics)
}

fn scrape_url(url: &str, metrics: &[&str]) -> Looking {
    let metrics = metrics.iter().map(|text| (*text).to_owned()).collect();
    Looking::at(Source::Prometheus(Prometheus::Scrape { url: Secret::new(url), metrics }))
}

fn query(server: &str, query: &str) -> Looking {
    let server = Secret::new(server);
    Looking::at(Source::Prometheus(Prometheus::Query { server, query: query.into() }))
}

/// A Prometheus that scrapes itself once per second.
fn start(scratch: &Scratch, port: u16) -> Server {
    let config = scratch.path().join("prometheus.yml");
    let text = format!(
        "global: {{ scrape_interval: 1s }}\nscrape_configs:\n- job_name: own\n  static_configs: \
         [{{ targets: ['127.0.0.1:{port}'] }}]\n"
    );
    std::fs::write(&config, text).unwrap();
    let options = [
        format!("--config.file={}", config.display()),
        format!("--storage.tsdb.path={}", scratch.path().join("data").display()),
        format!("--web.listen-address=127.0.0.1:{port}"),
    ];
    let words: Vec<&str> = ["prometheus"].into_iter().chain(options.iter().map(String::as_str)).collect();
    Server::start(&[], &words, "KILL", "Server is ready to receive web requests")
}

const PAGE: &str = r#"
# HELP jobs_total Jobs, with a \\ and a "quote".
# TYPE jobs_total counter
jobs_total{kind="a\"b\\c\nd",at="1"} 5 1700000000000
jobs_total{ at="2" , kind = "plain" , } 1e3
# TYPE handles_total gauge
handles_total 12
untyped_total 7
# TYPE wait_seconds histogram
wait_seconds_bucket{le="+Inf"} 4
wait_seconds_sum 2.5
wait_seconds_count 4
# TYPE took_seconds summary
took_seconds{quantile="0.5"} NaN
took_seconds{quantile="0.9"} 0.25
process_cpu_seconds_total 1
sent_bytes_total 10
heap_bytes 2048
hit_ratio 0.5
most +Inf
{"named.in.quotes",a="b"} 3
"#;

#[test]
fn names_labels_types_and_units_follow_the_page() {
    let later = PAGE
        .replace("} 5 17", "} 9 17")
        .replace("wait_seconds_sum 2.5", "wait_seconds_sum 4")
        .replace("cpu_seconds_total 1", "cpu_seconds_total 1.75")
        .replace("untyped_total 7", "untyped_total 2");
    let mut looking = scrape(pages(vec![page(PAGE), page(&later)]), &[]);
    let first = looking.look().unwrap();
    assert_eq!(value(&first, "", "handles_total"), Some(12.0), "its type says that it is not a counter");
    assert_eq!(value(&first, "{quantile=\"0.9\"}", "took_seconds"), Some(0.25));
    assert_eq!(value(&first, "{a=\"b\"}", "named.in.quotes"), Some(3.0));
    assert_eq!(first.readings.len(), 5, "neither NaN nor infinity nor rates: {first:?}");
    let second = looking.look().unwrap();
    let of = |part: &str, metric: &str| {
        let found = second.readings.iter().find(|r| r.part == part && r.metric == metric);
        found.map(|r| (r.value, r.unit))
    };
    assert_eq!(of(r#"{at="1",kind="a\"b\\c\nd"}"#, "jobs_total"), Some((4.0, Unit::PerS)));
    assert_eq!(of(r#"{at="2",kind="plain"}"#, "jobs_total"), Some((0.0, Unit::PerS)));
    assert_eq!(of("", "untyped_total"), None, "a counter that decreased has no rate");
    assert_eq!(of("", "wait_seconds_sum"), Some((1.5, Unit::Count)));
    assert_eq!(of("", "process_cpu_seconds_total"), Some((0.75, Unit::Cores)));
    assert_eq!(of("", "sent_bytes_total"), Some((0.0, Unit::BytesPerS)));
    assert_eq!(of("", "heap_bytes"), Some((2048.0, Unit::Bytes)));
    assert_eq!(of("", "hit_ratio"), Some((0.5, Unit::Share)));
    assert_eq!(of("{quantile=\"0.9\"}", "took_seconds"), Some((0.25, Unit::Seconds)));
}

#[test]
fn openmetrics_gives_the_same_values() {
    let text = "# TYPE jobs counter\njobs_total 17.0 1520879607.789 # {trace=\"x\"} 0.67 1520879607.1\n\
                # TYPE a_info info\na_info{v=\"1\"} 1\n# EOF\nwhat follows is nothing";
    let mut looking = scrape(pages(vec![page(text), page(&text.replace("17.0", "20"))]), &[]);
    looking.look().unwrap();
    let found = looking.look().unwrap();
    assert_eq!(value(&found, "", "jobs_total"), Some(3.0));
    assert_eq!(value(&found, "{v=\"1\"}", "a_info"), Some(1.0));
}

#[test]
fn only_whole_names_are_selected_and_an_empty_selection_is_an_error() {
    let port = pages(vec![page("node_load1 1\nnode_load15 2\nnode_memory_a 3\nnode_memory_b 4\n")]);
    let found = scrape(port, &["node_load1", "node_memory_.*"]).look().unwrap();
    let names: Vec<&str> = found.readings.iter().map(|r| r.metric.as_str()).collect();
    assert_eq!(names, ["node_load1", "node_memory_a", "node_memory_b"]);
    assert!(scrape(port, &["load1"]).fails().ends_with("the page has none of the requested metrics"));
    assert_eq!(scrape(port, &["a|b("]).fails(), "`a|b(` is not a regular expression");
}

#[test]
fn series_beyond_two_hundred_are_omitted_and_counted() {
    let many: String = (0..1_234).map(|n| format!("m{{n=\"{n}\"}} {n}\n")).collect();
    let reversed: String = many.lines().rev().map(|line| format!("{line}\n")).collect();
    let mut looking = scrape(pages(vec![page(&many), page(&reversed)]), &[]);
    let first = looking.look().unwrap();
    assert_eq!(first.readings.len(), 200);
    assert_eq!(fact(&first, "omitted series"), Some("1034 beyond the first 200"));
    let second = looking.look().unwrap();
    assert!(value(&second, "{n=\"0\"}", "m").is_some(), "the series of the first sample stay");
    assert!(value(&second, "{n=\"1233\"}", "m").is_none());
}

#[test]
fn every_transfer_format_of_a_page_is_read() {
    let head = "HTTP/1.1 200 OK\r\n";
    let chunked =
        format!("{head}transfer-encoding: chunked\r\n\r\n4\r\na 1\n\r\n4;x=y\r\nb 2\n\r\n0\r\nt: 1\r\n\r\n");
    let closed = format!("{head}\r\na 1\nb 2\n");
    let interim = format!(
        "HTTP/1.1 100 Continue\r\n\r\n{head}content-length: 8\r\nconnection: close\r\n\r\na 1\nb 2\n"
    );
    for answer in [chunked, closed, interim] {
        let mut looking = scrape(pages(vec![answer.clone().into_bytes()]), &[]);
        for _ in 0..3 {
            let found = looking.look().unwrap();
            assert_eq!((value(&found, "", "a"), value(&found, "", "b")), (Some(1.0), Some(2.0)), "{answer}");
        }
    }
}

#[test]
fn a_connection_that_closes_between_two_samples_costs_no_sample() {
    let (listener, port) = silent();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            // One block is a whole request; every request gets one response.
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(&page("a 1\n"));
        }
    });
    let mut looking = scrape(port, &[]);
    for _ in 0..5 {
        assert_eq!(value(&looking.look().unwrap(), "", "a"), Some(1.0));
    }
}

#[test]
fn an_invalid_page_is_reported_with_its_line_and_without_its_text() {
    let fails = |answer: Vec<u8>| scrape(pages(vec![answer]), &[]).fails();
    let why = fails(page("a 1\nsecret{x=\"y\" 2\n"));
    assert!(why.ends_with("`: line 2 is not a sample: labels are not separated by commas"), "{why}");
    for line in ["x", "x y", "x{a=\"b} 1", "x{a=b} 1", "x{a} 1", "{a=\"b\"} 1", "x 1 2 3", "x{a=\"b\"} 1 z"] {
        assert!(fails(page(line)).contains("line 1 is not a sample"), "{line}");
    }
    assert!(fails(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_vec()).ends_with("status 404"));
    assert!(
        fails(b"HTTP/1.1 200 OK\r\nContent-Length: 9000000\r\n\r\n".to_vec()).ends_with("longer than 8 MB")
    );
    assert!(fails(b"SSH-2.0-Open\r\n\r\n".to_vec()).ends_with("not an HTTP/1.1 response"));
}

#[test]
fn an_invalid_address_is_reported_without_its_secrets() {
    for url in [
        "https://me:mellon@h/",
        "ftp://mellon@h/",
        "http://me:mellon/x@h/",
        "http://:mellon@/",
        "http://h:mellon",
    ] {
        let why = scrape_url(url, &[]).fails();
        assert!(!why.contains("mellon"), "{why}");
    }
    let port = pages(vec![b"HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n".to_vec()]);
    let why = scrape_url(&format!("http://me:mellon@127.0.0.1:{port}/m?token=mellon"), &[]).fails();
    assert_eq!(why, format!("cannot read `http://127.0.0.1:{port}`: status 401"));
}

#[test]
fn garbled_pages_cause_no_panic() {
    let mut random = SplitMix64::new(7);
    let mut below = |n: usize| (random.next_u64() % n as u64) as usize;
    let whole = page(PAGE);
    let head = b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n";
    let answers: Vec<Vec<u8>> = (0..3_000)
        .map(|n| {
            // In most cases, only the body is garbled, so that its parser sees it. A garbled head may promise bytes
            // that never arrive, which takes the whole time limit of a sample.
            let mut bytes = if n % 10 > 0 { PAGE.as_bytes().to_vec() } else { whole.clone() };
            for _ in 0..=below(4) {
                let at = below(bytes.len());
                match below(4) {
                    0 => bytes[at] = below(256) as u8,
                    1 => drop(bytes.remove(at)),
                    2 => bytes.insert(at, b"{}\"\\=,# \n\r0"[below(11)]),
                    _ => {
                        let piece = bytes[at..(at + below(20)).min(bytes.len())].to_vec();
                        let to = below(bytes.len());
                        bytes.splice(to..to, piece);
                    }
                }
            }
            if n % 10 > 0 { [&head[..], &bytes].concat() } else { bytes }
        })
        // A response that promises more than it sends is like a silent server, which has its own test.
        .filter(|answer| !answer.windows(16).any(|w| w == b"Content-Length: ") || ends_itself(answer))
        .collect();
    let looks = answers.len();
    let mut looking = scrape(pages(answers), &[]);
    let seen = (0..looks).filter(|_| looking.look().is_ok()).count();
    assert!(seen > looks / 20 && seen < looks, "{seen} of {looks} were pages");
}

/// Its content length equals its actual length.
fn ends_itself(answer: &[u8]) -> bool {
    let text = String::from_utf8_lossy(answer);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let length = head.split("Content-Length: ").nth(1).and_then(|rest| rest.split("\r\n").next());
    length.and_then(|length| length.parse().ok()) == Some(body.len())
}

#[test]
fn a_prometheus_server_is_queried_and_scraped() {
    let (scratch, port) = (Scratch::new(), free_port());
    let server = start(&scratch, port);
    let address = format!("http://127.0.0.1:{port}");
    let mut up = query(&address, "up{job=\"own\"} + 41");
    let found = up.until("value of `up`", |found| !found.readings.is_empty());
    let part = format!("{{instance=\"127.0.0.1:{port}\",job=\"own\"}}");
    assert_eq!(value(&found, &part, "value"), Some(42.0));
    let scalar = query(&format!("{address}/"), "scalar(vector(7)) % 4").look().unwrap();
    assert_eq!(value(&scalar, "", "value"), Some(3.0));
    let named = query(&address, "process_resident_memory_bytes").look().unwrap();
    let memory = &named.readings[0];
    assert_eq!((memory.metric.as_str(), memory.unit), ("process_resident_memory_bytes", Unit::Bytes));
    let wrong = query(&address, "sum(").fails();
    assert!(
        wrong.starts_with(&format!("cannot read `{}`: ", address.trim_end_matches('/')))
            && wrong.contains("parse error"),
        "{wrong}"
    );
    let many = query(&address, "up[5s]").fails();
    assert!(
        many.ends_with("the query returns a matrix; use one that returns a vector or a scalar"),
        "{many}"
    );

    let mut own = scrape(port, &["process_cpu_seconds_total", "prometheus_http_requests_total"]);
    own.look().unwrap();
    let rates = own.look().unwrap();
    // Its handler counts a page when it is served: the page of the previous sample.
    assert_eq!(
        value(&rates, "{code=\"200\",handler=\"/metrics\"}", "prometheus_http_requests_total"),
        Some(1.0)
    );
    assert!(value(&rates, "", "process_cpu_seconds_total").is_some());

    server.freeze();
    assert!(own.fails().ends_with("no response in time"));
    assert!(up.fails().ends_with("no response in time"));
    server.thaw();
    own.sees();
    server.stop();
    assert!(own.fails().ends_with("connection refused"));
    assert!(up.fails().ends_with("connection refused"));
    let _server = start(&scratch, port);
    own.sees();
    up.sees();
}

#[test]
fn silence_and_lost_packets_end_a_sample_in_time() {
    let (_listener, port) = silent();
    assert!(scrape(port, &[]).fails().ends_with("no response in time"));
    assert!(query(&format!("http://127.0.0.1:{port}"), "up").fails().ends_with("no response in time"));
    for beginning in [&b"HTTP/1.1 200 OK\r\nX: "[..], b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\na 1"] {
        assert!(scrape(dripping(beginning), &[]).fails().ends_with("no response in time"));
    }
    let (_listener, _held, port) = deaf();
    assert_eq!(
        scrape(port, &[]).fails(),
        format!("cannot connect to `127.0.0.1:{port}`: no response in time")
    );
}

#[test]
fn a_page_over_https_is_read_if_its_certificate_is_trusted() {
    let certificate = Certificate::new();
    let (port, asked) = certificate.serve(&page("a 1\n"));
    let at = |host: &str, trust: &Trust| {
        let url = Secret::new(&format!("https://me:mellon@{host}:{port}/m?token=mellon"));
        Looking::trusting(Source::Prometheus(Prometheus::Scrape { url, metrics: Vec::new() }), trust)
    };
    let mut looking = at("127.0.0.1", &certificate.trust());
    for _ in 0..3 {
        assert_eq!(value(&looking.sees(), "", "a"), Some(1.0));
    }
    let request = asked.recv().unwrap();
    assert!(request.starts_with("GET /m?token=mellon HTTP/1.1\r\n"), "{request}");
    // printf me:mellon | base64
    assert!(request.contains("Basic bWU6bWVsbG9u\r\n"), "{request}");
    at("127.0.0.1", &trusting()).sees();
    for (host, trust) in [("127.0.0.1", &Default::default()), ("localhost", &certificate.trust())] {
        let why = at(host, trust).fails();
        assert!(why.contains("certificate") && !why.contains("mellon"), "{why}");
    }
}

#[test]
fn a_redirect_is_an_error_and_is_not_followed() {
    let elsewhere = pages(vec![page("a 1\n")]);
    let to =
        format!("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:{elsewhere}/\r\nContent-Length: 0\r\n\r\n");
    let why = scrape(pages(vec![to.into_bytes()]), &[]).fails();
    assert!(why.ends_with("status 302"), "{why}");
}
