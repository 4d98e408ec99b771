//! `plimsoll agent`: waits for loads and sends this machine's part of them.

use super::child::{Generator, Own, is_load};
use super::spool::FileSpool;
use super::{as_agent, connected, doctor, files, keys, random_name};
use crate::exit::{Exit, Failure};
use crate::flags::agents::Agent as Flags;
use crate::interrupt::Interrupts;
use crate::say;
use plimsoll_cluster::Agent;
use plimsoll_cluster::agent::{Input, Output, Report};
use plimsoll_cluster::bus::{Bus, Change, Heard, Hub};
use plimsoll_cluster::clock::{EXCHANGES, Exchange, best};
use plimsoll_cluster::message::{self, CheckUp, ClockOffset, Identity, PROTOCOL, Refusal, Stage, Task};
use plimsoll_cluster::signature::{self, CoordinatorKey, Opened};
use plimsoll_cluster::subject;
use plimsoll_engine::clock::now_ns;
use plimsoll_engine::machine;
use plimsoll_plan::diag::Place;
use plimsoll_plan::{Diagnostic, Problem};
use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Time after which the state machine looks at its timers.
const LOOK: Duration = Duration::from_millis(50);
/// Wait for one answer about the time.
const CLOCK_WAIT: Duration = Duration::from_secs(1);
/// Answers about the time that may be lost before the rest is not asked for.
const LOST_MAX: usize = 3;
/// Wait for the coordinator after an interrupt, ns.
const FAREWELL_NS: u64 = 10_000_000_000;

/// Returns the labels of `NAME=VALUE,NAME=VALUE`.
fn labels(text: &str) -> Result<BTreeMap<String, String>, Failure> {
    let pair = |part: &str| {
        let pair = part.split_once('=').filter(|(name, value)| subject::is_name(name) && !value.is_empty());
        let pair = pair.map(|(name, value)| (name.to_owned(), value.to_owned()));
        pair.ok_or_else(|| {
            let message = format!("invalid label `{part}`: expected NAME=VALUE");
            let hint = "separate labels by commas, such as `--labels region=eu,zone=a`";
            Failure::from(Diagnostic::new("U011", Place::Flag("--labels".into()), message, hint))
        })
    };
    text.split(',').map(pair).collect()
}

/// Returns the name that the flags give, or that of the machine.
fn name(flags: &Flags) -> Result<String, Failure> {
    match &flags.name {
        Some(name) if subject::is_name(name) => Ok(name.clone()),
        Some(name) => {
            let message = format!("invalid name of an agent `{name}`");
            let hint = "use letters, digits, `-`, and `_`, at most 64";
            Err(Diagnostic::new("U011", Place::Flag("--name".into()), message, hint).into())
        }
        None => Ok(subject::name_of(&machine::host())),
    }
}

fn identity(name: String, labels: BTreeMap<String, String>) -> Result<Identity, Failure> {
    Ok(Identity {
        name,
        instance: random_name()?,
        protocol: PROTOCOL,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        host: machine::host(),
        cpus: machine::cpus(),
        open_files: machine::set_nofile(u64::MAX).soft,
        labels,
        turn: 0,
    })
}

/// Asks the coordinator of a run for its time, and returns the offset of its clock; `None` if it does not answer.
fn measured_clock(bus: &Bus, run: &str) -> Option<ClockOffset> {
    let subject = subject::clock(run);
    let exchange = |_| {
        let asked_ns = now_ns();
        let answer = bus.request(&subject, Vec::new(), CLOCK_WAIT).ok()?;
        let heard_ns = now_ns();
        let answer_ns = u64::from_le_bytes(answer.try_into().ok()?);
        Some(Exchange { asked_ns, answer_ns, heard_ns })
    };
    let (mut exchanges, mut lost) = (Vec::new(), 0);
    for number in 0..EXCHANGES {
        match exchange(number) {
            Some(one) => exchanges.push(one),
            None => lost += 1,
        }
        if lost == LOST_MAX {
            break;
        }
    }
    best(&exchanges)
}

