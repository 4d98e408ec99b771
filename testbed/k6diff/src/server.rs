//! The server that records: it answers what scripts need, and keeps each request that it reads.

mod answer;
mod request;
mod socket;

pub use request::Seen;

use request::Reader;
use std::collections::HashMap;
use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A running server. Its threads end with the process.
pub struct Server {
    pub address: SocketAddr,
    record: Arc<Record>,
}

/// What the server has read.
#[derive(Default)]
pub struct Record {
    seen: Mutex<Vec<Seen>>,
    counts: Mutex<HashMap<String, u64>>,
    connections: AtomicUsize,
}

impl Server {
    /// Starts a server on a free port of the loopback.
    ///
    /// # Errors
    /// Returns a sentence if no port is free.
    pub fn start() -> Result<Server, String> {
        let failed = |e: std::io::Error| format!("cannot start the recording server: {e}");
        let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let record = Arc::new(Record::default());
        let own = Arc::clone(&record);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let record = Arc::clone(&own);
                let number = record.connections.fetch_add(1, Ordering::Relaxed);
                // A client may close a connection at any time; what it sent is on record.
                std::thread::spawn(move || serve(&stream, number, &record));
            }
        });
        Ok(Server { address, record })
    }

    /// Returns what was read since the last call, and starts counting again.
    pub fn take(&self) -> Vec<Seen> {
        self.record.counts.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.record.connections.store(0, Ordering::Relaxed);
        std::mem::take(&mut *self.record.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Record {
    fn keep(&self, seen: Seen) {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).push(seen);
    }

    /// Returns how often a path was asked for, this time included.
    fn count(&self, path: &str) -> u64 {
        let mut all = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let count = all.entry(path.to_owned()).or_default();
        *count += 1;
        *count
    }
}

/// Answers the requests of a connection until one side closes it.
fn serve(stream: &TcpStream, number: usize, record: &Record) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let mut reader = Reader::new(stream.try_clone().ok()?);
    let mut out = stream.try_clone().ok()?;
    loop {
        let seen = reader.next(number)?;
        record.keep(seen.clone());
        if seen.header("upgrade").is_some_and(|value| value.eq_ignore_ascii_case("websocket")) {
            return socket::serve(stream, &seen, record);
        }
        let answer = answer::to(&seen, record);
        if answer.delay_ms > 0 {
            std::thread::sleep(std::time::Duration::from_millis(answer.delay_ms));
        }
        out.write_all(&answer.bytes).ok()?;
        if answer.closes || seen.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"))
        {
            return stream.shutdown(std::net::Shutdown::Both).ok();
        }
    }
}
