//! A script as the code of a plan.

use crate::samples::SampleSink;
use crate::settings::Settings;
use crate::source::{KnownOrigins, Script, Shared};
use crate::stage::Stage;
use plimsoll_plan::code::{Code, OriginFacts};
use plimsoll_plan::origin::OriginId;
use plimsoll_plan::program::Behavior;
use plimsoll_plan::{Plan, Problem};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::IpAddr;
use std::ops::Not;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A script with the settings of its users.
pub struct ScriptCode {
    pub script: Script,
    pub settings: Settings,
    /// Names of its exported functions.
    pub functions: Vec<String>,
    pub runs_setup: bool,
    pub runs_teardown: bool,
    /// The state of the run, once it has begun: for the result.
    shared: Mutex<Option<Arc<Shared>>>,
    samples: OnceLock<Arc<dyn SampleSink>>,
    facts: KnownOrigins,
}

/// Two scripts that measure different things have different texts: a resumed search compares them.
impl std::fmt::Debug for ScriptCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Variables may be secrets, and those of the process change from shell to shell.
        let is_own =
            |pair: &&(String, String)| std::env::var(&pair.0).is_ok_and(|value| value == pair.1).not();
        let mut variables = DefaultHasher::new();
        self.settings.env.iter().filter(is_own).for_each(|pair| pair.hash(&mut variables));
        f.debug_struct("ScriptCode")
            .field("script", &self.script)
            .field("options", &self.settings.options_json)
            .field("variables", &variables.finish())
            .finish_non_exhaustive()
    }
}

impl ScriptCode {
    pub fn new(script: Script, settings: Settings, functions: Vec<String>) -> ScriptCode {
        ScriptCode {
            script,
            settings,
            functions,
            runs_setup: true,
            runs_teardown: true,
            shared: Mutex::new(None),
            samples: OnceLock::new(),
            facts: KnownOrigins::default(),
        }
    }

    /// Passes each sample of all runs to an output; the first one applies.
    pub fn sample_to(&self, sink: Arc<dyn SampleSink>) {
        self.samples.get_or_init(|| sink);
    }

    /// Returns the state of the last run.
    pub fn shared(&self) -> Option<Arc<Shared>> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Code for ScriptCode {
    fn behavior(&self, plan: &Plan) -> Result<Arc<dyn Behavior>, Problem> {
        let origins = plan.outline.all_origins();
        let known = (0 as OriginId..).zip(origins.iter()).filter(|(_, origin)| !origin.host.is_empty());
        let origins = known.map(|(number, origin)| (origin.target(), number)).collect();
        let mut shared = Shared::new(self.script.clone(), self.settings.clone(), origins, plan.outline.seed);
        let stop = plan.outline.stop;
        shared.only_end = stop.requests.filter(|_| stop.duration_ns.is_none());
        shared.samples = self.samples.get().cloned();
        shared.facts = KnownOrigins::clone(&self.facts);
        let shared = Arc::new(shared);
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).replace(Arc::clone(&shared));
        Ok(Stage::new(shared, &self.functions, self.runs_setup, self.runs_teardown))
    }

    fn refusal(&self, address: IpAddr) -> Option<String> {
        let range = self.settings.blocked_ranges.iter().find(|range| range.contains(address))?;
        Some(format!("the address `{address}` is in `{range}` of `blacklistIPs`"))
    }

    fn has_ended_test(&self) -> bool {
        self.shared().is_some_and(|shared| shared.aborted().is_some())
    }

    fn note_origin(&self, origin: OriginFacts) {
        let mut known = self.facts.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(origin.target.clone(), origin);
    }
}
