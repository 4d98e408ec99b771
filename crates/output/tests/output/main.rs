//! What the renderers promise, read from outside.

// The helpers between the tests may stop at the first surprise too; the setting for tests does not reach them.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod copied;
mod documents;
mod figures;
mod fixtures;
mod formats;
mod golden;
mod live;
mod messages;
mod screen;
mod summary;
