//! How long a thread waits before a sampler.

use crate::plan::{Barrier, PreciseTimer, ShapingTimer, ThroughputTimer, Timer};
use crate::scope::Scope;
use crate::script::Context;
use plimsoll_jmx::plan::ThroughputMode;
use plimsoll_stats::random::SplitMix64;
use std::collections::VecDeque;
use std::sync::PoisonError;

/// The delay of a timer.
pub enum Delay {
    /// In ms.
    For(i64),
    /// With other threads.
    Together,
    /// Until the test stops, in ms.
    Ends(i64),
}

/// Returns the delay of a timer.
pub fn delay(timer: &Timer, slots: &mut [i64], scope: &mut Scope<'_>) -> Delay {
    Delay::For(match timer {
        Timer::Constant(delay) => delay.integer(scope),
        Timer::Uniform(delay, range) => {
            let (delay, range) = (delay.number(scope), range.number(scope));
            (scope.fraction() * range.abs() + delay) as i64
        }
        Timer::Gaussian(delay, deviation) => {
            let (delay, deviation) = (delay.number(scope), deviation.number(scope));
            (scope.normal() * deviation + delay).abs() as i64
        }
        Timer::Poisson(delay, lambda) => {
            let (delay, lambda) = (delay.number(scope), lambda.number(scope));
            (poisson(lambda, scope) as f64 + delay).abs() as i64
        }
        Timer::Throughput(timer) => throughput(timer, slots, scope),
        Timer::Precise(timer) => precise(timer, scope),
        Timer::Shaping(timer) => return shaped(timer, scope),
        Timer::Synchronizing(_) => return Delay::Together,
        Timer::Script(code) => {
            let label = code.name.clone();
            let text = code.text.value(scope);
            let script = scope.caches.script(&text, code.language);
            let Ok(script) = &*script else { return Delay::For(0) };
            let parameters = code.parameters.value(scope);
            let mut context =
                Context { scope, sample: None, parameters, label, failure: (false, String::new()) };
            let outcome = script.run(&mut context);
            match outcome.map(|outcome| outcome.value.integer()) {
                Ok(Some(ms)) => ms,
                Ok(None) => 0,
                Err(why) => {
                    scope.run.warn_once(&format!("timer `{}`: {why}", code.name));
                    0
                }
            }
        }
    })
}

/// Returns a Poisson random number of a mean: by its definition for small ones (Knuth 1969), by the normal distribution
/// for large ones.
fn poisson(mean: f64, scope: &mut Scope<'_>) -> i64 {
    if mean <= 0.0 {
        return 0;
    }
    if mean > 500.0 {
        return (mean + mean.sqrt() * scope.normal()).round().max(0.0) as i64;
    }
    let (limit, mut product, mut number) = ((-mean).exp(), 1.0, -1);
    while product > limit {
        product *= scope.fraction();
        number += 1;
    }
    number.max(0)
}

/// Each sample begins a fixed time after the last one, of the thread or of all; a late one begins immediately.
fn throughput(timer: &ThroughputTimer, slots: &mut [i64], scope: &mut Scope<'_>) -> i64 {
    const MINUTE_MS: f64 = 60_000.0;
    let per_minute = timer.per_minute.number(scope);
    if per_minute <= 0.0 {
        return 0;
    }
    let every_ms = MINUTE_MS / per_minute;
    let now_ms = (scope.at.run_ns / 1_000_000) as i64;
    let group = scope.thread.group;
    let (own, all) = scope.run.active(group);
    let wait_ms = match timer.mode {
        ThroughputMode::ThisThread => every_ms.round() as i64,
        ThroughputMode::AllThreads => (f64::from(all) * every_ms).round() as i64,
        ThroughputMode::ThisGroup => (f64::from(own) * every_ms).round() as i64,
        ThroughputMode::AllThreadsShared | ThroughputMode::ThisGroupShared => {
            let at = if timer.mode == ThroughputMode::AllThreadsShared { 0 } else { group + 1 };
            let mut shared = timer.shared.lock().unwrap_or_else(PoisonError::into_inner);
            if shared.len() <= at {
                shared.resize(at + 1, i64::MIN / 2);
            }
            shared[at] = now_ms.max(shared[at].saturating_add(every_ms.round() as i64));
            return shared[at] - now_ms;
        }
    };
    let Some(last_ms) = slots.get_mut(timer.slot as usize) else { return 0 };
    // A thread begins without a last sample.
    let target_ms = if *last_ms == 0 { now_ms } else { *last_ms - 1 + wait_ms };
    let target_ms = target_ms.max(now_ms);
    // 0 means none.
    *last_ms = target_ms + 1;
    target_ms - now_ms
}

/// The schedule of a Precise Throughput Timer.
#[derive(Debug, Default)]
pub struct Schedule {
    /// The end of what is planned, ms; 0 before the first sample.
    end_ms: f64,
    times_ms: VecDeque<f64>,
    windows: u64,
}

