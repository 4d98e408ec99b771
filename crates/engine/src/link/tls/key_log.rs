//! The keys of connections in a file, for programs that decrypt captures: a line for each secret, in NSS key log format
//! (`SSLKEYLOGFILE`; draft-ietf-tls-keylogfile).

use rustls::KeyLog;
use std::fmt;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

/// An open file of keys. Its handshakes write to it from all workers, which wait for the disk: it is for debugging.
pub struct KeyLogFile {
    file: File,
    /// Why the first line that could not be written was not.
    trouble: Mutex<Option<String>>,
}

impl KeyLogFile {
    /// Creates it; the file must be open for appending, so that lines of several threads do not mix.
    pub fn new(file: File) -> KeyLogFile {
        KeyLogFile { file, trouble: Mutex::default() }
    }

    /// Returns why it is incomplete, if it is.
    pub fn trouble(&self) -> Option<String> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl KeyLog for KeyLogFile {
    fn log(&self, label: &str, client_random: &[u8], secret: &[u8]) {
        let mut line = String::with_capacity(label.len() + 2 * (client_random.len() + secret.len()) + 3);
        line.push_str(label);
        for bytes in [client_random, secret] {
            line.push(' ');
            // Writing to a string cannot fail.
            for byte in bytes {
                let _ = write!(line, "{byte:02x}");
            }
        }
        line.push('\n');
        if let Err(why) = (&self.file).write_all(line.as_bytes()) {
            let mut trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
            trouble.get_or_insert_with(|| why.to_string());
        }
    }
}

impl fmt::Debug for KeyLogFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyLogFile").finish_non_exhaustive()
    }
}
