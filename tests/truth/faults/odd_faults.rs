//! Odd, and yet an answer: what real servers send is good, and counted to the last byte.

use crate::help::count;
use crate::provoke::{json, no_faults};
use crate::support::{Ruler, run_alongside};

#[test]
fn odd_answers_that_real_servers_send_are_good() {
    let _turn = run_alongside();
    let ruler = Ruler::start(&[]);
    for (query, more) in [
        ("fault=drip&drip_every=200us&body=30", &[][..]),
        ("fault=half_close&framing=close", &[]),
        ("head_bytes=32k", &[]),
        ("informational=2", &[]),
        ("informational=5&framing=chunked", &[]),
        ("reason=Content-Type:%20application/json", &[]),
        ("http=1.0", &[]),
        ("http=1.0", &["-H", "Connection: keep-alive"]),
        ("framing=chunked&chunk=7&trailers=1", &[]),
        ("framing=chunked&body=100k&chunk=1000&trailers=1", &["--read-bodies"]),
        ("framing=close", &[]),
        ("framing=close&body=300k", &["--read-bodies"]),
        ("body=683481", &[]),
        ("body=0", &[]),
        ("status=204", &[]),
        ("status=304", &[]),
        ("body=1000", &["-X", "HEAD"]),
        ("close=1", &[]),
    ] {
        ruler.get("/_test-server/clear");
        let url = ruler.url(&format!("/?{query}"));
        let said = json(&[&[url.as_str(), "-n", "120", "-c", "4"], more].concat(), 0);
        no_faults(&said);
        assert_eq!(count(&said, "/totals/requests"), 120, "{query}");
        let counters = ruler.counters();
        assert_eq!(counters["requests"], 120, "{query}");
        // A half-closed answer is not among the ruler's whole ones, though a body until the close has no other end.
        let whole = if query.contains("half_close") { 0 } else { 120 };
        assert_eq!(counters["responses"], whole, "{query}: {counters}");
    }
}

#[test]
fn the_bytes_of_odd_answers_are_counted_to_the_last() {
    let _turn = run_alongside();
    let ruler = Ruler::start(&[]);
    for (query, body) in [
        ("framing=chunked&body=100k&chunk=1000&trailers=1", 102_400),
        ("framing=close&body=300k", 307_200),
        ("body=683481", 683_481),
        ("body=0", 0),
        ("status=204", 0),
    ] {
        for more in [&[][..], &["--read-bodies"]] {
            let url = ruler.url(&format!("/?{query}"));
            let said = json(&[&[url.as_str(), "-n", "40", "-c", "4"], more].concat(), 0);
            assert_eq!(count(&said, "/totals/body_bytes"), 40 * body, "{query} {more:?}");
            let series = &said["requests"][0];
            assert_eq!((&series["body_min_bytes"], &series["body_max_bytes"]), (&body.into(), &body.into()));
        }
    }
}
