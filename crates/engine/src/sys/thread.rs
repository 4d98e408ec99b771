//! Settings and CPU times of a worker thread.

use std::fs::File;
use std::os::unix::fs::FileExt;

/// Wakes a sleeping thread within 1 ns of its time instead of the default slack of 50 µs, which would be the whole
/// median schedule lag of the open model.
pub fn set_tight_timers() {
    // SAFETY: no pointers; an old kernel refuses, which only costs precision.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1u64, 0u64, 0u64, 0u64) };
}

/// Reads how long this thread was waiting for CPU (`/proc/thread-self/schedstat`).
pub struct RunQueue {
    file: Option<File>,
}

impl RunQueue {
    /// Creates it for the calling thread.
    pub fn new() -> RunQueue {
        RunQueue { file: File::open("/proc/thread-self/schedstat").ok() }
    }

    /// Returns the total wait so far, ns; 0 if the kernel does not measure it.
    pub fn waited_ns(&self) -> u64 {
        let mut buffer = [0u8; 96];
        let Some(n) = self.file.as_ref().and_then(|f| f.read_at(&mut buffer, 0).ok()) else { return 0 };
        let text = std::str::from_utf8(&buffer[..n]).unwrap_or("");
        text.split_ascii_whitespace().nth(1).and_then(|w| w.parse().ok()).unwrap_or(0)
    }
}

/// CPU time of the whole machine, ns: (stolen by the hypervisor, used by all processes).
pub struct HostCpu {
    file: Option<File>,
    tick_ns: u64,
}

impl HostCpu {
    pub fn new() -> HostCpu {
        // SAFETY: no pointers.
        let hz = unsafe { libc::sysconf(libc::_SC_CLK_TCK) }.max(1) as u64;
        HostCpu { file: File::open("/proc/stat").ok(), tick_ns: 1_000_000_000 / hz }
    }

    pub fn read_ns(&self) -> (u64, u64) {
        let mut buffer = [0u8; 256];
        let Some(n) = self.file.as_ref().and_then(|f| f.read_at(&mut buffer, 0).ok()) else { return (0, 0) };
        let text = std::str::from_utf8(&buffer[..n]).unwrap_or("");
        // cpu user nice system idle iowait irq softirq steal ... (proc(5))
        let mut v = [0u64; 8];
        for (cell, word) in v.iter_mut().zip(text.split_ascii_whitespace().skip(1)) {
            *cell = word.parse().unwrap_or(0);
        }
        let [user, nice, system, _idle, _iowait, irq, softirq, steal] = v;
        (steal * self.tick_ns, (user + nice + system + irq + softirq) * self.tick_ns)
    }
}
