//! How late this machine wakes a thread: a tolerance that is measured during a test.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A thread that sleeps until a little before an instant, again and again, as precisely as the kernel lets it.
pub struct Sleeper {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<f64>,
}

impl Sleeper {
    pub fn start(before: Duration) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            // As the workers do: without it, the kernel may add 50 us.
            let own = std::fs::read_link("/proc/thread-self").expect("a thread has its folder");
            let task = own.file_name().expect("of a name").to_string_lossy().into_owned();
            std::fs::write(format!("/proc/{task}/timerslack_ns"), "1")
                .expect("a thread may set its own slack");
            let (mut left, mut times) = (Duration::ZERO, 0u32);
            while !is_over.load(Ordering::Relaxed) {
                let due = Instant::now() + Duration::from_millis(1);
                std::thread::sleep(due - before - Instant::now());
                left += due.saturating_duration_since(Instant::now()).min(before);
                times += 1;
            }
            left.as_secs_f64() / f64::from(times)
        });
        Self { stop, thread }
    }

    /// Ends the thread; returns the mean time between its wake-up and the intended time, in s.
    pub fn end(self) -> f64 {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("it only sleeps")
    }
}
