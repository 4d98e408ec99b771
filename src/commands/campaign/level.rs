//! A draft at one level of a search, which sets the load and keeps everything else.

use crate::exit::Failure;
use plimsoll_front::Located;
use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;
use plimsoll_plan::draft::key;

/// Lower bound of the connection limit for arrivals. The limit guards against a service that never responds and must
/// not be what the search finds.
const LEAST_CAP: f64 = 1_000.0;
/// Upper bound, so that the search does not find this machine's own limits.
const MOST_CAP: f64 = 20_000.0;

/// One step of a search.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    /// Users, or arrivals per second.
    pub level: f64,
    pub users: bool,
    pub warmup_ns: u64,
    /// Duration without the warm-up.
    pub length_ns: u64,
    /// Longest time that a threshold allows for a response, ns.
    pub patience_ns: u64,
}

/// What a step of a search runs.
#[derive(Debug, Clone, Copy)]
pub enum Level {
    /// One user, with one request every `pause_ns`.
    Floor {
        length_ns: u64,
        pause_ns: u64,
    },
    At(Step),
}

impl Level {
    /// Returns the level as the word by which another process reads it.
    pub fn word(&self) -> String {
        match self {
            Level::Floor { length_ns, pause_ns } => format!("--search-level=floor,{length_ns},{pause_ns}"),
            Level::At(Step { level, users, warmup_ns, length_ns, patience_ns }) => {
                let kind = if *users { "users" } else { "rate" };
                // The debug form of a number is exact.
                format!("--search-level={kind},{level:?},{warmup_ns},{length_ns},{patience_ns}")
            }
        }
    }

    /// Reads the value of such a word; returns `None` if it is something else.
    pub fn parse(text: &str) -> Option<Level> {
        let parts: Vec<&str> = text.split(',').collect();
        let ns = |at: usize| parts.get(at)?.parse::<u64>().ok();
        match (parts.first().copied()?, parts.len()) {
            ("floor", 3) => Some(Level::Floor { length_ns: ns(1)?, pause_ns: ns(2)? }),
            (kind @ ("users" | "rate"), 5) => Some(Level::At(Step {
                level: parts[1].parse().ok()?,
                users: kind == "users",
                warmup_ns: ns(2)?,
                length_ns: ns(3)?,
                patience_ns: ns(4)?,
            })),
            _ => None,
        }
    }

    /// Returns the draft at this level.
    ///
    /// # Errors
    /// Returns an error under the conditions of [`at`].
    pub fn of(&self, located: Located) -> Result<Located, Failure> {
        match self {
            Level::Floor { length_ns, pause_ns } => floor(located, *length_ns, *pause_ns),
            Level::At(step) => at(located, step),
        }
    }
}

/// Returns the draft at the level of a step.
///
/// # Errors
/// Returns an error if the scenarios have their own load models, which a search cannot vary.
pub fn at(mut located: Located, step: &Step) -> Result<Located, Failure> {
    let draft = &mut located.draft;
    if draft.entry.is_none() && !draft.workloads.is_empty() {
        return Err(Diagnostic::new(
            "U026",
            Place::Whole,
            "every scenario of the file has its own load, so there is no single level to search",
            "set one load at the top level, and give weights to the scenarios",
        )
        .into());
    }
    (draft.load.stages, draft.load.recorded) = (None, None);
    (draft.load.requests_total, draft.load.iterations, draft.load.iterations_per_user) = (None, None, None);
    draft.warmup_ns = Some(step.warmup_ns);
    draft.load.duration_ns = Some(step.warmup_ns + step.length_ns);
    for gone in [key::STAGES, key::TOTAL, key::ITERATIONS, key::ITERATIONS_PER_USER] {
        located.places.remove(&gone);
    }
    if step.users {
        (draft.load.rate_per_s, draft.load.arrivals, draft.load.max_connections) = (None, None, None);
        draft.load.users = Some(step.level.round().max(1.0) as u32);
    } else {
        draft.load.users = None;
        draft.load.rate_per_s = Some(step.level);
        let needed = 2.0 * step.level * step.patience_ns as f64 / 1e9;
        draft.load.max_connections.get_or_insert(needed.clamp(LEAST_CAP, MOST_CAP) as u32);
    }
    Ok(located)
}

/// Returns the draft with one user, to measure unloaded response times: one request every `pause_ns`, or later if the
/// service takes longer, so that rate limiting does not affect it.
pub fn floor(located: Located, length_ns: u64, pause_ns: u64) -> Result<Located, Failure> {
    let step = Step { level: 1.0, users: true, warmup_ns: 0, length_ns, patience_ns: 0 };
    let mut located = at(located, &step)?;
    let draft = &mut located.draft;
    draft.load.rate_per_s = Some(1e9 / pause_ns.max(1) as f64);
    (draft.load.users, draft.load.max_connections) = (None, Some(1));
    // Thresholds are meant for loads; a single user proves nothing about them, and half of them need arrivals.
    draft.thresholds.clear();
    Ok(located)
}
