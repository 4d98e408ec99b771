//! The terminal: the report at the end, the view while a run is on, and the plain lines where there is no terminal.

pub mod live;
pub mod painter;
pub mod plain;
pub mod summary;

pub use live::LiveState;
pub use painter::Painter;
pub use plain::Plain;
pub use plimsoll_document::text::{chart, table};
pub use summary::{Detail, summary};
