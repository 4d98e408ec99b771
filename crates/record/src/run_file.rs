//! The run file: one SQLite database per run, `<name>.plim`.
//!
//! It is written as the run goes, one transaction a tick, so that a crash or a kill leaves a readable run up to the
//! last second; at the end (or at the next read, when the end never came) it is folded into one file. What the
//! tables hold is described in `schema`.

mod error;
mod guard;
mod old_names;
mod old_notes;
mod open;
mod reader;
mod room;
mod rows;
mod sample_log;
mod schema;
mod spans;
mod sums;
mod tail;
mod writer;

pub use error::Error;
pub use reader::each_span;
pub use reader::{Span, read, read_spans};
pub use schema::taken;
pub use tail::{NewRows, Tail};
pub use writer::{Finished, RunFile, Writer, write};

/// Version of the tables, in SQLite's `user_version`. Raised when a build that knows only older versions would
/// misread the file; new tables and columns alone do not raise it.
/// 2: series that were opened during the run stand in the totals behind those of the opening.
/// 3: fields of the plan and subjects of thresholds have other names, see `old_names`.
pub const FORMAT_VERSION: i64 = 3;

/// SQLite's `application_id`: "plim".
pub const APPLICATION_ID: i64 = 0x706c_696d;
