//! Runs while they go on. One reader per run that somebody watches, however many watch.

/// By run: who watches.
#[derive(Default)]
pub struct Hubs {}
