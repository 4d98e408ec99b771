//! Setup and teardown of a run.

use super::{Failed, News, SessionHost};
use crate::{Aside, Error, aside};
use plimsoll_engine::Scene;
use plimsoll_plan::Plan;
use plimsoll_plan::program::{Behaviour, Phase};
use std::sync::Arc;

/// Runner of a plan's setup and teardown.
pub struct SetupTeardown<'a, D> {
    pub plan: &'a Plan,
    pub scene: &'a Scene,
    pub behaviour: Option<&'a Arc<dyn Behaviour>>,
    pub caller: &'a D,
}

impl<D: SessionHost> SetupTeardown<'_, D> {
    /// Runs the setup; any error in it ends the session before the load.
    pub fn set_up(&self) -> Result<(), Failed> {
        let Some(behaviour) = self.behaviour.filter(|behaviour| behaviour.has(Phase::Setup)) else {
            return Ok(());
        };
        self.caller.tell(News::Setup);
        self.run(behaviour, Phase::Setup, "setup")?;
        match behaviour.missing_globals().first() {
            None => Ok(()),
            Some(name) => {
                let why = format!("it did not set `{name}`");
                Err(Error::Aside { phase: "setup", why }.into())
            }
        }
    }

    pub fn tear_down(&self) -> Result<(), Failed> {
        match self.behaviour.filter(|behaviour| behaviour.has(Phase::Teardown)) {
            Some(behaviour) => self.run(behaviour, Phase::Teardown, "teardown"),
            None => Ok(()),
        }
    }

    fn run(&self, behaviour: &Arc<dyn Behaviour>, phase: Phase, name: &'static str) -> Result<(), Failed> {
        let failed = |why| Failed::CouldNotRun(Error::Aside { phase: name, why });
        let factory = Arc::clone(behaviour).factory(phase).map_err(Failed::Unready)?;
        let scene = Scene { factory: Some(factory), ..self.scene.clone() };
        let ended = aside(self.plan, scene, |controller| self.caller.steer(phase, controller))?;
        match behaviour.trouble() {
            Some(why) => Err(failed(why)),
            None if ended == Aside::Interrupted && phase == Phase::Setup => {
                Err(Failed::CutShort("interrupted during the setup; no load was sent".into()))
            }
            None if ended == Aside::Interrupted => Err(failed("it was interrupted".into())),
            None if !behaviour.is_through() => {
                Err(failed("it reached a hard limit (`--limit requests=` or `duration_ns=`)".into()))
            }
            None => Ok(()),
        }
    }
}
