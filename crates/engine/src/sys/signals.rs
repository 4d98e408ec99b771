//! Signals as values: blocked in all threads, waited for by one.

use super::Errno;

/// Reports that the parent has ended. It needs a separate signal, because the kernel sends it once for each thread of
/// the parent that ends, and a second SIGINT would mean that the user wants to stop at once.
pub const PARENT_ENDED: i32 = libc::SIGUSR1;

pub const TERMINATE: i32 = libc::SIGTERM;
pub const HANG_UP: i32 = libc::SIGHUP;

/// SIGINT, SIGTERM, SIGHUP, and [`PARENT_ENDED`], blocked in every thread started afterwards.
pub struct Signals {
    set: libc::sigset_t,
}

/// Sends SIGINT to one process; does nothing for 0 and for numbers that are not valid process ids, which would mean
/// groups.
pub fn interrupt(pid: u32) {
    if let Ok(pid @ 1..) = i32::try_from(pid) {
        // SAFETY: kill(2) takes two numbers and does not access memory.
        unsafe { libc::kill(pid, libc::SIGINT) };
    }
}

/// Asks the kernel for [`PARENT_ENDED`] at the end of the parent. Returns whether the parent is still `parent`: if this
/// process was reparented before the call, there is no end to wait for. In a container, the parent may be process 1.
pub fn follow(parent: u32) -> bool {
    // SAFETY: prctl with this option takes a number and does not access memory; getppid takes nothing.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, PARENT_ENDED);
        u32::try_from(libc::getppid()) == Ok(parent)
    }
}

/// Makes a program that knows nothing of its parent end with the thread that starts it.
pub fn end_with_parent(command: &mut std::process::Command) {
    use std::os::unix::process::CommandExt;
    let parent = std::process::id();
    let ask = move || {
        // SAFETY: prctl with this option takes a number; getppid takes nothing. Neither accesses memory.
        let is_ours = unsafe {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM);
            u32::try_from(libc::getppid()) == Ok(parent)
        };
        if is_ours { Ok(()) } else { Err(std::io::ErrorKind::NotFound.into()) }
    };
    // SAFETY: between fork and exec, `ask` only makes two system calls; it takes no lock and allocates nothing.
    unsafe { command.pre_exec(ask) };
}

/// Returns whether the parent process set the signal to be ignored, as `nohup` does. Linux still delivers a blocked
/// signal to `sigwait` in that case, so such a signal must stay out of the set.
fn is_ignored(signal: libc::c_int) -> bool {
    // SAFETY: all zeros are a valid value, and without a new action the call only writes the old one to it.
    unsafe {
        let mut was: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &mut was) == 0 && was.sa_sigaction == libc::SIG_IGN
    }
}

impl Signals {
    /// Blocks the signals in the calling thread; threads inherit that, so call it first.
    pub fn block() -> Result<Signals, Errno> {
        // SAFETY: an all-zero set is a valid argument of sigemptyset, which initializes it.
        let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
        // SAFETY: `set` is valid for all calls; the old mask is not requested.
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

    /// Waits for the next signal and returns its number.
    pub fn wait(&self) -> i32 {
        let mut number = 0;
        // SAFETY: `set` was initialized by `block`; `number` is valid for writes.
        unsafe { libc::sigwait(&self.set, &mut number) };
        number
    }
}
