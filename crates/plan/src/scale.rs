//! One factor for all durations of an experiment, so that the same file can run for minutes or for hours.
//!
//! It multiplies durations and numbers of iterations and requests, but not levels and rates. Timeouts, think times,
//! pacing, and windows of thresholds also stay, because they describe the users and the requirements.

use crate::Problem;
use crate::draft::{Draft, LoadDraft};
use crate::experiment::{Experiment, Find};
use crate::load::Profile;
use crate::unit::SECOND_NS;

/// A factor above 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale(f64);

/// A larger factor is a typo.
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
    /// Returns an error if the text is not a number above 0, or is above 1,000.
    pub fn parse(text: &str) -> Result<Scale, Problem> {
        match text.trim().parse::<f64>() {
            Ok(factor) if factor > 0.0 && factor <= MOST => Ok(Scale(factor)),
            _ => Err(Problem::new(
                format!("invalid time scale `{text}`: it must be above 0 and at most 1,000"),
                "write a number such as `0.05`",
            )),
        }
    }

    /// Returns the factor.
    pub fn factor(self) -> f64 {
        self.0
    }

    /// Returns whether the factor is 1, which changes nothing.
    pub fn is_whole(self) -> bool {
        self.0 == 1.0
    }

    /// Scales a duration, ns. A duration is never reduced below 1 s. Shorter durations stay, and 0 stays 0.
    pub fn time_ns(self, ns: u64) -> u64 {
        self.bare_ns(ns).max(ns.min(SECOND_NS))
    }

    /// Scales a count. A count above 0 is never reduced below 1.
    pub fn count(self, number: u64) -> u64 {
        ((number as f64 * self.0).round() as u64).max(number.min(1))
    }

    /// Scales a duration without a minimum.
    fn bare_ns(self, ns: u64) -> u64 {
        // A float represents a duration of a year to the microsecond. The cast saturates above u64.
        (ns as f64 * self.0).round() as u64
    }

    /// Scales the durations of a draft. Recorded arrivals keep their times: their reader rejects a scale.
    pub fn draft(self, draft: &mut Draft) {
        if self.is_whole() {
            return;
        }
        let before_ns = length_ns(draft);
        let load = &mut draft.load;
        let is_open = load.rate_per_s.is_some();
        let users = load.users.filter(|_| !is_open).unwrap_or(1);
        // With fewer iterations than users, some users would have none.
        let least = if is_open { 1 } else { u64::from(users) }.min(load.iterations.unwrap_or(u64::MAX));
        self.load(load);
        load.iterations = load.iterations.map(|n| n.max(least));
        // There must not be fewer requests than users either.
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

    /// Scales the stages of a profile. Jumps stay jumps.
    fn profile(self, profile: &mut Profile) {
        for stage in &mut profile.stages {
            stage.duration_ns = self.time_ns(stage.duration_ns);
        }
    }

    /// Scales a number of iterations. Arrivals keep their rate, even if the minimum makes the duration longer.
    fn iterations(self, number: Option<u64>, over_ns: Option<u64>, is_open: bool) -> Option<u64> {
        let number = number?;
        match over_ns.filter(|ns| is_open && *ns > 0) {
            Some(ns) => Scale(self.time_ns(ns) as f64 / ns as f64).count(number).into(),
            None => Some(self.count(number)),
        }
    }

    /// Scales the warm-up, which keeps its share of the run: with its own minimum, it could take up a whole short run.
    fn warmup_ns(self, ns: u64, before_ns: Option<u64>, after_ns: Option<u64>) -> u64 {
        match (before_ns, after_ns) {
            (Some(before), Some(after)) if before > 0 => Scale(after as f64 / before as f64).bare_ns(ns),
            _ => self.time_ns(ns),
        }
    }

    /// Scales the durations of an experiment.
    pub fn experiment(self, experiment: &mut Experiment) {
        if self.is_whole() {
            return;
        }
        experiment.cooldown_ns = self.time_ns(experiment.cooldown_ns);
        // With a minimum, this could be longer than the runs that it applies to.
        experiment.min_duration_ns = self.bare_ns(experiment.min_duration_ns);
        if let Some(find) = &mut experiment.find {
            self.find(find);
        }
    }

    /// Scales the step duration and the time limit of a search.
    pub fn find(self, find: &mut Find) {
        find.step_duration_ns = find.step_duration_ns.map(|ns| self.time_ns(ns));
        find.max_time_ns = find.max_time_ns.map(|ns| self.time_ns(ns));
    }
}

/// Returns the duration of the run, if durations determine it.
fn length_ns(draft: &Draft) -> Option<u64> {
    let end =
        |load: &LoadDraft| load.duration_ns.or(load.stages.as_ref().map(|(profile, _)| profile.total_ns()));
    let workloads =
        draft.workloads.iter().filter_map(|workload| Some(workload.start_ns + end(&workload.load)?));
    end(&draft.load).into_iter().chain(workloads).max()
}
