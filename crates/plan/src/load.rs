//! Load models: profiles of users (closed model) or of arrivals per second (open model) over time.

mod rules;

pub use rules::{FirstArrival, OnBusy, Rules, UserSteps};

use crate::Problem;
use serde::{Deserialize, Serialize};

/// One stage of a profile: the level changes linearly to `to` in `duration_ns`. With 0 ns, it jumps.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    pub duration_ns: u64,
    pub to: f64,
}

/// A piecewise linear level over time. After the last stage, the level stays.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    pub start: f64,
    pub stages: Vec<Stage>,
}

impl Profile {
    pub fn constant(level: f64) -> Self {
        Self { start: level, stages: Vec::new() }
    }

    /// Returns the level at `t_ns`; at a jump, the level after it.
    pub fn level_at(&self, t_ns: u64) -> f64 {
        let (mut level, mut begin_ns) = (self.start, 0u64);
        for stage in &self.stages {
            let end_ns = begin_ns + stage.duration_ns;
            if t_ns < end_ns {
                let part = (t_ns - begin_ns) as f64 / stage.duration_ns as f64;
                return level + (stage.to - level) * part;
            }
            (level, begin_ns) = (stage.to, end_ns);
        }
        level
    }

    /// Returns the profile shifted to `start_ns`, with level 0 before the start and after `end_ns`.
    pub fn between(&self, start_ns: u64, end_ns: Option<u64>) -> Profile {
        let jump = |to| Stage { duration_ns: 0, to };
        let mut stages = vec![Stage { duration_ns: start_ns, to: 0.0 }, jump(self.start)];
        let mut begin_ns = start_ns;
        let end_ns = end_ns.unwrap_or(u64::MAX);
        for stage in &self.stages {
            begin_ns = begin_ns.saturating_add(stage.duration_ns);
            stages.push(*stage);
        }
        if end_ns < u64::MAX {
            let last = stages.last().map_or(0.0, |stage| stage.to);
            stages.push(Stage { duration_ns: end_ns.saturating_sub(begin_ns), to: last });
            stages.push(jump(0.0));
        }
        Profile { start: if start_ns == 0 { self.start } else { 0.0 }, stages }
    }

    /// Returns the sum of several profiles.
    pub fn sum<'a>(profiles: impl Iterator<Item = &'a Profile>) -> Profile {
        let profiles: Vec<&Profile> = profiles.collect();
        if let [one] = profiles[..] {
            return one.clone();
        }
        // All instants at which any of them bends or jumps.
        let mut edges: Vec<u64> = vec![0];
        for profile in &profiles {
            let mut t_ns = 0u64;
            for stage in &profile.stages {
                t_ns = t_ns.saturating_add(stage.duration_ns);
                edges.push(t_ns);
            }
        }
        edges.sort_unstable();
        edges.dedup();
        let after = |t_ns: u64| profiles.iter().map(|p| p.level_at(t_ns)).sum::<f64>();
        let before = |t_ns: u64| profiles.iter().map(|p| p.level_before(t_ns)).sum::<f64>();
        let mut sum = Profile { start: profiles.iter().map(|p| p.start).sum(), stages: Vec::new() };
        let mut last_ns = 0;
        for t_ns in edges {
            if t_ns > last_ns {
                sum.stages.push(Stage { duration_ns: t_ns - last_ns, to: before(t_ns) });
            }
            sum.stages.push(Stage { duration_ns: 0, to: after(t_ns) });
            last_ns = t_ns;
        }
        sum
    }

    /// Returns the level just before `t_ns`; at a jump, the level before it.
    fn level_before(&self, t_ns: u64) -> f64 {
        let (mut level, mut begin_ns) = (self.start, 0u64);
        for stage in &self.stages {
            let end_ns = begin_ns + stage.duration_ns;
            if stage.duration_ns > 0 && t_ns <= end_ns {
                let part = (t_ns - begin_ns) as f64 / stage.duration_ns as f64;
                return level + (stage.to - level) * part;
            }
            if begin_ns >= t_ns {
                return level;
            }
            (level, begin_ns) = (stage.to, end_ns);
        }
        level
    }

    /// Returns a profile that starts at `start_ns`, ramps up to `level`, holds it, and ramps down to 0.
    pub fn trapezoid(start_ns: u64, up_ns: u64, hold_ns: u64, down_ns: u64, level: f64) -> Profile {
        let stages = [(start_ns, 0.0), (up_ns, level), (hold_ns, level), (down_ns, 0.0)];
        Profile::of_stages(0.0, stages)
    }

    /// Returns a level with one peak: it rises at `at_ns` in `rise_ns`, holds for `hold_ns`, falls in `rise_ns`, and
    /// stays at `base` until `total_ns`. The peak must end before `total_ns`.
    pub fn spike(base: f64, peak: f64, at_ns: u64, rise_ns: u64, hold_ns: u64, total_ns: u64) -> Profile {
        let over_ns = at_ns + 2 * rise_ns + hold_ns;
        let stages = [
            (at_ns, base),
            (rise_ns, peak),
            (hold_ns, peak),
            (rise_ns, base),
            (total_ns.saturating_sub(over_ns), base),
        ];
        Profile::of_stages(base, stages)
    }

    /// Returns a profile that holds each level for `every_ns`, with jumps between levels.
    pub fn ladder(levels: &[f64], every_ns: u64) -> Profile {
        let legs = levels.iter().flat_map(|level| [(0, *level), (every_ns, *level)]);
        // The first level begins immediately.
        Profile::of_stages(levels.first().copied().unwrap_or_default(), legs.skip(1))
    }

    fn of_stages(start: f64, stages: impl IntoIterator<Item = (u64, f64)>) -> Profile {
        let stages = stages.into_iter().map(|(duration_ns, to)| Stage { duration_ns, to });
        Profile { start, stages: stages.collect() }
    }

    /// Returns the rate of recorded arrivals (ns, ascending) for each second.
    pub fn of_instants(instants_ns: &[u64]) -> Profile {
        const SECOND_NS: u64 = crate::unit::SECOND_NS;
        let seconds = instants_ns.last().map_or(0, |last| last / SECOND_NS + 1);
        let mut counts = vec![0u64; seconds as usize];
        for instant_ns in instants_ns {
            counts[(instant_ns / SECOND_NS) as usize] += 1;
        }
        let level = |count: u64| count as f64;
        let mut profile = Profile::constant(counts.first().copied().map_or(0.0, level));
        for (second, count) in counts.iter().enumerate() {
            profile.stages.push(Stage { duration_ns: SECOND_NS, to: level(*count) });
            let next = counts.get(second + 1).copied().map_or(0.0, level);
            profile.stages.push(Stage { duration_ns: 0, to: next });
        }
        profile
    }

    /// Returns the total duration of all stages, in ns; 0 for a constant.
    pub fn total_ns(&self) -> u64 {
        self.stages.iter().map(|s| s.duration_ns).sum()
    }

    /// Returns the highest level.
    pub fn peak(&self) -> f64 {
        self.stages.iter().map(|s| s.to).fold(self.start, f64::max)
    }
}

