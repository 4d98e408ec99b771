//! Texts in, a [`Draft`] or every mistake at once out: experiment files and pasted curl lines.
//!
//! Nothing here opens a socket or knows how a load is run. A mistake is a [`Diagnostic`] with the file, line and
//! column; what the draft as a whole gets wrong is found later, by the seal, which knows fields only:
//! [`Located::locate`] turns its fields back into places in the text.
//!
//! Codes: `F0xx` a file, `C0xx` a curl line or a list of URLs.

#![forbid(unsafe_code)]

pub mod body;
mod build;
pub mod curl;
mod detect;
pub mod explain;
pub mod header;
mod located;
mod nearest;
mod overrides;
pub mod own;
mod read;
mod schema;
mod sentence;
mod show;
mod source;
pub mod urls;

pub use build::requests;
pub use detect::{Kind, detect};
pub use located::{Located, Part, Places, Study, StudyCell, locate};
pub use nearest::nearest;
pub use overrides::{Overrides, parse_set};
pub use read::{listed as text_of, parts_with, read, read_with, study_with};
pub use schema::schema;
pub use show::show;
pub use show::study::show_study;
