//! A plain sequence as a program: for plans whose users do not own their connections, or need several.

use plimsoll_plan::Request;
use plimsoll_plan::origin::OriginId;
use plimsoll_plan::program::{At, Outbox, Program, ProgramFactory, Programs, Step, UserSlot, Wake};
use std::sync::Arc;

/// A sequence of prepared requests.
#[derive(Clone)]
pub struct Sequence {
    /// The origin of each request.
    origins: Arc<[OriginId]>,
}

impl Sequence {
    pub fn of(requests: &[Request]) -> Sequence {
        Sequence { origins: requests.iter().map(|request| request.origin).collect() }
    }
}

struct Place {
    origins: Arc<[OriginId]>,
    at: u32,
}

impl Program for Place {
    fn resume(&mut self, _at: At, wake: Wake<'_>, out: &mut Outbox) {
        self.at = if matches!(wake, Wake::Begin { .. }) { 0 } else { self.at + 1 };
        if let Some(origin) = self.origins.get(self.at as usize) {
            out.push(Step { request: self.at, origin: *origin, ..Step::default() });
        }
    }
}

impl ProgramFactory for Sequence {
    fn programs(&self) -> Box<dyn Programs> {
        Box::new(self.clone())
    }
}

impl Programs for Sequence {
    fn make(&mut self, _chair: UserSlot) -> Box<dyn Program> {
        Box::new(Place { origins: Arc::clone(&self.origins), at: 0 })
    }
}
