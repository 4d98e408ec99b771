//! Checks and extractions of responses: each request has a [`Judge`], compiled once, which fills [`Findings`] for every
//! response. The interpreter decides what a failed check means.
//!
//! A response is read in place. Its body is decoded and parsed into a tree only if a check or an extraction needs that.

mod check;
mod cookies;
mod digest;
mod judge;
mod rule;
mod sentence;
mod take;

pub use judge::{Answer, Findings, Judge, STATUS, Scratch};
/// The result of [`Judge::body_use`].
pub use plimsoll_plan::program::BodyUse;
pub use rule::CompiledCondition;
