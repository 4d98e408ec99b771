//! The difference between two clocks is within its bound, however long the way there and back takes.

use plimsoll_cluster::clock::{EXCHANGES, Exchange, best};
use plimsoll_testkit::made_up::Random;

#[test]
fn the_error_never_exceeds_the_bound() {
    let mut random = Random::new(3);
    for _ in 0..2_000 {
        let offset_ns = random.below(1 << 40) as i64 - (1 << 39);
        let mut agent_ns = (1 << 41) + random.below(1 << 40);
        let exchange = |_| {
            let (there_ns, back_ns) = (random.below(5_000_000), random.below(5_000_000));
            let asked_ns = agent_ns;
            let answer_ns = (asked_ns as i64 + there_ns as i64 + offset_ns) as u64;
            agent_ns += there_ns + back_ns + random.below(1_000_000);
            Exchange { asked_ns, answer_ns, heard_ns: asked_ns + there_ns + back_ns }
        };
        let exchanges: Vec<Exchange> = (0..EXCHANGES).map(exchange).collect();
        let found = best(&exchanges).unwrap();
        assert!(found.offset_ns.abs_diff(offset_ns) <= found.bound_ns, "{found:?}, true offset {offset_ns}");
        let shortest_ns = exchanges.iter().map(|one| one.heard_ns - one.asked_ns).min().unwrap();
        assert_eq!(found.bound_ns, shortest_ns.div_ceil(2));
    }
}

#[test]
fn times_convert_back_and_forth() {
    let found = best(&[Exchange { asked_ns: 5_000, answer_ns: 905_500, heard_ns: 6_000 }]).unwrap();
    assert_eq!((found.offset_ns, found.bound_ns), (900_000, 500));
    assert_eq!(found.to_agent_ns(1_000_000), 100_000);
    assert_eq!(found.to_coordinator_ns(100_000), 1_000_000);
    assert_eq!(best(&[]), None);
}
