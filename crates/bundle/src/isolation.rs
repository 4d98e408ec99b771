//! How much of an engine each virtual user needs, so that no user sees what another one does.

use plimsoll_plan::diag::Place;

/// The smallest isolation under which users cannot see each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Isolation {
    /// Users share one realm: the script changes nothing outside of its modules.
    Shared,
    /// Each user needs its own globals: the script changes them, or the analysis cannot rule it out.
    Context(Reason),
    /// Each user needs its own runtime: garbage collection or backtraces of one user run code of another.
    Runtime(Reason),
}

/// Why a script needs isolation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// What the script does: a fragment in lower case, without a period.
    pub why: String,
    pub place: Place,
}

/// The kinds of need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    Context,
    Runtime,
    /// Separate jobs, because the script uses promises.
    Jobs,
}

/// What all modules of a script need.
#[derive(Debug)]
pub struct Needs {
    pub isolation: Isolation,
    /// Why the script is asynchronous, if it is.
    pub asynchronous: Option<Reason>,
}

impl Needs {
    /// Combines with what another piece of code needs. Among equal needs, the first reason stays.
    pub fn add(&mut self, need: Need, why: &str, place: Place) {
        let reason = || Reason { why: why.to_owned(), place };
        match (&self.isolation, need) {
            (_, Need::Jobs) => _ = self.asynchronous.get_or_insert_with(reason),
            (Isolation::Runtime(_), _) | (Isolation::Context(_), Need::Context) => {}
            (_, Need::Runtime) => self.isolation = Isolation::Runtime(reason()),
            (Isolation::Shared, Need::Context) => self.isolation = Isolation::Context(reason()),
        }
    }
}

/// Built-in modules whose use is asynchronous.
const ASYNCHRONOUS: &[&str] = &[
    "k6/browser",
    "k6/experimental/browser",
    "k6/experimental/csv",
    "k6/experimental/fs",
    "k6/experimental/redis",
    "k6/experimental/streams",
    "k6/experimental/timers",
    "k6/experimental/webcrypto",
    "k6/experimental/websockets",
    "k6/timers",
    "k6/websockets",
];

/// Members of built-in modules whose use is asynchronous.
const ASYNCHRONOUS_MEMBERS: &[(&str, &str)] = &[("k6/http", "asyncRequest"), ("k6/net/grpc", "Stream")];

/// Returns why a built-in module is asynchronous, if it is.
pub fn builtin(name: &str) -> Option<String> {
    ASYNCHRONOUS.contains(&name).then(|| format!("`{name}` is asynchronous"))
}

/// Returns why a member of a built-in module is asynchronous, if it is.
pub fn member(module: &str, path: &str) -> Option<String> {
    let first = path.split('.').next().unwrap_or_default();
    ASYNCHRONOUS_MEMBERS
        .contains(&(module, first))
        .then(|| format!("`{first}` of `{module}` is asynchronous"))
}
