//! One load, from the plan to the verdict: everything that can be known to be wrong is said before anything
//! is sent.

use super::page::{self, Wanted};
use super::ready::Patience;
use super::report::questioned;
use super::{junit, ready};
use crate::exit::{Exit, Failure};
use crate::flags::load::MannerFlags;
use crate::interrupt::Interrupts;
use crate::steer::{self, Who};
use crate::{home, kept, say, wall};
use plimsoll_analysis::summarise;
use plimsoll_analysis::summary::{Outcome, Summary};
use plimsoll_control::permission::{Asking, Granted, fetch_proof, permit, permit_watching};
use plimsoll_control::{Aside, Options, Resolved, environment, place};
use plimsoll_engine::Scene;
use plimsoll_engine::link::tls::Setup;
use plimsoll_output::terminal;
use plimsoll_output::{json, style};
use plimsoll_plan::{Plan, Target};
use plimsoll_record::RunRecord;
use plimsoll_record::event::{Opening, Sink};
use plimsoll_record::record::Gatherer;
use plimsoll_record::run_file::{self, Finished, RunFile};
use plimsoll_script::program::{Phase, Stage};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io::{BufRead, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a load left behind.
pub struct Measured {
    pub summary: Summary,
    pub record: RunRecord,
    pub run_file: PathBuf,
    /// How the command ends, by the verdict and by what cut it short.
    pub exit: Exit,
}

/// Loads, prints and judges.
pub fn command(plan: Plan, manner: &MannerFlags) -> Result<Exit, Failure> {
    let wanted = Wanted::of(&manner.page, manner.json.then_some("--json"))?;
    junit::refuse_taken(manner.junit.as_deref())?;
    let measured = measure(plan, manner, None)?;
    let summary = &measured.summary;
    let is_page = wanted.as_ref().is_some_and(Wanted::is_result);
    if manner.json {
        say::result(&json::to_string(summary)?)?;
    } else if !manner.quiet && !is_page {
        let path = measured.run_file.display().to_string();
        let text = terminal::summary(summary, &say::look_of_results(manner.no_color), Some(&path));
        say::result(&questioned(&text, summary, false, false))?;
    } else {
        tell_unless_passed(summary);
    }
    if manner.out.is_none() && !manner.json && !manner.quiet {
        kept::remind();
    }
    junit::of_run(manner.junit.as_deref(), summary)?;
    page::write_run(wanted.as_ref(), &measured.record, summary, Some(&measured.run_file))?;
    Ok(measured.exit)
}

/// All that a quiet command says: why the run did not pass.
pub fn tell_unless_passed(summary: &Summary) {
    if summary.verdict.result != Outcome::Pass {
        say::talk(&format!("{}\n", summary.verdict.sentence));
    }
}

/// What several loads of one command have in common.
pub struct Shared {
    pub interrupts: Interrupts,
    /// Questions that were answered: nobody is asked twice for the same host.
    answers: RefCell<BTreeMap<String, String>>,
    /// A line for each second of each run, where the view cannot be repainted.
    pub lines: bool,
    /// The service answered: no other run waits for it.
    pub is_ready: Cell<bool>,
}

impl Shared {
    /// # Errors
    /// When the kernel refuses to hand over the signals.
    pub fn new(lines: bool) -> Result<Self, Failure> {
        Ok(Self {
            interrupts: Interrupts::install()?,
            answers: RefCell::default(),
            lines,
            is_ready: Cell::new(false),
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

/// Runs the plan and returns its summary; talks on stderr unless the manner is quiet.
pub fn measure(plan: Plan, manner: &MannerFlags, shared: Option<&Shared>) -> Result<Measured, Failure> {
    let (record, run_file, interrupts) = run_once(plan, manner, shared, true)?;
    let summary = summarise(&record);
    let exit = match summary.verdict.result {
        Outcome::Interrupted => interrupts.exit(Exit::Interrupted),
        other => other.into(),
    };
    Ok(Measured { summary, record, run_file: run_file.unwrap_or_default(), exit })
}

/// The same without a run file: a look at the service between two runs.
pub fn glance(mut plan: Plan, manner: &MannerFlags, shared: &Shared) -> Result<Summary, Failure> {
    // Nobody reads what monitors would see in it.
    plan.watches.clear();
    plan.outline.watches.clear();
    Ok(summarise(&run_once(plan, manner, Some(shared), false)?.0))
}

/// Runs the plan; the path is that of its run file when it is to be kept.
fn run_once(
    plan: Plan,
    manner: &MannerFlags,
    shared: Option<&Shared>,
    keep: bool,
) -> Result<(RunRecord, Option<PathBuf>, Interrupts), Failure> {
    // Whoever asked for this run reads its file: without him it would only be load.
    if manner.with_parent.is_some_and(|parent| !plimsoll_engine::signals::follow(parent)) {
        return Err(Failure::machine("the process that asked for this run has ended", None));
    }
    let outline = &plan.outline;
    let stage = plan.script.is_some().then(|| Stage::new(&plan)).transpose().map_err(Failure::hinted)?;
    let tls = place::tls(outline, &plan.tls_files)?;
    let target = Target { host: outline.host.clone(), port: outline.port, tls: tls.is_some() };
    // A process that another one started has inherited that one's blocked signals.
    let is_child = shared.is_none() && manner.with_parent.is_some();
    let early = is_child.then(Interrupts::install).transpose()?;
    let mut patience = Patience::of(manner, shared);
    patience.heed(early.as_ref());
    let mut place = ready::resolved(&target, &outline.link, &patience)?;
    let started_unix_ns = wall::now_unix_ns();
    let mut confirm = |question: &str| shared.map_or_else(|| confirmed(question), |s| s.confirmed(question));
    let asking = Asking {
        allow: &manner.allow,
        confirm: if can_ask() && !manner.steered { Some(&mut confirm) } else { None },
        today: &wall::date(started_unix_ns),
        fetch: &mut |address| fetch_proof(address, &outline.target, tls.as_ref()),
    };
    let granted = permit(&outline.host, &mut place, asking).map_err(Failure::Refused)?;
    let watching = Asking {
        allow: &manner.allow,
        confirm: if can_ask() && !manner.steered { Some(&mut confirm) } else { None },
        today: "",
        fetch: &mut |_| Err(String::new()),
    };
    // A monitor ignores `resolve`, so a name that is only mapped to a private address is not permitted for it.
    let named: &[&str] = if granted == Granted::Free { &[] } else { &[&outline.host] };
    permit_watching(&plan.watches, named, watching).map_err(Failure::Refused)?;
    if granted == Granted::Proved && !manner.quiet {
        say::talk(&format!("{} permits this load in its ownership file\n", outline.host));
    }
    let run_file = match keep {
        true => Some(home::new_run_file(manner.out.as_deref(), &outline.host, started_unix_ns)?),
        false => None,
    };
    // A question for permission is ended by one Ctrl-C, and so are the trials; only a wait has something to say.
    let is_first = shared.is_none() && early.is_none();
    let waiting = (is_first && patience.is_long()).then(Interrupts::install).transpose()?;
    patience.heed(waiting.as_ref());
    let so_far = shared.map(|shared| &shared.interrupts).or(early.as_ref()).or(waiting.as_ref());
    let instead_of = |failure| match so_far {
        Some(interrupts) => interrupts.instead_of(failure),
        None => failure,
    };
    let first_connect_ns = reach(&mut place, &plan, tls.as_ref(), &patience).map_err(instead_of)?;

    // The limit is raised by now, and no worker runs yet.
    plimsoll_engine::machine::reserve_descriptors(u64::from(outline.connections));
    let interrupts = match so_far {
        Some(interrupts) => interrupts.clone(),
        None => Interrupts::install()?,
    };
    let interrupts = &interrupts;
    if manner.steered {
        let who = if outline.share.of > 1 { Who::OneOfSeveral } else { Who::Alone };
        steer::listen(interrupts, who)?;
    }
    let scene = Scene { addresses: place.loaded(outline.link.addresses), maker: None, tls };
    let aside = Asides { plan: &plan, scene: &scene, stage: stage.as_ref(), interrupts };
    aside.set_up(manner).map_err(|failure| interrupts.instead_of(failure))?;
    let maker = stage.as_ref().map(|stage| stage.maker(Phase::Load)).transpose().map_err(Failure::of_data)?;

    let opening = Opening {
        origin: wall::hex(&wall::random::<16>()?),
        outline: outline.clone(),
        environment: environment::environment(
            &place,
            env!("CARGO_PKG_VERSION"),
            first_connect_ns,
            outline.limits.descriptors,
        ),
        started_unix_ns,
    };
    let mut gatherer = Gatherer::default();
    let mut writer = match &run_file {
        Some(path) => Some(RunFile::create(path, &opening)?),
        None => None,
    };
    let mut view = view(manner, shared.is_none_or(|shared| shared.lines));
    let mut sinks: Vec<&mut dyn Sink> = match &mut writer {
        Some(writer) => vec![writer],
        None => vec![&mut gatherer],
    };
    if let Some(view) = &mut view {
        sinks.push(view.as_mut());
    }
    let options = Options { breaker: !manner.keep_pushing, stop_early_ok: manner.stop_early_ok };
    let helm_out = |helm| steer::begin(interrupts, helm);
    let loaded = Scene { maker, ..scene.clone() };
    let ran = plimsoll_control::run(Arc::new(plan.clone()), loaded, opening, options, &mut sinks, helm_out);
    // Whatever the view has on the screen goes before anything else is said.
    drop(view);
    let mut finished = match writer {
        Some(writer) => writer.finish(),
        None => Finished { record: gatherer.into_record(), trouble: None },
    };
    if let Err(error) = ran {
        // Where nothing happened nothing is kept; that it cannot be removed would be the smaller trouble of
        // the two.
        if let (plimsoll_control::Error::Engine(_), Some(path)) = (&error, &run_file) {
            let _ = std::fs::remove_file(path);
        }
        return Err(error.into());
    }
    let mut run_file = run_file;
    if let (Some(trouble), Some(path)) = (finished.trouble.take(), &run_file) {
        let second = home::second_run_file(path, &outline.host, started_unix_ns, &finished.record);
        if second.is_none() {
            // Without a record of its end it is as if the run had been cut off: it passes nothing.
            finished.record.origins.values_mut().for_each(|origin| origin.ending = None);
        }
        say::failure(&saved_elsewhere(&trouble, second.as_deref()), manner.no_color);
        run_file = second.or(run_file);
    }
    // The verdict stands whatever becomes of the tear-down, but nobody may believe that it came through.
    if let Err(failure) = aside.tear_down() {
        say::failure(&failure, manner.no_color);
    }
    if let Some(Err(sentence)) = stage.as_ref().map(|stage| stage.close()) {
        say::failure(&Failure::hinted(sentence), manner.no_color);
    }
    Ok((finished.record, run_file, interrupts.clone()))
}

/// Waits for the service and looks at what it takes; how long the first connection took, ns.
fn reach(
    place: &mut Resolved,
    plan: &Plan,
    tls: Option<&Setup>,
    patience: &Patience,
) -> Result<u64, Failure> {
    ready::wait(place, plan, tls, patience)?;
    let first_connect_ns = place::knock(place, &plan.outline)?;
    if let Some(setup) = tls {
        place::shake_hands(place, setup, &plan.outline)?;
    }
    place::check_plain(place, &plan.outline)?;
    place::check_sources(place, &plan.outline)?;
    Ok(first_connect_ns)
}

/// The trouble of a run file, and where the run is instead.
fn saved_elsewhere(trouble: &run_file::Error, second: Option<&Path>) -> Failure {
    let own = trouble.hint().unwrap_or_default();
    let hint = match second {
        Some(path) => format!("the whole run was saved to `{}`; next time: {own}", path.display()),
        None => format!("no other folder took the run either, so this report is all there is of it; {own}"),
    };
    Failure::machine(trouble, Some(hint))
}

/// What is done before and behind the load.
struct Asides<'a> {
    plan: &'a Plan,
    scene: &'a Scene,
    stage: Option<&'a Arc<Stage>>,
    interrupts: &'a Interrupts,
}

impl Asides<'_> {
    /// Runs the set-up; whatever goes wrong in it ends everything before the load.
    fn set_up(&self, manner: &MannerFlags) -> Result<(), Failure> {
        let Some(stage) = self.stage.filter(|stage| stage.has(Phase::Setup)) else { return Ok(()) };
        if !manner.quiet {
            say::talk("set-up ...\n");
        }
        self.run(stage, Phase::Setup, "set-up")?;
        let missing = stage.missing_globals();
        if let Some(name) = missing.first() {
            let why = format!("it was to set `{name}` and did not");
            return Err(plimsoll_control::Error::Aside { phase: "set-up", why }.into());
        }
        Ok(())
    }

    fn tear_down(&self) -> Result<(), Failure> {
        match self.stage.filter(|stage| stage.has(Phase::Teardown)) {
            Some(stage) => self.run(stage, Phase::Teardown, "tear-down"),
            None => Ok(()),
        }
    }

    fn run(&self, stage: &Arc<Stage>, phase: Phase, name: &'static str) -> Result<(), Failure> {
        let failed = |why| Failure::from(plimsoll_control::Error::Aside { phase: name, why });
        let scene =
            Scene { maker: Some(stage.maker(phase).map_err(Failure::of_data)?), ..self.scene.clone() };
        let steer = |helm| match phase {
            // An interrupt that has ended the load is not meant for what tidies up behind it; the next one is.
            Phase::Teardown => self.interrupts.steer_anew(helm),
            Phase::Setup | Phase::Load => self.interrupts.steer(helm),
        };
        let ended = plimsoll_control::aside(self.plan, scene, steer)?;
        match stage.trouble() {
            Some(why) => Err(failed(why)),
            None if ended == Aside::Interrupted && phase == Phase::Setup => {
                Err(self.interrupts.cut_short("interrupted during the set-up; no load was sent"))
            }
            None if ended == Aside::Interrupted => Err(failed("it was interrupted".into())),
            None if !stage.is_through() => {
                Err(failed("a hard cap (`--limit requests=` or `duration_ns=`) cut it off".into()))
            }
            None => Ok(()),
        }
    }
}

/// The live view: repainted on a terminal, plain lines elsewhere, nothing when quiet.
fn view(manner: &MannerFlags, lines: bool) -> Option<Box<dyn Sink>> {
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

/// A question needs somebody who reads it and somebody who types.
fn can_ask() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Asks on stderr; no answer is an answer, too.
fn confirmed(question: &str) -> String {
    say::talk(question);
    let mut line = String::new();
    match std::io::stdin().lock().read_line(&mut line) {
        Ok(_) => line,
        Err(_) => String::new(),
    }
}
