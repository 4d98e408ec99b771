//! One load in this process, from the plan to the verdict, with its terminal, signals, and folders.

use super::agents::{self, LocalAgents};
use super::junit;
use super::page::{self, Wanted};
use super::report::questioned;
use crate::exit::{Exit, Failure};
use crate::flags::draft;
use crate::flags::load::MannerFlags;
use crate::interrupt::Interrupts;
use crate::part::{EventSender, PartTeam};
use crate::steer::{self, Who};
use crate::{home, kept, say, wall};
use plimsoll_analysis::summarise;
use plimsoll_analysis::summary::{Outcome, Summary};
use plimsoll_control::session::{
    self, AfterRunError, Alone, News, Orders, Ran, Reflected, Service, SessionHost, Team,
};
use plimsoll_control::{Options, RunController};
use plimsoll_output::terminal::Detail;
use plimsoll_output::{json, style, terminal};
use plimsoll_plan::code::Code;
use plimsoll_plan::diag::Place;
use plimsoll_plan::program::{Behavior, Phase};
use plimsoll_plan::{Diagnostic, Outline, Plan, Problem};
use plimsoll_record::RunRecord;
use plimsoll_record::event::Sink;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Compiles the users of a plan: its code, or else its script.
pub fn behavior(plan: &Plan) -> Result<Option<Arc<dyn Behavior>>, Problem> {
    match &plan.code {
        Some(code) => code.behavior(plan).map(Some),
        None => plimsoll_script::behavior(plan),
    }
}

/// Result of a load.
pub struct Measured {
    pub summary: Summary,
    pub record: RunRecord,
    pub run_file: PathBuf,
    /// Exit code of the command, from the verdict and any interrupt.
    pub exit: Exit,
    /// What only agents know: how their scripts ended the test.
    pub by_agents: ByAgents,
}

/// What the scripts of agents did to the run as a whole; empty for a load without agents.
#[derive(Debug, Clone, Default)]
pub struct ByAgents {
    /// Exit codes of k6 with which their load generators ended.
    pub exits: Vec<Exit>,
    /// The values of setup.
    pub setup: Option<Vec<u8>>,
    /// The samples of each agent that sent some, from their beginning.
    pub samples: Vec<Arc<File>>,
}

impl Measured {
    /// Returns whether an agent was lost, so that its share of the load is missing.
    pub fn has_lost_agents(&self) -> bool {
        let is_agent = |opening: &plimsoll_record::event::Opening| opening.environment.agent.is_some();
        self.record.generators.values().any(|one| is_agent(&one.opening) && one.ending.is_none())
    }
}

impl ByAgents {
    /// Returns the exit code of a test that a script has ended or declared failed.
    pub fn end(&self) -> Option<Exit> {
        [Exit::K6Aborted, Exit::K6Failed].into_iter().find(|exit| self.exits.contains(exit))
    }

    /// Returns the exit code of a phase that failed.
    pub fn phase(&self) -> Option<Exit> {
        [Exit::K6Exception, Exit::K6TeardownTimeout].into_iter().find(|exit| self.exits.contains(exit))
    }
}

/// Runs the load, prints the report, and returns the verdict's exit code.
pub fn command(plan: Plan, manner: &MannerFlags) -> Result<Exit, Failure> {
    let wanted = Wanted::of(&manner.page, manner.json.then_some("--json"))?;
    junit::refuse_taken(manner.junit.as_deref())?;
    let measured = measure(plan, manner, None)?;
    print(&measured, manner)?;
    let summary = &measured.summary;
    junit::of_run(manner.junit.as_deref(), summary)?;
    page::write_run(wanted.as_ref(), &measured.record, summary, Some(&measured.run_file))?;
    Ok(measured.by_agents.end().unwrap_or(measured.exit))
}

