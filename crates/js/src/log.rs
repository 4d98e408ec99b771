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

/// What the console shows instead of a secret.
const HIDDEN: &str = "***SECRET_REDACTED***";

/// The receiver of messages.
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

    /// Returns a log that shows a mark instead of secret texts.
    #[must_use]
    pub fn hiding(self, secrets: Vec<String>) -> Log {
        if secrets.iter().all(String::is_empty) {
            return self;
        }
        Log::new(move |level, text| {
            let shown = secrets.iter().filter(|secret| !secret.is_empty());
            let shown = shown.fold(text.to_owned(), |text, secret| text.replace(secret, HIDDEN));
            self.write(level, &shown);
        })
    }
}
