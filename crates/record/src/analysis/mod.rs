//! From a record to a summary: pure arithmetic, so a replay says exactly what the live run said.

mod bands;
mod blind_spot;
mod cells;
mod changes;
mod client;
pub mod compare;
pub mod digest;
mod doubts;
mod events;
mod facts;
mod fresh;
mod gaps;
mod little;
mod offered;
mod parts;
pub mod picture;
mod rows;
pub mod search;
mod spikes;
mod streams;
pub mod study;
mod summary;
mod threshold;
mod timeline;
mod times;
mod verdict;
mod watched;
mod windows;

pub use digest::{Digest, Seen, Watching, digest, sizes};
pub(crate) use fresh::{Seconds, seconds};
pub use picture::picture;
pub use summary::{summarise, summarise_with, summarise_with_picture};
pub use threshold::{Reading, reading_within};
pub(crate) use timeline::Standing;
pub use windows::{Sliding, width_of};
