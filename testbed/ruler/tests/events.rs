//! Event streams: the events, their times, and the end.

use crate::common::{Client, Ended, Ruler, number};
use std::time::{Duration, Instant};

/// The body of a stream that ends by its count.
fn stream(ruler: &Ruler, query: &str) -> String {
    let answer = ruler.connect().get(&format!("/events?{query}"));
    assert_eq!((answer.status, answer.header("Content-Type")), (200, Some("text/event-stream")), "{query}");
    String::from_utf8(answer.body).unwrap()
}

/// All values of one number in the data.
fn all(text: &str, name: &str) -> Vec<u64> {
    let label = format!("\"{name}\":");
    text.split(&label)
        .skip(1)
        .map(|rest| rest[..rest.find(|c: char| !c.is_ascii_digit()).unwrap()].parse().unwrap())
        .collect()
}

/// The next chunk of a stream.
fn chunk(client: &mut Client) -> String {
    let size = usize::from_str_radix(&client.line(), 16).unwrap();
    let bytes = client.take(size);
    assert_eq!(client.line(), "");
    String::from_utf8(bytes).unwrap()
}

#[test]
fn events_have_ids_data_and_two_stamps() {
    let ruler = Ruler::start(&[]);
    let text = stream(&ruler, "every=1ms&count=2&retry=1500&event=tick&data=a%22%0Ab");
    let (at, sent) = (all(&text, "at_ns"), all(&text, "sent_ns"));
    assert_eq!(
        text,
        format!(
            "retry: 1500\n\n\
             event: tick\nid: 1\ndata: {{\"seq\":1,\"at_ns\":{},\"sent_ns\":{},\"data\":\"a\\\"\\u000ab\"}}\n\n\
             event: tick\nid: 2\ndata: {{\"seq\":2,\"at_ns\":{},\"sent_ns\":{},\"data\":\"a\\\"\\u000ab\"}}\n\n",
            at[0], sent[0], at[1], sent[1]
        )
    );
    // The plan keeps its step (but for the two clocks' readings not being one); writing is never early.
    assert!((at[1] - at[0]).abs_diff(1_000_000) < 200_000, "{at:?}");
    assert!(at.iter().zip(&sent).all(|(at, sent)| at <= sent), "{at:?} {sent:?}");
    assert!(!stream(&ruler, "every=1ms&count=1&id=none").contains("id:"));
}

#[test]
fn drops_repeats_and_swaps_are_as_configured() {
    let ruler = Ruler::start(&[]);
    let text = stream(&ruler, "every=1ms&first=0&count=10&drop=3,7&repeat=5&swap=9");
    assert_eq!(all(&text, "seq"), [1, 2, 4, 5, 5, 6, 8, 10, 9]);
    assert_eq!((ruler.count("events_sent"), ruler.count("streams_ended")), (9, 1));
}

#[test]
fn a_stream_continues_after_the_last_id() {
    let ruler = Ruler::start(&[]);
    let mut client = ruler.connect();
    let mut resume = |id: &str| {
        let request = format!("GET /events?every=1ms&count=6 HTTP/1.1\r\nLast-Event-ID: {id}\r\n\r\n");
        client.send(&request).answer()
    };
    assert_eq!(all(&String::from_utf8(resume("4").body).unwrap(), "seq"), [5, 6]);
    assert_eq!(resume("6").status, 204);
    assert_eq!(resume("x").status, 400);
    // After each stream, the connection serves ordinary requests.
    assert_eq!(client.get("/?body=2").body, b"ab");
}

#[test]
fn an_old_client_gets_a_stream_without_chunks() {
    let ruler = Ruler::start(&[]);
    let mut client = ruler.connect();
    client.send("GET /events?every=1ms&count=2 HTTP/1.0\r\n\r\n");
    assert!(!client.head().contains("chunked"));
    let (bytes, ended) = client.rest();
    let text = String::from_utf8(bytes).unwrap();
    assert_eq!((all(&text, "seq"), ended), (vec![1, 2], Ended::Fin));
    assert!(text.starts_with("id: 1\ndata: "), "{text}");
}

