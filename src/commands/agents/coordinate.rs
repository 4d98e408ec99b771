//! The coordinator of a load with `--agents`: gives each agent its part, follows the load, and merges the records.

mod control;
mod events;
mod merged;

use super::files::Library;
use super::journal::{self, Entry, Journal, Past};
use super::monitors::{self, OwnMonitors};
use super::options::AgentOptions;
use super::part_file::{self, PartFile};
use super::{connected, keys, local, needs, random_name, roll_call, scopes, task};
use crate::commands::campaign::Again;
use crate::commands::load::{ByAgents, Measured, Shared, view};
use crate::exit::{Exit, Failure};
use crate::flags::load::MannerFlags;
use crate::{home, say, steer, wall};
use events::unreadable;
use plimsoll_cluster::Coordinator;
use plimsoll_cluster::bus::{Bus, Change, Heard};
use plimsoll_cluster::bytes::bytes_of;
use plimsoll_cluster::coordinator::{Done, Input, News, Output};
use plimsoll_cluster::message::{self, Identity};
use plimsoll_cluster::roster::Selection;
use plimsoll_cluster::signature::SigningKey;
use plimsoll_cluster::subject;
use plimsoll_cluster::whole::Whole;
use plimsoll_engine::clock::now_ns;
use plimsoll_experiment::folder::{AGENTS, WHOLE};
use plimsoll_plan::diag::Place;
use plimsoll_plan::phrase::{counted, duration_ns};
use plimsoll_plan::{Diagnostic, Outline, Plan};
use plimsoll_record::event::{Note, NoteKind, Sink, StoppedBy};
use plimsoll_record::run_file::Writer;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// Time after which the state machine looks at its timers.
const LOOK: Duration = Duration::from_millis(20);

/// Measures one load that agents send, into the run file `file`.
///
/// # Errors
/// Returns an error if there are not enough agents, or if one of them has no load.
pub fn measure(
    again: &Again,
    plan: &Plan,
    manner: &MannerFlags,
    file: &Path,
    shared: &Shared,
) -> Result<Measured, Failure> {
    let outline = &plan.outline;
    let Some(asked) = AgentOptions::of(&manner.agents)? else {
        return Err(Failure::machine("no agents were named", None));
    };
    needs::check_rebalance(outline, asked.on_loss)?;
    needs::check_written_files(plan)?;
    if outline.share.of > 1 {
        let message = "the agents share the load, but this load is already a shard";
        return Err(Diagnostic::new("U037", Place::Flag("--shard".into()), message, "omit it").into());
    }
    home::refuse_taken(file)?;
    let run = random_name()?;
    let own = manner.agents.signing_key.as_deref().map(keys::signing).transpose()?;
    let signer = own.as_ref();
    let (bus, heard) = match &asked.selection {
        Selection::Local(count) => local::connected(*count, manner, shared)?,
        _ => connected(&manner.agents.access, &format!("coordinator-{run}"))?,
    };
    bus.subscribe(subject::BEATS);
    let folder = file.with_extension(AGENTS);
    // Its agents accept no other key.
    let public = signer.map(SigningKey::public);
    let mut here = Here {
        asked,
        manner,
        outline,
        shared,
        run,
        bus,
        heard,
        library: Library::of_noted()?,
        folder,
        parts: Vec::new(),
        begin: None,
        whole: None,
        view: None,
        has_opened: false,
        whole_file: None,
        lines: None,
        stopped_by: None,
        by_agents: ByAgents::default(),
        monitors: None,
        journal: None,
        fingerprint: journal::fingerprint(task::words(again, outline).iter().chain(&public)),
        signer,
    };
    let interrupts = &shared.interrupts;
    if manner.steered {
        steer::listen(interrupts, steer::Who::Alone)?;
        let (sender, lines) = channel();
        interrupts.control(Some(sender));
        here.lines = Some(lines);
    }
    let ended = here.measure(again, plan, file);
    interrupts.control(None);
    here.bus.close();
    // The merged file has everything; without it, the parts are what is left.
    if ended.is_ok() && here.folder.exists() {
        std::fs::remove_dir_all(&here.folder).map_err(|e| {
            Failure::machine(format!("cannot delete directory `{}`: {e}", here.folder.display()), None)
        })?;
    }
    ended
}

