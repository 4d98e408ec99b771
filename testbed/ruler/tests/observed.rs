//! Received requests, byte by byte: `/echo` and kept requests.

use crate::common::{Ruler, number};

fn text(body: Vec<u8>) -> String {
    String::from_utf8(body).unwrap()
}

#[test]
fn echo_shows_what_was_sent_in_order() {
    let ruler = Ruler::start(&[]);
    let mut client = ruler.connect();
    client.get("/first");
    client.send("PATCH /echo?q=%20a&q=b HTTP/1.1\r\nhOsT: x\r\nX-B: 2\r\nX-A:1 \r\nX-B: \"3\"\r\n");
    client.send("Content-Length: 5\r\n\r\nh\u{e9}\"\n");
    let answer = client.answer();
    assert_eq!((answer.status, answer.header("Content-Type")), (200, Some("application/json")));
    let peer = client.stream.local_addr().unwrap();
    let expected = [
        r#"{"method":"PATCH","target":"/echo?q=%20a&q=b","http_version":"HTTP/1.1","#,
        r#""headers":[["hOsT","x"],["X-B","2"],["X-A","1"],["X-B","\"3\""],["Content-Length","5"]],"#,
        r#""trailers":[],"body":"hé\"\u000a","body_bytes":5,"#,
        &format!(r#""connection":1,"request_on_connection":2,"peer":"{peer}"}}"#),
    ];
    assert_eq!(text(answer.body), expected.concat());
}

#[test]
fn echo_decodes_chunks_and_shows_binary_bodies_as_base64() {
    let ruler = Ruler::start(&[]);
    let mut client = ruler.connect();
    client.send("POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n");
    client.send("5;a=b\r\nhello\r\n1\r\n!\r\n0\r\nX-Sum: 7\r\n\r\n");
    let chunked = text(client.answer().body);
    assert!(chunked.contains(r#""trailers":[["X-Sum","7"]],"body":"hello!","body_bytes":6"#), "{chunked}");
    std::io::Write::write_all(
        &mut client.stream,
        b"POST /echo HTTP/1.1\r\nX-L: \xe9\r\nContent-Length: 4\r\n\r\n\xff\x00\x01\xfe",
    )
    .unwrap();
    let binary = text(client.answer().body);
    assert!(binary.contains(r#"["X-L","é"]"#), "{binary}");
    // printf '\xff\x00\x01\xfe' | base64
    assert!(binary.contains(r#""body_base64":"/wAB/g==","body_bytes":4"#), "{binary}");
}

#[test]
fn echo_shows_complete_large_bodies_and_accepts_keys() {
    let ruler = Ruler::start(&[]);
    let mut client = ruler.connect();
    let body = "u".repeat(16 << 20);
    client.send(&format!(
        "POST /echo?header=X-A:1&framing=chunked HTTP/1.1\r\nContent-Length: {}\r\n\r\n",
        body.len()
    ));
    let answer = client.send(&body).answer();
    assert_eq!(answer.header("X-A"), Some("1"));
    let shown = text(answer.body);
    assert_eq!(number(&shown, "body_bytes"), 16 << 20);
    assert!(shown.contains(&body));
    assert_eq!(client.get("/echo?status=418").status, 418);
}

#[test]
fn no_requests_are_kept_by_default() {
    let ruler = Ruler::start(&[]);
    ruler.connect().get("/");
    assert_eq!(ruler.command("requests"), r#"{"kept":0,"discarded":0,"requests":[]}"#);
}

#[test]
fn kept_requests_have_their_exact_bytes_and_origin() {
    let ruler = Ruler::start(&["--keep-requests", "10"]);
    let mut client = ruler.connect();
    client.send("POST /a?x=1 HTTP/1.1\r\nhost:y\r\nContent-Length: 3\r\n\r\nabc").answer();
    client.send("PUT /b HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").answer();
    let arrive = {
        let log = ruler.connect().get("/_test-server/log?count=1");
        u64::from_le_bytes(log.body[..8].try_into().unwrap())
    };
    let kept = ruler.command("requests");
    let peer = client.stream.local_addr().unwrap();
    let first = [
        r#""cut":false,"head":"POST /a?x=1 HTTP/1.1\u000d\u000ahost:y"#,
        r#"\u000d\u000aContent-Length: 3\u000d\u000a\u000d\u000a","method":"POST","target":"/a?x=1","#,
        r#""http_version":"HTTP/1.1","headers":[["host","y"],["Content-Length","3"]],"trailers":[],"#,
        r#""body":"abc","body_bytes":3,"connection":1,"request_on_connection":1,"#,
        &format!(r#""peer":"{peer}"}}"#),
    ]
    .concat();
    let begin = format!(
        r#"{{"kept":2,"discarded":0,"requests":[{{"arrive_ns":{arrive},"arrival":{{"first_byte_ns":"#
    );
    assert!(kept.starts_with(&begin) && kept.contains(&format!("}},{first},")), "{kept}");
    assert!(kept.contains(r#""http_version":"HTTP/1.0""#) && kept.contains(r#""request_on_connection":2"#));
}

#[test]
fn the_first_or_the_last_are_kept_and_the_rest_counted() {
    let ruler = Ruler::start(&[]);
    let targets = |json: &str| -> Vec<String> {
        json.split(r#""target":""#).skip(1).map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
    };
    for (keep, expected) in [("first:2", ["/0", "/1"]), ("last:2", ["/3", "/4"]), ("2", ["/3", "/4"])] {
        ruler.command(&format!("set?keep_requests={keep}"));
        let mut client = ruler.connect();
        (0..5).for_each(|turn| assert_eq!(client.get(&format!("/{turn}")).status, 200));
        let kept = ruler.command("requests");
        assert_eq!(targets(&kept), expected, "{keep}");
        assert_eq!((number(&kept, "kept"), number(&kept, "discarded")), (2, 3), "{keep}");
        assert_eq!(ruler.count("requests_discarded"), 3);
        ruler.command("requests?clear");
        assert_eq!(ruler.count("requests_kept") + ruler.count("requests_discarded"), 0);
    }
    ruler.command("set?keep_requests=0");
    ruler.connect().get("/");
    assert_eq!(ruler.count("requests_kept"), 0);
}

#[test]
fn keep_requests_keeps_complete_large_bodies() {
    let ruler = Ruler::start(&["--keep-requests", "first:1"]);
    let mut client = ruler.connect();
    client.send("POST /up HTTP/1.1\r\nContent-Length: 5000000\r\n\r\n").send(&"u".repeat(5_000_000)).answer();
    let kept = ruler.command("requests");
    assert_eq!(number(&kept, "body_bytes"), 5_000_000);
    assert!(kept.contains(r#""cut":false"#));
    // 20 MB are more than the limit: the body is cut and marked as such.
    ruler.command("requests?clear");
    client
        .send("POST /up HTTP/1.1\r\nContent-Length: 20000000\r\n\r\n")
        .send(&"u".repeat(20_000_000))
        .answer();
    let kept = ruler.command("requests");
    assert!(kept.contains(r#""cut":true"#) && number(&kept, "body_bytes") > 16 << 20, "{}", &kept[..300]);
}

#[test]
fn listens_on_ipv6_and_shows_peers_with_brackets() {
    let ruler = Ruler::start(&["--listen", "[::1]:0"]);
    assert!(ruler.address.is_ipv6());
    let mut client = ruler.connect();
    let shown = text(client.get("/echo").body);
    assert!(shown.contains(&format!(r#""peer":"{}""#, client.stream.local_addr().unwrap())), "{shown}");
    let old = ruler.connect().send("GET /echo HTTP/1.0\r\n\r\n").answer();
    assert_eq!(old.header("Connection"), Some("close"));
    assert!(text(old.body).contains(r#""http_version":"HTTP/1.0""#));
}
