//! The closed model: the number of this worker's active users, and the time of its next change.

use super::share::WorkerSlot;
use plimsoll_plan::load::{Profile, UserSteps};

/// User k (counted over all workers from 0) is active while the level is above k, or as [`UserSteps`] says.
#[derive(Debug, Clone)]
pub struct Users {
    profile: Profile,
    begin_ns: u64,
    seat: WorkerSlot,
    steps: UserSteps,
}

impl Users {
    pub fn new(profile: Profile, seat: WorkerSlot, begin_ns: u64) -> Self {
        Self { profile, begin_ns, seat, steps: UserSteps::Above }
    }

    /// Sets when users become active while the level changes.
    pub fn steps(self, steps: UserSteps) -> Self {
        Self { steps, ..self }
    }

    /// Returns the largest number of users that this worker ever has.
    pub fn peak(&self) -> u32 {
        self.seat.count_of(self.profile.peak().ceil() as u64) as u32
    }

    /// Returns this worker's active users at `t_ns`.
    pub fn active_at(&self, t_ns: u64) -> u32 {
        let at_ns = t_ns.saturating_sub(self.begin_ns);
        let active = match self.steps {
            // A rounding error in the interpolation of a whole level must not add a user.
            UserSteps::Above => (self.profile.level_at(at_ns) - 1e-9).ceil().max(0.0) as u64,
            UserSteps::Reached => reached_at(&self.profile, at_ns),
        };
        self.seat.count_of(active) as u32
    }

    /// Returns the first time after `t_ns` at which [`Users::active_at`] may differ; `None` if it stays constant.
    pub fn next_change_ns(&self, t_ns: u64) -> Option<u64> {
        let now = t_ns.saturating_sub(self.begin_ns);
        let active = self.active_at(t_ns);
        if self.steps == UserSteps::Reached {
            let more = self.seat.offset + u64::from(active) * self.seat.stride + 1;
            // Of no users, none ends.
            let fewer =
                active.checked_sub(1).map(|last| self.seat.offset + u64::from(last) * self.seat.stride);
            return Some(self.begin_ns + next_reached_ns(&self.profile, now, more, fewer)?);
        }
        // The level above which the next own user starts, and at or below which the last own user ends.
        let upper = (self.seat.offset + u64::from(active) * self.seat.stride) as f64;
        let lower = upper - self.seat.stride as f64;
        let (mut begin, mut from) = (0u64, self.profile.start);
        for stage in &self.profile.stages {
            let end = begin + stage.duration_ns;
            if end > now || (stage.duration_ns == 0 && end == now) {
                if stage.duration_ns == 0 {
                    if end > now && (stage.to > upper || (active > 0 && stage.to <= lower)) {
                        return Some(self.begin_ns + end);
                    }
                } else if let Some(x) = crossing(from, stage.to, upper, lower, active) {
                    let at = begin + (x * stage.duration_ns as f64).ceil() as u64 + 1;
                    return Some(self.begin_ns + at.max(now + 1).min(end.max(now + 1)));
                }
            }
            (begin, from) = (end, stage.to);
        }
        None
    }
}

/// Returns the number of users at `t_ns` in whole numbers: a change by `d` users over `D` ns has its k-th step at
/// `ceil(k D / d)` ns.
fn reached_at(profile: &Profile, t_ns: u64) -> u64 {
    let (mut level, mut begin_ns) = (whole(profile.start), 0u64);
    for stage in &profile.stages {
        let (to, end_ns) = (whole(stage.to), begin_ns.saturating_add(stage.duration_ns));
        if t_ns < end_ns {
            let passed = u128::from(t_ns - begin_ns);
            let steps = u128::from(level.abs_diff(to)) * passed / u128::from(stage.duration_ns);
            return if to > level { level + steps as u64 } else { level - steps as u64 };
        }
        (level, begin_ns) = (to, end_ns);
    }
    level
}

/// Returns the first time after `now_ns` at which the number of users is at least `more`, or at most `fewer`.
fn next_reached_ns(profile: &Profile, now_ns: u64, more: u64, fewer: Option<u64>) -> Option<u64> {
    let (mut level, mut begin_ns) = (whole(profile.start), 0u64);
    for stage in &profile.stages {
        let (to, end_ns) = (whole(stage.to), begin_ns.saturating_add(stage.duration_ns));
        let steps = match (to >= more, fewer) {
            (true, _) => more.checked_sub(level),
            (false, Some(fewer)) if to <= fewer => level.checked_sub(fewer),
            _ => None,
        };
        if end_ns > now_ns
            && let Some(steps) = steps
        {
            let duration_ns = u128::from(stage.duration_ns);
            let passed = (u128::from(steps) * duration_ns).div_ceil(u128::from(level.abs_diff(to)).max(1));
            return Some((begin_ns + passed as u64).max(now_ns + 1));
        }
        (level, begin_ns) = (to, end_ns);
    }
    None
}

fn whole(level: f64) -> u64 {
    level.round().max(0.0) as u64
}

/// Returns the fraction of the way from `from` to `to` (0..=1) at which the level passes `upper` upwards or `lower`
/// downwards.
fn crossing(from: f64, to: f64, upper: f64, lower: f64, active: u32) -> Option<f64> {
    if to > upper && to > from {
        Some(((upper - from) / (to - from)).max(0.0))
    } else if active > 0 && to <= lower && to < from {
        Some(((from - lower) / (from - to)).clamp(0.0, 1.0))
    } else {
        None
    }
}