/// A load in progress.
struct Here<'a> {
    asked: AgentOptions,
    manner: &'a MannerFlags,
    outline: &'a Outline,
    shared: &'a Shared,
    run: String,
    bus: Bus,
    heard: Receiver<Heard>,
    library: Library,
    /// Directory of the run files of the parts.
    folder: PathBuf,
    parts: Vec<PartFile>,
    /// The common start: on the coordinator's clock and since 1970, ns.
    begin: Option<(u64, u64)>,
    whole: Option<Whole>,
    view: Option<Box<dyn Sink>>,
    has_opened: bool,
    /// The same for live views of other processes.
    whole_file: Option<Writer>,
    /// Commands from the parent process, if it controls the load.
    lines: Option<Receiver<String>>,
    /// Why the coordinator stopped the load, if it did.
    stopped_by: Option<StoppedBy>,
    by_agents: ByAgents,
    monitors: Option<OwnMonitors>,
    journal: Option<Journal>,
    /// What two starts of this load have in common.
    fingerprint: String,
    /// The key of its orders.
    signer: Option<&'a SigningKey>,
}

impl Here<'_> {
    fn measure(&mut self, again: &Again, plan: &Plan, file: &Path) -> Result<Measured, Failure> {
        let past = Past::found(&self.folder, &self.fingerprint, self.is_local())?;
        let agents = match &past {
            // Its name selects all messages of the load that had begun.
            Some(past) => {
                self.run.clone_from(&past.run);
                past.agents.clone()
            }
            None => roll_call::gathered(&self.bus, &self.heard, &self.asked, &self.shared.interrupts)?,
        };
        monitors::check(&plan.watches, &agents)?;
        scopes::check(&self.outline.thresholds, &agents)?;
        let agents = needs::with_users(self.outline, agents, |said| self.tell(said));
        needs::check_open_files(self.outline, &agents)?;
        let of = agents.len() as u32;
        needs::check_users(self.outline, of)?;
        // Several runs of one command have a line each at their end.
        if self.shared.lines {
            self.tell(&format!("run {} on {}\n", self.run, counted(u64::from(of), "agent")));
        }
        let tasks = task::tasks(again, plan, agents, &self.library)?;
        std::fs::create_dir_all(&self.folder).map_err(|e| {
            Failure::machine(format!("cannot create directory `{}`: {e}", self.folder.display()), None)
        })?;
        part_file::clear(&self.folder.join(WHOLE))?;
        for (at, (identity, _)) in tasks.iter().enumerate() {
            let path = self.folder.join(format!("{}.plim", at + 1));
            self.parts.push(PartFile::new(identity.clone(), path)?);
        }
        let identities: Vec<Identity> = tasks.iter().map(|(identity, _)| identity.clone()).collect();
        self.whole = Some(Whole::new(self.outline, tasks.len(), !self.manner.no_circuit_breaker));
        self.view = view(self.manner, self.shared.lines);
        self.monitors = Some(OwnMonitors::start(plan));
        self.bus.subscribe(&subject::all_envelopes(&self.run));
        self.bus.subscribe(&subject::clock(&self.run));
        self.bus.subscribe(&subject::files(&self.run));
        let (on_loss, now) = (self.asked.on_loss, now_ns());
        let mut coordinator = match past {
            None => {
                let journal = Journal::create(&self.folder, &self.run, &self.fingerprint, &identities)?;
                self.journal = Some(journal);
                let coordinator = Coordinator::new(&self.run, tasks, on_loss, now);
                if self.is_local() { coordinator.local() } else { coordinator }
            }
            Some(past) => {
                let mut coordinator = Coordinator::resumed(&self.run, tasks, on_loss, now, past.begin_ns);
                self.continue_from(past, &mut coordinator)?;
                coordinator
            }
        };
        let done = self.lead(&mut coordinator);
        if done.is_err() {
            // Without a coordinator, the agents would continue to load for nothing.
            self.release_all(&coordinator);
        }
        // Clears the live view before anything else is printed.
        self.view = None;
        if let Some(file) = self.whole_file.take() {
            // The merged file has everything.
            drop(file.finish());
        }
        match done? {
            Done::Ran => self.merged(file),
            Done::Stopped => Err(self.shared.interrupts.cut_short("interrupted before the load")),
            Done::Failed(failed) => {
                let name = &self.parts[failed.part].identity.name;
                let sentence = format!("agent `{name}`: {}", failed.sentence);
                let failure = Failure::of_agent(sentence, failed.hint, failed.exit);
                // Nothing was measured.
                let _ = std::fs::remove_dir_all(&self.folder);
                // The same interrupt may have stopped the service as well.
                Err(self.shared.interrupts.instead_of(failure))
            }
        }
    }

    fn tell(&self, text: &str) {
        if !self.manner.quiet {
            say::talk(text);
        }
    }

    /// Leads the agents through the run.
    fn lead(&mut self, coordinator: &mut Coordinator) -> Result<Done, Failure> {
        let mut is_stopped = false;
        let mut is_connected = true;
        loop {
            let input = match self.heard.recv_timeout(LOOK) {
                Ok(Heard::Message(message)) => self.input_of(message),
                Ok(Heard::Change(change)) => {
                    self.changed(&change);
                    is_connected = match change {
                        Change::Connected => true,
                        Change::Disconnected => false,
                        Change::Refused(_) => is_connected,
                    };
                    (change == Change::Connected).then_some(Input::Reconnected)
                }
                // Without a connection, silence says nothing about the agents.
                Err(RecvTimeoutError::Timeout) if !is_connected => Some(Input::Reconnected),
                Err(RecvTimeoutError::Timeout) => Some(Input::Tick),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Failure::machine("the connection to the NATS server has ended", None));
                }
            };
            if let Some(monitors) = &mut self.monitors {
                monitors.look();
            }
            let lines: Vec<String> = self.lines.iter().flat_map(Receiver::try_iter).collect();
            let controlled: Vec<Input> = lines.into_iter().filter_map(|line| self.controlled(line)).collect();
            if let (Some(Input::Envelope(bytes)), true) = (&input, self.journal.is_some()) {
                // Before the receipt, after which the agent forgets it.
                self.journal(&Entry::Envelope(bytes.clone()));
            }
            let mut inputs: Vec<Input> = input.into_iter().collect();
            // The last one is taken first.
            inputs.extend(controlled.into_iter().rev());
            if self.shared.interrupts.happened() && !std::mem::replace(&mut is_stopped, true) {
                inputs.push(Input::Stop);
            }
            self.steps(coordinator, inputs)?;
            if let Some(done) = coordinator.done() {
                return Ok(done);
            }
        }
    }

    /// Steps the state machine with inputs, and with what follows from them.
    fn steps(&mut self, coordinator: &mut Coordinator, mut inputs: Vec<Input>) -> Result<(), Failure> {
        while let Some(input) = inputs.pop() {
            let outputs = coordinator.step(now_ns(), input).map_err(unreadable)?;
            for output in outputs {
                inputs.extend(self.execute(output)?);
            }
        }
        Ok(())
    }

    /// Takes what a coordinator that was killed had, and continues its journal.
    fn continue_from(&mut self, mut past: Past, coordinator: &mut Coordinator) -> Result<(), Failure> {
        self.tell("a coordinator of this load was interrupted; continuing\n");
        self.bus.publish(subject::ROLL_CALL.into(), Vec::new());
        while let Some(entry) = past.next_entry()? {
            match entry {
                Entry::Envelope(bytes) => self.steps(coordinator, vec![Input::Envelope(bytes)])?,
                Entry::Begin(at_ns, unix_ns) => self.begins(at_ns, unix_ns),
                Entry::Begun(part, late_ns, bound_ns) => {
                    let inputs = self.begun(part, late_ns, bound_ns)?;
                    self.steps(coordinator, inputs)?;
                }
            }
        }
        self.journal = Some(past.journal());
        Ok(())
    }

    fn is_local(&self) -> bool {
        matches!(self.asked.selection, Selection::Local(_))
    }

    fn begins(&mut self, at_ns: u64, unix_ns: u64) {
        self.begin = Some((at_ns, unix_ns));
        if let Some(monitors) = &self.monitors {
            monitors.begin(at_ns);
        }
    }

    /// The load of an agent has begun.
    fn begun(&mut self, part: usize, late_ns: u64, bound_ns: u64) -> Result<Vec<Input>, Failure> {
        let Some(here) = self.parts.get_mut(part) else { return Ok(Vec::new()) };
        if here.begun.replace((late_ns, bound_ns)).is_none() && late_ns > self.asked.skew_ns {
            self.note(part, format!("began its load {} after the others", duration_ns(late_ns)));
        }
        let mut inputs = Vec::new();
        for output in std::mem::take(&mut self.parts[part].early) {
            inputs.extend(self.execute(output)?);
        }
        Ok(inputs)
    }

    /// Adds to the journal. The load does not depend on it: without a journal, it only cannot be continued.
    fn journal(&mut self, entry: &Entry) {
        let Some(Err(failure)) = self.journal.as_mut().map(|journal| journal.write(entry)) else { return };
        self.tell(&format!("{}; if this command is killed, the load cannot continue\n", failure.sentence()));
        if let Some(journal) = self.journal.take() {
            journal.delete();
        }
    }

    /// Returns what a message means for the run; answers questions about the time and files.
    fn input_of(&self, message: plimsoll_cluster::bus::Message) -> Option<Input> {
        let subject = message.subject.as_str();
        if subject == subject::clock(&self.run) {
            self.bus.publish(message.reply?, now_ns().to_le_bytes().to_vec());
            return None;
        }
        if subject == subject::files(&self.run) {
            let question = message::decode(&message.payload).ok()?;
            self.bus.publish(message.reply?, self.library.part(&question));
            return None;
        }
        if subject.ends_with(".beat") {
            return message::decode(&message.payload).ok().map(|beat| Input::Beat(Box::new(beat)));
        }
        Some(Input::Envelope(message.payload))
    }

    fn changed(&self, change: &Change) {
        match change {
            Change::Connected => {}
            Change::Disconnected => self.tell("lost the NATS server; connecting again\n"),
            Change::Refused(why) => self.tell(&format!("the NATS server refused: {why}\n")),
        }
    }

    fn execute(&mut self, output: Output) -> Result<Vec<Input>, Failure> {
        match output {
            Output::Order { agent, order } => {
                self.order(&agent, &order)?;
                Ok(Vec::new())
            }
            Output::Event { part, event } => self.event(part, event),
            Output::Samples { part, piece } => self.parts[part].keep_samples(&piece).map(|()| Vec::new()),
            Output::Ticked { part, tick } => self.tick(part, tick),
            Output::News(news) => self.news(news),
        }
    }

    fn news(&mut self, news: News) -> Result<Vec<Input>, Failure> {
        match news {
            News::Prepared { setup } => {
                self.by_agents.setup = setup.and_then(|text| bytes_of(&text)).filter(|own| !own.is_empty());
            }
            News::Begins { at_ns } => {
                let unix_ns = wall::now_unix_ns() + at_ns.saturating_sub(now_ns());
                self.journal(&Entry::Begin(at_ns, unix_ns));
                self.begins(at_ns, unix_ns);
            }
            News::Begun { part, late_ns, bound_ns } => {
                self.journal(&Entry::Begun(part, late_ns, bound_ns));
                return self.begun(part, late_ns, bound_ns);
            }
            News::EndedTest { part } => {
                self.note(part, "has ended the test".into());
                // As for a load without agents: its users have ended.
                self.stopped_by = Some(StoppedBy::Retired);
            }
            News::Refused { part, refusal } => {
                self.note(part, format!("refused an order of run {}: {}", refusal.run, refusal.sentence));
            }
            News::Silent { part } => self.note(part, "has not been heard for 3 s".into()),
            News::Lost { part } => {
                self.note(part, "is lost: not heard for 10 s".into());
                let effect = self.whole.as_mut().map(|whole| whole.lose(part)).unwrap_or_default();
                return Ok(self.affected(effect));
            }
            News::Back { part } => self.note(part, "is heard again".into()),
            News::Failed { part, sentence, .. } => {
                // Before the load, this is the error of the command.
                if self.begin.is_some() {
                    self.note(part, format!("has no complete load: {sentence}"));
                }
            }
            News::Finished { part, exit, said } => {
                let known = Exit::ALL.iter().find(|known| i32::from(known.code()) == exit);
                self.by_agents.exits.extend(known);
                for line in said.lines().filter(|line| !line.trim().is_empty()) {
                    self.tell(&format!("agent `{}`: {line}\n", self.parts[part].identity.name));
                }
                self.parts[part].said = said;
            }
        }
        Ok(Vec::new())
    }

    /// Says something about an agent now, and in the timeline of its part.
    fn note(&mut self, part: usize, text: String) {
        let name = self.parts[part].identity.name.clone();
        self.tell(&format!("agent `{name}` {text}\n"));
        let at_ns = self.begin.map_or(0, |(begin_ns, _)| now_ns().saturating_sub(begin_ns));
        let note = Note { at_ns, kind: NoteKind::Control, text: format!("agent `{name}` {text}") };
        self.parts[part].notes.push(note);
    }
}
