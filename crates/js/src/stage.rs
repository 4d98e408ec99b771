//! The behavior of a plan whose users are a script.

use crate::log::{Level, Source};
use crate::pod::Pod;
use crate::samples::SampleGroup;
use crate::settings::Isolation;
use crate::source::{PhaseFailure, Shared};
use crate::user::{User, Work};
use crate::vu::Vu;
use plimsoll_plan::Problem;
use plimsoll_plan::program::{Behavior, Phase, Program, ProgramFactory, Programs, Unready, UserSlot};
use plimsoll_quickjs::{StackPool, Thrown, Value};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

/// Contexts that share a runtime: a garbage collection looks at all of them.
const CONTEXTS_PER_POD: usize = 64;

/// The behavior.
pub struct Stage {
    shared: Arc<Shared>,
    has_setup: bool,
    has_teardown: bool,
    through: Mutex<Option<Phase>>,
}

impl Stage {
    /// Returns the behavior of a script. `functions` are the names of its exported functions.
    pub fn new(
        shared: Arc<Shared>,
        functions: &[String],
        runs_setup: bool,
        runs_teardown: bool,
    ) -> Arc<Stage> {
        let has = |name: &str| functions.iter().any(|one| one == name);
        Arc::new(Stage {
            has_setup: runs_setup && has("setup"),
            has_teardown: runs_teardown && has("teardown"),
            shared,
            through: Mutex::new(None),
        })
    }

    pub fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }
}

impl Behavior for Stage {
    fn has(&self, phase: Phase) -> bool {
        match phase {
            Phase::Setup => self.has_setup,
            Phase::Teardown => self.has_teardown,
            Phase::Load => true,
        }
    }

    fn check_data(&self) -> Result<(), Unready> {
        Ok(())
    }

    fn factory(self: Arc<Self>, phase: Phase) -> Result<Arc<dyn ProgramFactory>, Unready> {
        self.shared.begin_phase();
        if self.isolation() != self.shared.settings.isolation {
            self.shared.warn_once(
                "each user of the script has its own runtime, some 290 KiB: the self-test of the JavaScript engine \
                 does not allow users to share one",
            );
        }
        *self.through.lock().unwrap_or_else(PoisonError::into_inner) = Some(phase);
        Ok(Arc::new(Factory { stage: self, phase }))
    }

    fn trouble(&self) -> Option<String> {
        self.shared.trouble()
    }

    fn is_through(&self) -> bool {
        self.shared.is_phase_over()
    }

    fn missing_globals(&self) -> Vec<String> {
        Vec::new()
    }

    fn shares_setup(&self) -> bool {
        true
    }

    /// The JSON of what `setup()` returned; empty if it returned nothing.
    fn setup_values(&self) -> Vec<u8> {
        self.shared.setup_json().unwrap_or_default().into_bytes()
    }

    fn adopt_setup(&self, values: &[u8]) -> Result<(), Problem> {
        let json = std::str::from_utf8(values);
        let json = json.map_err(|_| Problem::plain("the data of `setup()` is not UTF-8"))?;
        self.shared.keep_setup_data((!json.is_empty()).then(|| json.to_owned()));
        Ok(())
    }

    fn close(&self) -> Result<(), Problem> {
        Ok(())
    }
}

struct Factory {
    stage: Arc<Stage>,
    phase: Phase,
}

impl ProgramFactory for Factory {
    fn programs(&self) -> Box<dyn Programs> {
        Box::new(Worker {
            stage: Arc::clone(&self.stage),
            phase: self.phase,
            stacks: StackPool::new(),
            pods: Vec::new(),
        })
    }
}

/// The pods of one worker.
struct Worker {
    stage: Arc<Stage>,
    phase: Phase,
    stacks: StackPool,
    pods: Vec<Rc<Pod>>,
}

impl Programs for Worker {
    fn make(&mut self, slot: UserSlot) -> Box<dyn Program> {
        let shared = Arc::clone(&self.stage.shared);
        let number = match self.phase {
            Phase::Load => u64::from(slot.id) + 1,
            Phase::Setup | Phase::Teardown => 0,
        };
        shared.users.fetch_add(1, Ordering::Relaxed);
        let scenario = match self.phase {
            Phase::Load => usize::from(slot.workload),
            Phase::Setup | Phase::Teardown => usize::MAX,
        };
        match self.user(number, scenario) {
            Ok(user) => user,
            Err(why) => {
                shared.script.log.write(Level::Error, Source::Exception, &why);
                shared.set_trouble(PhaseFailure::Exception, why);
                Box::new(Idle)
            }
        }
    }
}

