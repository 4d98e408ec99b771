//! Clusters of times at retransmission timeouts.

use plimsoll_experiment::study::{Delay, clusters};
use plimsoll_stats::Hist;
use plimsoll_stats::random::SplitMix64;

const MS: f64 = 1e6;

/// Returns `n` times of `floor` plus an exponential of `mean`; a share `lost` of them waits `delay` ms longer.
fn times(n: usize, floor_ms: f64, mean_ms: f64, lost: &[(f64, f64)], seed: u64) -> Hist {
    let mut random = SplitMix64::new(seed);
    let mut hist = Hist::new();
    for _ in 0..n {
        let mut uniform = (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        let mut ms = floor_ms + mean_ms * random.exponential();
        for (delay_ms, share) in lost {
            if uniform < *share {
                ms += delay_ms;
                break;
            }
            uniform -= share;
        }
        hist.record((ms * MS) as u64);
    }
    hist
}

#[test]
fn lost_connection_attempts_are_found_at_one_three_and_seven_seconds() {
    let lost = [(1_000.0, 0.02), (3_000.0, 0.006), (7_000.0, 0.003)];
    let found = clusters(&times(20_000, 5.0, 20.0, &lost, 1), 0);
    let delays: Vec<u64> = found.iter().map(|c| c.delay_ns / 1_000_000).collect();
    assert_eq!(delays, [1_000, 3_000, 7_000], "{found:?}");
    assert!(found.iter().all(|c| c.delay == Delay::Syn));
    assert!((found[0].ratio - 0.02).abs() < 0.005, "{found:?}");
}

#[test]
fn most_connects_lost_are_found_too() {
    // 38% at once, 50% after one second, 12% after two.
    let found = clusters(&times(1_200, 25.0, 5.0, &[(1_000.0, 0.5), (2_000.0, 0.12)], 2), 25_000_000);
    assert_eq!(found.iter().map(|c| c.delay_ns / 1_000_000).collect::<Vec<_>>(), [1_000, 2_000], "{found:?}");
}

#[test]
fn lost_data_is_recognized_only_by_its_doubling() {
    let twice = clusters(&times(20_000, 1.0, 2.0, &[(200.0, 0.01), (600.0, 0.004)], 3), 0);
    assert_eq!(twice.iter().map(|c| c.delay_ns / 1_000_000).collect::<Vec<_>>(), [200, 600]);
    assert!(twice.iter().all(|c| c.delay == Delay::Data));
    // A single cluster at 200 ms may come from the service.
    assert!(clusters(&times(20_000, 1.0, 2.0, &[(200.0, 0.01)], 4), 0).is_empty());
}

#[test]
fn smooth_tails_have_no_clusters() {
    for seed in 0..10 {
        assert!(clusters(&times(50_000, 5.0, 20.0, &[], seed), 0).is_empty());
        // A tail across all timeouts.
        assert!(clusters(&times(50_000, 5.0, 600.0, &[], 50 + seed), 0).is_empty());
        let mut wide = Hist::new();
        let mut random = SplitMix64::new(seed);
        (0..50_000).for_each(|_| wide.record((20.0 * MS * (1.2 * random.exponential()).exp()) as u64));
        assert!(clusters(&wide, 0).is_empty(), "{:?}", clusters(&wide, 0));
    }
}

#[test]
fn no_histogram_causes_a_panic() {
    assert!(clusters(&Hist::on_demand(), 0).is_empty());
    let mut odd = Hist::new();
    odd.record_n(u64::MAX, 1 << 62);
    odd.record_n(0, 1 << 62);
    assert!(clusters(&odd, u64::MAX).is_empty());
    assert!(clusters(&odd, 0).is_empty());
}

#[test]
fn a_cluster_within_a_tail_must_exceed_it() {
    // A tenth of the responses take up to 3 s, evenly; around 1 s there are somewhat more of them.
    let make = |more: u64| {
        let mut hist = times(90_000, 5.0, 20.0, &[], 1);
        (0..10_000u64).for_each(|at| hist.record_n(300_000_000 + at * 270_000, 1));
        (0..100).for_each(|at| hist.record_n(1_005_000_000 + at * 400_000, more));
        hist
    };
    assert!(clusters(&make(2), 0).is_empty(), "{:?}", clusters(&make(2), 0));
    assert_eq!(clusters(&make(20), 0).len(), 1);
}
