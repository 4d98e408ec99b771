//! Watching the system under test beside the load: each monitor has a thread of its own, looks once a second on the
//! run's time axis, and tells what it saw through a channel. One that hangs or fails costs its own numbers and nothing
//! else: the load never waits for it.

mod cgroup;
mod command;
mod files;
mod host;
mod http;
mod looker;
mod nginx;
mod notebook;
mod probe;
mod process;
mod reach;

pub use cgroup::Cgroup;
pub use command::Command;
pub use host::Host;
pub use looker::Monitors;
pub use nginx::Nginx;
pub use probe::{Found, Moment, PATIENCE, Probe, Trouble};
pub use process::Process;

use plimsoll_plan::watch::{Source, Watch};
use std::path::Path;

/// The probe that looks where a monitor of the plan says.
pub fn probe(watch: &Watch) -> Box<dyn Probe> {
    let kind = watch.source.kind();
    match &watch.source {
        Source::Process(who) => Box::new(Process::new(who, Path::new("/"))),
        Source::Host => Box::new(Host::new(Path::new("/"))),
        Source::Cgroup(group) => Box::new(Cgroup::new(group, Path::new("/"))),
        Source::Nginx(nginx) => Box::new(Nginx::new(nginx)),
        Source::Command(words) => Box::new(Command::new(words)),
        Source::Postgres(_) | Source::Redis(_) | Source::Node(_) | Source::Go(_) | Source::Prometheus(_) => {
            Box::new(probe::Absent { kind })
        }
    }
}
