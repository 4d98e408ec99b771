//! JSON for responses: places by path, and the shape of a text.

pub mod path;
mod scan;
mod shape;
mod singular;
mod text;

pub use path::{Path, Selected, Tree, append, excerpt};
pub use scan::{DEPTH_MAX, NotJson, Span, without_mark};
pub use shape::{SHAPE_BYTES_MAX, Shaper};
