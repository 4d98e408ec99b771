//! Setup and teardown of a run.

use super::{Failed, News, SessionHost};
use crate::{Aside, Error, aside};
use plimsoll_engine::Scene;
use plimsoll_plan::Plan;
use plimsoll_plan::program::{Behavior, Phase};
use std::sync::Arc;

/// Runner of a plan's setup and teardown.
pub struct SetupTeardown<'a, D> {
    pub plan: &'a Plan,
    pub scene: &'a Scene,
    pub behavior: Option<&'a Arc<dyn Behavior>>,
    pub caller: &'a D,
}

impl<D: SessionHost> SetupTeardown<'_, D> {
    /// Runs the setup; any error in it ends the session before the load.
    pub fn set_up(&self) -> Result<(), Failed> {
        let team = self.caller.team();
        let shared = self.behavior.filter(|behavior| behavior.has(Phase::Setup) && behavior.shares_setup());
        if shared.is_none() || team.is_first() {
            self.set_up_here()?;
        }
        let mine = shared.filter(|_| team.is_first()).map(|behavior| || behavior.setup_values());
        let mine = mine.as_ref().map(|values| values as &dyn Fn() -> Vec<u8>);
        match (team.prepared(mine).map_err(Failed::CutShort)?, shared) {
            (Some(values), Some(behavior)) => behavior.adopt_setup(&values).map_err(Failed::Behavior),
            _ => Ok(()),
        }
    }

    fn set_up_here(&self) -> Result<(), Failed> {
        let Some(behavior) = self.behavior.filter(|behavior| behavior.has(Phase::Setup)) else {
            return Ok(());
        };
        self.caller.tell(News::Setup);
        self.run(behavior, Phase::Setup, "setup")?;
        match behavior.missing_globals().first() {
            None => Ok(()),
            Some(name) => {
                let why = format!("it did not set `{name}`");
                Err(Error::Aside { phase: "setup", why }.into())
            }
        }
    }

    pub fn tear_down(&self) -> Result<(), Failed> {
        let Some(behavior) = self.behavior.filter(|behavior| behavior.has(Phase::Teardown)) else {
            return Ok(());
        };
        if behavior.shares_setup() {
            let team = self.caller.team();
            if !team.is_first() {
                return Ok(());
            }
            team.await_others();
        }
        self.run(behavior, Phase::Teardown, "teardown")
    }

    fn run(&self, behavior: &Arc<dyn Behavior>, phase: Phase, name: &'static str) -> Result<(), Failed> {
        let failed = |why| Failed::CouldNotRun(Error::Aside { phase: name, why });
        let factory = Arc::clone(behavior).factory(phase).map_err(Failed::Unready)?;
        let scene = Scene { factory: Some(factory), ..self.scene.clone() };
        let ended = aside(self.plan, scene, |controller| self.caller.steer(phase, controller))?;
        match behavior.trouble() {
            Some(why) => Err(failed(why)),
            None if ended == Aside::Interrupted && phase == Phase::Setup => {
                Err(Failed::CutShort("interrupted during the setup; no load was sent".into()))
            }
            None if ended == Aside::Interrupted => Err(failed("it was interrupted".into())),
            None if !behavior.is_through() => {
                Err(failed("it reached a hard limit (`--limit requests=` or `duration_ns=`)".into()))
            }
            None => Ok(()),
        }
    }
}
