//! Every fault as seen on the wire.

use crate::common;
use crate::common::{Client, Ended, Ruler};
use std::time::{Duration, Instant};

/// Time after which the tests assume that nothing more comes.
const SILENCE: Duration = Duration::from_millis(150);

fn wire(ruler: &Ruler, query: &str) -> (String, Ended) {
    let mut client = ruler.connect();
    client.ask(&format!("/?{query}"));
    let (bytes, ended) = client.rest_within(SILENCE);
    (String::from_utf8(bytes).unwrap(), ended)
}

fn body_of(wire: &str) -> &str {
    wire.split_once("\r\n\r\n").unwrap().1
}

#[test]
fn an_early_end_sends_no_byte() {
    let ruler = Ruler::start(&[]);
    assert_eq!(wire(&ruler, "fault=reset_before"), (String::new(), Ended::Reset));
    assert_eq!(wire(&ruler, "fault=close_before"), (String::new(), Ended::Fin));
    assert_eq!(wire(&ruler, "fault=no_response"), (String::new(), Ended::Not));
    let counters = ruler.command("counters");
    let by_fault = r#""by_fault":{"reset_before":1,"close_before":1,"no_response":1}"#;
    assert!(counters.contains(by_fault), "{counters}");
    assert_eq!(ruler.count("responses"), 0);
}

#[test]
fn a_late_end_sends_half_the_body() {
    let ruler = Ruler::start(&[]);
    for (framing, fault, end) in [
        ("length", "reset_mid_body", Ended::Reset),
        ("length", "close_mid_body", Ended::Fin),
        ("chunked", "close_mid_body", Ended::Fin),
    ] {
        let (wire, ended) = wire(&ruler, &format!("body=1000&framing={framing}&fault={fault}"));
        assert_eq!(ended, end);
        assert_eq!(body_of(&wire).len(), if framing == "length" { 500 } else { 500 + "1f4\r\n\r\n".len() });
        assert!(!wire.ends_with("0\r\n\r\n"));
    }
}

#[test]
fn half_close_ends_the_servers_side_after_the_head_and_continues_to_read() {
    let ruler = Ruler::start(&[]);
    let mut client = ruler.connect();
    client.ask("/?fault=half_close&body=100");
    let (bytes, ended) = client.rest();
    assert!(bytes.ends_with(b"\r\n\r\n"));
    assert_eq!(ended, Ended::Fin);
    // The ruler reads two more requests without an RST, and counts them.
    client.ask("/").ask("/");
    ruler.wait_for("requests", 3);
    assert_eq!(ruler.count("open"), 1);
}

#[test]
fn a_dripping_response_is_complete_and_slow() {
    let ruler = Ruler::start(&[]);
    let begin = Instant::now();
    let answer = ruler.connect().get("/?fault=drip&drip_every=1ms&body=30");
    assert_eq!(answer.body.len(), 30);
    let bytes = (answer.head.len() + 30) as u32;
    assert!(begin.elapsed() >= Duration::from_millis(1) * (bytes - 1), "{:?}", begin.elapsed());
    assert_eq!(ruler.count("responses"), 1);
}

#[test]
fn a_stalled_head_stays_incomplete() {
    let ruler = Ruler::start(&[]);
    let (wire, ended) = wire(&ruler, "fault=stall_head");
    assert!(wire.starts_with("HTTP/1.1 200 OK\r\n") && !wire.contains("\r\n\r\n"), "{wire}");
    assert_eq!(ended, Ended::Not);
}

#[test]
fn malformed_heads_are_malformed() {
    let ruler = Ruler::start(&[]);
    assert!(!wire(&ruler, "fault=bad_status_line").0.starts_with("HTTP/"));
    let (bad_header, _) = wire(&ruler, "fault=bad_header");
    assert!(bad_header.lines().nth(2).is_some_and(|line| !line.contains(':')), "{bad_header}");
    let (conflicting, _) = wire(&ruler, "fault=conflicting_length&body=20");
    assert!(conflicting.contains("Content-Length: 20\r\nContent-Length: 30\r\n"));
    assert_eq!(body_of(&conflicting).len(), 20);
    let (chunk, ended) = wire(&ruler, "fault=bad_chunk&body=100");
    assert!(chunk.contains("Transfer-Encoding: chunked") && chunk.ends_with("\r\nno size\r\n"), "{chunk}");
    assert_eq!(ended, Ended::Not);
}

