//! Thread groups that run one after another: a thread waits for the groups before its own.

use super::{After, Stage, Thread};
use plimsoll_jmx::plan::{GroupLoad, Phase};
use plimsoll_plan::program::{At, Outbox};

/// Pauses between two looks at the thread groups before, ns.
const HOLD_NS: u64 = 20_000_000;

impl Thread {
    /// Returns whether the groups before its own run first.
    pub(super) fn has_to_wait(&self) -> bool {
        let group = self.identity.group;
        self.plan.is_serial
            && self.group().phase == Phase::Main
            && self.plan.groups.iter().take(group).any(|before| before.phase == Phase::Main)
    }

    /// Waits for the groups before its own.
    pub(super) fn hold(&mut self, out: &mut Outbox) {
        let step = self.next_step();
        out.sleep(step, HOLD_NS);
        self.stage = Stage::Held;
    }

    /// Looks whether the groups before its own have ended.
    pub(super) fn held(&mut self, at: At, out: &mut Outbox) -> After {
        if self.worker.run.is_stopped() {
            return After::Ended;
        }
        let groups = self.plan.groups.iter().enumerate().take(self.identity.group);
        let mut before = groups.filter(|(_, group)| group.phase == Phase::Main).map(|(number, _)| number);
        if !before.all(|group| self.worker.run.is_through(group)) {
            self.hold(out);
            return After::Waits;
        }
        let start_ns = match &self.group().load {
            GroupLoad::Threads(load) => crate::conductor::start_ns(load, self.identity.number - 1),
            _ => 0,
        };
        if start_ns > 0 {
            let step = self.next_step();
            out.sleep(step, start_ns);
            self.stage = Stage::Starting;
            return After::Waits;
        }
        self.begin_iteration(0, at, out);
        After::Waits
    }
}
