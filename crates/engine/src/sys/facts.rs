//! Facts about this machine.

use std::ffi::CStr;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Returns the limit on open files: (soft, hard).
pub fn nofile() -> (u64, u64) {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is valid for writes.
    unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) };
    (limit.rlim_cur, limit.rlim_max)
}

/// Returns the limits on this process's address space and data, in bytes; `u64::MAX`: no limit.
pub fn memory_limits() -> (u64, u64) {
    let soft = |resource| {
        let mut limit = libc::rlimit { rlim_cur: u64::MAX, rlim_max: u64::MAX };
        // SAFETY: `limit` is valid for writes; after an error it is unchanged.
        unsafe { libc::getrlimit(resource, &mut limit) };
        limit.rlim_cur
    };
    (soft(libc::RLIMIT_AS), soft(libc::RLIMIT_DATA))
}

/// Sets the soft limit; the hard one stays unchanged.
pub fn set_nofile_soft(soft: u64) -> bool {
    let (_, hard) = nofile();
    let limit = libc::rlimit { rlim_cur: soft.min(hard), rlim_max: hard };
    // SAFETY: `limit` lives through the call.
    unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) == 0 }
}

/// Extends the table of file descriptors to `number`; returns whether that succeeded.
pub fn reach_descriptor(number: u64) -> bool {
    let Ok(number) = libc::c_int::try_from(number) else { return false };
    // SAFETY: a constant, terminated path; the result is checked.
    let any = unsafe { libc::open(c"/dev/null".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
    if any < 0 {
        return false;
    }
    // SAFETY: `any` is an open file descriptor without another owner; an error is a negative number.
    let copy = unsafe { libc::fcntl(any, libc::F_DUPFD_CLOEXEC, number) };
    // SAFETY: both were opened here, and each is closed once.
    unsafe {
        libc::close(any);
        if copy >= 0 {
            libc::close(copy);
        }
    }
    copy >= 0
}

/// Returns the number of CPUs this thread may run on.
pub fn cpus() -> u32 {
    std::thread::available_parallelism().map_or(1, |n| n.get() as u32)
}

/// Returns the number of online CPUs.
pub fn cpus_online() -> u32 {
    // SAFETY: no pointers.
    u32::try_from(unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) }).unwrap_or(0)
}

/// Returns (name and release of the kernel, host name).
pub fn kernel_and_host() -> (String, String) {
    // SAFETY: an all-zero utsname is valid, and `uname` fills it with terminated strings.
    let mut raw: libc::utsname = unsafe { std::mem::zeroed() };
    // SAFETY: `raw` is valid for writes.
    unsafe { libc::uname(&mut raw) };
    let text = |field: &[libc::c_char]| {
        // SAFETY: the kernel terminates every field, and zeroed memory is terminated too.
        unsafe { CStr::from_ptr(field.as_ptr()) }.to_string_lossy().into_owned()
    };
    (format!("{} {}", text(&raw.sysname), text(&raw.release)), text(&raw.nodename))
}

/// Returns the addresses of this machine's interfaces.
pub fn local_addresses() -> Vec<IpAddr> {
    let mut first: *mut libc::ifaddrs = std::ptr::null_mut();
    // SAFETY: `first` is valid for writing the list's head.
    if unsafe { libc::getifaddrs(&mut first) } != 0 {
        return Vec::new();
    }
    let mut out = Vec::new();
    let mut at = first;
    while !at.is_null() {
        // SAFETY: `at` is an entry of the list, which lives until freeifaddrs.
        let entry = unsafe { &*at };
        if !entry.ifa_addr.is_null() {
            // SAFETY: every address starts with its family, which determines its length.
            match i32::from(unsafe { (*entry.ifa_addr).sa_family }) {
                libc::AF_INET => {
                    // SAFETY: the family says that this is a sockaddr_in.
                    let a = unsafe { &*entry.ifa_addr.cast::<libc::sockaddr_in>() };
                    out.push(IpAddr::V4(Ipv4Addr::from(a.sin_addr.s_addr.to_ne_bytes())));
                }
                libc::AF_INET6 => {
                    // SAFETY: the family says that this is a sockaddr_in6.
                    let a = unsafe { &*entry.ifa_addr.cast::<libc::sockaddr_in6>() };
                    out.push(IpAddr::V6(Ipv6Addr::from(a.sin6_addr.s6_addr)));
                }
                _ => {}
            }
        }
        at = entry.ifa_next;
    }
    // SAFETY: `first` came from getifaddrs and is freed once.
    unsafe { libc::freeifaddrs(first) };
    out
}
