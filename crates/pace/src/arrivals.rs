//! The open model: the monotone sequence of intended start times, ns from the start.
//!
//! Let L(t) be the number of arrivals due until t, the integral of the rate. Arrival k is due when L(t) reaches its
//! level: k itself (constant spread), or the sum of k + 1 unit exponentials (Poisson, by time rescaling: Cinlar 1975,
//! *Introduction to Stochastic Processes*, section 4.7). Every worker walks the same sequence and takes its own
//! numbers, so the arrivals of a run do not depend on the number of workers or machines.
//!
//! The sequence is `Clone`: a copy that lags is the queue of waiting arrivals, and uses no memory per arrival.

use super::share::WorkerSlot;
use plimsoll_plan::load::{Arrivals as Spread, Profile};
use plimsoll_stats::random::SplitMix64;
use std::sync::Arc;

/// One leg of the integral: from `begin_ns` (after the start) and `begin_level`, the rate changes linearly from `from`
/// to `to` per ns.
#[derive(Debug, Clone, Copy)]
struct Leg {
    begin_ns: f64,
    begin_level: f64,
    duration_ns: f64,
    from: f64,
    to: f64,
}

impl Leg {
    fn end_level(&self) -> f64 {
        self.begin_level + 0.5 * (self.from + self.to) * self.duration_ns
    }

    /// Solves from x + (to - from) x^2 / (2 d) = y for x, in the form without cancellation: x = 2 y / (from +
    /// sqrt(from^2 + 4 a y)) with a = (to - from) / (2 d).
    fn time_of(&self, level: f64) -> f64 {
        // At rate 0 nothing is ever due, not even the arrival at whose level the rate became 0.
        if self.from == 0.0 && self.to == 0.0 {
            return f64::INFINITY;
        }
        let y = level - self.begin_level;
        let a =
            if self.duration_ns.is_finite() { (self.to - self.from) / (2.0 * self.duration_ns) } else { 0.0 };
        let root = (self.from * self.from + 4.0 * a * y).max(0.0).sqrt();
        if y <= 0.0 { self.begin_ns } else { self.begin_ns + 2.0 * y / (self.from + root) }
    }
}

/// Above this, the number of arrivals over a time is not made exact: its random deviation is below one in a thousand,
/// and the draws before the start would take longer than a tenth of a second.
const GIVEN_MAX: u64 = 10_000_000;

/// The intended start times of one worker.
#[derive(Debug, Clone)]
pub struct Arrivals {
    legs: Arc<[Leg]>,
    leg: usize,
    seat: WorkerSlot,
    /// Number of the next own arrival among all arrivals.
    number: u64,
    limit: u64,
    begin_ns: u64,
    end_ns: u64,
    /// Poisson only: the generator, the level of the last arrival drawn, and the number drawn.
    poisson: Option<(SplitMix64, f64, u64)>,
    /// Factor of each distance in levels; 1 unless the number of arrivals over the time is given.
    scale: f64,
    /// The level of arrival 0: 1 if arrivals come only when they are due as a whole.
    lead: f64,
    /// Recorded times, ns after the start, ascending: they form the sequence, and there are no legs.
    recorded: Option<Arc<[u64]>>,
    next_ns: Option<u64>,
}

impl Arrivals {
    /// Creates the arrivals before `end_ns`, at most `limit` of them over all workers, shifted by `begin_ns`.
    pub fn new(
        profile: &Profile,
        spread: Spread,
        seed: u64,
        seat: WorkerSlot,
        begin_ns: u64,
        end_ns: u64,
        limit: u64,
    ) -> Self {
        let mut arrivals = Arrivals {
            legs: legs(profile).into(),
            leg: 0,
            seat,
            number: seat.offset,
            limit,
            begin_ns,
            end_ns,
            poisson: (spread == Spread::Poisson).then(|| (SplitMix64::new(seed), 0.0, 0)),
            scale: 1.0,
            lead: 0.0,
            recorded: None,
            next_ns: None,
        };
        arrivals.scale = arrivals.given_number(seed);
        arrivals.next_ns = arrivals.compute();
        arrivals
    }

    /// Delays each evenly spaced arrival by one: arrival k comes when k + 1 are due, so the first is not at the start.
    pub fn when_due(mut self) -> Self {
        (self.lead, self.leg) = (1.0, 0);
        self.next_ns = self.compute();
        self
    }

    /// "10,000 arrivals over 15 s" are exactly 10,000, however they are spread. In a Poisson process with a known
    /// number of arrivals, they are distributed like sorted uniform draws (Cinlar 1975, section 4.4), and sorted
    /// uniform draws are partial sums of exponentials divided by the sum of all and one more (Bentley and Saxe 1980,
    /// *Generating sorted lists of random numbers*, section 2).
    fn given_number(&self, seed: u64) -> f64 {
        let area = self.level_at(self.end_ns.saturating_sub(self.begin_ns) as f64);
        let number = self.limit as f64;
        if self.poisson.is_none() || self.limit > GIVEN_MAX || (area - number).abs() > 1e-6 * number {
            return 1.0;
        }
        let mut random = SplitMix64::new(seed);
        let sum: f64 = (0..=self.limit).map(|_| random.exponential()).sum();
        area / sum
    }