/// What reaches the loop of an agent.
enum Happened {
    Heard(Heard),
    Step(Input),
    /// The process that this agent is a part of needs it no more.
    End,
}

/// `plimsoll agent`.
pub fn agent(flags: &Flags) -> Result<Exit, Failure> {
    let labels = flags.labels.as_deref().map_or(Ok(BTreeMap::new()), labels)?;
    let identity = identity(name(flags)?, labels)?;
    let key = flags.coordinator_key.as_deref().map(keys::coordinator).transpose()?;
    let interrupts = Interrupts::install()?;
    if flags.with_parent.is_some_and(|parent| !plimsoll_engine::signals::follow(parent)) {
        return Err(Failure::machine("the process that started this agent has ended", None));
    }
    let (bus, heard) = connected(&flags.access, &identity.name)?;
    let base = flags.dir.as_ref().map_or_else(std::env::temp_dir, PathBuf::from);
    if !flags.quiet {
        let of = if key.is_some() { "loads of its coordinator" } else { "loads" };
        say::talk(&format!("agent `{}` waits for {of} (Ctrl-C to end it)\n", identity.name));
    }
    let (mut here, happened) = Here::new(identity, bus, heard, &base);
    (here.allow, here.key, here.is_quiet) = (flags.allow.clone(), key, flags.quiet);
    here.run(&happened, &|| interrupts.happened());
    // Kubernetes starts an agent again that did not end by itself.
    Ok(match interrupts.exit(Exit::Pass) {
        Exit::Terminated => Exit::Terminated,
        _ => Exit::Pass,
    })
}

/// An agent as a thread of its coordinator's process. It ends with this value.
pub struct LocalAgent {
    to: Sender<Happened>,
    thread: Option<JoinHandle<()>>,
}

impl LocalAgent {
    /// Starts an agent that hears what is said in `hub`, keeps its files below `base`, and may load the hosts `allow`.
    ///
    /// # Errors
    /// Returns an error if the machine gives no thread.
    pub fn start(name: String, hub: &Hub, base: &Path, allow: &[String]) -> Result<LocalAgent, Failure> {
        let (sender, heard) = channel();
        let identity = identity(name, BTreeMap::new())?;
        let bus = Bus::join(hub, sender);
        let (mut here, happened) = Here::new(identity, bus, heard, base);
        (here.allow, here.is_quiet) = (allow.to_vec(), true);
        let to = here.to.clone();
        // An interrupt reaches it as an order of its coordinator.
        let body = move || here.run(&happened, &|| false);
        let thread = std::thread::Builder::new().name("agent".into()).spawn(body);
        let thread = thread.map_err(|e| Failure::machine(format!("cannot start an agent: {e}"), None))?;
        Ok(LocalAgent { to, thread: Some(thread) })
    }
}

impl Drop for LocalAgent {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.to.send(Happened::End);
        // Its panic has been printed.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// A running agent.
struct Here {
    agent: Agent<FileSpool>,
    bus: Bus,
    to: Sender<Happened>,
    folder: PathBuf,
    /// Public hosts that may be loaded.
    allow: Vec<String>,
    is_quiet: bool,
    /// The coordinator whose orders it accepts; without one, those of all.
    key: Option<CoordinatorKey>,
    generator: Option<Generator>,
    beat: String,
    identity: Identity,
    /// The last thing that the server refused, so that it is printed once.
    said: String,
    /// The last order that the agent refused, for the same reason.
    refusal: Option<Refusal>,
}

impl Here {
    /// Returns an agent that hears orders, with a new directory for its files below `base`.
    fn new(identity: Identity, bus: Bus, heard: Receiver<Heard>, base: &Path) -> (Here, Receiver<Happened>) {
        let (to, happened) = channel();
        let forward = to.clone();
        std::thread::spawn(move || heard.into_iter().try_for_each(|one| forward.send(Happened::Heard(one))));
        bus.subscribe(&subject::orders(&identity.name));
        bus.subscribe(subject::ROLL_CALL);
        bus.subscribe(subject::CHECK_UP);
        let here = Here {
            agent: Agent::new(identity.clone()),
            bus,
            to,
            folder: base.join(format!("plimsoll-agent-{}-{}", identity.name, identity.instance)),
            allow: Vec::new(),
            is_quiet: false,
            key: None,
            generator: None,
            beat: subject::beat(&identity.name),
            identity,
            said: String::new(),
            refusal: None,
        };
        (here, happened)
    }

