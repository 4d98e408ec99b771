//! What a script writes to its console, and its errors: a sink that the caller provides, because this crate prints
//! nothing.

use std::fmt;
use std::sync::Arc;

/// Level of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Debug,
    Info,
    Warning,
    Error,
}

/// Receives messages from all workers.
#[derive(Clone)]
pub struct Log(Arc<dyn Fn(Level, &str) + Send + Sync>);

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Log")
    }
}

impl Log {
    pub fn new(sink: impl Fn(Level, &str) + Send + Sync + 'static) -> Log {
        Log(Arc::new(sink))
    }

    pub fn write(&self, level: Level, text: &str) {
        (self.0)(level, text);
    }
}
