//! Shared parts of the project's chores: running programs and describing their failures, deadlines, interrupts, the
//! description of the machine, and its missing programs.

#![forbid(unsafe_code)]
// Chores print for a person at a terminal.
#![allow(clippy::print_stdout, clippy::print_stderr)]

pub mod bounded;
pub mod interrupt;
pub mod look;
pub mod machine;
pub mod needs;
pub mod shell;

/// The result of a chore; the error is a sentence, the last line that a person reads.
pub type Outcome = Result<(), String>;
