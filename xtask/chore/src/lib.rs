//! What the project's chores share: running programs and turning their ends into sentences, deadlines, interrupts, what
//! machine this is, and which of its programs are missing.

#![forbid(unsafe_code)]
// Chores talk to a person at a terminal: printing is what they are for.
#![allow(clippy::print_stdout, clippy::print_stderr)]

pub mod bounded;
pub mod interrupt;
pub mod look;
pub mod machine;
pub mod needs;
pub mod shell;

/// What a chore answers: a sentence when it failed (the last line a person reads).
pub type Outcome = Result<(), String>;
