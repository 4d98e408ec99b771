//! fortio, by `periodic.go` and `stats.go`: each thread has one call in flight, and pauses only if a rate was set. All
//! calls have a time, those with another status as well. Percentiles are interpolated within buckets, so one lies
//! anywhere in the bucket that is printed for it.

use crate::tools::definitions::{Definitions, PLAIN};

pub const FORTIO: Definitions = Definitions { name: "fortio", users: "threads", ..PLAIN };
