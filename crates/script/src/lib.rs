//! The interpreter of scenarios: turns the script of a plan into one [`plimsoll_plan::program::Program`] per user.
//!
//! [`value`] fills templates, [`feed`] reads data files, [`ask`] renders requests, [`answer`] checks responses and
//! extracts values, [`call`] does both for gRPC, and [`watch`] accounts for the events of streams. The interpreter that
//! connects them sends nothing itself: like any other program, it tells the engine what to send.

#![forbid(unsafe_code)]

pub mod answer;
pub mod ask;
pub mod auth;
pub mod call;
pub mod feed;
pub mod program;
pub mod value;
pub mod watch;

use plimsoll_plan::program::Behavior;
use plimsoll_plan::{Plan, Problem};
use std::sync::Arc;

/// Compiles the script of a plan. Returns `None` if the plan is a fixed list of requests, which needs no program.
///
/// # Errors
/// Returns an error for an invalid index or pattern, and for a file that cannot be written.
pub fn behavior(plan: &Plan) -> Result<Option<Arc<dyn Behavior>>, Problem> {
    match plan.script {
        Some(_) => Ok(Some(program::Stage::new(plan)?)),
        None => Ok(None),
    }
}
