//! A plain sequence as a program: for plans whose users do not own their connections.

use plimsoll_plan::program::{At, Chair, Maker, Outbox, Program, Programs, Step, Wake};

/// So many prepared requests, one behind the other.
#[derive(Clone)]
pub struct Sequence {
    pub requests: u32,
}

struct Place {
    requests: u32,
    at: u32,
}

impl Program for Place {
    fn resume(&mut self, _at: At, wake: Wake<'_>, out: &mut Outbox) {
        self.at = if matches!(wake, Wake::Begin { .. }) { 0 } else { self.at + 1 };
        if self.at < self.requests {
            out.push(Step { request: self.at, ..Step::default() });
        }
    }
}

impl Maker for Sequence {
    fn programs(&self) -> Box<dyn Programs> {
        Box::new(self.clone())
    }
}

impl Programs for Sequence {
    fn make(&mut self, _chair: Chair) -> Box<dyn Program> {
        Box::new(Place { requests: self.requests, at: 0 })
    }
}
