//! Runs in a browser: an index of run files, a web server for one person on one machine, and runs while they go on.
//!
//! Everything works without it. It reads run files, also those that are still being written, and starts runs as
//! processes of their own: whatever happens here cannot slow a send.

#![forbid(unsafe_code)]

mod annotations;
mod answer;
mod api;
mod app;
mod auth;
mod connection_limiter;
mod guard;
mod hash;
mod hub;
mod index;
mod jobs;
mod live;
mod login;
mod login_throttle;
mod names;
mod pages;
mod readers;
mod server;
mod tls;
mod write_timeout;

pub use server::{Error, Server};

use plimsoll_output::html::Page;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// Where the console shows the page of a run or a folder that it lists.
pub fn address_of(path: &Path) -> String {
    format!("/runs/{}", index::id_of(path))
}

/// Where the console listens and what it shows.
pub struct Config {
    /// Port 0 takes a free one.
    pub listen: SocketAddr,
    /// Where run files are looked for, with the folders below; new runs go to the first.
    pub folders: Vec<PathBuf>,
    /// Pasted experiments may name programs, and files anywhere.
    pub allow_commands: bool,
    /// For the index and for pasted experiments; it is made when it is not there.
    pub state: PathBuf,
    /// Of the tool.
    pub version: &'static str,
    /// Needed to listen elsewhere than on this machine's own addresses.
    pub secure: Option<Secure>,
    pub tool: Tool,
}

/// What it takes to be reached from other machines.
pub struct Secure {
    /// PEM: the chain, the server's own certificate first.
    pub certificate: PathBuf,
    pub key: PathBuf,
    pub password: String,
}

/// The tool itself: how it is started, and what of it only the binary knows.
#[derive(Clone)]
pub struct Tool {
    pub program: PathBuf,
    /// The name that an experiment file gives itself, and whether it makes one run (a file) or several (a folder).
    pub experiment: fn(&Path) -> Result<(String, bool), String>,
    /// The page of a run file or of a folder of runs, and that of two held against each other: those of the report.
    pub page_of: fn(&Path) -> Result<Page, String>,
    pub page_of_two: fn(&Path, &Path) -> Result<Page, String>,
    /// A name for a new run file, from a word such as its host.
    pub new_name: fn(&str) -> Result<String, String>,
    /// Ends a child with its report: as Ctrl-C does.
    pub interrupt: fn(u32),
    pub now_unix_ns: fn() -> u64,
    pub random: fn() -> Result<[u8; 32], String>,
}
