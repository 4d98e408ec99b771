//! One factor for all lengths of an experiment: the same file as a look of minutes and as a test of hours.
//!
//! What is multiplied is how long and how much, never how hard: levels and rates stay. Time-outs, think times, paces
//! and the windows of thresholds stay too, because they belong to the users and to the promise.

use crate::Problem;
use crate::draft::{Draft, LoadDraft};
use crate::experiment::{Experiment, Find};
use crate::load::Profile;
use crate::unit::SECOND_NS;

/// A factor above 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale(f64);

/// No length is a thousand times what its author had in mind.
const MOST: f64 = 1_000.0;

impl Default for Scale {
    fn default() -> Self {
        Scale(1.0)
    }
}

impl Scale {
    /// Parses a factor such as `0.05`.
    ///
    /// # Errors
    /// A sentence when it is no number above 0, or more than 1,000.
    pub fn parse(text: &str) -> Result<Scale, Problem> {
        match text.trim().parse::<f64>() {
            Ok(factor) if factor > 0.0 && factor <= MOST => Ok(Scale(factor)),
            _ => Err(Problem::new(
                format!("`{text}` is no time scale"),
                "expected a number above 0 such as `0.05`, at most 1,000",
            )),
        }
    }

    /// The factor.
    pub fn factor(self) -> f64 {
        self.0
    }

    /// Nothing changes.
    pub fn is_whole(self) -> bool {
        self.0 == 1.0
    }

    /// A length, ns. Shortened to 1 s at the least, or left alone where it is shorter already; none stays none.
    pub fn time_ns(self, ns: u64) -> u64 {
        self.bare_ns(ns).max(ns.min(SECOND_NS))
    }

    /// A number of things, at least 1 where there was one.
    pub fn count(self, number: u64) -> u64 {
        ((number as f64 * self.0).round() as u64).max(number.min(1))
    }

    /// Without the floor.
    fn bare_ns(self, ns: u64) -> u64 {
        // A float holds every length of a year to the microsecond; beyond u64 the cast saturates.
        (ns as f64 * self.0).round() as u64
    }

    /// Multiplies what a draft says of lengths. Recorded arrivals keep their instants: who
    /// reads them refuses a scale.
    pub fn draft(self, draft: &mut Draft) {
        if self.is_whole() {
            return;
        }
        let before_ns = length_ns(draft);
        let load = &mut draft.load;
        let is_open = load.rate_per_s.is_some();
        let users = load.users.filter(|_| !is_open).unwrap_or(1);
        // Fewer iterations than users would leave some without any.
        let least = if is_open { 1 } else { u64::from(users) }.min(load.iterations.unwrap_or(u64::MAX));
        self.load(load);
        load.iterations = load.iterations.map(|n| n.max(least));
        // Nor may there be fewer requests than users.
        load.requests_total = load.requests_total.map(|n| self.count(n).max(n.min(u64::from(users))));
        for workload in &mut draft.workloads {
            self.load(&mut workload.load);
            workload.start_ns = self.time_ns(workload.start_ns);
        }
        draft.warmup_ns = draft.warmup_ns.map(|ns| self.warmup_ns(ns, before_ns, length_ns(draft)));
        draft.scale = Some(self.0);
    }

    fn load(self, load: &mut LoadDraft) {
        load.iterations = self.iterations(load.iterations, load.duration_ns, load.rate_per_s.is_some());
        load.duration_ns = load.duration_ns.map(|ns| self.time_ns(ns));
        load.iterations_per_user = load.iterations_per_user.map(|n| self.count(n));
        if let Some((profile, _)) = &mut load.stages {
            self.profile(profile);
        }
    }

    /// Legs, of which jumps stay jumps.
    fn profile(self, profile: &mut Profile) {
        for stage in &mut profile.stages {
            stage.duration_ns = self.time_ns(stage.duration_ns);
        }
    }

    /// So many arrivals over a time keep their rate, also where the floor makes the time longer than the factor would.
    fn iterations(self, number: Option<u64>, over_ns: Option<u64>, is_open: bool) -> Option<u64> {
        let number = number?;
        match over_ns.filter(|ns| is_open && *ns > 0) {
            Some(ns) => Scale(self.time_ns(ns) as f64 / ns as f64).count(number).into(),
            None => Some(self.count(number)),
        }
    }

    /// The warm-up keeps its part of the run: with a floor of its own it would eat a run that was shortened to one.
    fn warmup_ns(self, ns: u64, before_ns: Option<u64>, after_ns: Option<u64>) -> u64 {
        match (before_ns, after_ns) {
            (Some(before), Some(after)) if before > 0 => Scale(after as f64 / before as f64).bare_ns(ns),
            _ => self.time_ns(ns),
        }
    }

    /// Multiplies what an experiment says of lengths.
    pub fn experiment(self, experiment: &mut Experiment) {
        if self.is_whole() {
            return;
        }
        experiment.cooldown_ns = self.time_ns(experiment.cooldown_ns);
        // A floor under this one could lie above the runs that it judges.
        experiment.min_duration_ns = self.bare_ns(experiment.min_duration_ns);
        if let Some(find) = &mut experiment.find {
            self.find(find);
        }
    }

    /// Multiplies the length of a search's steps, and its budget.
    pub fn find(self, find: &mut Find) {
        find.step_duration_ns = find.step_duration_ns.map(|ns| self.time_ns(ns));
        find.max_time_ns = find.max_time_ns.map(|ns| self.time_ns(ns));
    }
}

/// How long the run lasts, as far as times say it.
fn length_ns(draft: &Draft) -> Option<u64> {
    let end =
        |load: &LoadDraft| load.duration_ns.or(load.stages.as_ref().map(|(profile, _)| profile.total_ns()));
    let workloads =
        draft.workloads.iter().filter_map(|workload| Some(workload.start_ns + end(&workload.load)?));
    end(&draft.load).into_iter().chain(workloads).max()
}
