//! The Redis monitor: its values and limits, and its errors if the server is down, hangs, or rejects it.

use crate::certificate::{Certificate, trusting};
use crate::servers;
use crate::servers::{Looking, Scratch, Server, deaf, dripping, fact, free_port, limit, silent, value};
use plimsoll_control::monitor::Trust;
use plimsoll_plan::value::Secret;
use plimsoll_plan::watch::{Source, Unit};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};

fn start(port: u16, options: &[&str]) -> Server {
    let port = port.to_string();
    let own = ["redis-server", "--port", &port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
    Server::start(&[], &[&own[..], options].concat(), "KILL", "Ready to accept connections")
}

fn looking(address: &str) -> Looking {
    Looking::at(Source::Redis(Secret::new(address)))
}

/// Sends lines and waits for as many responses of one line each.
fn say(port: u16, lines: &[&str]) -> TcpStream {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    stream.write_all((lines.join("\r\n") + "\r\n").as_bytes()).unwrap();
    let (mut seen, mut block) = (Vec::new(), [0; 4096]);
    while seen.iter().filter(|byte| **byte == b'\n').count() < lines.len() {
        let n = stream.read(&mut block).unwrap();
        assert!(n > 0, "{}", String::from_utf8_lossy(&seen));
        seen.extend_from_slice(&block[..n]);
    }
    stream
}

#[test]
fn commands_memory_and_keys_are_measured() {
    let port = free_port();
    let options = [
        "--maxclients",
        "50",
        "--maxmemory",
        "64mb",
        "--maxmemory-policy",
        "allkeys-lru",
        "--io-threads",
        "1",
    ];
    let _server = start(port, &options);
    let mut looking = looking(&format!("127.0.0.1:{port}"));
    let first = looking.sees();
    assert_eq!(value(&first, "", "commands"), None, "a rate needs two looks");
    assert_eq!(limit(&first, "", "clients"), Some(50.0));
    assert_eq!(limit(&first, "", "memory"), Some(f64::from(64 << 20)));
    assert!(fact(&first, "redis_version").unwrap().contains('.'));
    assert_eq!(fact(&first, "maxmemory_policy"), Some("allkeys-lru"));
    // 2 writes, 3 hits, 1 miss: 6 commands, and the INFO of the sample itself.
    let _held = say(port, &["SET a 1", "SET b 2 EX 1000", "INCR a", "TTL b", "EXISTS a", "EXISTS none"]);
    let second = looking.look().unwrap();
    assert_eq!(value(&second, "", "clients"), Some(2.0));
    assert_eq!(value(&second, "", "commands"), Some(7.0));
    assert_eq!(value(&second, "db0", "keys"), Some(2.0));
    assert_eq!(value(&second, "db0", "keys_with_expiry"), Some(1.0));
    let (hits, misses) = (value(&second, "", "hits").unwrap(), value(&second, "", "misses").unwrap());
    assert_eq!(value(&second, "", "hit_share"), Some(hits / (hits + misses)));
    assert!(hits >= 1.0 && misses >= 1.0, "{second:?}");
    assert!(value(&second, "", "net_in").unwrap() > 60.0);
    assert_eq!(limit(&second, "", "cpu_main_thread"), Some(1.0));
    assert!(value(&second, "", "cpu").unwrap() >= 0.0);
    let unit = second.readings.iter().find(|r| r.metric == "net_out").unwrap().unit;
    assert_eq!(unit, Unit::BytesPerS);
    // Without lookups since then, there is no hit ratio.
    assert_eq!(value(&looking.look().unwrap(), "", "hit_share"), None);
}

#[test]
fn a_rejected_connection_and_an_evicted_key_are_counted() {
    let port = free_port();
    let _server =
        start(port, &["--maxclients", "2", "--maxmemory", "2mb", "--maxmemory-policy", "allkeys-random"]);
    let mut looking = looking(&format!("127.0.0.1:{port}"));
    looking.sees();
    let value_of_key = "x".repeat(30_000);
    let sets: Vec<String> = (0..100).map(|n| format!("SET {n} {value_of_key}")).collect();
    let _held = say(port, &sets.iter().map(String::as_str).collect::<Vec<_>>());
    let mut third = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    let mut word = String::new();
    let _ = third.read_to_string(&mut word);
    assert!(word.contains("max number of clients"), "{word}");
    let found = looking.look().unwrap();
    assert_eq!(value(&found, "", "rejected_connections"), Some(1.0));
    assert!(value(&found, "", "evicted").unwrap() > 10.0, "{found:?}");
}

#[test]
fn a_password_is_sent_and_never_shown() {
    let port = free_port();
    let _server = start(port, &["--requirepass", "open@sesame/1"]);
    let with = |login: &str| looking(&format!("redis://{login}127.0.0.1:{port}"));
    with(":open@sesame/1@").sees();
    with(":open%40sesame%2F1@").sees();
    with("default:open@sesame/1@").sees();
    let none = with("").fails();
    assert!(none.contains("NOAUTH") && none.contains(&format!("`127.0.0.1:{port}`")), "{none}");
    let wrong = with(":barley@").fails();
    assert!(wrong.contains("WRONGPASS") && !wrong.contains("barley"), "{wrong}");
}

#[test]
fn a_dead_server_is_an_error_and_is_sampled_again_once_it_is_back() {
    let port = free_port();
    let server = start(port, &[]);
    let mut looking = looking(&format!("redis://127.0.0.1:{port}/0"));
    looking.sees();
    assert!(value(&looking.sees(), "", "commands").is_some());
    server.stop();
    let gone = looking.fails();
    assert_eq!(gone, format!("cannot connect to `127.0.0.1:{port}`: connection refused"));
    let _server = start(port, &[]);
    // Its counters started over and already exceed the old ones; a rate over the restart would be meaningless.
    let _held = say(port, &["PING"; 40]);
    let back = looking.sees();
    assert_eq!(value(&back, "", "commands"), None, "{back:?}");
    assert!(value(&looking.sees(), "", "commands").is_some());
    // A server that closes idle connections costs no sample.
    let _killer = say(port, &["CLIENT KILL TYPE normal SKIPME yes"]);
    looking.look().unwrap();
}

#[test]
fn a_hanging_server_costs_a_sample_and_not_the_next_one() {
    let port = free_port();
    let server = start(port, &[]);
    let mut stopped = looking(&format!("127.0.0.1:{port}"));
    stopped.sees();
    server.freeze();
    assert_eq!(stopped.fails(), format!("cannot query `127.0.0.1:{port}`: no response in time"));
    assert_eq!(stopped.fails(), format!("cannot query `127.0.0.1:{port}`: no response in time"));
    server.thaw();
    stopped.sees();
    let (_listener, port) = silent();
    let why = looking(&format!("127.0.0.1:{port}")).fails();
    assert_eq!(why, format!("cannot query `127.0.0.1:{port}`: no response in time"));
    for beginning in [&b""[..], b"$100\r\nredis_version:"] {
        let why = looking(&format!("127.0.0.1:{}", dripping(beginning))).fails();
        assert!(why.ends_with("no response in time"), "{why}");
    }
    let (_listener, _held, port) = deaf();
    let why = looking(&format!("127.0.0.1:{port}")).fails();
    assert_eq!(why, format!("cannot connect to `127.0.0.1:{port}`: no response in time"));
}

#[test]
fn an_invalid_address_is_reported_without_its_login() {
    for address in
        ["rediss://:mellon@h:port", "http://:mellon@h:1", "redis://:mellon@h:port", "redis://:mellon@"]
    {
        let why = looking(address).fails();
        assert!(!why.contains("mellon"), "{why}");
        assert!(why.contains("edis"), "{why}");
    }
    let other = servers::pages(vec![servers::page("hello")]);
    let why = looking(&format!("127.0.0.1:{other}")).fails();
    assert!(why.contains("cannot query"), "{why}");
}

#[test]
fn a_server_with_tls_is_sampled_if_its_certificate_is_trusted() {
    let (certificate, scratch, port) = (Certificate::new(), Scratch::new(), free_port());
    let (file, key) = certificate.files(&scratch);
    let (file, key, tls_port) = (file.to_str().unwrap(), key.to_str().unwrap(), port.to_string());
    let tls = ["--tls-port", &tls_port, "--tls-cert-file", file, "--tls-key-file", key];
    let more = ["--tls-ca-cert-file", file, "--tls-auth-clients", "no", "--requirepass", "sesame"];
    // Without a port for plain text.
    let _server = start(0, &[&tls[..], &more[..]].concat());
    let at = |address: &str, trust: &Trust| Looking::trusting(Source::Redis(Secret::new(address)), trust);
    let address = format!("rediss://:sesame@127.0.0.1:{port}");
    let mut looking = at(&address, &certificate.trust());
    looking.sees();
    assert!(value(&looking.sees(), "", "commands").is_some(), "over the same connection");
    at(&address, &trusting()).sees();
    let strange = at(&address, &Default::default()).fails();
    assert!(strange.contains(&format!("`127.0.0.1:{port}`")) && strange.contains("certificate"), "{strange}");
    let other = at(&format!("rediss://:sesame@localhost:{port}"), &certificate.trust()).fails();
    assert!(other.contains("certificate"), "it is for the address and not for the name: {other}");
    let plain = at(&format!("redis://:sesame@127.0.0.1:{port}"), &certificate.trust()).fails();
    assert!(plain.contains("cannot query"), "{plain}");
    for why in [strange, other, plain] {
        assert!(!why.contains("sesame"), "{why}");
    }
}

#[test]
fn a_server_without_tls_is_reported_in_time() {
    let port = free_port();
    let _server = start(port, &[]);
    let at = |port: u16| {
        let source = Source::Redis(Secret::new(&format!("rediss://127.0.0.1:{port}")));
        Looking::trusting(source, &trusting())
    };
    let why = at(port).fails();
    assert!(why.starts_with(&format!("cannot connect to `127.0.0.1:{port}`: ")), "{why}");
    let (_listener, port) = silent();
    assert_eq!(at(port).fails(), format!("cannot connect to `127.0.0.1:{port}`: no response in time"));
    let why = at(dripping(b"\x16\x03\x03\x40\x00")).fails();
    assert!(why.ends_with("no response in time"), "{why}");
}
