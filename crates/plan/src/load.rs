//! How much load, when: a profile of users (closed model) or of arrivals per second (open model).

use serde::{Deserialize, Serialize};

/// One leg of a profile: the level goes in a straight line to `to` within `duration_ns`; 0 ns jumps.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    pub duration_ns: u64,
    pub to: f64,
}

/// A level over time, piecewise linear. After the last stage the level stays.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    pub start: f64,
    pub stages: Vec<Stage>,
}

impl Profile {
    pub fn constant(level: f64) -> Self {
        Self { start: level, stages: Vec::new() }
    }

    /// The level at `t_ns`; at a jump, the level after it.
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

    /// Length of all stages together, in ns; 0 for a constant.
    pub fn total_ns(&self) -> u64 {
        self.stages.iter().map(|s| s.duration_ns).sum()
    }

    /// The highest level reached.
    pub fn peak(&self) -> f64 {
        self.stages.iter().map(|s| s.to).fold(self.start, f64::max)
    }
}

/// How arrivals of the open model are spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Arrivals {
    /// Evenly: arrival k at the instant where k arrivals are due.
    #[default]
    Constant,
    /// A Poisson process of the same mean, as independent clients make.
    Poisson,
}

/// The load model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "model", rename_all = "lowercase")]
pub enum Load {
    /// N users, each waits for its answer before it goes on.
    Closed { users: Profile },
    /// Arrivals at a rate per second, whether or not earlier ones were answered.
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
/// A sentence naming the stage that cannot be read, or a mix of users and rates.
pub fn stages(text: &str) -> Result<(Profile, bool), String> {
    let mut profile = Profile::constant(0.0);
    let mut open: Option<bool> = None;
    for part in text.split(',') {
        let part = part.trim();
        let Some((time, level)) = part.split_once(':') else {
            return Err(format!(
                "`{part}` is no stage; expected time:level, such as `10s:100` or `1m:500/s`"
            ));
        };
        let is_rate = level.contains('/');
        if *open.get_or_insert(is_rate) != is_rate {
            return Err(format!(
                "`{text}` mixes users with rates; write `/s` behind every level or behind none"
            ));
        }
        let level = match level.trim() {
            "0" | "0/s" => 0.0,
            l if is_rate => crate::unit::rate_per_s(l)?,
            l => f64::from(
                l.parse::<u32>().map_err(|_| format!("`{l}` is no number of users in stage `{part}`"))?,
            ),
        };
        profile.stages.push(Stage { duration_ns: crate::unit::duration_ns(time)?, to: level });
    }
    if profile.total_ns() == 0 {
        return Err(format!("the stages `{text}` last 0 s; give at least one of them a time"));
    }
    if profile.peak() <= 0.0 {
        return Err(format!("the stages `{text}` never rise above 0"));
    }
    Ok((profile, open.unwrap_or(false)))
}

/// When a run ends: at whichever comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Stop {
    pub duration_ns: Option<u64>,
    pub requests: Option<u64>,
}

/// This machine's part of the schedule: part `part` of `of`, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    pub part: u32,
    pub of: u32,
}

impl Share {
    /// How many of `n` things dealt out in turns are this part's: `part` comes first with number `part - 1`.
    pub fn count_of(self, n: u32) -> u32 {
        n.saturating_add(self.of).saturating_sub(self.part) / self.of.max(1)
    }
}

impl Default for Share {
    fn default() -> Self {
        Self { part: 1, of: 1 }
    }
}