#[test]
fn aligned_streams_tick_together_on_the_wall() {
    let ruler = Ruler::start(&[]);
    let mut clients: Vec<Client> = (0..3).map(|_| ruler.connect()).collect();
    for client in &mut clients {
        client.ask("/events?every=50ms&count=6&aligned=1");
    }
    let mut ticks: Vec<Vec<u64>> = Vec::new();
    for client in &mut clients {
        let text = String::from_utf8(client.answer().body).unwrap();
        ticks.push(all(&text, "at_ns"));
    }
    assert!(ticks.iter().flatten().all(|at_ns| at_ns % 50_000_000 == 0), "{ticks:?}");
    // They started almost at the same time, at most one tick apart.
    assert!(ticks.iter().all(|one| one.iter().any(|at_ns| ticks[0].contains(at_ns))), "{ticks:?}");
    assert!(ticks.iter().all(|one| one.windows(2).all(|two| two[1] - two[0] == 50_000_000)), "{ticks:?}");
}

#[test]
fn a_sequential_broadcast_delays_each_stream_by_its_place() {
    let ruler = Ruler::start(&[]);
    let mut clients: Vec<Client> = (0..5).map(|_| ruler.connect()).collect();
    for client in &mut clients {
        client.ask("/events?every=400ms&count=2&aligned=1&fanout_us=40000");
        client.head();
    }
    // At the last event, all five streams are open, regardless of the tick at which each of them started.
    let mut rows: Vec<(u64, u64)> = Vec::new();
    for client in &mut clients {
        let text = chunk(client) + &chunk(client);
        let (at, sent) = (all(&text, "at_ns"), all(&text, "sent_ns"));
        rows.extend(at.into_iter().zip(sent));
    }
    let busiest =
        rows.iter().map(|row| row.0).max_by_key(|at| rows.iter().filter(|row| row.0 == *at).count());
    let mut late_ms: Vec<u64> =
        rows.iter().filter(|row| Some(row.0) == busiest).map(|row| (row.1 - row.0) / 1_000_000).collect();
    late_ms.sort_unstable();
    assert!(late_ms.len() >= 3, "{rows:?}");
    for (place, late_ms) in late_ms.iter().enumerate() {
        assert!((40 * place as u64..40 * place as u64 + 39).contains(late_ms), "{place}: {late_ms} {rows:?}");
    }
}

#[test]
fn jitter_delays_events_and_leaves_the_plan() {
    let ruler = Ruler::start(&[]);
    let text = stream(&ruler, "every=60ms&count=10&jitter=50ms");
    let (at, sent) = (all(&text, "at_ns"), all(&text, "sent_ns"));
    assert!(at.windows(2).all(|two| (two[1] - two[0]).abs_diff(60_000_000) < 1_000_000), "{at:?}");
    let late_ms: Vec<u64> = at.iter().zip(&sent).map(|(at, sent)| (sent - at) / 1_000_000).collect();
    // Ten draws from 0 to 50 ms: none above it (with room for a busy machine), and not all equal.
    assert!(late_ms.iter().all(|&late| late < 100), "{late_ms:?}");
    assert!(late_ms.iter().max().unwrap() - late_ms.iter().min().unwrap() >= 12, "{late_ms:?}");
}

#[test]
fn comments_come_between_events() {
    let ruler = Ruler::start(&[]);
    let mut client = ruler.connect();
    client.ask("/events?every=60s&comment_every=5ms").head();
    for _ in 0..3 {
        assert_eq!(chunk(&mut client), ": still here\n\n");
    }
}

