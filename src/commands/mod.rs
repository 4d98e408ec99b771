//! One file per command; each takes its flags and gives an exit or a failure.

pub mod audit;
pub mod campaign;
pub mod check;
pub mod compare;
pub mod curl;
pub mod demo;
pub mod docs_dump;
pub mod doctor;
pub mod figures;
pub mod find;
pub mod folder_page;
pub mod folder_report;
pub mod load;
mod memory;
pub mod merge;
pub mod page;
pub mod parts;
pub mod parts_report;
pub mod report;
pub mod run;
pub mod serve;
pub mod size;
pub mod template;
