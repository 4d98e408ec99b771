//! Web console: an index of run files, a web server for one user on one machine, and live views of runs. Everything
//! works without it. It reads run files, even while they are written, and starts runs as separate processes, so
//! nothing here can slow a send.

#![forbid(unsafe_code)]

mod agents;
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

/// Returns the console's address of the page of a listed run or folder.
pub fn address_of(path: &Path) -> String {
    format!("/runs/{}", index::id_of(path))
}

/// Configuration of the console.
pub struct Config {
    /// Port 0 picks a free one.
    pub listen: SocketAddr,
    /// Folders to search for run files, including subfolders; new runs go to the first.
    pub folders: Vec<PathBuf>,
    /// Flags with which the tool reaches agents, such as `--nats=URL`; none without a NATS server.
    pub agents: Vec<String>,
    /// File with the key that signs orders to agents.
    pub signing_key: Option<String>,
    /// Whether pasted experiments may use programs, and files anywhere.
    pub allow_commands: bool,
    /// Folder for the index and pasted experiments; created if missing.
    pub state: PathBuf,
    /// Version of the tool.
    pub version: &'static str,
    /// Required to listen on addresses that other machines can reach.
    pub secure: Option<Secure>,
    pub tool: Tool,
}

/// Protection for access from other machines.
pub struct Secure {
    /// PEM file with the certificate chain, the server's own certificate first.
    pub certificate: PathBuf,
    pub key: PathBuf,
    pub password: String,
}

/// The tool itself: how to start it, and functions that only the binary has.
#[derive(Clone)]
pub struct Tool {
    pub program: PathBuf,
    /// Returns the name of an experiment file, and whether it makes a single run (a file) or several (a folder).
    pub experiment: fn(&Path) -> Result<(String, bool), String>,
    /// Returns the page of a run file or folder of runs; `page_of_two` compares two of them.
    pub page_of: fn(&Path) -> Result<Page, String>,
    pub page_of_two: fn(&Path, &Path) -> Result<Page, String>,
    /// Returns a name for a new run file from a word such as its host.
    pub new_name: fn(&str) -> Result<String, String>,
    /// Interrupts a child, which then ends with its report.
    pub interrupt: fn(u32),
    pub now_unix_ns: fn() -> u64,
    pub random: fn() -> Result<[u8; 32], String>,
}
