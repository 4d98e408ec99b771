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

/// Who writes a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The script, by `console`.
    Console,
    /// An exception that the script did not catch, with its stack.
    Exception,
    /// A request or a response, for `httpDebug`.
    Http,
    /// The run.
    Run,
}

/// A message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message<'a> {
    pub level: Level,
    pub source: Source,
    pub text: &'a str,
}

/// What the console shows instead of a secret.
const HIDDEN: &str = "***SECRET_REDACTED***";

/// The receiver of messages.
type Sink = dyn Fn(Message<'_>) + Send + Sync;

/// Receives messages from all workers.
#[derive(Clone)]
pub struct Log(Arc<Sink>);

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Log")
    }
}

impl Log {
    pub fn new(sink: impl Fn(Message<'_>) + Send + Sync + 'static) -> Log {
        Log(Arc::new(sink))
    }

    pub fn write(&self, level: Level, source: Source, text: &str) {
        (self.0)(Message { level, source, text });
    }

    /// Returns a log that shows a mark instead of secret texts.
    #[must_use]
    pub fn hiding(self, secrets: Vec<String>) -> Log {
        if secrets.iter().all(String::is_empty) {
            return self;
        }
        Log::new(move |message| {
            let shown = secrets.iter().filter(|secret| !secret.is_empty());
            let shown = shown.fold(message.text.to_owned(), |text, secret| text.replace(secret, HIDDEN));
            self.write(message.level, message.source, &shown);
        })
    }
}
