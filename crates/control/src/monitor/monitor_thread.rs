//! The threads: one for each monitor, all on the same grid of seconds.

use super::probe::{Found, Moment, Probe};
use super::trust::Trust;
use plimsoll_engine::clock::now_ns;
use plimsoll_plan::watch::{WATCH_NS, Watch};
use plimsoll_record::event::{Fact, MissedSample, MonitorSample, RunEvent};
use std::collections::HashMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// All monitors of a run. Dropping it lets every thread go; those that hang end by themselves.
pub struct Monitors {
    threads: Vec<MonitorThread>,
    told: Receiver<RunEvent>,
}

struct MonitorThread {
    orders: Sender<Order>,
    thread: JoinHandle<()>,
}

enum Order {
    /// The load begins at this instant of the engine's clock.
    Begin(u64),
    End,
}

/// Between the looks of two monitors, ns: most take a fraction of a millisecond.
const STAGGER_NS: u64 = 4_000_000;

/// How long the end of a run waits for samples that are under way.
const FAREWELL: Duration = Duration::from_millis(1_000);

impl Monitors {
    /// Starts a thread for each probe. Each looks for the first time at once, so that rates begin with the load.
    /// The number of a probe is its place in the list. One for which the kernel has no thread has a lapse.
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
                    let why = format!("no thread for it: {}", refused.to_string().to_lowercase());
                    // The receiver stands beside us.
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

    /// The probes of a plan's monitors.
    pub fn of(watches: &[Watch], trust: &Trust) -> Monitors {
        Monitors::start(watches.iter().map(|watch| super::probe(watch, trust)).collect())
    }

    /// Says when the load begins, on the engine's clock. What was seen before is kept for the rates, and not told.
    pub fn begin(&self, begin_ns: u64) {
        for looker in &self.threads {
            // A thread that has ended has nothing to tell.
            let _ = looker.orders.send(Order::Begin(begin_ns));
        }
    }

    /// What was told since the last call.
    pub fn take_events(&self) -> impl Iterator<Item = RunEvent> {
        self.told.try_iter()
    }

    /// Ends all. Samples that are under way have a moment to arrive; a monitor that hangs is left behind.
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
    /// Told already.
    facts: HashMap<String, String>,
}

impl Look {
    fn live(&mut self, orders: &Receiver<Order>) {
        self.look(None);
        let begin_ns = match orders.recv() {
            Ok(Order::Begin(begin_ns)) => begin_ns,
            _ => return,
        };
        // At each edge of a second, the first monitor on the instant and each other a little before the one in front
        // of it: threads that all wake at once would wait for each other, and the host's run queue would count them.
        // A look that was missed because one took long is left out, never made up for.
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
        // Nobody listens any more when the run has ended meanwhile.
        let _ = self.tell.send(event);
    }
}
