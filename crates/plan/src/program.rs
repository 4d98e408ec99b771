//! The vocabulary between a virtual user and the engine: Steps out, Replies in.
//!
//! A program is resumed with a [`Wake`] and pushes [`Step`]s, each under an id of its own choosing; several may be
//! outstanding at once. When it has said [`Outbox::end_iteration`] and nothing is outstanding, the iteration is over.
//! Table programs (a sequence from the command line or a file) are interpreted by the engine itself without a call
//! through this trait; scripts and tests implement it.

use crate::fault::Fault;

/// Index of a request in the plan.
pub type RequestId = u32;

/// The program's own name for one outstanding step.
pub type StepId = u32;

/// What becomes of the body of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BodyUse {
    /// Nobody looks at it: the kernel may throw it away.
    #[default]
    Discard,
    /// It is handed over with the reply.
    Keep,
}

/// Something a program wants done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    pub id: StepId,
    pub request: RequestId,
    pub body: BodyUse,
}

/// How a step ended.
#[derive(Debug, Clone, Copy)]
pub struct Reply<'a> {
    pub id: StepId,
    /// 0 when no answer came.
    pub status: u16,
    /// Why it failed, if it did.
    pub fault: Option<Fault>,
    /// The body when the step asked to keep it.
    pub body: &'a [u8],
    pub service_ns: u64,
}

/// Why a program is resumed.
#[derive(Debug, Clone, Copy)]
pub enum Wake<'a> {
    /// A new iteration of this user.
    Begin {
        user: u32,
        iteration: u64,
    },
    Reply(Reply<'a>),
}

/// Where a program puts what it wants; kept by the engine and reused, so pushing does not allocate in the long run.
#[derive(Debug, Default)]
pub struct Outbox {
    steps: Vec<Step>,
    ended: bool,
}

impl Outbox {
    pub fn push(&mut self, step: Step) {
        self.steps.push(step);
    }

    /// No further steps will come in this iteration.
    pub fn end_iteration(&mut self) {
        self.ended = true;
    }

    /// For the engine: takes the steps, first pushed first, and whether the iteration was ended.
    pub fn take(&mut self, into: &mut Vec<Step>) -> bool {
        into.append(&mut self.steps);
        std::mem::take(&mut self.ended)
    }
}

/// A virtual user whose behaviour is code.
pub trait Program: Send {
    fn resume(&mut self, wake: Wake<'_>, out: &mut Outbox);
}

/// Makes one program per virtual user.
pub trait Maker: Send + Sync {
    fn make(&self, user: u32) -> Box<dyn Program>;
}