#[test]
fn an_endless_head_continues_while_the_client_reads() {
    let ruler = Ruler::start(&[]);
    let mut client = ruler.connect();
    client.ask("/?fault=endless_head");
    let megabyte = client.take(1 << 20);
    assert!(megabyte.starts_with(b"HTTP/1.1 200 OK\r\n"));
    assert!(!megabyte.windows(4).any(|four| four == b"\r\n\r\n"));
    drop(client);
    ruler.wait_for("open", 0);
}

#[test]
fn extra_bytes_follow_a_complete_response() {
    let ruler = Ruler::start(&[]);
    for body in [10, 100_000] {
        let mut client = ruler.connect();
        assert_eq!(client.get(&format!("/?fault=garbage_after&body={body}")).body.len(), body);
        let (rest, ended) = client.rest_within(SILENCE);
        assert!(rest.starts_with(b"these bytes"), "{body}");
        assert_eq!(ended, Ended::Not);
        let mut client = ruler.connect();
        assert_eq!(client.get(&format!("/?fault=two_responses&body={body}")).body.len(), body);
        assert_eq!(client.answer().body, b"second");
    }
}

#[test]
fn the_keep_alive_race_resets_the_next_request() {
    let ruler = Ruler::start(&[]);
    let mut client = ruler.connect();
    assert_eq!(client.get("/?fault=reset_idle_race").status, 200);
    client.ask("/");
    assert_eq!(client.rest(), (vec![], Ended::Reset));
    let counters = ruler.command("counters");
    assert!(
        counters.contains(r#""reset_idle_race":1"#) && counters.contains(r#""responses":1"#),
        "{counters}"
    );
}

#[test]
fn accept_then_reset_resets_every_new_connection() {
    let ruler = Ruler::start(&[]);
    let mut control = ruler.connect();
    control.command("set?fault=accept_then_reset");
    let mut client = ruler.connect();
    assert_eq!(client.rest(), (vec![], Ended::Reset));
    control.command("set?fault=none");
    assert_eq!(ruler.connect().get("/").status, 200);
    let counters = control.command("counters");
    assert!(counters.contains(r#""accept_then_reset":1"#), "{counters}");
}

#[test]
fn a_fault_applies_to_its_share_of_requests() {
    let ruler = Ruler::start(&["--fault", "close_before", "--fault-rate", "0.2"]);
    let struck = (0..300)
        .filter(|_| {
            let mut client = ruler.connect();
            client.ask("/?close=1").rest().0.is_empty()
        })
        .count();
    assert!((30..=95).contains(&struck), "{struck} of 300");
    let counters = ruler.command("counters");
    assert!(counters.contains(&format!(r#""close_before":{struck}"#)), "{counters}");
    // A fault in a query applies to that request, regardless of the server's rate.
    assert_eq!(wire(&ruler, "fault=reset_before").1, Ended::Reset);
}

#[test]
fn the_listener_closes_and_opens_on_the_same_port() {
    let ruler = Ruler::start(&[]);
    let mut control = ruler.connect();
    control.command("set?listen=off");
    let refused = Client::connect(ruler.address).err().unwrap();
    assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
    control.command("set?listen=on");
    assert_eq!(ruler.connect().get("/").status, 200);
}

#[test]
fn connections_above_the_limit_are_reset_or_stay_in_the_backlog() {
    let ruler = Ruler::start(&[]);
    let mut control = ruler.connect();
    control.command("set?max_connections=2");
    let (mut first, mut second) = (ruler.connect(), ruler.connect());
    assert_eq!((first.get("/").status, second.get("/").status), (200, 200));
    assert_eq!(ruler.connect().rest().1, Ended::Reset);
    control.command("set?leave_in_backlog=1");
    let mut third = ruler.connect();
    third.ask("/");
    assert_eq!(third.rest_within(SILENCE), (vec![], Ended::Not));
    drop(first);
    third.stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    assert_eq!(third.answer().status, 200);
    assert_eq!(common::number(&control.command("counters"), "over_limit"), 1);
}