    /// Creates arrivals at recorded times (ns after the start, ascending).
    pub fn recorded(
        instants_ns: Arc<[u64]>,
        seat: WorkerSlot,
        begin_ns: u64,
        end_ns: u64,
        limit: u64,
    ) -> Self {
        let limit = limit.min(instants_ns.len() as u64);
        let none = Profile::constant(0.0);
        let mut arrivals = Self::new(&none, Spread::Recorded, 0, seat, begin_ns, end_ns, limit);
        arrivals.recorded = Some(instants_ns);
        arrivals.next_ns = arrivals.compute();
        arrivals
    }

    /// Returns the intended start time of the next own arrival; `None` if there are no more.
    #[inline]
    pub fn peek_ns(&self) -> Option<u64> {
        self.next_ns
    }

    /// Advances to the next own arrival.
    #[inline]
    pub fn advance(&mut self) {
        self.number += self.seat.stride;
        self.next_ns = self.compute();
    }

    /// Returns whether the count over all workers is used up for this worker.
    pub fn is_limit_reached(&self) -> bool {
        self.number >= self.limit
    }

    /// Skips arrivals due before `until_ns` as if they had never existed: they do not count towards the limit.
    pub fn skip_until(&mut self, until_ns: u64) {
        while self.next_ns.is_some_and(|t| t < until_ns) {
            self.limit = self.limit.saturating_add(self.seat.stride);
            self.advance();
        }
    }

    /// Ends the sequence: the limit is reached here.
    pub fn finish(&mut self) {
        (self.limit, self.next_ns) = (self.number, None);
    }

    /// Sets a constant rate as of `now_ns`; nothing may be due before. Levels continue, so workers that apply it at
    /// slightly different times still divide one sequence among them, and a Poisson process stays one.
    pub fn set_rate(&mut self, now_ns: u64, rate_per_s: f64) {
        let at_ns = now_ns.saturating_sub(self.begin_ns) as f64;
        let leg = Leg {
            begin_ns: at_ns,
            begin_level: self.level_at(at_ns),
            duration_ns: f64::INFINITY,
            from: rate_per_s / 1e9,
            to: rate_per_s / 1e9,
        };
        (self.legs, self.leg) = ([leg].into(), 0);
        if self.recorded.take().is_some() {
            // The sequence of levels restarts after the recorded part.
            (self.number, self.limit) = (self.seat.offset, u64::MAX);
        }
        self.next_ns = self.locate();
    }

    /// Returns the number of arrivals due until `at_ns`, over all workers.
    fn level_at(&self, at_ns: f64) -> f64 {
        let found = self.legs.iter().rfind(|leg| leg.begin_ns <= at_ns);
        found.map_or(0.0, |leg| {
            let x = (at_ns - leg.begin_ns).min(leg.duration_ns);
            let slope = if leg.duration_ns.is_finite() { (leg.to - leg.from) / leg.duration_ns } else { 0.0 };
            leg.begin_level + leg.from * x + 0.5 * slope * x * x
        })
    }

    fn compute(&mut self) -> Option<u64> {
        if self.number >= self.limit {
            return None;
        }
        if let Some((random, level, drawn)) = &mut self.poisson {
            while *drawn <= self.number {
                *level += random.exponential() * self.scale;
                *drawn += 1;
            }
        }
        self.locate()
    }

    /// Returns the time at which the level of the next own arrival is reached.
    fn locate(&mut self) -> Option<u64> {
        if self.number >= self.limit {
            return None;
        }
        if let Some(instants_ns) = &self.recorded {
            let instant_ns = *instants_ns.get(self.number as usize)?;
            return Some(self.begin_ns.saturating_add(instant_ns)).filter(|t| *t < self.end_ns);
        }
        let level = self.poisson.as_ref().map_or(self.number as f64 + self.lead, |(_, level, _)| *level);
        // The last leg has no end; legs at rate 0 have no width in levels and are skipped. An arrival that is due as a
        // whole at the end of a leg comes there, and not after the following pause.
        let is_past = |end: f64| if self.lead > 0.0 { level > end } else { level >= end };
        while self.leg + 1 < self.legs.len() && is_past(self.legs[self.leg].end_level()) {
            self.leg += 1;
        }
        // Round to the nearest: a rounding error must not move the arrival at the very end before it. A time that is
        // out of range (never) saturates, and is not before any end.
        let t = self.begin_ns.saturating_add((self.legs[self.leg].time_of(level) + 0.5) as u64);
        (t < self.end_ns).then_some(t)
    }
}

fn legs(profile: &Profile) -> Vec<Leg> {
    let mut legs = Vec::new();
    let (mut rate, mut at_ns, mut level) = (profile.start / 1e9, 0.0, 0.0);
    for stage in &profile.stages {
        let to = stage.to / 1e9;
        // A jump (0 ns) only changes the rate.
        if stage.duration_ns > 0 {
            let leg = Leg {
                begin_ns: at_ns,
                begin_level: level,
                duration_ns: stage.duration_ns as f64,
                from: rate,
                to,
            };
            at_ns += leg.duration_ns;
            level = leg.end_level();
            legs.push(leg);
        }
        rate = to;
    }
    legs.push(Leg { begin_ns: at_ns, begin_level: level, duration_ns: f64::INFINITY, from: rate, to: rate });
    legs
}
