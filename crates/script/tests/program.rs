//! The interpreter, driven by hand: a pretend engine answers every step in virtual time, so that a test reads like the
//! scenario that it plays.

mod answers;
mod engine;
mod flow;
mod logins;
mod mixes;
mod phases;
mod plans;
mod samples;
mod streams;
