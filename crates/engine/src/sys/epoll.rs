//! epoll with nanosecond timeouts.

use super::Errno;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};

/// The events of a file descriptor.
pub type Flags = u32;
pub const IN: Flags = libc::EPOLLIN as u32;
pub const OUT: Flags = libc::EPOLLOUT as u32;
pub const ERR: Flags = libc::EPOLLERR as u32;
pub const HUP: Flags = libc::EPOLLHUP as u32;
pub const RDHUP: Flags = libc::EPOLLRDHUP as u32;

/// Events per call: enough for a full batch, small enough for the first-level cache.
const BATCH: usize = 256;

/// Kernels before 5.11 do not support `epoll_pwait2`; detected once, at the first call.
static NO_PWAIT2: AtomicBool = AtomicBool::new(false);

pub struct Epoll {
    fd: OwnedFd,
    events: Box<[libc::epoll_event; BATCH]>,
    count: usize,
}

impl Epoll {
    pub fn new() -> Result<Epoll, Errno> {
        // SAFETY: no pointers; a returned file descriptor has no other owner.
        let fd = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        if fd < 0 {
            return Err(Errno::last());
        }
        // SAFETY: `fd` was just opened and has no other owner.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        Ok(Epoll { fd, events: Box::new([libc::epoll_event { events: 0, u64: 0 }; BATCH]), count: 0 })
    }

    /// Registers a file descriptor once, edge-triggered in both directions: no later `epoll_ctl` is needed.
    pub fn add(&self, fd: RawFd, token: u64) -> Result<(), Errno> {
        self.control(fd, token, IN | OUT | RDHUP | libc::EPOLLET as u32)
    }

    /// Registers a file descriptor for input, level-triggered (wake-ups of the mailbox).
    pub fn add_level(&self, fd: RawFd, token: u64) -> Result<(), Errno> {
        self.control(fd, token, IN)
    }

    fn control(&self, fd: RawFd, token: u64, events: u32) -> Result<(), Errno> {
        let mut event = libc::epoll_event { events, u64: token };
        // SAFETY: `event` lives through the call; both file descriptors are open.
        match unsafe { libc::epoll_ctl(self.fd.as_raw_fd(), libc::EPOLL_CTL_ADD, fd, &mut event) } {
            0 => Ok(()),
            _ => Err(Errno::last()),
        }
    }

    /// Waits at most `timeout_ns`; 0 polls. Afterwards, [`Epoll::event`] returns the events.
    pub fn wait(&mut self, timeout_ns: u64) -> usize {
        let n = if NO_PWAIT2.load(Ordering::Relaxed) {
            self.wait_ms(timeout_ns)
        } else {
            self.wait_ns(timeout_ns)
        };
        // An interrupted wait counts as empty; the caller's loop waits again.
        self.count = usize::try_from(n).unwrap_or(0);
        self.count
    }

    fn wait_ns(&mut self, timeout_ns: u64) -> i64 {
        let limit = libc::timespec {
            tv_sec: (timeout_ns / 1_000_000_000) as libc::time_t,
            tv_nsec: (timeout_ns % 1_000_000_000) as libc::c_long,
        };
        // SAFETY: `events` has room for BATCH entries, `limit` lives through the call, no signal mask is given.
        let n = unsafe {
            libc::syscall(
                libc::SYS_epoll_pwait2,
                self.fd.as_raw_fd(),
                self.events.as_mut_ptr(),
                BATCH as libc::c_int,
                &limit as *const libc::timespec,
                std::ptr::null::<libc::sigset_t>(),
                0usize,
            )
        };
        // EPERM: some container runtimes block calls they do not know.
        if n < 0 && matches!(Errno::last().0, libc::ENOSYS | libc::EPERM) {
            NO_PWAIT2.store(true, Ordering::Relaxed);
            return self.wait_ms(timeout_ns);
        }
        n
    }

    /// Rounds down: waking early only causes busy-polling, waking late would send late.
    fn wait_ms(&mut self, timeout_ns: u64) -> i64 {
        let ms = (timeout_ns / 1_000_000).min(60_000) as libc::c_int;
        // SAFETY: `events` has room for BATCH entries.
        i64::from(unsafe {
            libc::epoll_wait(self.fd.as_raw_fd(), self.events.as_mut_ptr(), BATCH as libc::c_int, ms)
        })
    }

    /// Returns the `i`-th event of the last wait: (token, flags).
    #[inline]
    pub fn event(&self, i: usize) -> (u64, Flags) {
        let e = self.events[..self.count][i];
        (e.u64, e.events)
    }
}

/// Returns whether this kernel supports nanosecond timeouts.
pub fn has_pwait2() -> bool {
    match Epoll::new() {
        Ok(mut e) => {
            e.wait(0);
            !NO_PWAIT2.load(Ordering::Relaxed)
        }
        Err(_) => false,
    }
}

/// A file descriptor that wakes an epoll from another thread.
pub struct Waker {
    fd: OwnedFd,
}

impl Waker {
    pub fn new() -> Result<Waker, Errno> {
        // SAFETY: no pointers; a returned file descriptor has no other owner.
        let fd = unsafe { libc::eventfd(0, libc::EFD_NONBLOCK | libc::EFD_CLOEXEC) };
        if fd < 0 {
            return Err(Errno::last());
        }
        // SAFETY: `fd` was just opened and has no other owner.
        Ok(Waker { fd: unsafe { OwnedFd::from_raw_fd(fd) } })
    }

    pub fn wake(&self) {
        let one = 1u64;
        // SAFETY: eight bytes from a live u64. If the counter is full (EAGAIN), the reader was woken already.
        unsafe { libc::write(self.fd.as_raw_fd(), (&one as *const u64).cast(), 8) };
    }

    pub fn clear(&self) {
        let mut count = 0u64;
        // SAFETY: eight bytes into a live u64. EAGAIN means that it was clear.
        unsafe { libc::read(self.fd.as_raw_fd(), (&mut count as *mut u64).cast(), 8) };
    }

    pub fn fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }
}
