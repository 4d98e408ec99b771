//! Agents and their tasks, made up.

use plimsoll_cluster::message::{Identity, PROTOCOL, Task, Variables};
use std::collections::BTreeMap;

/// The agent `agent-AT`, whose instance is `iAT`.
pub fn identity(at: usize) -> Identity {
    Identity {
        name: format!("agent-{at}"),
        instance: format!("i{at}"),
        protocol: PROTOCOL,
        version: "1.0".into(),
        host: "host".into(),
        cpus: 2,
        open_files: 1024,
        labels: BTreeMap::new(),
        turn: 0,
    }
}

/// Part `part` of `of`, counted from 1, without files.
pub fn task(part: usize, of: usize) -> Task {
    Task {
        protocol: PROTOCOL,
        version: "1.0".into(),
        words: vec!["run".into()],
        part: part as u32,
        of: of as u32,
        folder: "/".into(),
        folders: Vec::new(),
        files: Vec::new(),
        variables: Variables::default(),
    }
}