#[test]
fn stopping_ends_every_stream_in_order_or_by_reset() {
    let ruler = Ruler::start(&[]);
    for (query, end) in [("", Ended::Fin), ("?hold_reset=1", Ended::Reset)] {
        ruler.command("clear");
        let mut clients: Vec<Client> = (0..20).map(|_| ruler.connect()).collect();
        for client in &mut clients {
            client.ask("/events?every=60s").head();
        }
        assert_eq!((ruler.count("streams_open"), ruler.count("streams_opened")), (20, 20));
        let mut operator = ruler.connect();
        let stopped = operator.send(&format!("POST /events/stop{query} HTTP/1.1\r\n\r\n")).answer();
        assert_eq!(stopped.body, br#"{"closed":20}"#);
        for client in &mut clients {
            let (bytes, ended) = client.rest();
            assert_eq!(ended, end);
            assert_eq!(bytes, if end == Ended::Fin { b"0\r\n\r\n".as_slice() } else { b"" });
        }
        assert_eq!((ruler.count("streams_open"), ruler.count("streams_closed_by_server")), (0, 20));
        let counters = ruler.command("counters");
        let responses = if end == Ended::Fin { 21 } else { 1 };
        assert_eq!(
            (number(&counters, "responses"), number(&counters, "abandoned")),
            (responses, 21 - responses)
        );
        assert_eq!(operator.get("/events/stop").status, 405);
    }
}

#[test]
fn a_client_that_leaves_a_stream_is_counted() {
    let ruler = Ruler::start(&[]);
    let mut client = ruler.connect();
    client.ask("/events?every=1ms").head();
    chunk(&mut client);
    drop(client);
    ruler.wait_for("streams_closed_by_peer", 1);
    assert_eq!((ruler.count("streams_open"), ruler.count("open")), (0, 0));
}

#[test]
fn only_a_client_that_does_not_read_loses_events() {
    let ruler = Ruler::start(&[]);
    let mut deaf = ruler.connect();
    let data = "x".repeat(30_000);
    deaf.ask(&format!("/events?every=100us&data={data}")).head();
    let begin = Instant::now();
    while ruler.count("events_skipped") == 0 {
        assert!(begin.elapsed() < Duration::from_secs(10), "1 MiB and the socket's buffers did not fill up");
    }
    assert_eq!(all(&stream(&ruler, "every=1ms&count=3"), "seq"), [1, 2, 3]);
}

#[test]
fn the_events_endpoint_accepts_the_keys() {
    let ruler = Ruler::start(&[]);
    let mut client = ruler.connect();
    let failed = client.get("/events?status=503");
    assert_eq!((failed.status, failed.body.len()), (503, 0));
    let begin = Instant::now();
    client.ask("/events?delay=50ms&first=0&every=1s&header=X-A:1");
    assert!(client.head().contains("X-A: 1\r\n") && begin.elapsed() >= Duration::from_millis(50));
    let mut reset = ruler.connect();
    assert_eq!(reset.ask("/events?fault=reset_before").rest(), (vec![], Ended::Reset));
    for (query, word) in [
        ("every=0", "at least 10us"),
        ("first=1s&aligned=1", "exclude"),
        ("fanout_us=5", "requires `aligned=1`"),
        ("swap=3&count=3", "no event follows"),
        ("id=uuid", "seq or none"),
        ("encoding=gzip", "`encoding` does not apply"),
        ("drop=0", "whole number"),
    ] {
        let answer = ruler.connect().get(&format!("/events?{query}"));
        let body = String::from_utf8(answer.body).unwrap();
        assert!(answer.status == 400 && body.contains(word), "{query}: {body}");
    }
}

#[test]
fn the_length_of_a_stream_is_not_a_delay_of_the_ruler() {
    let ruler = Ruler::start(&[]);
    stream(&ruler, "every=30ms&count=3");
    let text = ruler.command("quantiles?q=1");
    assert_eq!(number(&text, "count"), 1);
    let late = &text[text.find("late_ns").unwrap()..];
    assert!(number(late, "1") < 60_000_000 && number(&text, "max") > 85_000_000, "{text}");
}

#[test]
fn idle_streams_cost_little_memory() {
    let ruler = Ruler::start(&[]);
    let resident_kib = || -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", ruler.pid())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    ruler.connect().get("/events?every=1ms&count=1");
    let before_kib = resident_kib();
    let clients: Vec<Client> = (0..800)
        .map(|_| {
            let mut client = ruler.connect();
            client.ask("/events?every=60s&comment_every=15s").head();
            client
        })
        .collect();
    // About 1 KiB is usual; a buffer of 4 KiB per stream would fail.
    let grown_kib = resident_kib().saturating_sub(before_kib);
    assert!(grown_kib < 3 * clients.len() as u64, "{grown_kib} KiB for {} streams", clients.len());
}
