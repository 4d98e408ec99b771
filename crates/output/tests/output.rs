//! What the renderers promise, read from outside.

mod copied;
mod documents;
mod figures;
pub mod fixtures;
mod formats;
pub mod golden;
mod live;
mod messages;
mod screen;
mod summary;
