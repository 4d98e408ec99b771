//! Well-formed responses: the bytes on the wire are those of the settings.

use crate::common;
use crate::common::{Ended, Ruler};
use std::time::{Duration, Instant};

#[test]
fn status_reason_and_body_are_as_configured() {
    let ruler = Ruler::start(&["--body", "20"]);
    let mut client = ruler.connect();
    let usual = client.get("/");
    assert_eq!((usual.status, usual.body.as_slice()), (200, b"abcdefghijklmnopqrst".as_slice()));
    let other = client.get("/pick?status=503&body=5&page=3");
    assert_eq!((other.status, other.body.as_slice()), (503, b"abcde".as_slice()));
    assert!(other.head.starts_with("HTTP/1.1 503 Service Unavailable\r\n"));
    let odd = client.get("/?reason=Content-Type:%20application/json");
    assert!(odd.head.starts_with("HTTP/1.1 200 Content-Type: application/json\r\n"));
    assert_eq!(client.get("/?status=204").header("Content-Length"), None);
}

#[test]
fn bodies_are_the_same_in_every_framing() {
    let ruler = Ruler::start(&[]);
    let plain = ruler.connect().get("/?body=683481");
    assert_eq!(plain.body.len(), 683_481);
    let chunked = ruler.connect().get("/?body=683481&framing=chunked&chunk=1000&trailers=1");
    assert_eq!(chunked.header("Content-Length"), None);
    assert_eq!(chunked.header("X-Ruler-Trailer"), Some("the end"));
    assert!(chunked.body == plain.body);
    let mut client = ruler.connect();
    let closing = client.get("/?body=683481&framing=close");
    assert_eq!(closing.header("Connection"), Some("close"));
    assert!(closing.body == plain.body);
}

#[test]
fn an_unread_body_does_not_delay_other_connections() {
    let ruler = Ruler::start(&[]);
    let mut slow = ruler.connect();
    slow.ask("/?body=200m");
    slow.head();
    assert_eq!(ruler.connect().get("/").status, 200);
    assert_eq!(ruler.count("responses"), 1);
}

#[test]
fn a_head_has_the_configured_size() {
    let ruler = Ruler::start(&[]);
    assert_eq!(ruler.connect().get("/?head_bytes=32k").head.len(), 32 << 10);
}

#[test]
fn informational_responses_come_first() {
    let ruler = Ruler::start(&[]);
    let mut client = ruler.connect();
    client.ask("/?informational=3");
    let statuses: Vec<String> = (0..3).map(|_| client.head()[9..12].to_owned()).collect();
    assert_eq!(statuses, ["103", "100", "103"]);
    assert_eq!(client.answer().status, 200);
}

#[test]
fn http_1_0_closes_unless_both_sides_ask_to_keep() {
    let ruler = Ruler::start(&[]);
    let mut client = ruler.connect();
    let answer = client.get("/?http=1.0");
    assert!(answer.head.starts_with("HTTP/1.0 200"));
    assert_eq!(client.rest().1, Ended::Fin);
    let mut old = ruler.connect();
    for _ in 0..2 {
        let kept = old.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").answer();
        assert_eq!(kept.header("Connection"), Some("keep-alive"));
    }
    old.send("GET /?framing=chunked HTTP/1.0\r\n\r\n");
    assert_eq!(old.answer().header("Transfer-Encoding"), None);
}

#[test]
fn connections_close_when_configured() {
    let ruler = Ruler::start(&["--keep-alive-requests", "3"]);
    let mut client = ruler.connect();
    assert_eq!(client.get("/").header("Connection"), None);
    assert_eq!(client.get("/").header("Connection"), None);
    assert_eq!(client.get("/").header("Connection"), Some("close"));
    assert_eq!(client.rest(), (vec![], Ended::Fin));
    let mut client = ruler.connect();
    assert_eq!(client.get("/?close=1").header("Connection"), Some("close"));
    assert_eq!(client.rest(), (vec![], Ended::Fin));
}

#[test]
fn idle_connections_close_by_fin_and_busy_ones_do_not() {
    let ruler = Ruler::start(&["--idle-close", "100ms"]);
    let mut client = ruler.connect();
    assert_eq!(client.get("/?delay=250ms").status, 200);
    let answered = Instant::now();
    assert_eq!(client.rest(), (vec![], Ended::Fin));
    assert!(answered.elapsed() > Duration::from_millis(80), "{:?}", answered.elapsed());
    assert_eq!(ruler.count("closed_by_server"), 1);
}

#[test]
fn head_and_bodiless_statuses_carry_no_body() {
    let ruler = Ruler::start(&[]);
    let mut client = ruler.connect();
    client.send("HEAD /?body=100 HTTP/1.1\r\n\r\n");
    assert!(client.head().contains("Content-Length: 100"));
    assert_eq!(client.get("/?status=304").status, 304);
    assert_eq!(client.get("/").status, 200);
}

#[test]
fn delays_are_kept_to_fractions_of_a_millisecond() {
    let ruler = Ruler::start(&[]);
    let mut client = ruler.connect();
    for _ in 0..60 {
        client.get("/?delay=2300us");
    }
    let text = ruler.command("quantiles?q=0,0.5");
    let late = &text[text.find("late_ns").unwrap()..];
    let commanded = &text[text.find("commanded_ns").unwrap()..];
    assert_eq!(common::number(commanded, "0.5"), 2_300_000);
    assert!(common::number(&text, "0") >= 2_300_000, "{text}");
    // Typically 20 us. Waiting in whole milliseconds would make it 700. The bound is in between, for a busy machine.
    assert!(common::number(late, "0.5") < 400_000, "{text}");
}

#[test]
fn errors_have_their_share_and_repeat_with_the_seed() {
    let statuses = |ruler: &Ruler| -> Vec<u16> {
        let mut client = ruler.connect();
        (0..500).map(|_| client.get("/").status).collect()
    };
    let flags = ["--error-rate", "0.1", "--error-status", "418", "--seed", "5"];
    let first = statuses(&Ruler::start(&flags));
    let errors = first.iter().filter(|&&status| status == 418).count();
    assert!((25..=85).contains(&errors), "{errors} of 500");
    let second = Ruler::start(&flags);
    assert_eq!(statuses(&second), first);
    second.command("set?seed=5");
    assert_eq!(statuses(&second), first);
}

#[test]
fn a_pause_holds_responses_until_its_end() {
    let ruler = Ruler::start(&[]);
    let mut control = ruler.connect();
    let mut client = ruler.connect();
    client.get("/");
    let before = Instant::now();
    control.command("set?pause=300ms/100s");
    client.get("/");
    let took = before.elapsed();
    assert!(took > Duration::from_millis(295) && took < Duration::from_secs(5), "{took:?}");
    let before = Instant::now();
    client.get("/");
    assert!(before.elapsed() < Duration::from_millis(250));
    // The pause is part of the configured time, so it does not count as a delay of the ruler.
    let text = control.command("quantiles?q=1");
    assert!(common::number(&text[text.find("commanded").unwrap()..], "1") > 250_000_000, "{text}");
}
