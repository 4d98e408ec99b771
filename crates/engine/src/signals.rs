//! Interrupts as values.

use crate::{Error, sys};

/// SIGINT, SIGTERM, SIGHUP, and what [`follow`] asks for, blocked in every thread started after [`Signals::block`].
pub struct Signals {
    inner: sys::signals::Signals,
}

/// Sends SIGINT to a process that this one has started and not waited for yet. One that is gone is no failure: there is
/// nothing left to interrupt.
pub fn interrupt(pid: u32) {
    sys::signals::interrupt(pid);
}

/// From now on this process is told when the thread that started it ends, however that ends. Call it behind
/// [`Signals::block`], or that ends this process. False when `parent` has ended already.
pub fn follow(parent: u32) -> bool {
    sys::signals::follow(parent)
}

/// What a signal asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// SIGINT: Ctrl-C.
    Interrupt,
    /// SIGTERM.
    Terminate,
    /// SIGHUP: the terminal has gone.
    HangUp,
    /// See [`follow`]; it may come several times.
    ParentEnded,
}

impl Signals {
    /// Call first, in the main thread.
    ///
    /// # Errors
    /// When the kernel refuses, which it does not on any Linux that runs the rest.
    pub fn block() -> Result<Signals, Error> {
        Ok(Signals { inner: sys::signals::Signals::block().map_err(Error::kernel("to block signals"))? })
    }

    /// Waits for the next one.
    pub fn wait(&self) -> Kind {
        match self.inner.wait() {
            sys::signals::PARENT_ENDED => Kind::ParentEnded,
            sys::signals::TERMINATE => Kind::Terminate,
            sys::signals::HANG_UP => Kind::HangUp,
            _ => Kind::Interrupt,
        }
    }
}
