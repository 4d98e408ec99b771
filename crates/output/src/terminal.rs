//! The terminal: the report at the end, the view while a run is on, and the plain lines where there is no terminal.

pub mod chart;
pub mod live;
pub mod painter;
pub mod plain;
pub mod summary;
pub mod table;

pub use live::LiveState;
pub use painter::Painter;
pub use plain::Plain;
pub use summary::{Detail, summary};
