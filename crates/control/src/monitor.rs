//! Monitors of the system under test. Each has its own thread, samples once per second on the run's time axis, and
//! sends its samples through a channel. A monitor that hangs or fails loses only its own data, because the load never
//! waits for it.

mod cgroup;
mod command;
mod counters;
mod exposed;
mod files;
mod go;
mod host;
mod http;
mod monitor_thread;
mod nginx;
mod node;
#[cfg(feature = "postgres")]
mod postgres;
mod previous_counters;
mod probe;
mod process;
mod prometheus;
mod redis;
mod text_format;
mod trust;

pub use cgroup::Cgroup;
pub use command::Command;
pub use host::Host;
pub use monitor_thread::Monitors;
pub use nginx::Nginx;
pub use probe::{Found, Moment, MonitorError, PATIENCE, Probe};
pub use process::Process;
pub use trust::Trust;

use plimsoll_plan::watch::{Prometheus, Source, Watch};
use std::path::Path;

/// Replaces a probe that this build lacks; [`missing`] rejects it before a run starts.
#[cfg(not(feature = "postgres"))]
struct NotBuilt;

#[cfg(not(feature = "postgres"))]
impl Probe for NotBuilt {
    fn look(&mut self, _: Moment) -> Result<Found, MonitorError> {
        Err(MonitorError("this build does not include the monitor".into()))
    }
}

/// Returns the feature that a monitor needs and this build lacks.
pub fn missing(watch: &Watch) -> Option<&'static str> {
    (matches!(watch.source, Source::Postgres(_)) && !cfg!(feature = "postgres")).then_some("postgres")
}

/// Returns the probe of a monitor; `trust` is for monitors that use TLS.
pub fn probe(watch: &Watch, trust: &Trust) -> Box<dyn Probe> {
    match &watch.source {
        Source::Process(who) => Box::new(Process::new(who, Path::new("/"))),
        Source::Cgroup(group) => Box::new(Cgroup::new(group, Path::new("/"))),
        Source::Host => Box::new(Host::new(Path::new("/"))),
        Source::Nginx(nginx) => Box::new(Nginx::new(nginx, trust)),
        Source::Command(words) => Box::new(Command::new(words)),
        Source::Redis(address) => Box::new(redis::Redis::new(address, trust)),
        #[cfg(feature = "postgres")]
        Source::Postgres(address) => Box::new(postgres::Postgres::new(address, trust)),
        #[cfg(not(feature = "postgres"))]
        Source::Postgres(_) => Box::new(NotBuilt),
        Source::Prometheus(Prometheus::Scrape { url, metrics }) => {
            Box::new(prometheus::Scrape::new(url, metrics, trust))
        }
        Source::Prometheus(Prometheus::Query { server, query }) => {
            Box::new(prometheus::Query::new(server, query, trust))
        }
        Source::Node(url) => Box::new(node::Node::new(url, trust)),
        Source::Go(url) => Box::new(go::Go::new(url, trust)),
    }
}
