//! Results as a self-contained HTML file: static charts and tables, which a script in the same file makes movable,
//! sortable, and searchable.
//!
//! A page sends no requests: its content security policy allows only its own style sheet and its own script, by their
//! hashes. The macros that insert texts escape them.

pub mod parts;
mod run;

pub(crate) use plimsoll_document::web::bits;
pub use plimsoll_document::web::chart::figure;
pub use plimsoll_document::web::page::{self, Page, STYLE, Section};
pub use plimsoll_document::web::piece;
pub use run::run_page;
