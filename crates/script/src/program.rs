//! The interpreter: a plan's script becomes flat code once, and one [`plimsoll_plan::program::Program`] per user runs
//! it.
//!
//! [`Stage`] is what all users share; its makers make the users of a [`plimsoll_plan::program::Phase`]. A user says
//! what it wants and is resumed with what came of it; while it waits it is a few hundred bytes.

mod check;
mod code;
mod draw;
mod file;
mod pick;
mod redact;
mod reply;
mod run;
mod shape;
mod stage;
mod stream;
mod tell;
mod user;

pub use stage::Stage;
