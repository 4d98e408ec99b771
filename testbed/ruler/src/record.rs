//! The record of the ruler: counters, one entry per request, and the bytes of the last request.

use crate::fault::FAULTS;
use crate::http2;
use crate::kept::Kept;
use crate::pages;
use crate::websocket;
use std::collections::HashMap;

/// Distinct paths that are counted by name; further ones are counted together.
const PATHS_MOST: usize = 10_000;
/// Bytes of one record in `/_test-server/log`.
pub(crate) const ENTRY_BYTES: usize = 40;

/// One request. All times are CLOCK_MONOTONIC in nanoseconds; 0 means "did not happen".
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Entry {
    /// The request was complete.
    pub(crate) arrive_ns: u64,
    /// A worker took it; without workers the same as `arrive_ns`, or the end of the previous response on the
    /// connection.
    pub(crate) begin_service_ns: u64,
    /// The kernel took the last byte; 0 without a complete response.
    pub(crate) last_byte_written_ns: u64,
    /// From the arrival to the time at which the model starts the response. The ruler's own error is
    /// (last_byte_written - arrive) - commanded.
    pub(crate) commanded_ns: u64,
    pub(crate) connection: u32,
    /// 0 if no head was sent.
    pub(crate) status: u32,
}

impl Entry {
    pub(crate) fn bytes(&self) -> [u8; ENTRY_BYTES] {
        let mut bytes = [0; ENTRY_BYTES];
        let words = [self.arrive_ns, self.begin_service_ns, self.last_byte_written_ns, self.commanded_ns];
        for (at, word) in words.into_iter().enumerate() {
            bytes[at * 8..at * 8 + 8].copy_from_slice(&word.to_le_bytes());
        }
        bytes[32..36].copy_from_slice(&self.connection.to_le_bytes());
        bytes[36..40].copy_from_slice(&self.status.to_le_bytes());
        bytes
    }
}

/// Position of a request in the log, and the epoch in which it is valid.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    index: usize,
    epoch: u32,
}

/// Counts since the start or the last `clear`.
#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) requests: u64,
    pub(crate) responses: u64,
    pub(crate) abandoned: u64,
    pub(crate) accepted: u64,
    pub(crate) over_limit: u64,
    pub(crate) accept_errors: u64,
    pub(crate) closed_by_peer: u64,
    pub(crate) closed_by_server: u64,
    pub(crate) resets_received: u64,
    pub(crate) bytes_in: u64,
    pub(crate) continues_sent: u64,
    pub(crate) expectations_refused: u64,
    pub(crate) malformed: u64,
    pub(crate) overflowed: u64,
    pub(crate) streams_opened: u64,
    /// After the number of events in their query.
    pub(crate) streams_ended: u64,
    pub(crate) streams_closed_by_peer: u64,
    pub(crate) streams_closed_by_server: u64,
    pub(crate) events_sent: u64,
    /// Not sent because the client did not read.
    pub(crate) events_skipped: u64,
    pub(crate) pages: pages::Counts,
    pub(crate) http2: http2::Counts,
    pub(crate) websockets: websocket::Counts,
    pub(crate) by_fault: [u64; FAULTS.len()],
}

pub(crate) struct Recorder {
    pub(crate) counters: Counters,
    pub(crate) by_status: Vec<u64>,
    pub(crate) by_path: HashMap<Box<[u8]>, u64>,
    pub(crate) other_paths: u64,
    pub(crate) log: Vec<Entry>,
    pub(crate) log_dropped: u64,
    log_max: u64,
    epoch: u32,
    pub(crate) last_request: Vec<u8>,
    pub(crate) last_request_is_cut: bool,
    pub(crate) kept: Kept,
}

impl Recorder {
    pub(crate) fn new(log_max: u64) -> Self {
        Recorder {
            counters: Counters::default(),
            by_status: vec![0; 1000],
            by_path: HashMap::new(),
            other_paths: 0,
            log: Vec::new(),
            log_dropped: 0,
            log_max,
            epoch: 0,
            last_request: Vec::new(),
            last_request_is_cut: false,
            kept: Kept::default(),
        }
    }

    /// Returns the number of `clear`s: what belongs to an earlier epoch is not part of the current counts.
    pub(crate) fn epoch(&self) -> u32 {
        self.epoch
    }

    /// Records a complete request.
    pub(crate) fn arrived(&mut self, path: &[u8], arrive_ns: u64, connection: u32) -> Mark {
        self.counters.requests += 1;
        if let Some(count) = self.by_path.get_mut(path) {
            *count += 1;
        } else if self.by_path.len() < PATHS_MOST {
            self.by_path.insert(path.into(), 1);
        } else {
            self.other_paths += 1;
        }
        let index = self.log.len();
        if (index as u64) < self.log_max {
            self.log.push(Entry { arrive_ns, connection, ..Entry::default() });
            Mark { index, epoch: self.epoch }
        } else {
            self.log_dropped += 1;
            Mark { index: usize::MAX, epoch: self.epoch }
        }
    }

    /// Returns false for a request that arrived before the last `clear`: it must not be counted.
    pub(crate) fn remembers(&self, mark: Mark) -> bool {
        mark.epoch == self.epoch
    }

    /// Returns the request's entry, unless it was dropped or cleared.
    pub(crate) fn entry(&mut self, mark: Mark) -> Option<&mut Entry> {
        if mark.epoch == self.epoch { self.log.get_mut(mark.index) } else { None }
    }

    /// Clears the counts and the log. Open connections, and requests in service or in the queue, are not affected.
    pub(crate) fn clear(&mut self) {
        self.counters = Counters::default();
        self.by_status.fill(0);
        self.by_path.clear();
        self.other_paths = 0;
        self.log.clear();
        self.log_dropped = 0;
        self.epoch = self.epoch.wrapping_add(1);
        self.last_request.clear();
        self.last_request_is_cut = false;
        self.kept.clear();
    }
}
