//! What agents and coordinators send each other, as JSON. Commands are idempotent and may arrive late, twice, or never:
//! an agent reports its stage, and the coordinator repeats its order until the stage is reached.

use plimsoll_plan::Problem;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of these messages. Agents of another version are refused.
pub const PROTOCOL: u32 = 4;

/// Signs of life come once per second, and at each change.
pub const BEAT_NS: u64 = 1_000_000_000;

/// One process that waits for loads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Identity {
    /// Name that the user sees, unique among agents.
    pub name: String,
    /// Random name of this process. A restarted agent is another instance.
    pub instance: String,
    pub protocol: u32,
    /// Version of the program.
    pub version: String,
    pub host: String,
    pub cpus: u32,
    /// Limit of open files.
    pub open_files: u64,
    /// Labels such as `region=eu`, sorted by name.
    pub labels: BTreeMap<String, String>,
    /// Number of runs that the instance has ended. Orders quote it, so that a copy of one cannot start a load later.
    #[serde(default)]
    pub turn: u64,
}

/// Sign of life of an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Beat {
    pub identity: Identity,
    /// Counts the signs of life of the instance: a smaller one is older.
    pub number: u64,
    /// The run that the agent works for; `None` if it is free.
    pub run: Option<String>,
    pub stage: Stage,
    /// The difference between the clocks, once it is measured for this run.
    pub clock: Option<ClockOffset>,
    /// Start of the load on the agent's clock, ns, once it has begun.
    pub begin_ns: Option<u64>,
    /// Whether a script has ended the test for all agents.
    #[serde(default)]
    pub has_ended_test: bool,
    /// Number of the last line that the load was given.
    pub steered: u64,
    /// Number of envelopes that the coordinator has not confirmed.
    pub backlog: u64,
    /// The last order that the agent refused, for some seconds.
    #[serde(default)]
    pub refusal: Option<Refusal>,
}

/// An order that an agent did not execute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// Run that the order names; what is refused may come from anywhere.
    pub run: String,
    pub sentence: String,
    pub hint: String,
}

/// Offset of the coordinator's clock: coordinator time = agent time + `offset_ns`, within `bound_ns`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockOffset {
    pub offset_ns: i64,
    pub bound_ns: u64,
}

/// How far an agent is with its part of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "name")]
pub enum Stage {
    /// Waits for a run.
    Free,
    /// Gets files, resolves names, asks for permission, connects, and runs the setup.
    Preparing,
    /// Ready for the values of setup; contains them if setup ran here.
    Prepared {
        setup: Option<String>,
    },
    /// Makes its users.
    Seating,
    /// All users wait for the start.
    Ready,
    /// Knows when to start.
    Armed,
    Running,
    /// The load has ended, and the teardown waits for the others.
    Ended,
    /// The teardown runs.
    TearingDown,
    /// The load generator has ended.
    Finished {
        exit: i32,
        said: String,
    },
    /// There was no load, or no record of it. The exit code is that of the load generator, if it has run.
    Failed {
        sentence: String,
        hint: String,
        exit: Option<i32>,
    },
}

/// The order of stages; a later one never precedes an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    Free,
    Preparing,
    Prepared,
    Seating,
    Ready,
    Armed,
    Running,
    Ended,
    TearingDown,
    Over,
}

impl Stage {
    /// Returns the position of the stage in a run.
    pub const fn step(&self) -> Step {
        match self {
            Stage::Free => Step::Free,
            Stage::Preparing => Step::Preparing,
            Stage::Prepared { .. } => Step::Prepared,
            Stage::Seating => Step::Seating,
            Stage::Ready => Step::Ready,
            Stage::Armed => Step::Armed,
            Stage::Running => Step::Running,
            Stage::Ended => Step::Ended,
            Stage::TearingDown => Step::TearingDown,
            Stage::Finished { .. } | Stage::Failed { .. } => Step::Over,
        }
    }

