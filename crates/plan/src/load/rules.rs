//! Rules of one load model beyond its profile: how it starts, numbers, and ends iterations. The defaults are those of
//! experiment files; the executors of other tools differ.

use serde::{Deserialize, Serialize};

/// What happens to an arrival that finds no free user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnBusy {
    /// It waits with its intended start time.
    #[default]
    Queue,
    /// It is dropped at once, and counted as not started.
    Drop,
}

/// When the users of the closed model are active, while the level changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UserSteps {
    /// User k (from 0) is active while the level is above k.
    #[default]
    Above,
    /// The number of users changes by one when the level reaches a whole number: rounded down while the level rises,
    /// and up while it falls. Levels at the ends of stages must be whole numbers.
    Reached,
}

/// The first arrival of the open model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FirstArrival {
    /// At the start: arrival k (from 0) comes when k arrivals are due.
    #[default]
    AtStart,
    /// When one arrival is due: arrival k (from 0) comes when k + 1 are due.
    WhenDue,
}

/// Rules of a load model. Times are in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Rules {
    pub on_busy: OnBusy,
    /// Open model: users of each machine that exist from the start; each dropped arrival adds one, up to the limit.
    /// `None`: all.
    pub initial_users: Option<u32>,
    pub user_steps: UserSteps,
    pub first_arrival: FirstArrival,
    /// Closed model: the number of users to which the level may be raised during the run; `None`: the peak.
    pub capacity: Option<u32>,
    /// Time since the start of the run after which no iteration starts; set by the seal.
    pub end_ns: Option<u64>,
    /// How long iterations may continue after the end; then they are interrupted. `None`: as long as those of the run.
    pub graceful_stop_ns: Option<u64>,
    /// Closed model: how long a user that the level stops may continue its iteration; `None`: to its end.
    pub graceful_ramp_down_ns: Option<u64>,
    /// Whether the level ends at 0, so that it stops the last users, rather than the end of the load.
    pub ramps_out: bool,
    /// Whether iterations are numbered over all users, workers, and machines, and those never started are counted.
    pub counts_iterations: bool,
}

impl Rules {
    pub fn is_default(&self) -> bool {
        *self == Rules::default()
    }

    /// Returns when iterations in progress are interrupted, in ns from the start of the run.
    pub fn cut_ns(&self) -> Option<u64> {
        let of_level = self.graceful_ramp_down_ns.filter(|_| self.ramps_out).unwrap_or(u64::MAX);
        Some(self.end_ns?.saturating_add(self.graceful_stop_ns?.min(of_level)))
    }
}