/// Prints the report of a load as the flags ask for it.
pub fn print(measured: &Measured, manner: &MannerFlags) -> Result<(), Failure> {
    // Its verdict is about one part; the coordinator reports on the whole.
    if manner.part_of_agent {
        return Ok(());
    }
    let wanted = Wanted::of(&manner.page, manner.json.then_some("--json"))?;
    let summary = &measured.summary;
    let is_page = wanted.as_ref().is_some_and(Wanted::is_result);
    if manner.json {
        say::result(&json::to_string(summary)?)?;
    } else if !manner.quiet && !is_page {
        let path = measured.run_file.display().to_string();
        let text = terminal::summary(
            summary,
            &say::look_of_results(manner.no_color),
            detail(manner.full),
            Some(&path),
        );
        say::result(&questioned(&text, summary, false, false))?;
    } else {
        tell_unless_passed(summary);
    }
    if manner.out.is_none() && !manner.json && !manner.quiet {
        kept::remind();
    }
    Ok(())
}

pub fn detail(is_full: bool) -> Detail {
    if is_full { Detail::Full } else { Detail::Screen }
}

/// Prints why a quiet run did not pass.
pub fn tell_unless_passed(summary: &Summary) {
    if summary.verdict.result != Outcome::Pass {
        say::talk(&format!("{}\n", summary.verdict.sentence));
    }
}

/// State that several loads of one command share.
pub struct Shared {
    pub interrupts: Interrupts,
    /// Answers by question, so that each host is asked about once.
    answers: RefCell<BTreeMap<String, String>>,
    /// Whether to print a line per second of each run if the live view cannot repaint.
    pub lines: bool,
    /// Whether the service has responded, so that no other run waits for it.
    pub is_ready: Cell<bool>,
    /// Agents in this process, started by the first load that needs them.
    pub local_agents: RefCell<LocalAgents>,
}

impl Shared {
    /// # Errors
    /// Returns an error if the signals cannot be taken over.
    pub fn new(lines: bool) -> Result<Self, Failure> {
        Ok(Self {
            interrupts: Interrupts::install()?,
            answers: RefCell::default(),
            lines,
            is_ready: Cell::new(false),
            local_agents: RefCell::default(),
        })
    }

    fn confirmed(&self, question: &str) -> String {
        if let Some(answer) = self.answers.borrow().get(question) {
            return answer.clone();
        }
        let answer = confirmed(question);
        self.answers.borrow_mut().insert(question.to_owned(), answer.clone());
        answer
    }
}

/// Runs the plan and returns its results; prints messages to stderr unless `manner` is quiet.
pub fn measure(plan: Plan, manner: &MannerFlags, shared: Option<&Shared>) -> Result<Measured, Failure> {
    agents::check(&manner.agents)?;
    if manner.agents.selection.is_some() {
        return by_agents(&plan, manner, shared);
    }
    if !manner.part_of_agent {
        agents::refuse_scopes(&plan.outline.thresholds)?;
        agents::refuse_monitors(&plan.watches)?;
    }
    let here = Here::new(manner, shared, true);
    let ran = here.run(&plan)?;
    let summary = summarise(&ran.record);
    let exit = match summary.verdict.result {
        Outcome::Interrupted => {
            here.interrupts().map_or(Exit::Interrupted, |all| all.exit(Exit::Interrupted))
        }
        outcome @ (Outcome::Pass | Outcome::Fail | Outcome::Inconclusive) => outcome.into(),
    };
    Ok(Measured {
        summary,
        record: ran.record,
        run_file: ran.run_file.unwrap_or_default(),
        exit,
        by_agents: ByAgents::default(),
    })
}

/// Runs the plan on agents.
fn by_agents(plan: &Plan, manner: &MannerFlags, shared: Option<&Shared>) -> Result<Measured, Failure> {
    let Some(again) = &manner.command else {
        let message = "this command cannot send its load from agents";
        let hint = "use `plimsoll URL`, `run`, `find`, `k6 run`, or `jmeter`";
        return Err(Diagnostic::new("U037", Place::Flag("--agents".into()), message, hint).into());
    };
    // The parent controls the load, and reads its result.
    if manner.with_parent.is_some_and(|parent| !plimsoll_engine::signals::follow(parent)) {
        return Err(Failure::machine("the process that started this run has ended", None));
    }
    // The agents read the same files, which are sent to them.
    if let Some(behavior) = behavior(plan).map_err(Failure::of)? {
        behavior.check_data()?;
    }
    let own;
    let shared = match shared {
        Some(shared) => shared,
        None => {
            own = Shared::new(true)?;
            &own
        }
    };
    let outline = &plan.outline;
    let label = if outline.has_target() { outline.host.as_str() } else { "script" };
    let file = home::new_run_file(manner.out.as_deref(), label, wall::now_unix_ns())?;
    agents::measure(again, plan, manner, &file, shared)
}

