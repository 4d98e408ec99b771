//! The behavior of a plan whose users are the threads of a test plan.

use crate::conductor::Conductor;
use crate::plan::{Config, Plan, Share};
use crate::run::Run;
use crate::thread::Thread;
use crate::vars::Vars;
use crate::worker::Worker;
use plimsoll_jmx::plan::Phase as GroupPhase;
use plimsoll_plan::Problem;
use plimsoll_plan::origin::OriginId;
use plimsoll_plan::program::{
    At, Behavior, Outbox, Phase, Program, ProgramFactory, Programs, Unready, UserSlot, Wake,
};
use plimsoll_plan::request::Target;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The behavior.
pub struct Stage {
    run: Arc<Run>,
    plan: Arc<Plan>,
    vars: Vars,
    origins: Vec<(Target, OriginId)>,
    seed: u64,
    /// Whether the last phase has reached its end.
    pub is_over: AtomicBool,
}

impl Stage {
    pub fn new(
        run: Arc<Run>,
        plan: Arc<Plan>,
        vars: Vars,
        origins: Vec<(Target, OriginId)>,
        seed: u64,
    ) -> Arc<Stage> {
        Arc::new(Stage { run, plan, vars, origins, seed, is_over: AtomicBool::new(false) })
    }

    /// Returns the numbers of the groups of a phase.
    fn groups(&self, phase: Phase) -> Vec<usize> {
        let of = match phase {
            Phase::Setup => GroupPhase::SetUp,
            Phase::Load => GroupPhase::Main,
            Phase::Teardown => GroupPhase::TearDown,
        };
        let groups = self.plan.groups.iter().enumerate();
        groups.filter(|(_, group)| group.phase == of).map(|(number, _)| number).collect()
    }
}

impl Behavior for Stage {
    fn has(&self, phase: Phase) -> bool {
        match phase {
            Phase::Load => true,
            Phase::Teardown if self.run.is_stopped() && !self.plan.tears_down_on_stop => false,
            _ => !self.groups(phase).is_empty(),
        }
    }

    fn check_data(&self) -> Result<(), Unready> {
        for group in &self.plan.groups {
            for config in group.nodes.iter().flat_map(|node| &node.at_iteration) {
                let Config::Csv(csv) = &**config else { continue };
                let (Some(file), Some(encoding)) = (csv.file.fixed(), csv.encoding.fixed()) else { continue };
                if matches!(csv.share, Share::Named(_)) && file.is_empty() {
                    continue;
                }
                let path = self.run.files.find_beside_plan(file.trim());
                self.run.data.lines(path, encoding).map_err(|why| {
                    Unready::Data(Problem::new(
                        format!("`{}`: {why}", csv.name),
                        "correct the name of the file; a relative one begins in the folder of the plan",
                    ))
                })?;
            }
        }
        Ok(())
    }

    fn factory(self: Arc<Self>, phase: Phase) -> Result<Arc<dyn ProgramFactory>, Unready> {
        if phase == Phase::Teardown {
            self.run.restart();
        }
        self.is_over.store(phase == Phase::Load, Ordering::Relaxed);
        let groups = self.groups(phase);
        Ok(Arc::new(Factory { stage: self, phase, groups }))
    }

    fn trouble(&self) -> Option<String> {
        None
    }

    fn is_through(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    fn missing_globals(&self) -> Vec<String> {
        Vec::new()
    }

    fn close(&self) -> Result<(), Problem> {
        self.run.files.close().map_err(|why| Problem::new(why, "check the folder and its free space"))
    }
}

struct Factory {
    stage: Arc<Stage>,
    phase: Phase,
    groups: Vec<usize>,
}

impl ProgramFactory for Factory {
    fn programs(&self) -> Box<dyn Programs> {
        let stage = Arc::clone(&self.stage);
        let worker = Worker::new(Arc::clone(&stage.run), Arc::clone(&stage.plan), &stage.origins);
        Box::new(Threads { worker: Rc::new(worker), stage, phase: self.phase, groups: self.groups.clone() })
    }
}

/// The threads of one worker.
struct Threads {
    worker: Rc<Worker>,
    stage: Arc<Stage>,
    phase: Phase,
    groups: Vec<usize>,
}

impl Programs for Threads {
    fn make(&mut self, slot: UserSlot) -> Box<dyn Program> {
        if self.phase != Phase::Load {
            return Box::new(Conductor::new(&self.worker, &self.stage, &self.groups));
        }
        match self.groups.get(usize::from(slot.workload)) {
            Some(group) => {
                let key = u64::from(slot.id);
                Box::new(self.stage.thread(&self.worker, *group, slot.user + 1, key, 0))
            }
            None => Box::new(Retired),
        }
    }
}

impl Stage {
    /// Returns a new thread.
    pub fn thread(
        &self,
        worker: &Rc<Worker>,
        group: usize,
        number: u32,
        key: u64,
        first_step: u32,
    ) -> Thread {
        let seed = self.seed ^ (key + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Thread::new(worker, group, number, key, self.vars.clone(), seed, first_step)
    }

    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }
}

/// A user of a workload without a thread group, which no plan has.
struct Retired;

impl Program for Retired {
    fn resume(&mut self, _at: At, _wake: Wake<'_>, out: &mut Outbox) {
        out.retire();
    }
}
