//! Reading: bodies, pipelines, single bytes, and clients that leave early. Every request that was sent is counted.

use crate::common::{Ended, Ruler, number};
use std::net::Shutdown;

#[test]
fn bodies_are_read_to_their_end_and_kept_as_sent() {
    let ruler = Ruler::start(&[]);
    let mut client = ruler.connect();
    let sized = "POST /a HTTP/1.1\r\nContent-Length: 11\r\n\r\nhello world";
    assert_eq!(client.send(sized).answer().status, 200);
    assert_eq!(ruler.command("last_request"), sized);
    let chunked = "POST /b HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n\
                   5;note=x\r\nhello\r\n6\r\n world\r\n0\r\nX-After: 1\r\n\r\n";
    assert_eq!(client.send(chunked).answer().status, 200);
    assert_eq!(ruler.command("last_request"), chunked);
    assert_eq!(client.get("/c").status, 200);
    let counters = ruler.command("counters");
    assert_eq!(number(&counters, "requests"), 3);
    assert!(counters.contains(r#""by_path":{"/a":1,"/b":1,"/c":1}"#), "{counters}");
}

#[test]
fn large_uploads_are_counted_completely_and_kept_in_part() {
    let ruler = Ruler::start(&[]);
    let mut client = ruler.connect();
    let head = "POST /up HTTP/1.1\r\nContent-Length: 5000000\r\n\r\n";
    assert_eq!(client.send(head).send(&"u".repeat(5_000_000)).answer().status, 200);
    assert_eq!(ruler.count("bytes_in"), 5_000_000 + head.len() as u64);
    let kept = ruler.connect().get("/_test-server/last_request");
    assert_eq!((kept.body.len(), kept.header("X-Ruler-Cut")), (1 << 20, Some("1")));
}

#[test]
fn expect_100_continue_gets_its_100() {
    let ruler = Ruler::start(&[]);
    let mut client = ruler.connect();
    client.send("PUT / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
    assert!(client.head().starts_with("HTTP/1.1 100 Continue"));
    assert_eq!(client.send("body").answer().status, 200);
}

#[test]
fn expect_100_continue_is_refused_or_ignored_on_command() {
    let ruler = Ruler::start(&["--keep-requests", "10"]);
    let mut client = ruler.connect();
    client.send("PUT /?on_expect=ignore HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
    assert_eq!(client.send("body").answer().status, 200);
    client.send("PUT /?on_expect=refuse HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
    let refused = client.answer();
    assert_eq!((refused.status, refused.header("Connection")), (417, Some("close")));
    let counters = ruler.command("counters");
    assert_eq!(number(&counters, "continues_sent"), 0);
    assert_eq!(number(&counters, "expectations_refused"), 1);
    assert_eq!(number(&counters, "requests"), 2);
}

#[test]
fn the_arrival_of_a_body_is_shown_with_its_request() {
    let ruler = Ruler::start(&["--keep-requests", "10"]);
    let mut client = ruler.connect();
    client
        .send("POST /b HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n");
    assert_eq!(client.answer().status, 200);
    let kept = ruler.command("requests");
    let arrival = kept.split("\"arrival\":").nth(1).expect("it is shown");
    assert_eq!((number(arrival, "pieces"), number(arrival, "piece_bytes_max")), (2, 6));
    assert!(number(arrival, "body_ns") >= number(arrival, "first_byte_ns"));
    assert!(number(arrival, "first_byte_ns") > 0);
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let ruler = Ruler::start(&[]);
    let mut client = ruler.connect();
    let pipeline: String = (0..500)
        .map(|turn| {
            format!(
                "GET /?status={}&delay={} HTTP/1.1\r\n\r\n",
                200 + turn % 3,
                if turn == 7 { "5ms" } else { "0" }
            )
        })
        .collect();
    client.send(&pipeline);
    for turn in 0..500 {
        assert_eq!(client.answer().status, 200 + turn % 3);
    }
    assert_eq!(ruler.count("responses"), 500);
}

#[test]
fn a_request_may_arrive_in_single_bytes() {
    let ruler = Ruler::start(&[]);
    let mut client = ruler.connect();
    for byte in "POST /slow HTTP/1.1\r\nContent-Length: 2\r\n\r\nok".chars() {
        client.send(&byte.to_string());
    }
    assert_eq!(client.answer().status, 200);
}

#[test]
fn a_client_that_sends_and_leaves_is_counted() {
    let ruler = Ruler::start(&[]);
    for _ in 0..50 {
        ruler.connect().ask("/gone");
    }
    ruler.wait_for("open", 0);
    let counters = ruler.command("counters");
    assert_eq!((number(&counters, "requests"), number(&counters, "closed_by_peer")), (50, 50), "{counters}");
}

#[test]
fn requests_in_the_queue_of_a_reset_connection_are_counted() {
    let ruler = Ruler::start(&[]);
    let mut client = ruler.connect();
    // An unread response turns the close of the client's socket into an RST.
    client.get("/first?body=10");
    client.ask("/second?body=100k").head();
    client.ask("/third?delay=50ms").ask("/fourth");
    drop(client);
    ruler.wait_for("open", 0);
    let counters = ruler.command("counters");
    assert_eq!(number(&counters, "requests"), 4, "{counters}");
    assert_eq!(number(&counters, "responses") + number(&counters, "abandoned"), 4, "{counters}");
    assert_eq!(number(&counters, "resets_received"), 1, "{counters}");
}

#[test]
fn a_client_that_shuts_its_writing_side_still_gets_its_response() {
    let ruler = Ruler::start(&[]);
    let mut client = ruler.connect();
    client.ask("/?delay=20ms&body=3");
    client.stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(client.answer().body, b"abc");
    assert_eq!(client.rest(), (vec![], Ended::Fin));
}

#[test]
fn input_that_is_not_http_gets_400_and_a_close() {
    let ruler = Ruler::start(&[]);
    for wrong in [
        "hello\r\n\r\n",
        "GET / HTTP/2.0\r\n\r\n",
        "GET / HTTP/1.1\r\nno colon\r\n\r\n",
        "GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "GET / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ] {
        let mut client = ruler.connect();
        assert_eq!(client.send(wrong).answer().status, 400, "{wrong}");
        assert_eq!(client.rest().1, Ended::Fin, "{wrong}");
    }
    assert_eq!(ruler.count("malformed"), 6);
    assert_eq!(ruler.count("requests"), 0);
}
