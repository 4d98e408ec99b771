//! JavaScript whose native calls may wait: a safe surface of QuickJS, in which each caller has its own stack.
//!
//! Thousands of virtual users run on one thread. A native call that waits for the network suspends its [`Fiber`], and
//! the event loop continues with another. QuickJS itself does not know that: several fibers have calls in progress in
//! one [`Runtime`], and exactly one word of it must follow the fiber that runs (see `probe` and `fiber`), with the
//! queue of its jobs (see `jobs`).
//!
//! This crate has the unsafe code of the JavaScript machine. It knows neither requests nor scripts of any tool.

mod arguments;
mod call;
mod class;
mod fiber;
mod jobs;
mod probe;
mod properties;
mod realm;
mod rejections;
mod runtime;
mod stack;
mod value;

pub use call::{Call, Native};
pub use class::Class;
pub use fiber::{Fiber, Progress};
pub use jobs::{Jobs, has_own_jobs, queue_offset};
pub use probe::{frame_offset, is_sound};
pub use properties::Properties;
pub use realm::Realm;
pub use rejections::Rejection;
pub use runtime::{MemoryUse, Runtime};
pub use stack::StackPool;
pub use value::{Atom, Kind, Thrown, Value};

#[cfg(test)]
extern crate self as plimsoll_quickjs;
#[cfg(test)]
#[path = "../tests/surface/torture/mod.rs"]
#[allow(clippy::expect_used, reason = "helpers of tests, which may stop at the first surprise")]
mod torture;
#[cfg(test)]
#[allow(clippy::expect_used, reason = "as above")]
mod unsound;
