//! Clock readings.

/// Returns CLOCK_MONOTONIC in ns; it uses the vDSO, so there is no system call on common clock sources.
#[inline]
pub fn monotonic_ns() -> u64 {
    read(libc::CLOCK_MONOTONIC)
}

/// Returns the wall clock, ns since 1970.
pub fn unix_ns() -> u64 {
    read(libc::CLOCK_REALTIME)
}

/// Returns the CPU time of the calling thread, ns.
pub fn thread_cpu_ns() -> u64 {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

#[inline]
fn read(clock: libc::clockid_t) -> u64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `t` is valid for writes; these clocks exist on every Linux.
    unsafe { libc::clock_gettime(clock, &mut t) };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}
