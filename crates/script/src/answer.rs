//! Checks and extractions of responses: each request has a [`Judge`], compiled once, which fills [`Findings`] for every
//! response. The interpreter decides what a failed check means.
//!
//! A response is read in place. Its body is decoded and parsed into a tree only if a check or an extraction needs that.

mod check;
mod coding;
mod cookies;
mod digest;
mod jmes;
pub mod json;
mod judge;
mod markup;
mod number;
mod query;
mod rule;
mod schema;
mod sentence;
mod take;
mod values;

pub use coding::decoded;
pub use json::path;
pub use judge::{Answer, Findings, Judge, STATUS, Scratch};
pub use markup::html_json;
/// The result of [`Judge::body_use`].
pub use plimsoll_plan::program::BodyUse;
pub use rule::CompiledCondition;
pub use schema::ValueSchema;
pub use values::{Unreadable, Values};
