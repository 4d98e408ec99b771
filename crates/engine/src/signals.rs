//! Signals as values.

use crate::{Error, sys};

/// SIGINT, SIGTERM, SIGHUP, and the signal of [`follow`], blocked in every thread started after [`Signals::block`].
pub struct Signals {
    inner: sys::signals::Signals,
}

/// Sends SIGINT to a child process that has not been waited for. One that has ended is not an error: there is nothing
/// left to interrupt.
pub fn interrupt(pid: u32) {
    sys::signals::interrupt(pid);
}

/// Requests a signal for the end of the thread that started this process. Call it after [`Signals::block`]; otherwise,
/// that signal ends this process. Returns false if `parent` has ended already.
pub fn follow(parent: u32) -> bool {
    sys::signals::follow(parent)
}

/// Makes a program that knows nothing of its parent end with the thread that starts it.
pub fn end_with_parent(command: &mut std::process::Command) {
    sys::signals::end_with_parent(command);
}

/// The meaning of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// SIGINT: Ctrl-C.
    Interrupt,
    /// SIGTERM.
    Terminate,
    /// SIGHUP: the terminal was closed.
    HangUp,
    /// See [`follow`]; it may arrive several times.
    ParentEnded,
}

impl Signals {
    /// Blocks the signals. Call it first, in the main thread.
    ///
    /// # Errors
    /// Returns an error if the kernel refuses, which no supported Linux does.
    pub fn block() -> Result<Signals, Error> {
        Ok(Signals { inner: sys::signals::Signals::block().map_err(Error::kernel("to block signals"))? })
    }

    /// Waits for the next signal.
    pub fn wait(&self) -> Kind {
        match self.inner.wait() {
            sys::signals::PARENT_ENDED => Kind::ParentEnded,
            sys::signals::TERMINATE => Kind::Terminate,
            sys::signals::HANG_UP => Kind::HangUp,
            _ => Kind::Interrupt,
        }
    }
}
