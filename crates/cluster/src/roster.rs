//! Who is there: the agents that gave a sign of life.

use crate::message::{Beat, PROTOCOL};
use plimsoll_plan::Problem;
use std::collections::BTreeMap;

/// Which agents a run uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// This many, in the order of their names.
    Count(u32),
    /// These names.
    Names(Vec<String>),
    /// All with this label.
    Label { name: String, value: String },
    /// This many on this machine, started for the run.
    Local(u32),
}

impl Selection {
    /// Parses `4`, `a,b`, `region=eu`, or `local:4`.
    ///
    /// # Errors
    /// Returns an error if the text is none of them.
    pub fn parse(text: &str) -> Result<Selection, Problem> {
        let wrong = || {
            Problem::new(
                format!("invalid agents `{text}`"),
                "use a number (`4`), names (`a,b`), a label (`region=eu`), or `local:4`",
            )
        };
        let count = |text: &str| text.parse::<u32>().ok().filter(|n| (1..=10_000).contains(n));
        if let Some(rest) = text.strip_prefix("local:") {
            return count(rest).map(Selection::Local).ok_or_else(wrong);
        }
        if text.chars().all(|c| c.is_ascii_digit()) {
            return count(text).map(Selection::Count).ok_or_else(wrong);
        }
        if let Some((name, value)) = text.split_once('=') {
            let is_label = !name.is_empty() && !value.is_empty() && !text.contains(',');
            return match is_label {
                true => Ok(Selection::Label { name: name.into(), value: value.into() }),
                false => Err(wrong()),
            };
        }
        let names: Vec<String> = text.split(',').map(str::to_owned).collect();
        let mut sorted = names.clone();
        sorted.sort_unstable();
        sorted.dedup();
        match names.iter().all(|name| crate::subject::is_name(name)) && sorted.len() == names.len() {
            true => Ok(Selection::Names(names)),
            false => Err(wrong()),
        }
    }

    /// Returns the smallest number of agents that the run needs.
    pub fn min_agents(&self) -> usize {
        match self {
            Selection::Count(n) | Selection::Local(n) => *n as usize,
            Selection::Names(names) => names.len(),
            Selection::Label { .. } => 1,
        }
    }
}

/// The newest sign of life of each instance.
#[derive(Debug, Default)]
pub struct Roster {
    beats: BTreeMap<String, Beat>,
}

impl Roster {
    /// Takes a sign of life; an older one than the known one changes nothing.
    pub fn take(&mut self, beat: Beat) {
        let known = self.beats.get(&beat.identity.instance);
        if known.is_none_or(|known| known.number < beat.number) {
            self.beats.insert(beat.identity.instance.clone(), beat);
        }
    }

    /// Returns all agents by name.
    pub fn all(&self) -> Vec<&Beat> {
        let mut all: Vec<&Beat> = self.beats.values().collect();
        all.sort_by(|a, b| a.identity.name.cmp(&b.identity.name));
        all
    }

    /// Returns the agents of a run, or why they are not enough (yet).
    ///
    /// # Errors
    /// Returns a sentence and a fix.
    pub fn choose(&self, selection: &Selection, version: &str) -> Result<Vec<Beat>, Problem> {
        let all = self.all();
        let is_wanted = |beat: &&&Beat| match selection {
            Selection::Count(_) | Selection::Local(_) => true,
            Selection::Names(names) => names.contains(&beat.identity.name),
            Selection::Label { name, value } => beat.identity.labels.get(name) == Some(value),
        };
        let wanted: Vec<&Beat> = all.iter().filter(is_wanted).copied().collect();
        if let Some(twice) = wanted.windows(2).find(|two| two[0].identity.name == two[1].identity.name) {
            return Err(Problem::new(
                format!(
                    "two agents have the name `{}`, on `{}` and `{}`",
                    twice[0].identity.name, twice[0].identity.host, twice[1].identity.host
                ),
                "give each agent its own `--name`",
            ));
        }
        let is_same = |beat: &&Beat| beat.identity.protocol == PROTOCOL && beat.identity.version == version;
        let other = wanted.iter().find(|beat| !is_same(beat));
        let free: Vec<&Beat> = wanted.iter().copied().filter(is_same).filter(|b| b.run.is_none()).collect();
        if let (Selection::Names(_) | Selection::Label { .. }, Some(beat)) = (selection, other) {
            return Err(version_problem(beat, version));
        }
        let min_agents = selection.min_agents();
        let is_enough = match selection {
            Selection::Label { .. } => !wanted.is_empty() && free.len() == wanted.len(),
            _ => free.len() >= min_agents,
        };
        if is_enough {
            let most = if let Selection::Label { .. } = selection { free.len() } else { min_agents };
            return Ok(free.into_iter().take(most).cloned().collect());
        }
        if let Some(beat) = other {
            return Err(version_problem(beat, version));
        }
        Err(self.missing(selection, &wanted, free.len()))
    }

    fn missing(&self, selection: &Selection, wanted: &[&Beat], free: usize) -> Problem {
        if let Some(busy) = wanted.iter().find(|beat| beat.run.is_some()) {
            let run = busy.run.as_deref().unwrap_or_default();
            let message = match selection {
                Selection::Count(n) | Selection::Local(n) => {
                    format!(
                        "only {free} of {n} agents are free; `{}` works for run {run}",
                        busy.identity.name
                    )
                }
                _ => format!("agent `{}` works for run {run}", busy.identity.name),
            };
            return Problem::new(message, "wait until it is free, or use other agents");
        }
        let hint = "start them with `plimsoll agent --nats URL`, or wait longer with `--wait-for-agents 60s`";
        let message = match selection {
            Selection::Count(n) | Selection::Local(n) => {
                format!("found {} of the {n} agents", wanted.len())
            }
            Selection::Names(names) => {
                let is_missing = |name: &&String| !wanted.iter().any(|beat| beat.identity.name == **name);
                let missing: Vec<String> =
                    names.iter().filter(is_missing).map(|name| format!("`{name}`")).collect();
                format!("missing agents: {}", missing.join(", "))
            }
            Selection::Label { name, value } => format!("no agent has the label `{name}={value}`"),
        };
        Problem::new(message, hint)
    }
}

fn version_problem(beat: &Beat, version: &str) -> Problem {
    Problem::new(
        format!(
            "agent `{}` has version {}, and this program {version}",
            beat.identity.name, beat.identity.version
        ),
        "install the same version on all machines",
    )
}
