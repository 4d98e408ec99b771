//! From a record to a summary: pure arithmetic, so a replay says exactly what the live run said.

mod bands;
mod blind_spot;
mod cells;
mod client;
mod doubts;
mod facts;
mod gaps;
mod little;
mod offered;
mod rows;
mod spikes;
mod summary;
mod threshold;
mod timeline;
mod times;
mod verdict;

pub use summary::{summarise, summarise_with};
