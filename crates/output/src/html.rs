//! Results as one HTML file that needs nothing else: static pictures and tables first, which a script in the same file
//! makes movable, sortable and searchable.
//!
//! A page asks nobody for anything: its content security policy allows the one style sheet and the one script that
//! stand in it, by their hashes. All texts are escaped by the macros that put them there.

pub mod audit;
mod bits;
mod chart;
pub mod comparison;
pub mod experiment;
pub mod page;
pub mod parts;
pub mod piece;
mod run;
pub mod table;

pub use chart::figure;
pub use page::{Page, STYLE, Section};
pub use run::{caution_codes, run_page};
