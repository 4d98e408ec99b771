//! Seeded random numbers and random tallies for the property tests: every failure is reproducible.
#![allow(dead_code, reason = "each test file uses its own part")]

use plimsoll_stats::{Hist, Interval, Last, Layout, Tally};

/// SplitMix64 (Steele, Lea & Flood 2014).
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// Returns a number of any magnitude, all equally likely, from 0 to beyond the layout's end.
    pub fn any_magnitude(&mut self) -> u64 {
        let shift = self.below(64);
        self.next() >> shift
    }

    /// Returns a number of any magnitude that the layout resolves.
    pub fn in_layout(&mut self) -> u64 {
        let shift = 20 + self.below(44);
        self.next() >> shift
    }
}

pub fn hist_of(values: impl IntoIterator<Item = u64>) -> Hist {
    let mut hist = Hist::new();
    values.into_iter().for_each(|v| hist.record(v));
    hist
}

pub fn random_hist(rng: &mut Rng) -> Hist {
    let len = rng.below(40);
    let mut hist = Hist::new();
    for _ in 0..len {
        let (value, n) = (rng.any_magnitude(), 1 + (rng.any_magnitude() >> rng.below(40)) / 2);
        if rng.below(2) == 0 { hist.record(value) } else { hist.record_n(value, n) }
    }
    hist
}

pub fn random_layout(rng: &mut Rng) -> Layout {
    let mut cells = |most| rng.below(most) as usize;
    Layout { sums: cells(60), peaks: cells(5), floors: cells(5), hists: cells(4), lasts: cells(3) }
}

/// Creates a tally in which some cells are written and most are not.
pub fn random_tally(rng: &mut Rng, layout: Layout) -> Tally {
    let mut tally = Tally::new(layout);
    for id in 0..layout.sums {
        if rng.below(5) == 0 {
            tally.add(id, rng.any_magnitude());
        }
    }
    for id in 0..layout.peaks {
        tally.peak(id, rng.any_magnitude());
    }
    for id in 0..layout.floors {
        if rng.below(2) == 0 {
            tally.floor(id, rng.any_magnitude());
        }
    }
    for id in 0..layout.lasts {
        tally.last(id, Last { at: rng.below(4), value: rng.any_magnitude() });
    }
    for id in 0..layout.hists {
        tally.hists[id] = random_hist(rng);
    }
    tally
}

pub fn random_interval(rng: &mut Rng) -> Interval {
    let (run, series) = (random_layout(rng), random_layout(rng));
    let mut interval = Interval::new(run, series, rng.below(6) as usize);
    interval.tick = rng.next() as u32;
    interval.run = random_tally(rng, run);
    for one in &mut interval.series {
        if rng.below(2) == 0 {
            *one = random_tally(rng, series);
        }
    }
    interval
}

pub fn encoded(encode: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode(&mut bytes);
    bytes
}
