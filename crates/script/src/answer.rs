//! Checks on answers, and values taken out of them: a [`Judge`] per request, compiled once, fills [`Findings`] for
//! every answer. It decides nothing: what a failed check means is the interpreter's business.
//!
//! An answer is read where it lies; its body is decoded, and a tree of it built, only if something asks for that.

mod coding;
mod cookies;
mod digest;
pub mod json;
mod judge;
mod number;
mod rule;
mod sentence;
mod take;

pub use json::path;
pub use judge::{Answer, Findings, Judge, STATUS, Scratch};
/// What [`Judge::body_use`] answers with.
pub use plimsoll_plan::program::BodyUse;
pub use rule::CompiledCondition;
