//! Monitor threads: one per monitor, all sampling on the same grid of seconds.

use super::probe::{Found, Moment, Probe};
use super::trust::Trust;
use plimsoll_engine::clock::now_ns;
use plimsoll_plan::watch::{WATCH_NS, Watch};
use plimsoll_record::event::{Fact, MissedSample, MonitorSample, RunEvent};
use std::collections::HashMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// All monitors of a run. Dropping it ends every thread; threads that hang are abandoned.
pub struct Monitors {
    threads: Vec<MonitorThread>,
    told: Receiver<RunEvent>,
}

struct MonitorThread {
    orders: Sender<Order>,
    thread: JoinHandle<()>,
}

enum Order {
    /// The load starts at this time of the engine's clock.
    Begin(u64),
    End,
}

/// Offset between the samples of two monitors, ns; most samples take a fraction of a millisecond.
const STAGGER_NS: u64 = 4_000_000;

/// How long the end of a run waits for samples in progress.
const FAREWELL: Duration = Duration::from_millis(1_000);

impl Monitors {
    /// Starts a thread per probe. Each takes its first sample immediately, so that rates cover the load from its
    /// start. The number of a probe is its place in the list. If a thread cannot be started, its samples are missed.
    pub fn start(probes: Vec<Box<dyn Probe>>) -> Monitors {
        let (tell, told) = channel();
        let mut threads = Vec::new();
        for (monitor, probe) in probes.into_iter().enumerate() {
            let (orders, inbox) = channel();
            let mut look = Look { monitor: monitor as u32, probe, tell: tell.clone(), facts: HashMap::new() };
            let body = move || look.live(&inbox);
            match std::thread::Builder::new().name(format!("monitor-{monitor}")).spawn(body) {
                Ok(thread) => threads.push(MonitorThread { orders, thread }),
                Err(refused) => {
                    let why = format!("cannot start its thread: {}", refused.to_string().to_lowercase());
                    // The receiver is still alive in this function.
                    let _ = tell.send(RunEvent::SampleMissed(MissedSample {
                        at_ns: 0,
                        monitor: monitor as u32,
                        why,
                    }));
                }
            }
        }
        Monitors { threads, told }
    }

    /// Starts the monitors of a plan.
    pub fn of(watches: &[Watch], trust: &Trust) -> Monitors {
        Monitors::start(watches.iter().map(|watch| super::probe(watch, trust)).collect())
    }

    /// Marks the start of the load on the engine's clock. Earlier samples are used for rates but not reported.
    pub fn begin(&self, begin_ns: u64) {
        for looker in &self.threads {
            // A thread that has ended has nothing to report.
            let _ = looker.orders.send(Order::Begin(begin_ns));
        }
    }

    /// Returns the events since the last call.
    pub fn take_events(&self) -> impl Iterator<Item = RunEvent> {
        self.told.try_iter()
    }

    /// Ends all monitors. Samples in progress have a moment to arrive; a monitor that hangs is abandoned.
    pub fn end(self) -> Vec<RunEvent> {
        for looker in &self.threads {
            let _ = looker.orders.send(Order::End);
        }
        let deadline_ns = now_ns() + FAREWELL.as_nanos() as u64;
        let mut rest = Vec::new();
        while self.threads.iter().any(|looker| !looker.thread.is_finished()) {
            let left = Duration::from_nanos(deadline_ns.saturating_sub(now_ns()));
            match self.told.recv_timeout(left) {
                Ok(event) => rest.push(event),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            }
        }
        rest.extend(self.told.try_iter());
        rest
    }
}

struct Look {
    monitor: u32,
    probe: Box<dyn Probe>,
    tell: Sender<RunEvent>,
    /// Facts already reported.
    facts: HashMap<String, String>,
}

impl Look {
    fn live(&mut self, orders: &Receiver<Order>) {
        self.look(None);
        let begin_ns = match orders.recv() {
            Ok(Order::Begin(begin_ns)) => begin_ns,
            _ => return,
        };
        // On each second, the first monitor samples on time and each other slightly before its predecessor. Threads
        // that all wake at once would wait for each other, and the host's run queue would count them. A sample missed
        // because one took too long is skipped.
        let ahead_ns = (u64::from(self.monitor) * STAGGER_NS).min(WATCH_NS / 4);
        let mut due_ns = begin_ns + WATCH_NS - ahead_ns;
        loop {
            let wait = Duration::from_nanos(due_ns.saturating_sub(now_ns()));
            match orders.recv_timeout(wait) {
                Err(RecvTimeoutError::Timeout) => {}
                Ok(_) | Err(RecvTimeoutError::Disconnected) => return,
            }
            self.look(Some(begin_ns));
            let late = now_ns().saturating_sub(due_ns) / WATCH_NS;
            due_ns += (late + 1) * WATCH_NS;
        }
    }

    fn look(&mut self, begin_ns: Option<u64>) {
        let at = Moment { now_ns: now_ns() };
        let at_ns = begin_ns.map_or(0, |begin| at.now_ns.saturating_sub(begin));
        match self.probe.look(at) {
            Ok(Found { readings, facts }) => {
                for (name, value) in facts {
                    if self.facts.get(&name) != Some(&value) {
                        self.facts.insert(name.clone(), value.clone());
                        self.say(RunEvent::Learnt(Fact { monitor: self.monitor, name, value }));
                    }
                }
                if begin_ns.is_some() {
                    self.say(RunEvent::MonitorSampled(MonitorSample {
                        at_ns,
                        monitor: self.monitor,
                        readings,
                    }));
                }
            }
            Err(trouble) => {
                self.say(RunEvent::SampleMissed(MissedSample {
                    at_ns,
                    monitor: self.monitor,
                    why: trouble.0,
                }));
            }
        }
    }

    fn say(&self, event: RunEvent) {
        // The run may have ended meanwhile.
        let _ = self.tell.send(event);
    }
}