/// Asks a server for its gRPC schemas.
pub fn reflect(service: &Service<'_>, manner: &MannerFlags) -> Result<Reflected, Failure> {
    let here = Here::new(manner, None, false);
    Ok(session::reflect(service, &here.orders(), &here)?)
}

/// Runs the plan without a run file, to check the service between two runs.
pub fn glance(mut plan: Plan, manner: &MannerFlags, shared: &Shared) -> Result<Summary, Failure> {
    // The data of monitors would not be used.
    plan.watches.clear();
    plan.outline.monitors.clear();
    let here = Here::new(manner, Some(shared), false);
    Ok(summarise(&here.run(&plan)?.record))
}

/// Session host of this process: its terminal, signals, and folders.
struct Here<'a> {
    manner: &'a MannerFlags,
    /// Shared by several loads of one command.
    shared: Option<&'a Shared>,
    /// Whether the run is saved to a file.
    keeps: bool,
    /// Signals of a single load, once they are taken over.
    own: OnceCell<Interrupts>,
    /// The other load generators, if an agent started this one.
    team: OnceCell<PartTeam>,
    /// The users, if they are code.
    code: OnceCell<Arc<dyn Code>>,
}

impl<'a> Here<'a> {
    fn new(manner: &'a MannerFlags, shared: Option<&'a Shared>, keeps: bool) -> Self {
        let (own, team, code) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
        Here { manner, shared, keeps, own, team, code }
    }

    fn run(&self, plan: &Plan) -> Result<Ran, Failure> {
        let manner = self.manner;
        // The parent reads the run file; without it, the run would be load without a purpose.
        if manner.with_parent.is_some_and(|parent| !plimsoll_engine::signals::follow(parent)) {
            return Err(Failure::machine("the process that started this run has ended", None));
        }
        if let Some(code) = &plan.code {
            self.code.get_or_init(|| Arc::clone(code));
        }
        session::run(plan, behavior, self.orders(), self).map_err(|failure| self.cut(failure))
    }

    fn orders(&self) -> Orders<'_> {
        let manner = self.manner;
        let is_ready = self.shared.is_some_and(|shared| shared.is_ready.get());
        // Validated together with all flags before this.
        let wait_ns = manner.wait_for_ready.as_deref().and_then(|text| draft::wait(text).ok());
        Orders {
            version: env!("CARGO_PKG_VERSION"),
            allow: &manner.allow,
            may_ask: can_ask() && !manner.steered,
            wait_ns: wait_ns.filter(|_| !is_ready).unwrap_or(0),
            is_child: self.shared.is_none() && manner.with_parent.is_some(),
            loads_unreachable: manner.loads_unreachable,
            // The coordinator of agents judges the load as a whole.
            options: Options {
                breaker: !manner.no_circuit_breaker && !manner.part_of_agent,
                aborts: !manner.part_of_agent,
                stop_early_ok: manner.stop_early_ok,
            },
        }
    }

    /// Sets the exit code of the signal that interrupted the run.
    fn cut(&self, failure: Failure) -> Failure {
        match (failure, self.interrupts()) {
            (Failure::CutShort { sentence, .. }, Some(interrupts)) => interrupts.cut_short(sentence),
            (failure, _) => failure,
        }
    }

    fn interrupts(&self) -> Option<&Interrupts> {
        self.shared.map(|shared| &shared.interrupts).or(self.own.get())
    }
}

