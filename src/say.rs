//! Output: results to stdout, messages to stderr, and the capabilities of each.

use crate::exit::Failure;
use plimsoll_output::{Look, diag, error};
use std::io::{ErrorKind, IsTerminal, Write};

/// Error of `write(2)` to a closed terminal on Linux.
const EIO: i32 = 5;

/// Prints a result. A reader that stops early (`| head`) is not an error.
///
/// # Errors
/// Returns an error if stdout cannot be written for any other reason, such as a full disk.
pub fn result(text: &str) -> Result<(), Failure> {
    bytes(text.as_bytes())
}

/// Prints a result that is not text, under the same conditions.
///
/// # Errors
/// Returns an error if stdout cannot be written for any other reason than a reader that stops early.
pub fn bytes(bytes: &[u8]) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe && e.raw_os_error() != Some(EIO) => {
            Err(Failure::machine(format!("cannot write to standard output: {e}"), None))
        }
        _ => Ok(()),
    }
}

/// Prints a message to stderr.
pub fn talk(text: &str) {
    // If stderr is gone, there is nowhere left to report it.
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// Returns the style that stdout supports.
pub fn look_of_results(no_color: bool) -> Look {
    look(std::io::stdout().is_terminal(), terminal_size::terminal_size_of(std::io::stdout()), no_color)
}

/// Returns the style that stderr supports.
pub fn look_of_talk(no_color: bool) -> Look {
    look(std::io::stderr().is_terminal(), terminal_size::terminal_size_of(std::io::stderr()), no_color)
}

/// Returns the current width of the terminal on stderr, which changes with its window.
pub fn width_of_talk() -> Option<u16> {
    terminal_size::terminal_size_of(std::io::stderr()).map(|(width, _)| width.0)
}

fn look(
    is_terminal: bool,
    size: Option<(terminal_size::Width, terminal_size::Height)>,
    no_color: bool,
) -> Look {
    let mut look = Look::from_env(variable, is_terminal, size.map(|(width, _)| width.0));
    look.color &= !no_color;
    look
}

/// Returns an environment variable if it is set and valid UTF-8.
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Prints why a command failed.
pub fn failure(failure: &Failure, no_color: bool) {
    let look = look_of_talk(no_color);
    match failure {
        Failure::Text(diagnostics) => talk(&diag::render(diagnostics, &look)),
        Failure::Refused(refusal) => talk(&error::render(&refusal.sentence, Some(&refusal.hint), &look)),
        Failure::Machine { sentence, hint }
        | Failure::Unreachable { sentence, hint, .. }
        | Failure::Agent { sentence, hint, .. } => talk(&error::render(sentence, Some(hint), &look)),
        Failure::CutShort { sentence, .. } => talk(&error::render(sentence, None, &look)),
    }
}