    pub const fn is_over(&self) -> bool {
        matches!(self, Stage::Finished { .. } | Stage::Failed { .. })
    }
}

/// An order of a coordinator to one instance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Order {
    pub run: String,
    /// An order for another instance is ignored.
    pub instance: String,
    /// [`Identity::turn`] of the instance. An order for an earlier run is not executed.
    pub turn: u64,
    pub wish: Wish,
}

/// What an agent should do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "do")]
pub enum Wish {
    Prepare(Box<Task>),
    /// Everyone is prepared: make the users.
    Seat {
        /// Values of a setup that ran elsewhere, in Base64.
        setup: Option<String>,
    },
    /// Begin the load at this time of the coordinator's clock, ns.
    Begin {
        at_ns: u64,
    },
    /// A line for the running load, as on the standard input of `--steered`. The same number is executed once.
    Steer {
        number: u64,
        line: String,
    },
    TearDown,
    /// End the load with a report.
    Stop,
    /// The coordinator has everything, or has given up: become free.
    Release,
    /// Envelopes below this number have arrived.
    Receipt {
        below: u64,
    },
}

/// One agent's part of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    pub protocol: u32,
    pub version: String,
    /// Words of the command line after the program's name.
    pub words: Vec<String>,
    /// Part of the load, starting at 1, and the number of parts.
    pub part: u32,
    pub of: u32,
    /// Absolute working directory of the coordinator.
    pub folder: String,
    /// Files that the words name, directly or indirectly.
    pub files: Vec<FileOutline>,
    /// Absolute paths of directories in which the load writes files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<String>,
    /// Environment variables of the coordinator that determine the load.
    pub variables: Variables,
}

/// Environment variables by name. Their values may be secrets, so they are never shown.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Variables(pub BTreeMap<String, String>);

impl std::fmt::Debug for Variables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// A file of the coordinator.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FileOutline {
    /// Absolute path on the coordinator's machine.
    pub path: String,
    /// SHA-256 in hexadecimal.
    pub sha256: String,
    pub bytes: u64,
}

/// Question for a part of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileQuestion {
    pub sha256: String,
    pub offset: u64,
}

/// Question for a check of the machines of all agents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckUp {
    /// Random name. The clock is measured as for a run of this name.
    pub id: String,
}

/// What an agent found on its machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checked {
    /// That of the question.
    pub id: String,
    pub identity: Identity,
    /// Random name of the boot of its kernel, by which agents that share a machine are known; empty if unknown.
    pub boot_id: String,
    /// `None` if the answers did not come.
    pub clock: Option<ClockOffset>,
    /// Public hosts that its loads may go to.
    pub allow: Vec<String>,
    /// Public key of the coordinator whose orders it accepts; `None` if it accepts all.
    #[serde(default)]
    pub coordinator_key: Option<String>,
    pub checks: Vec<Check>,
}

/// One check of a machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    pub name: String,
    pub value: String,
    pub rating: Rating,
    /// How to fix it, or why it matters.
    pub advice: Option<String>,
}

/// The severity of a check for sending load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rating {
    Good,
    Notice,
    Bad,
}

/// Largest part of a file in one message, bytes; servers accept 1 MiB by default.
pub const FILE_PART_BYTES: usize = 512 << 10;

/// Largest message that is sent, bytes: servers accept 1 MiB by default.
pub const MESSAGE_BYTES_MAX: usize = 1_000_000;

/// Encodes a message.
pub fn encode<T: Serialize>(message: &T) -> Vec<u8> {
    // Only maps with keys that are not strings, or a failing writer, could make this fail.
    serde_json::to_vec(message).unwrap_or_default()
}

/// Decodes a message of this version or another one.
///
/// # Errors
/// Returns an error if the bytes are not such a message.
pub fn decode<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, Problem> {
    serde_json::from_slice(bytes).map_err(|e| Problem::plain(format!("unreadable message: {e}")))
}
