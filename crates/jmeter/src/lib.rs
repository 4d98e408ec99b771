//! Runs the test plans of JMeter: each thread is a program of the engine.
//!
//! `plan` is the compiled plan, `template` and `function` are its texts, `controller` chooses the next sampler, and
//! `thread` runs it with everything in its scope. `script` runs the part of Groovy, BeanShell, JavaScript, and JEXL
//! that plans use most. What cannot run is reported before the load ([`check`]).

#![forbid(unsafe_code)]

mod assertion;
mod cache;
mod check;
mod code;
mod conductor;
mod config;
mod controller;
mod data;
mod date;
mod extract;
mod files;
mod function;
mod http;
mod jtl;
mod log;
mod number;
mod pattern;
mod plan;
mod run;
mod sample;
mod scope;
mod script;
mod stage;
mod template;
mod thread;
mod timer;
mod vars;
mod worker;

pub use check::check;
pub use code::{JmeterCode, Options};
pub use jtl::{SampleSink, header, xml};
pub use log::{Level, Log};
