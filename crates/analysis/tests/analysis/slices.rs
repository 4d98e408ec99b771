//! The latency breakdown per slice of requests, compared with sums over the requests themselves.

use crate::analysis::fixture::*;
use plimsoll_analysis::picture::Slice;
use plimsoll_analysis::slices;
use plimsoll_plan::metric::{PHASE_UNIT_NS, RunHist, SeriesHist};
use plimsoll_record::RunRecord;
use plimsoll_stats::random::SplitMix64;

/// A request: wait, time to first byte, body, in ns.
type Request = [u64; 3];

/// A run of these requests in sequence over fifteen ticks; the last ones are censored if `censored` is set.
fn run(requests: &[Request], censored: usize) -> RunRecord {
    let mut run = Run::planned(|d| d.load.duration_ns = Some(15 * S));
    run.fill(|_| {});
    for (at, phases) in requests.iter().enumerate() {
        let tick = run.tick(at % 15);
        let response_ns = phases.iter().sum();
        let is_cut = at + censored >= requests.len();
        let hist = if is_cut { SeriesHist::ResponseCensored } else { SeriesHist::Response };
        tick.series[0].record(hist.id(), response_ns);
        let ids = [RunHist::WaitByResponse, RunHist::FirstByteByResponse, RunHist::BodyByResponse];
        for (id, ns) in ids.into_iter().zip(phases) {
            tick.run.hists[id.id()].record_n(response_ns, (ns + PHASE_UNIT_NS / 2) / PHASE_UNIT_NS);
        }
    }
    run.record()
}

/// Requests whose slow ones wait for something else than the fast ones.
fn mixed(n: u64) -> Vec<Request> {
    let mut random = SplitMix64::new(7);
    let mut one = |at: u64| {
        let by = |span: u64, r: &mut SplitMix64| r.next_u64() % span;
        match at % 100 {
            0 => [80 * MS + by(MS, &mut random), 2 * MS, 0],
            1..=10 => [0, 3 * MS, 12 * MS + by(9 * MS, &mut random)],
            _ => [by(1_000, &mut random), MS + by(MS, &mut random), 5_000],
        }
    };
    (0..n).map(&mut one).collect()
}

/// The same, by sorting the requests themselves.
fn expected(requests: &[Request], from: f64, to: f64) -> (u64, Request) {
    let mut sorted = requests.to_vec();
    sorted.sort_by_key(|phases| phases.iter().sum::<u64>());
    let at = |q: f64| (q * sorted.len() as f64).round() as usize;
    let part = &sorted[at(from)..at(to)];
    let mean = |phase: usize| part.iter().map(|one| one[phase]).sum::<u64>() / part.len() as u64;
    (part.len() as u64, [mean(0), mean(1), mean(2)])
}

#[track_caller]
fn agrees(slice: &Slice, requests: &[Request]) {
    let (count, phases) = expected(requests, slice.from_q, slice.to_q);
    assert_eq!(slice.requests, count, "{slice:?}");
    let found = [slice.wait_ns, slice.first_byte_ns, slice.body_ns];
    for (found, wanted) in found.into_iter().zip(phases) {
        // Adjacent values in a bucket of 0.8% may change places across an edge.
        assert!((found - wanted as f64).abs() <= 0.02 * slice.response_ns, "{found}, {wanted}: {slice:?}");
    }
    assert!((slice.response_ns - phases.iter().sum::<u64>() as f64).abs() <= 0.02 * slice.response_ns);
}

#[test]
fn each_slice_has_the_latency_breakdown_of_its_requests() {
    for (n, wanted) in [(20_000, 5), (2_000, 4), (150, 3), (40, 2)] {
        let requests = mixed(n);
        let found = slices(&run(&requests, 0));
        assert_eq!(found.len(), wanted, "{n} requests: {found:#?}");
        assert_eq!((found[0].from_q, found[wanted - 1].to_q), (0.0, 1.0));
        found.iter().for_each(|slice| agrees(slice, &requests));
        assert_eq!(found.iter().map(|slice| slice.requests).sum::<u64>(), n);
    }
    let found = slices(&run(&mixed(20_000), 0));
    let (fast, slow) = (&found[0], &found[3]);
    assert!(
        fast.first_byte_ns > 10.0 * fast.wait_ns && slow.wait_ns > 10.0 * slow.first_byte_ns,
        "{found:#?}"
    );
}

#[test]
fn censored_times_count_with_their_lower_bounds() {
    let mut requests = mixed(2_000);
    requests.extend((0..40).map(|_| [0, 500 * MS, 0]));
    let found = slices(&run(&requests, 40));
    found.iter().for_each(|slice| agrees(slice, &requests));
    assert!(found.last().is_some_and(|last| last.first_byte_ns > 400e6), "{found:#?}");
    // Their part of each mean is a lower bound, which is reported where it occurs.
    let cut_off: Vec<u64> = found.iter().map(|slice| slice.cut_off).collect();
    assert_eq!((cut_off[0], cut_off.iter().sum::<u64>()), (0, 40), "{found:#?}");
}

#[test]
fn a_request_censored_at_the_end_is_not_a_fast_request() {
    let requests = mixed(2_000);
    let longest = requests.iter().map(|phases| phases.iter().sum::<u64>()).max().unwrap();
    let mut all = requests.clone();
    all.extend((0..300).map(|k| [0, longest / 2 * k / 300, 0]));
    let found = slices(&run(&all, 300));
    // The parts of a bucket are one sum; its total times are those of the completed requests.
    for slice in &found {
        let (count, phases) = expected(&requests, slice.from_q, slice.to_q);
        let wanted = phases.iter().sum::<u64>() as f64;
        assert_eq!(slice.requests, count);
        assert!((slice.response_ns - wanted).abs() <= 0.02 * wanted, "{wanted}: {slice:?}");
    }
}

#[test]
fn slices_together_are_all_requests() {
    for n in [15, 133, 2_005, 2_995] {
        let found = slices(&run(&mixed(n), 0));
        assert_eq!(found.iter().map(|slice| slice.requests).sum::<u64>(), n, "{found:?}");
    }
}

#[test]
fn a_file_without_latency_breakdown_has_no_slices() {
    assert_eq!(slices(&Run::closed(15).record()), []);
    assert_eq!(slices(&RunRecord::default()), []);
}

#[test]
fn machines_are_added_up() {
    let requests = mixed(4_000);
    let (first, second) = requests.split_at(1_500);
    let other = run(second, 0);
    let mut both = run(first, 0);
    let name = "b".to_owned();
    both.generators.extend(other.generators.into_values().map(|origin| (name.clone(), origin)));
    assert_eq!(slices(&both), slices(&run(&requests, 0)));
}
