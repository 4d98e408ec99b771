//! What the numbers of a run mean: from a record to a summary with its cautions, causes and verdict. Pure arithmetic,
//! so a replay says exactly what the live run said.
//!
//! [`summarise`] turns a [`plimsoll_record::RunRecord`] into the one [`Summary`] which every renderer shows.

#![forbid(unsafe_code)]

mod apdex;
mod availability;
mod bounds;
mod buckets;
mod causes;
mod cells;
mod changes;
mod client;
mod coordinated_omission;
mod dependence;
pub mod digest;
mod doubts;
mod events;
mod facts;
mod follow;
mod gaps;
pub mod health;
mod little;
mod machines;
mod metrics;
pub mod next;
mod offered;
mod outage_words;
mod parts;
pub mod picture;
mod reading;
mod rows;
mod script_series;
mod slices;
mod spikes;
mod stale;
mod streams;
mod summarise;
pub mod summary;
mod threshold;
mod tick_window;
mod timeline;
mod times;
mod verdict;
mod watched;
mod websockets;
mod windows;

pub use digest::{Digest, Seen, Watching, bottleneck_of, digest, sizes};
pub use facts::ratio;
pub use follow::{Follow, Fresh};
pub use picture::picture;
pub use plimsoll_findings::{cause, caution, saturation};
pub use reading::{Reading, reading_within};
pub use slices::slices;
pub use summarise::{summarise, summarise_with, summarise_with_picture};
pub use summary::Summary;
pub use tick_window::TickWindow;
pub use timeline::Standing;
pub use times::{Belief, times};
pub use windows::{Sliding, width_of};
