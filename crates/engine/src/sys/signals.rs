//! Interrupts as values: blocked everywhere, waited for by one thread.

use super::Errno;

/// Says that the parent has ended: a signal of its own, because the kernel sends it once for each thread of the parent
/// that ends, and a second SIGINT would mean that somebody has no patience.
pub const PARENT_ENDED: i32 = libc::SIGUSR1;

pub const TERMINATE: i32 = libc::SIGTERM;
pub const HANG_UP: i32 = libc::SIGHUP;

/// SIGINT, SIGTERM, SIGHUP and [`PARENT_ENDED`], taken out of the way of every thread that is started afterwards.
pub struct Signals {
    set: libc::sigset_t,
}

/// Sends SIGINT to one process; 0 and numbers beyond those of processes would mean groups and are left alone.
pub fn interrupt(pid: u32) {
    if let Ok(pid @ 1..) = i32::try_from(pid) {
        // SAFETY: kill(2) takes two numbers and touches no memory of ours.
        unsafe { libc::kill(pid, libc::SIGINT) };
    }
}

/// Asks the kernel for [`PARENT_ENDED`] at the end of the parent. Says whether that is `parent` still: who was handed
/// on to another one before the call has none to wait for. In a container the parent may well be process 1.
pub fn follow(parent: u32) -> bool {
    // SAFETY: prctl with this option takes a number and touches no memory of ours; getppid takes nothing.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, PARENT_ENDED);
        u32::try_from(libc::getppid()) == Ok(parent)
    }
}

/// The parent process set the signal to be ignored, as `nohup` does. Linux still delivers a blocked signal to
/// `sigwait` in that case, so such a signal must stay out of the set.
fn is_ignored(signal: libc::c_int) -> bool {
    // SAFETY: all zeros are a valid value, and without a new action the call only writes the old one to it.
    unsafe {
        let mut was: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &mut was) == 0 && was.sa_sigaction == libc::SIG_IGN
    }
}

impl Signals {
    /// Blocks them in the calling thread; threads inherit that, so call it first.
    pub fn block() -> Result<Signals, Errno> {
        // SAFETY: an all-zero set is a valid place for sigemptyset, which initialises it.
        let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
        // SAFETY: `set` is valid for all calls; the old mask is not asked for.
        let r = unsafe {
            libc::sigemptyset(&mut set);
            libc::sigaddset(&mut set, libc::SIGINT);
            libc::sigaddset(&mut set, libc::SIGTERM);
            if !is_ignored(libc::SIGHUP) {
                libc::sigaddset(&mut set, libc::SIGHUP);
            }
            libc::sigaddset(&mut set, PARENT_ENDED);
            libc::pthread_sigmask(libc::SIG_BLOCK, &set, std::ptr::null_mut())
        };
        if r == 0 { Ok(Signals { set }) } else { Err(Errno(r)) }
    }

    /// Waits for the next one and returns its number.
    pub fn wait(&self) -> i32 {
        let mut number = 0;
        // SAFETY: `set` was initialised by `block`; `number` is a valid place to write to.
        unsafe { libc::sigwait(&self.set, &mut number) };
        number
    }
}
