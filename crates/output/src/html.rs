//! Results as one HTML file that needs nothing else: static pictures and tables first, which a script in the same file
//! makes movable, sortable and searchable.
//!
//! A page asks nobody for anything: its content security policy allows the one style sheet and the one script that
//! stand in it, by their hashes. All texts are escaped by the macros that put them there.

pub(crate) mod bits;
mod chart;
pub mod page;
pub mod parts;
pub mod piece;
mod run;

pub use chart::figure;
pub use page::{Page, STYLE, Section};
pub use run::run_page;