impl SessionHost for Here<'_> {
    type Failure = Failure;

    fn now_unix_ns(&self) -> u64 {
        wall::now_unix_ns()
    }

    fn date(&self, unix_ns: u64) -> String {
        wall::date(unix_ns)
    }

    fn origin(&self) -> Result<String, Failure> {
        Ok(wall::hex(&wall::random::<16>()?))
    }

    fn tell(&self, news: News<'_>) {
        if let (News::Ready, Some(shared)) = (news, self.shared) {
            shared.is_ready.set(true);
        }
        if self.manner.quiet {
            return;
        }
        match news {
            News::Permitted { host } => {
                say::talk(&format!("{host} allows this load in its ownership file\n"));
            }
            News::Waiting { target } => say::talk(&format!("waiting for {target}...\n")),
            News::Ready => {}
            News::Setup => say::talk("setup...\n"),
        }
    }

    fn trouble(&self, trouble: AfterRunError) {
        say::failure(&self.cut(trouble.into()), self.manner.no_color);
    }

    fn confirm(&self, question: &str) -> String {
        self.shared.map_or_else(|| confirmed(question), |shared| shared.confirmed(question))
    }

    fn take_signals(&self) -> Result<(), Failure> {
        if self.interrupts().is_none() {
            let taken = Interrupts::install()?;
            self.own.get_or_init(|| taken);
        }
        Ok(())
    }

    fn is_interrupted(&self) -> bool {
        self.interrupts().is_some_and(Interrupts::happened)
    }

    fn rest(&self, ns: u64) {
        match self.interrupts() {
            Some(interrupts) => wall::rest(ns, interrupts),
            None => std::thread::sleep(Duration::from_nanos(ns)),
        }
    }

    fn listen(&self, outline: &Outline) -> Result<(), Failure> {
        let who = if outline.share.of > 1 { Who::OneOfSeveral } else { Who::Alone };
        if let Some(interrupts) = self.interrupts().filter(|_| self.manner.part_of_agent) {
            self.team.get_or_init(|| PartTeam::new(outline.share.part, interrupts));
        }
        let interrupts = self.interrupts().filter(|_| self.manner.steered);
        interrupts.map_or(Ok(()), |interrupts| steer::listen(interrupts, who))
    }

    fn steer(&self, phase: Phase, controller: RunController) {
        let Some(interrupts) = self.interrupts() else { return };
        match phase {
            Phase::Setup => interrupts.steer(controller),
            Phase::Load => steer::begin(interrupts, controller),
            // The interrupt that ended the load must not stop the teardown; the next one may.
            Phase::Teardown => interrupts.steer_anew(controller),
        }
    }

    fn run_file(&self, host: &str, started_unix_ns: u64) -> Result<Option<PathBuf>, Failure> {
        let out = self.manner.out.as_deref();
        self.keeps.then(|| home::new_run_file(out, host, started_unix_ns)).transpose()
    }

    fn second_run_file(
        &self,
        taken: &Path,
        host: &str,
        started_unix_ns: u64,
        record: &RunRecord,
    ) -> Option<PathBuf> {
        home::second_run_file(taken, host, started_unix_ns, record)
    }

    fn team(&self) -> &dyn Team {
        self.team.get().map_or(&Alone, |team| team as &dyn Team)
    }

    fn view(&self) -> Option<Box<dyn Sink>> {
        if self.manner.part_of_agent {
            return Some(Box::new(EventSender::new(self.code.get().cloned())));
        }
        view(self.manner, self.shared.is_none_or(|shared| shared.lines))
    }
}

/// Returns the live view: repainted on a terminal, plain lines elsewhere, none when quiet.
pub fn view(manner: &MannerFlags, lines: bool) -> Option<Box<dyn Sink>> {
    if manner.quiet {
        return None;
    }
    let look = say::look_of_talk(manner.no_color);
    let stderr = std::io::stderr();
    if style::can_repaint(say::variable, stderr.is_terminal()) {
        Some(Box::new(terminal::Painter::new(stderr, look, say::width_of_talk)))
    } else {
        lines.then(|| Box::new(terminal::Plain::new(stderr)) as Box<dyn Sink>)
    }
}

/// Returns true if a person can read a question and type an answer.
fn can_ask() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Asks on stderr; the end of input counts as an answer.
fn confirmed(question: &str) -> String {
    say::talk(question);
    let mut line = String::new();
    match std::io::stdin().lock().read_line(&mut line) {
        Ok(_) => line,
        Err(_) => String::new(),
    }
}
