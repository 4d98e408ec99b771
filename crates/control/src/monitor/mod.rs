//! Watching the system under test beside the load: each monitor has a thread of its own, looks once a second on the
//! run's time axis, and tells what it saw through a channel. One that hangs or fails costs its own numbers and nothing
//! else: the load never waits for it.

mod counters;
mod exposed;
mod go;
mod http;
mod looker;
mod node;
mod postgres;
mod probe;
mod prometheus;
mod reach;
mod redis;
mod text_format;

pub use looker::Monitors;
pub use probe::{Found, Moment, PATIENCE, Probe, Trouble};

use plimsoll_plan::watch::{Prometheus, Source, Watch};

/// The probe that looks where a monitor of the plan says.
pub fn probe(watch: &Watch) -> Box<dyn Probe> {
    let kind = watch.source.kind();
    match &watch.source {
        Source::Process(_) | Source::Cgroup(_) | Source::Host | Source::Nginx(_) | Source::Command(_) => {
            Box::new(probe::Absent { kind })
        }
        Source::Postgres(address) => Box::new(postgres::Postgres::new(address)),
        Source::Redis(address) => Box::new(redis::Redis::new(address)),
        Source::Prometheus(Prometheus::Scrape { url, metrics }) => {
            Box::new(prometheus::Scrape::new(url, metrics))
        }
        Source::Prometheus(Prometheus::Query { server, query }) => {
            Box::new(prometheus::Query::new(server, query))
        }
        Source::Node(url) => Box::new(node::Node::new(url)),
        Source::Go(url) => Box::new(go::Go::new(url)),
    }
}
