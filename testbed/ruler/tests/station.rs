//! The queue model: capacity = workers / service time, a bounded queue, and its overflow.

use crate::common::{Client, Ended, Ruler, number};
use std::time::Instant;

fn crowd(ruler: &Ruler, size: usize) -> Vec<Client> {
    let mut clients: Vec<Client> = (0..size).map(|_| ruler.connect()).collect();
    clients.iter_mut().for_each(|client| {
        client.ask("/");
    });
    clients
}

#[test]
fn requests_overflow_immediately_when_the_queue_is_full() {
    let ruler = Ruler::start(&["--workers", "2", "--service", "100ms", "--queue", "3"]);
    let statuses: Vec<u16> = crowd(&ruler, 10).iter_mut().map(|client| client.answer().status).collect();
    let counters = ruler.command("counters");
    assert_eq!(statuses.iter().filter(|&&status| status == 200).count(), 5, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|&&status| status == 503).count(), 5, "{statuses:?}");
    assert_eq!(number(&counters, "overflowed"), 5);
    assert_eq!(number(&counters, "queue_max"), 3);
    assert_eq!(number(&counters, "in_service"), 0);
    assert!(counters.contains(r#""by_status":{"200":5,"503":5}"#), "{counters}");
}

#[test]
fn an_overflow_may_also_end_the_connection() {
    for (overflow, end) in [("reset", Ended::Reset), ("close", Ended::Fin)] {
        let ruler =
            Ruler::start(&["--workers", "1", "--service", "300ms", "--queue", "0", "--overflow", overflow]);
        let mut clients = crowd(&ruler, 2);
        ruler.wait_for("overflowed", 1);
        assert_eq!(clients[1].rest(), (vec![], end));
        assert_eq!(clients[0].answer().status, 200);
    }
}

#[test]
fn capacity_is_workers_over_service_time() {
    let ruler = Ruler::start(&["--workers", "4", "--service", "5ms", "--queue", "1000"]);
    let begin = Instant::now();
    crowd(&ruler, 400).iter_mut().for_each(|client| assert_eq!(client.answer().status, 200));
    // 400 requests, 4 at a time, 5 ms each: 500 ms.
    let took_ms = begin.elapsed().as_secs_f64() * 1e3;
    assert!((499.0..1000.0).contains(&took_ms), "{took_ms}");
    // In model time, the workers are never idle: service starts every 5 ms, four at a time.
    let log = ruler.connect().get("/_test-server/log").body;
    let mut begins: Vec<u64> = records(&log).map(|record| record[1]).collect();
    begins.sort_unstable();
    let spans: Vec<u64> = begins.windows(5).map(|five| five[4] - five[0]).skip(4).collect();
    assert!(spans.iter().all(|&span_ns| span_ns >= 5_000_000), "more than four at once");
    let exact = spans.iter().filter(|&&span_ns| span_ns == 5_000_000).count();
    assert!(exact * 10 > spans.len() * 9, "{exact} of {}", spans.len());
}

#[test]
fn a_worker_is_not_freed_by_a_client_that_leaves() {
    let ruler = Ruler::start(&["--workers", "1", "--service", "200ms", "--queue", "9"]);
    let first = crowd(&ruler, 1);
    ruler.wait_for("in_service", 1);
    drop(first);
    let begin = Instant::now();
    assert_eq!(ruler.connect().get("/").status, 200);
    assert!(begin.elapsed().as_millis() > 220, "{:?}", begin.elapsed());
}

#[test]
fn turning_the_queue_model_off_releases_all_waiting_requests() {
    let ruler = Ruler::start(&["--workers", "1", "--service", "50ms", "--queue", "100"]);
    let mut clients = crowd(&ruler, 20);
    ruler.wait_for("queue", 19);
    let begin = Instant::now();
    ruler.command("set?workers=0");
    clients.iter_mut().for_each(|client| assert_eq!(client.answer().status, 200));
    assert!(begin.elapsed().as_millis() < 500);
}

/// Returns the four times of each record of the log.
fn records(log: &[u8]) -> impl Iterator<Item = [u64; 4]> {
    log.chunks_exact(40).map(|record| {
        std::array::from_fn(|at| u64::from_le_bytes(record[at * 8..at * 8 + 8].try_into().unwrap()))
    })
}
