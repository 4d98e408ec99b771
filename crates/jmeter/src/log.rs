//! What plans log: a sink that the caller provides, because this crate prints nothing.

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

type Sink = dyn Fn(Level, &str) + Send + Sync;

/// Receives messages from all workers.
#[derive(Clone)]
pub struct Log(Arc<Sink>);

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
