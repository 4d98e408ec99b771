//! Commands, one file each; each takes its flags and returns an exit code or a failure.

pub mod audit;
pub mod campaign;
pub mod check;
pub mod compare;
pub mod completions;
pub mod curl;
pub mod demo;
pub mod docs_dump;
pub mod doctor;
pub mod examples;
pub mod explain;
pub mod figures;
pub mod find;
pub mod folder_page;
pub mod folder_report;
pub mod grpc;
pub mod junit;
pub mod k6;
pub mod load;
mod memory;
pub mod merge;
pub mod page;
pub mod parts;
pub mod parts_report;
pub mod report;
pub mod run;
pub mod runs;
pub mod script;
#[cfg(feature = "console")]
pub mod serve;
pub mod size;
pub mod template;
