//! The closed model: the number of this worker's active users, and the time of its next change.

use super::share::WorkerSlot;
use plimsoll_plan::load::Profile;

/// User k (counted over all workers from 0) is active while the level is above k.
#[derive(Debug, Clone)]
pub struct Users {
    profile: Profile,
    begin_ns: u64,
    seat: WorkerSlot,
}

impl Users {
    pub fn new(profile: Profile, seat: WorkerSlot, begin_ns: u64) -> Self {
        Self { profile, begin_ns, seat }
    }

    /// Returns the largest number of users that this worker ever has.
    pub fn peak(&self) -> u32 {
        self.seat.count_of(self.profile.peak().ceil() as u64) as u32
    }

    /// Returns this worker's active users at `t_ns`.
    pub fn active_at(&self, t_ns: u64) -> u32 {
        // A rounding error in the interpolation of a whole level must not add a user.
        let level = self.profile.level_at(t_ns.saturating_sub(self.begin_ns)) - 1e-9;
        self.seat.count_of(level.ceil().max(0.0) as u64) as u32
    }

    /// Returns the first time after `t_ns` at which [`Users::active_at`] may differ; `None` if it stays constant.
    pub fn next_change_ns(&self, t_ns: u64) -> Option<u64> {
        let now = t_ns.saturating_sub(self.begin_ns);
        let active = self.active_at(t_ns);
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
