//! Results as a self-contained HTML file: static charts and tables, which a script in the same file makes movable,
//! sortable, and searchable.
//!
//! A page sends no requests: its content security policy allows only its own style sheet and its own script, by their
//! hashes. The macros that insert texts escape them.

pub(crate) mod bits;
mod chart;
pub mod page;
pub mod parts;
pub mod piece;
mod run;

pub use chart::figure;
pub use page::{Page, STYLE, Section};
pub use run::run_page;
