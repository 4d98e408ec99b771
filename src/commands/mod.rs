//! One file per command; each takes its flags and gives an exit or a failure.

pub mod check;
pub mod curl;
pub mod demo;
pub mod docs_dump;
pub mod doctor;
pub mod load;
pub mod merge;
pub mod report;
pub mod run;
