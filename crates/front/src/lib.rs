//! Reads experiment files, curl lines, and lists of URLs into a [`Draft`], or returns all mistakes at once.
//!
//! This crate opens no sockets and does not run loads. A mistake is a [`Diagnostic`] with file, line, and column. The
//! seal later finds mistakes of the draft as a whole and knows only fields; [`Located::locate`] turns them into places
//! in the text.
//!
//! Codes: `F0xx` for files, `C0xx` for curl lines and lists of URLs.

#![forbid(unsafe_code)]

mod detect;
pub mod explain;
mod located;
mod overrides;
pub mod own;
pub mod proto;
mod read;
mod schema;
mod show;

pub use detect::{Kind, detect, rewrite_hint};
pub use located::{Located, Part, Places, Study, StudyCell, locate};
pub use overrides::{Overrides, Reflect, parse_set};
pub use read::{listed as text_of, parts_with, read, read_with, study_with};
pub use schema::schema;
pub use show::show;
pub use show::study::show_study;
