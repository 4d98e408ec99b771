//! Scenarios as programs: a plan's script becomes one [`plimsoll_plan::program::Program`] per user.
//!
//! [`value`] fills templates, [`feed`] reads files of rows, [`ask`] makes requests, [`answer`] checks answers and takes
//! values out of them, [`watch`] accounts for the events of streams; the interpreter that ties them together sends
//! nothing itself: it says to the engine what it wants, as any other program.

#![forbid(unsafe_code)]

pub mod answer;
pub mod ask;
pub mod feed;
pub mod program;
pub mod value;
pub mod watch;

use plimsoll_plan::program::Behaviour;
use plimsoll_plan::{Plan, Problem};
use std::sync::Arc;

/// How the users of a plan behave; `None`: the plan is a list of requests, which needs no program.
///
/// # Errors
/// On the first thing that cannot be run: an index without a thing, a pattern that cannot be read, a
/// file that cannot be written.
pub fn behaviour(plan: &Plan) -> Result<Option<Arc<dyn Behaviour>>, Problem> {
    match plan.script {
        Some(_) => Ok(Some(program::Stage::new(plan)?)),
        None => Ok(None),
    }
}
