//! A script as the code of a plan.

use crate::settings::Settings;
use crate::source::{Script, Shared};
use crate::stage::Stage;
use plimsoll_plan::code::Code;
use plimsoll_plan::origin::OriginId;
use plimsoll_plan::program::Behavior;
use plimsoll_plan::{Plan, Problem};
use std::sync::{Arc, Mutex, PoisonError};

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
}

impl std::fmt::Debug for ScriptCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ScriptCode").field("script", &self.script).finish_non_exhaustive()
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
        }
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
        let shared = Shared::new(self.script.clone(), self.settings.clone(), origins, plan.outline.seed);
        let shared = Arc::new(shared);
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).replace(Arc::clone(&shared));
        Ok(Stage::new(shared, &self.functions, self.runs_setup, self.runs_teardown))
    }
}
