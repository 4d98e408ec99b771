//! Events of a run as bytes, without loss: the record that a coordinator gathers from them equals the agent's own.
//!
//! An event is one byte for its kind and its body: the sparse encoding of an interval for a tick, JSON for everything
//! else.

use plimsoll_record::event::{RunEvent, SeriesOpened, Tick, WorkerTimes};
use plimsoll_record::record::Opened;
use plimsoll_stats::interval::Interval;
use plimsoll_stats::{Error, varint};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;

const OPENED: u8 = 1;
const SERIES_OPENED: u8 = 2;
const ORIGIN_OPENED: u8 = 3;
const TICKED: u8 = 4;
const NOTED: u8 = 5;
const FAILURE_RECORDED: u8 = 6;
const MONITOR_SAMPLED: u8 = 7;
const LEARNT: u8 = 8;
const SAMPLE_MISSED: u8 = 9;
const ENDED: u8 = 10;
/// Not an event of the record: samples for a file of the coordinator.
const SAMPLES: u8 = 11;

/// More workers than any machine has.
const WORKERS_MAX: u64 = 65_536;

/// Returns the bytes of an event.
pub fn encode(event: &RunEvent) -> Vec<u8> {
    match event {
        RunEvent::Opened(opening) => json(OPENED, &**opening),
        RunEvent::SeriesOpened(opened) => json(SERIES_OPENED, &(opened.series, &*opened.key)),
        RunEvent::OriginOpened(found) => json(ORIGIN_OPENED, found),
        RunEvent::Ticked(tick) => {
            let mut out = vec![TICKED];
            tick.interval.encode(&mut out);
            varint::put(&mut out, tick.pulses.len() as u128);
            for pulse in &tick.pulses {
                let WorkerTimes { wall_ns, busy_ns, busy_poll_ns, idle_ns, cpu_wait_ns } = *pulse;
                for ns in [wall_ns, busy_ns, busy_poll_ns, idle_ns, cpu_wait_ns] {
                    varint::put(&mut out, ns.into());
                }
            }
            out
        }
        RunEvent::Noted(note) => json(NOTED, note),
        RunEvent::FailureRecorded(sample) => json(FAILURE_RECORDED, sample),
        RunEvent::MonitorSampled(sample) => json(MONITOR_SAMPLED, sample),
        RunEvent::Learnt(fact) => json(LEARNT, fact),
        RunEvent::SampleMissed(missed) => json(SAMPLE_MISSED, missed),
        RunEvent::Ended(ending) => json(ENDED, ending),
    }
}

/// Returns the bytes of a piece of an agent's samples.
pub fn encode_samples(piece: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(piece.len() + 1);
    out.push(SAMPLES);
    out.extend(piece);
    out
}

/// Returns a piece of an agent's samples, or `None` for an event.
pub fn samples_in(bytes: &[u8]) -> Option<&[u8]> {
    bytes.split_first().and_then(|(kind, piece)| (*kind == SAMPLES).then_some(piece))
}

fn json<T: Serialize>(kind: u8, body: &T) -> Vec<u8> {
    let mut out = vec![kind];
    // Only maps with keys that are not strings, or a failing writer, could make this fail.
    let written = serde_json::to_writer(&mut out, body);
    debug_assert!(written.is_ok());
    out
}

/// Decoder of one run's events, in order.
#[derive(Debug, Default)]
pub struct Decoder {
    /// Series that were opened so far.
    opened: Vec<Opened>,
    /// The same for ticks, as of the last tick.
    shared: Arc<[Opened]>,
}

impl Decoder {
    /// Returns the next event.
    ///
    /// # Errors
    /// Returns an error if the bytes are not an event of this version.
    pub fn decode(&mut self, bytes: &[u8]) -> Result<RunEvent, Error> {
        let (kind, body) = bytes.split_first().ok_or(Error::Truncated)?;
        Ok(match *kind {
            OPENED => RunEvent::Opened(Arc::new(parsed(body)?)),
            SERIES_OPENED => {
                let (series, key) = parsed(body)?;
                let key = Arc::new(key);
                self.opened.push(Opened::new(series, Arc::clone(&key)));
                RunEvent::SeriesOpened(SeriesOpened { series, key })
            }
            ORIGIN_OPENED => RunEvent::OriginOpened(parsed(body)?),
            TICKED => RunEvent::Ticked(self.tick(body)?),
            NOTED => RunEvent::Noted(parsed(body)?),
            FAILURE_RECORDED => RunEvent::FailureRecorded(parsed(body)?),
            MONITOR_SAMPLED => RunEvent::MonitorSampled(parsed(body)?),
            LEARNT => RunEvent::Learnt(parsed(body)?),
            SAMPLE_MISSED => RunEvent::SampleMissed(parsed(body)?),
            ENDED => RunEvent::Ended(parsed(body)?),
            _ => return Err(Error::Malformed { what: "an unknown kind of event" }),
        })
    }

    fn tick(&mut self, mut body: &[u8]) -> Result<Tick, Error> {
        let interval = Interval::decode(&mut body)?;
        let workers = varint::take_u64(&mut body)?;
        if workers > WORKERS_MAX {
            return Err(Error::Malformed { what: "a tick of too many workers" });
        }
        let mut pulses = Vec::new();
        for _ in 0..workers {
            let mut next = || varint::take_u64(&mut body);
            pulses.push(WorkerTimes {
                wall_ns: next()?,
                busy_ns: next()?,
                busy_poll_ns: next()?,
                idle_ns: next()?,
                cpu_wait_ns: next()?,
            });
        }
        if self.shared.len() < self.opened.len() {
            self.shared = self.opened.clone().into();
        }
        match body.is_empty() {
            true => Ok(Tick { interval: Arc::new(interval), pulses, opened: Arc::clone(&self.shared) }),
            false => Err(Error::Malformed { what: "bytes after a tick" }),
        }
    }
}

fn parsed<T: DeserializeOwned>(body: &[u8]) -> Result<T, Error> {
    serde_json::from_slice(body).map_err(|_| Error::Malformed { what: "the JSON of an event" })
}