/// A user that could not be made.
struct Idle;

impl Program for Idle {
    fn resume(
        &mut self,
        _at: plimsoll_plan::program::At,
        _wake: plimsoll_plan::program::Wake<'_>,
        out: &mut plimsoll_plan::program::Outbox,
    ) {
        out.retire();
    }
}

impl Stage {
    /// Without the word for frames, users must not share a runtime; without the queue of jobs, those of asynchronous
    /// scripts must not.
    fn isolation(&self) -> Isolation {
        let settings = &self.shared.settings;
        let has_own_jobs = !settings.is_asynchronous || plimsoll_quickjs::has_own_jobs();
        match plimsoll_quickjs::is_sound() && has_own_jobs {
            true => settings.isolation,
            false => Isolation::Runtime,
        }
    }
}

impl Worker {
    fn user(&mut self, number: u64, scenario: usize) -> Result<Box<dyn Program>, String> {
        let shared = Arc::clone(&self.stage.shared);
        let pod = self.pod()?;
        let describe = |thrown: Thrown| shared.describe(&thrown);
        let realm = match self.stage.isolation() {
            Isolation::Shared => pod.shared_realm(),
            Isolation::Context | Isolation::Runtime => pod.realm(),
        }
        .map_err(describe)?;
        let seed = shared.seed ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let vu = Rc::new(Vu::new(number, scenario, realm.clone(), seed));
        vu.sample_group.set(match self.phase {
            Phase::Setup => SampleGroup::Setup,
            Phase::Teardown => SampleGroup::Teardown,
            Phase::Load => SampleGroup::Iteration,
        });
        pod.runtime.set_budget(shared.settings.budget);
        let exports = with_vu(&pod, &vu, || pod.instantiate(&realm, false));
        // What the init part leaves to do belongs to the first iteration.
        vu.jobs.replace(pod.runtime.take_jobs());
        let exports = exports.map_err(describe)?;
        if pod.users.get() == 1 {
            pod.compare_shared();
        }
        if let Some(expected) = &*pod.host.expected.borrow() {
            vu.expected.replace(expected.clone());
        }
        let work = self.work(&exports, scenario, describe)?;
        let data = Rc::new(RefCell::new(None));
        Ok(Box::new(User { pod, vu, work: Rc::new(work), fiber: None, data, deadline: None }))
    }

    fn work(
        &self,
        exports: &Value,
        scenario: usize,
        describe: impl Fn(Thrown) -> String,
    ) -> Result<Work, String> {
        let name = match self.phase {
            Phase::Setup => "setup",
            Phase::Teardown => "teardown",
            Phase::Load => {
                let scenario = self.stage.shared.settings.scenarios.get(scenario);
                scenario.map_or("default", |one| one.exec.as_str())
            }
        };
        let function = exports.get_str(name).map_err(describe)?;
        if !function.is_function() {
            return Err(format!("the script exports no function `{name}`"));
        }
        Ok(match self.phase {
            Phase::Setup => Work::Setup(function),
            Phase::Teardown => Work::Teardown(function),
            Phase::Load => Work::Function(function),
        })
    }

    /// Returns a pod with room for one more user.
    fn pod(&mut self) -> Result<Rc<Pod>, String> {
        let most = match self.stage.isolation() {
            Isolation::Shared => self.stage.shared.settings.users_per_pod.max(1),
            Isolation::Context => CONTEXTS_PER_POD,
            Isolation::Runtime => 1,
        };
        let pod = match self.pods.last().filter(|pod| pod.users.get() < most) {
            Some(pod) => Rc::clone(pod),
            None => {
                let pod = Pod::with(&self.stage.shared, self.stacks.clone());
                let pod = Rc::new(pod.map_err(|_| "memory has run out for JavaScript".to_owned())?);
                self.pods.push(Rc::clone(&pod));
                pod
            }
        };
        pod.users.set(pod.users.get() + 1);
        Ok(pod)
    }
}

/// Evaluates the init part with `__VU` and `__ENV` of a user, but without the right to send.
fn with_vu<R>(pod: &Pod, vu: &Rc<Vu>, run: impl FnOnce() -> R) -> R {
    pod.host.vu.replace(Some(Rc::clone(vu)));
    let result = run();
    pod.host.vu.replace(None);
    result
}
