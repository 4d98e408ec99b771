//! Where words go: results on stdout, talk on stderr, and what each of the two can show.

use crate::exit::Failure;
use plimsoll_output::{Look, diag, error};
use std::io::{ErrorKind, IsTerminal, Write};

/// `write(2)` to a closed terminal, on Linux.
const EIO: i32 = 5;

/// Prints a result. A reader that has seen enough (`| head`) is no failure.
///
/// # Errors
/// When stdout cannot be written for any other reason, such as a full disk behind a redirection.
pub fn result(text: &str) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe && e.raw_os_error() != Some(EIO) => {
            Err(Failure::machine(format!("standard output cannot be written: {e}"), None))
        }
        _ => Ok(()),
    }
}

/// Says something to whoever watches.
pub fn talk(text: &str) {
    // Nobody could be told that stderr is gone.
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// What stdout shows.
pub fn look_of_results(no_color: bool) -> Look {
    look(std::io::stdout().is_terminal(), terminal_size::terminal_size_of(std::io::stdout()), no_color)
}

/// What stderr shows.
pub fn look_of_talk(no_color: bool) -> Look {
    look(std::io::stderr().is_terminal(), terminal_size::terminal_size_of(std::io::stderr()), no_color)
}

/// Columns of the terminal behind stderr, now: windows change their size.
pub fn width_of_talk() -> Option<u16> {
    terminal_size::terminal_size_of(std::io::stderr()).map(|(width, _)| width.0)
}

fn look(
    is_terminal: bool,
    size: Option<(terminal_size::Width, terminal_size::Height)>,
    no_color: bool,
) -> Look {
    let mut look = Look::from_env(variable, is_terminal, size.map(|(width, _)| width.0));
    look.colour &= !no_color;
    look
}

/// An environment variable, if it is set and readable.
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Says why a command ended without doing what it was asked.
pub fn failure(failure: &Failure, no_color: bool) {
    let look = look_of_talk(no_color);
    match failure {
        Failure::Text(diagnostics) => talk(&diag::render(diagnostics, &look)),
        Failure::Refused(refusal) => talk(&error::render(&refusal.sentence, Some(&refusal.hint), &look)),
        Failure::Machine { sentence, hint } => talk(&error::render(sentence, Some(hint), &look)),
        Failure::CutShort { sentence, .. } => talk(&error::render(sentence, None, &look)),
    }
}