/// The distribution of arrivals in the open model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Arrivals {
    /// Evenly spaced: arrival k comes when k arrivals are due.
    #[default]
    Constant,
    /// A Poisson process with the same mean, like independent clients.
    Poisson,
    /// At recorded times; the profile is their rate for each second.
    Recorded,
}

/// The load model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "model", rename_all = "lowercase")]
pub enum Load {
    /// N users, each of which waits for its response before it continues.
    Closed { users: Profile },
    /// Arrivals at a rate per second, regardless of responses to earlier ones.
    Open { rate_per_s: Profile, arrivals: Arrivals },
}

impl Load {
    pub fn is_open(&self) -> bool {
        matches!(self, Load::Open { .. })
    }

    pub fn profile(&self) -> &Profile {
        match self {
            Load::Closed { users } => users,
            Load::Open { rate_per_s, .. } => rate_per_s,
        }
    }
}

/// Parses `10s:100,1m:500,0s:50` (users) or `10s:100/s,...` (arrivals per second); the level starts at 0.
///
/// # Errors
/// Returns an error that names an invalid stage, or if the text mixes users and rates.
pub fn stages(text: &str) -> Result<(Profile, bool), Problem> {
    let mut profile = Profile::constant(0.0);
    let mut open: Option<bool> = None;
    for part in text.split(',') {
        let part = part.trim();
        let Some((time, level)) = part.split_once(':') else {
            return Err(Problem::new(
                format!("invalid stage `{part}`: expected DURATION and LEVEL with a colon between"),
                "write a stage such as `10s:100` or `1m:500/s`",
            ));
        };
        let is_rate = level.contains('/');
        if *open.get_or_insert(is_rate) != is_rate {
            return Err(Problem::new(
                format!("`{text}` mixes users and rates"),
                "write `/s` after every level or after none",
            ));
        }
        let level = match level.trim() {
            "0" | "0/s" => 0.0,
            l if is_rate => crate::unit::rate_per_s(l)?,
            l => f64::from(l.parse::<u32>().map_err(|_| {
                Problem::new(
                    format!("invalid number of users `{l}` in stage `{part}`"),
                    "write a stage such as `10s:100`",
                )
            })?),
        };
        profile.stages.push(Stage { duration_ns: crate::unit::duration_ns(time)?, to: level });
    }
    if profile.total_ns() == 0 {
        return Err(Problem::new(
            format!("the stages `{text}` have no duration"),
            "write a duration above 0 for at least one stage",
        ));
    }
    if profile.peak() <= 0.0 {
        return Err(Problem::new(
            format!("the stages `{text}` never rise above 0"),
            "write a level above 0 for at least one stage",
        ));
    }
    Ok((profile, open.unwrap_or(false)))
}

/// One of several load models that run at the same time, each with its own users.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    /// The scenario's name, or `mix`.
    pub name: String,
    pub load: Load,
    /// Closed model: peak number of users. Open model: maximum number of connections on each machine, which is also the
    /// maximum number of users. Arrivals above it wait with their intended start time and are counted, or are dropped;
    /// see [`OnBusy`].
    pub connections: u32,
    /// Iterations over all users and machines; none start after the last.
    pub iterations: Option<u64>,
    /// Iterations of each user (closed model).
    pub loops: Option<u64>,
    #[serde(default, skip_serializing_if = "Rules::is_default")]
    pub rules: Rules,
}

/// The end of a run: whichever comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Stop {
    pub duration_ns: Option<u64>,
    pub requests: Option<u64>,
}

/// The shard of this machine: part `part` of `of`, starting at 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    pub part: u32,
    pub of: u32,
}

impl Share {
    /// Returns how many of `n` items this part gets if items are dealt round-robin. Its first item is `part - 1`.
    pub fn count_of(self, n: u32) -> u32 {
        n.saturating_add(self.of).saturating_sub(self.part) / self.of.max(1)
    }
}

impl Default for Share {
    fn default() -> Self {
        Self { part: 1, of: 1 }
    }
}
