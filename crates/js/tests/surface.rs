//! The surface of the crate, by topic.

mod assertions;
mod bench;
mod crypto;
mod experimental;
mod globals;
mod html;
mod jslib;
mod json_path;
pub mod lines;
mod options;
mod requests;
pub mod run;
mod summaries;
mod urls;
mod values;