    /// Works for coordinators until an interrupt or the end of the process that it is a part of.
    fn run(&mut self, happened: &Receiver<Happened>, is_interrupted: &dyn Fn() -> bool) {
        self.work(happened, is_interrupted);
        self.bus.close();
        // It may never have been created.
        let _ = std::fs::remove_dir_all(&self.folder);
    }

    fn work(&mut self, happened: &Receiver<Happened>, is_interrupted: &dyn Fn() -> bool) {
        let mut ending_ns = None;
        loop {
            let input = match happened.recv_timeout(LOOK) {
                Ok(Happened::Step(input)) => Some(input),
                Ok(Happened::Heard(Heard::Message(message))) if message.subject == subject::ROLL_CALL => {
                    Some(Input::RollCall)
                }
                Ok(Happened::Heard(Heard::Message(message))) if message.subject == subject::CHECK_UP => {
                    self.check_up(&message.payload);
                    None
                }
                Ok(Happened::Heard(Heard::Message(message))) => {
                    // An order of another version is not for this agent; its coordinator sees the version.
                    let name = &self.identity.name;
                    signature::open(&message.payload, name, self.key.as_ref()).map(|opened| match opened {
                        Opened::Accepted(order) => Input::Ordered(order),
                        Opened::Refused(order, why) => Input::Forged(order, Box::new(why)),
                    })
                }
                Ok(Happened::Heard(Heard::Change(change))) => {
                    self.changed(change);
                    None
                }
                Err(RecvTimeoutError::Timeout) => Some(Input::Tick),
                Ok(Happened::End) | Err(RecvTimeoutError::Disconnected) => return self.kill(),
            };
            if let Some(input) = input {
                let mut outputs = VecDeque::from(self.agent.step(now_ns(), input));
                while let Some(output) = outputs.pop_front() {
                    if let Some(input) = self.execute(output) {
                        outputs.extend(self.agent.step(now_ns(), input));
                    }
                }
            }
            if is_interrupted() {
                let since_ns = *ending_ns.get_or_insert_with(|| {
                    if let Some(generator) = &mut self.generator {
                        generator.line(r#"{"do":"stop"}"#);
                    }
                    now_ns()
                });
                // What is still to be sent is sent first.
                if self.agent.run().is_none() || now_ns().saturating_sub(since_ns) > FAREWELL_NS {
                    return self.kill();
                }
            }
        }
    }

    /// Ends the load generator, if there is one.
    fn kill(&mut self) {
        if let Some(generator) = self.generator.take() {
            generator.kill();
        }
    }

    fn changed(&mut self, change: Change) {
        let text = match change {
            Change::Connected => "connected to the NATS server".to_owned(),
            Change::Disconnected => "lost the NATS server; connecting again".to_owned(),
            Change::Refused(why) => format!("the NATS server refused: {why}"),
        };
        if text != self.said {
            if !self.is_quiet {
                say::talk(&format!("{text}\n"));
            }
            self.said = text;
        }
    }

    /// Does what the state machine wants; returns what follows at once.
    fn execute(&mut self, output: Output) -> Option<Input> {
        match output {
            Output::Beat(beat) => {
                if !self.is_quiet && beat.stage.is_over() {
                    self.tell_end(&beat.stage);
                }
                if beat.refusal.is_some() && self.refusal != beat.refusal {
                    self.refusal.clone_from(&beat.refusal);
                    let said = beat.refusal.iter().map(|refusal| &refusal.sentence);
                    said.for_each(|said| say::talk(&format!("refused an order: {said}\n")));
                }
                self.bus.publish(self.beat.clone(), message::encode(&beat));
            }
            Output::Envelope { bytes, .. } if bytes.len() > self.bus.max_payload() => {
                return Some(Input::TooLarge { bytes: bytes.len(), max_bytes: self.bus.max_payload() });
            }
            Output::Envelope { run, bytes } => {
                self.bus.publish(subject::envelopes(&self.identity.name, &run), bytes);
            }
            Output::Fetch { run, task } => self.fetch(run, *task),
            Output::MeasureClock { run } => self.measure_clock(run),
            Output::Start { run, task } => self.start(&run, &task),
            Output::Line(line) => {
                if let Some(generator) = &mut self.generator {
                    generator.line(&line);
                }
            }
            Output::Kill => self.kill(),
            Output::CleanUp { run } => {
                self.generator = None;
                // Files that cannot be deleted now are deleted with the directory.
                let _ = std::fs::remove_dir_all(self.folder.join(run));
                if !self.is_quiet {
                    say::talk("free\n");
                }
            }
        }
        None
    }

    fn tell_end(&mut self, stage: &Stage) {
        let text = match stage {
            Stage::Failed { sentence, .. } => format!("no load: {sentence}"),
            _ => "the load has ended".to_owned(),
        };
        if text != self.said {
            say::talk(&format!("{text}\n"));
            self.said = text;
        }
    }

    fn fetch(&mut self, run: String, task: Task) {
        if !self.is_quiet {
            say::talk(&format!("run {run}: part {} of {}\n", task.part, task.of));
        }
        self.said.clear();
        let (bus, to) = (self.bus.clone(), self.to.clone());
        let (root, cache) = (self.root(&run), self.folder.join("files"));
        std::thread::spawn(move || {
            let done = match files::fetch(&bus, &run, &task, &root, &cache) {
                Ok(()) => Input::FilesReady,
                Err(Problem { message, hint, .. }) => Input::FilesFailed { sentence: message, hint },
            };
            to.send(Happened::Step(done))
        });
    }

    fn measure_clock(&self, run: String) {
        let (bus, to) = (self.bus.clone(), self.to.clone());
        std::thread::spawn(move || {
            let clock = measured_clock(&bus, &run)?;
            to.send(Happened::Step(Input::ClockMeasured { run, clock })).ok()
        });
    }

    /// Checks this machine on a separate thread, so that a load does not wait.
    fn check_up(&self, question: &[u8]) {
        // A question of another version is not for this agent; its roll call shows the version.
        let Ok(CheckUp { id }) = message::decode(question) else { return };
        let (bus, identity, allow) = (self.bus.clone(), self.identity.clone(), self.allow.clone());
        let key = self.key.as_ref().map(CoordinatorKey::to_string);
        std::thread::spawn(move || {
            let clock = measured_clock(&bus, &id);
            let subject = subject::checked(&identity.name);
            bus.publish(subject, message::encode(&doctor::checked(id, identity, &allow, key, clock)));
        });
    }

    fn start(&mut self, run: &str, task: &Task) {
        let (reports, reported) = channel();
        let to = self.to.clone();
        std::thread::spawn(move || {
            reported.into_iter().try_for_each(|report| to.send(Happened::Step(Input::Reported(report))))
        });
        if !is_load(&task.words) {
            let said = "agents only send loads: the command line of the task does or writes something else";
            let exited = Report::Exited { code: 2, ran: false, said: said.to_owned() };
            // The loop reads this next.
            let _ = self.to.send(Happened::Step(Input::Reported(exited)));
            return;
        }
        let record = self.folder.join(run).join("part.plim");
        let own = Own { allow: &self.allow, name: as_agent(&self.identity) };
        // Started by the thread that lives as long as the agent: its end would end the load generator, too.
        match Generator::start(task, &own, &self.root(run), &record, reports) {
            Ok(generator) => self.generator = Some(generator),
            Err(e) => {
                let said = format!("cannot start the load generator: {e}");
                let exited = Report::Exited { code: 1, ran: false, said };
                // The loop reads this next.
                let _ = self.to.send(Happened::Step(Input::Reported(exited)));
            }
        }
    }

    fn root(&self, run: &str) -> PathBuf {
        Path::new(&self.folder).join(run).join("root")
    }
}
