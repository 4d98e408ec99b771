//! The only interface to the kernel: every `unsafe` of the engine is in this folder, each with its reason.
//!
//! Functions here are thin: one system call, its result as a plain value, no policy.

pub mod epoll;
pub mod facts;
pub mod memory;
pub mod signals;
pub mod socket;
pub mod thread;
pub mod time;

/// An error number of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Errno(pub i32);

impl Errno {
    /// Returns the error of the system call that just failed on this thread.
    pub fn last() -> Errno {
        Errno(std::io::Error::last_os_error().raw_os_error().unwrap_or(0))
    }

    /// Returns the system's message for the error.
    pub fn sentence(self) -> String {
        std::io::Error::from_raw_os_error(self.0).to_string()
    }
}