/// Samples begin at random times, but exactly as often in each period as planned.
fn precise(timer: &PreciseTimer, scope: &mut Scope<'_>) -> i64 {
    let throughput = timer.throughput.number(scope);
    let period_s = timer.period_s.number(scope).max(1.0);
    let duration_s = timer.duration_s.number(scope).max(1.0);
    let batch = timer.batch.integer(scope).max(1);
    let batch_delay_ms = timer.batch_delay_ms.integer(scope).max(0);
    let seed = timer.seed.integer(scope);
    if throughput <= 0.0 {
        return 0;
    }
    let now_ms = scope.at.run_ns as f64 / 1e6;
    let mut random = SplitMix64::new(scope.random.next_u64());
    let mut schedule = timer.shared.lock().unwrap_or_else(PoisonError::into_inner);
    if schedule.end_ms == 0.0 {
        schedule.end_ms = now_ms.max(f64::MIN_POSITIVE);
    }
    while schedule.times_ms.is_empty() {
        if seed != 0 {
            random = SplitMix64::new(seed as u64 ^ schedule.windows.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        }
        let count = (throughput * duration_s / period_s).ceil().clamp(1.0, 10_000_000.0) as usize;
        let events = count.div_ceil(batch as usize);
        let mut times: Vec<f64> = (0..events)
            .map(|_| (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64 * duration_s * 1000.0)
            .collect();
        times.sort_unstable_by(f64::total_cmp);
        let begin_ms = schedule.end_ms;
        for time in times {
            for number in 0..batch {
                schedule.times_ms.push_back(begin_ms + time + (number * batch_delay_ms) as f64);
            }
        }
        schedule.end_ms = begin_ms + duration_s * 1000.0;
        schedule.windows += 1;
    }
    let due_ms = schedule.times_ms.pop_front().unwrap_or(now_ms);
    (due_ms - now_ms).max(0.0) as i64
}

/// The next place in the schedule of a Throughput Shaping Timer.
#[derive(Debug, Default)]
pub struct Shape {
    /// When the first sample began, ms.
    begin_ms: Option<i64>,
    /// The second of the next sample, from the begin, and how many have their places in it.
    second: i64,
    count: i64,
}

/// Each sample takes the next place: those of a second have equal distances. Places that are over are lost.
fn shaped(timer: &ShapingTimer, scope: &mut Scope<'_>) -> Delay {
    let rows: Vec<[f64; 3]> =
        timer.rows.iter().map(|row| row.each_ref().map(|text| text.number(scope))).collect();
    let now_ms = (scope.at.run_ns / 1_000_000) as i64;
    let mut shape = timer.shared.lock().unwrap_or_else(PoisonError::into_inner);
    let begin_ms = *shape.begin_ms.get_or_insert(now_ms);
    let elapsed_ms = now_ms - begin_ms;
    if elapsed_ms / 1_000 > shape.second {
        (shape.second, shape.count) = (elapsed_ms / 1_000, 0);
    }
    loop {
        let Some(rate) = rate_at(&rows, shape.second as f64) else {
            return Delay::Ends((shape.second * 1_000 - elapsed_ms).max(0));
        };
        let offset_ms = shape.count as f64 * 1_000.0 / rate;
        if rate > 0.0 && offset_ms < 1_000.0 {
            shape.count += 1;
            return Delay::For((shape.second * 1_000 + offset_ms as i64 - elapsed_ms).max(0));
        }
        (shape.second, shape.count) = (shape.second + 1, 0);
    }
}

/// Returns the rate at a second; `None` after the last row.
fn rate_at(rows: &[[f64; 3]], mut second: f64) -> Option<f64> {
    for [from, to, duration] in rows {
        if second < *duration {
            return Some(from + second * (to - from) / duration);
        }
        second -= duration.max(0.0);
    }
    None
}

/// A thread at a Synchronizing Timer: what it waits for.
#[derive(Debug, Clone, Copy)]
pub struct Waiting {
    release: u64,
    deadline_ns: u64,
}

impl Barrier {
    /// Joins the waiting threads; returns `None` if it was the last one that was missing.
    pub fn join(&self, scope: &mut Scope<'_>) -> Option<Waiting> {
        let wanted = self.group.integer(scope);
        let all = scope.run.group_size(scope.thread.group);
        let wanted = if wanted <= 0 { all } else { wanted.min(i64::from(u32::MAX)) as u32 };
        let timeout_ms = self.timeout_ms.integer(scope).max(0) as u64;
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        shared.1 += 1;
        if shared.1 >= wanted {
            *shared = (shared.0 + 1, 0);
            return None;
        }
        let deadline_ns = match timeout_ms {
            0 => u64::MAX,
            ms => scope.at.run_ns.saturating_add(ms * 1_000_000),
        };
        Some(Waiting { release: shared.0, deadline_ns })
    }

    /// Returns whether a waiting thread can continue; its timeout releases all others as well.
    pub fn is_open(&self, waiting: Waiting, now_ns: u64) -> bool {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if shared.0 == waiting.release && now_ns >= waiting.deadline_ns {
            *shared = (shared.0 + 1, 0);
        }
        shared.0 != waiting.release
    }
}
