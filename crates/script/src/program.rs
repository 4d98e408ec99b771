//! The interpreter: compiles the script of a plan to flat code, which one [`plimsoll_plan::program::Program`] per user
//! runs.
//!
//! [`Stage`] is the state that all users share. Its factories make the users of a [`plimsoll_plan::program::Phase`]. A
//! user requests what it wants and is resumed with the result. While it waits, it takes a few hundred bytes.

mod call;
mod check;
mod code;
mod draw;
mod file;
mod login;
mod made_files;
mod pick;
mod redact;
mod reply;
mod run;
mod shape;
mod socket;
mod stage;
mod stream;
mod tell;
mod user;

pub use stage::Stage;
