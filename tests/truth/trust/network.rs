//! The network: what was lost, and how far away the target is.

use super::{silent, warns};
use crate::help::{count, number};
use crate::provoke::{LOSSES, json, lose, lost, shell};
use crate::support::{Ruler, Tool, alone, namespace};

/// Every 50th packet with a request is lost and must be retransmitted once.
#[test]
fn lost_packets_are_retransmits() {
    namespace::inside("trust::network::lost_packets_are_retransmits", LOSSES, alone, || {
        let ruler = Ruler::start(&["--delay", "1ms"]);
        let args = [&ruler.url("/"), "-c", "20", "-n", "3000"];
        let before = retransmitted();
        let calm = json(&args, 0);
        silent(&calm, "retransmits");
        assert_eq!(
            count(&calm, "/client/retransmits"),
            retransmitted() - before,
            "against the kernel's count"
        );

        // Acknowledgements have 52 bytes, or some 12 more; those are left alone.
        lose(&format!("tcp dport {} meta length '>' 100 numgen inc mod 50 == 0", ruler.port()));
        let said = json(&args, 0);
        let (again, lost) = (count(&said, "/client/retransmits"), lost());
        // 3,000 requests and their retransmits; the lost packets may include one from the test to the ruler.
        assert!((60..=64).contains(&lost), "{lost} packets were lost");
        // The kernel may also retransmit slow packets. (Its own count does not help here: a lost request also loses an
        // acknowledgment, so the ruler retransmits as well.)
        assert!((lost - 1..=lost + 3).contains(&again), "{lost} lost, {again} retransmitted");
        assert!(warns(&said, "retransmits").contains(&format!("{again} segments retransmitted")));
        assert_eq!(count(&said, "/totals/requests"), 3_000, "late, but all of them");
    });
}

/// Returns the TCP segments that this network retransmitted.
fn retransmitted() -> u64 {
    let text = std::fs::read_to_string("/proc/self/net/snmp").unwrap();
    let mut rows = text.lines().filter(|line| line.starts_with("Tcp:"));
    let (names, values) = (rows.next().unwrap(), rows.next().unwrap());
    let at = names.split(' ').position(|name| name == "RetransSegs").unwrap();
    values.split(' ').nth(at).unwrap().parse().unwrap()
}

/// The lowest round trip is the kernel's own, not above what `ss` shows of the same connections.
#[test]
fn the_round_trip_floor_is_the_kernels() {
    let _alone = alone();
    let ruler = Ruler::start(&["--delay", "1ms"]);
    let running = Tool::new(&[&ruler.url("/"), "-c", "4", "-d", "1s", "--json"]).start();
    ruler.wait_for_requests(400);
    let seen = shell(&format!("ss -Htin dport = :{}", ruler.port()));
    let said = running.wait().expect_code(0).json();
    let floor_ns = number(&said, "/client/rtt_min_ns");
    // minrtt:0.021, in ms.
    let least_ms =
        seen.split_whitespace().filter_map(|word| word.strip_prefix("minrtt:")?.parse::<f64>().ok());
    let least_ns = least_ms.fold(f64::INFINITY, f64::min) * 1e6;
    assert!(floor_ns > 0.0 && floor_ns <= least_ns, "{floor_ns} ns against {least_ns} ns:\n{seen}");
}
