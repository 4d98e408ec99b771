//! The record of one agent, as the coordinator knows it.

use plimsoll_cluster::message::Identity;
use plimsoll_plan::load::Share;
use plimsoll_record::event::{AgentOutline, Environment, Note, Opening, RunEvent};
use plimsoll_record::record::GeneratorRecord;
use plimsoll_record::run_file::Writer;
use std::path::PathBuf;
use std::sync::Arc;

/// The record of one part, as far as it has arrived.
pub struct PartFile {
    pub identity: Identity,
    pub path: PathBuf,
    pub writer: Option<Writer>,
    /// Events before the start of the load is known.
    pub early: Vec<RunEvent>,
    /// Delay of its start, and the bound of the clocks, ns.
    pub begun: Option<(u64, u64)>,
    pub record: Option<GeneratorRecord>,
    /// What its load generator said on standard error.
    pub said: String,
    pub notes: Vec<Note>,
}

impl PartFile {
    /// Returns the record of an agent of which nothing has arrived. `like` is the opening of another one.
    pub fn missing(&self, like: &Opening, run: &str, part: u32, of: u32) -> GeneratorRecord {
        let mut opening = like.clone();
        opening.origin = format!("{run}-{part:04}");
        opening.outline.share = Share { part, of };
        opening.environment = Environment {
            host: self.identity.host.clone(),
            cpus: self.identity.cpus,
            agent: Some(AgentOutline {
                name: self.identity.name.clone(),
                labels: self.identity.labels.clone(),
                ..AgentOutline::default()
            }),
            ..Environment::default()
        };
        GeneratorRecord::new(Arc::new(opening))
    }
}
