//! Run file: one SQLite database per run, `<name>.plim`. It is written during the run, one transaction per tick, so
//! that after a crash or a kill it is readable up to the last second. At the end, or at the next read if the run
//! never ended, it becomes a single file. `schema` describes the tables.

mod complete;
mod error;
mod guard;
mod old_names;
mod old_notes;
mod open;
mod part_writer;
mod reader;
mod room;
mod rows;
mod sample_log;
mod schema;
mod seen_ticks;
mod spans;
mod sums;
mod tail;
mod writer;

pub use complete::write;
pub use error::{Error, NO_SUCH_FILE};
pub use part_writer::{PartWriter, Refused};
pub use reader::each_span;
pub use reader::{Span, read, read_spans};
pub use schema::taken;
pub use tail::{NewRows, Tail};
pub use writer::{Finished, RunFile, Writer};

/// Version of the tables, in SQLite's `user_version`. It increases when builds that know only older versions would
/// misread the file; new tables and columns alone do not increase it. Version 2: series opened during the run follow
/// those of the opening in the totals. Version 3: renamed fields of the plan and subjects of thresholds; see
/// `old_names`.
pub const FORMAT_VERSION: i64 = 3;

/// SQLite's `application_id`: "plim".
pub const APPLICATION_ID: i64 = 0x706c_696d;
