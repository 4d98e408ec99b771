//! The surface of the crate, by topic.

mod assertions;
mod bench;
mod compatible;
mod crypto;
mod events;
mod experimental;
mod globals;
mod html;
mod jslib;
mod json_path;
pub mod lines;
mod options;
mod remote;
mod requests;
pub mod run;
mod sockets;
mod summaries;
mod timers;
mod urls;
mod values;
mod web_sockets;
