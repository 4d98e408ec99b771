//! `plimsoll k6`: the command line of k6, for jobs that change only one word.

mod codes;
mod help;
mod inspect;
mod log;
mod new;
mod out;

use super::agents::{self, tools};
use super::campaign::Again;
use super::{load, script};
use crate::exit::{Exit, Failure};
use crate::flags::agents::ToolFlags;
use crate::flags::load::{LoadFlags, MannerFlags};
use crate::flags::tool::K6;
use crate::say;
use plimsoll_analysis::summary::{Standing, Summary};
use plimsoll_js::{Level, Log, Ready, ScriptCode, Secret, Source};
use plimsoll_k6::flags::{self, Invocation, SecretSource, SummaryMode};
use plimsoll_k6::test::{Executor, Scenario, Test};
use plimsoll_k6end::{EndOfTest, Mode, Options};
use plimsoll_plan::diag::Place;
use plimsoll_plan::metric::RunSum;
use plimsoll_plan::phrase::counted;
use plimsoll_plan::request::Target;
use plimsoll_plan::{Diagnostic, Problem};
use plimsoll_record::RunRecord;
use plimsoll_record::record::GeneratorRecord;
use std::io::IsTerminal;
use std::path::Path;

/// `plimsoll k6 run|inspect|new`.
pub fn command(given: &K6) -> Result<Exit, Failure> {
    let line = flags::line(&given.words).map_err(of_flags)?;
    let words = &line.words;
    let wants_help = line.wants_help || words.iter().any(|word| word == "--help" || word == "-h");
    match (line.action, wants_help) {
        (None | Some("help"), true) | (Some("help"), _) => print(&help::actions()),
        (Some("run"), true) => print(&help::run()),
        (Some("inspect"), true) => print(&help::inspect()),
        (Some("new"), true) => print(new::HELP),
        (Some("run"), _) => run(words).or_else(|failure| {
            say::failure(&failure, words.iter().any(|word| word == "--no-color"));
            Ok(codes::before(&failure))
        }),
        (Some("inspect"), _) => inspect::command(words),
        (Some("new"), _) => new::command(words),
        (None, _) => wrong("missing action of `k6`".into(), "write `plimsoll k6 run script.js`"),
        (Some(other), _) => wrong(
            format!("`k6 {other}` is not supported"),
            "use `plimsoll k6 run`, `plimsoll k6 inspect`, or `plimsoll k6 new`",
        ),
    }
}

fn print(text: &str) -> Result<Exit, Failure> {
    say::result(text).map(|()| Exit::Pass)
}

fn wrong(message: String, hint: &str) -> Result<Exit, Failure> {
    Err(Diagnostic::new("U006", Place::Whole, message, hint).into())
}

/// What plimsoll itself needs to know besides k6's flags.
#[derive(Default)]
struct Own {
    allow: Vec<String>,
    ca: Vec<String>,
    out: Option<String>,
    prints_report: bool,
    allows_remote: bool,
}

/// Separates the flags of plimsoll from those of k6.
fn separated(words: &[String]) -> Result<(Own, Vec<String>), Failure> {
    let (mut own, mut rest) = (Own::default(), Vec::new());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (word.as_str(), None),
        };
        let Some((_, placeholder, _)) = help::OWN.iter().find(|(own, _, _)| *own == name) else {
            rest.push(word.clone());
            continue;
        };
        let value = if placeholder.is_some() { value.or_else(|| words.next().cloned()) } else { None };
        match (name, value) {
            ("--allow", Some(host)) => own.allow.push(host),
            ("--ca", Some(file)) => own.ca.push(file),
            ("--save", Some(file)) => own.out = Some(file),
            ("--report", _) => own.prints_report = true,
            ("--allow-remote", _) => own.allows_remote = true,
            _ => {
                let hint = format!("write `{name} VALUE`");
                let message = format!("missing value of `{name}`");
                return Err(Diagnostic::new("U006", Place::Flag(name.into()), message, hint).into());
            }
        }
    }
    Ok((own, rest))
}

impl Own {
    /// The files of certificate authorities. k6 reads the store of the system, which a variable replaces; here, it
    /// replaces the public authorities that are built in.
    fn authorities(&self) -> Vec<String> {
        let variable = || std::env::var("SSL_CERT_FILE").ok().filter(|file| !file.is_empty());
        match self.ca.is_empty() {
            true => variable().into_iter().collect(),
            false => self.ca.clone(),
        }
    }
}

/// Parses flags, with one of the functions of [`flags`], and reads the configuration file.
fn parsed(
    words: &[String],
    parse: impl Fn(&[String], &[(String, String)]) -> Result<Invocation, Problem>,
) -> Result<Invocation, Failure> {
    let variables: Vec<(String, String)> = std::env::vars().collect();
    let mut invocation = parse(words, &variables).map_err(of_flags)?;
    if let Some(path) = &invocation.run.config {
        let unreadable = |why: String| {
            let problem =
                Problem::new(format!("cannot read the config file `{path}`: {why}"), "check `--config`");
            Failure::Text(vec![Diagnostic::of("K107", Place::Flag("--config".into()), problem)])
        };
        let text = std::fs::read_to_string(path).map_err(|e| unreadable(e.to_string()))?;
        plimsoll_plan::inputs::note(Path::new(path));
        invocation.overrides.file = Some(serde_json::from_str(&text).map_err(|e| unreadable(e.to_string()))?);
    }
    Ok(invocation)
}

fn of_flags(problem: Problem) -> Failure {
    Failure::Text(vec![Diagnostic::of("K107", Place::Whole, problem)])
}

/// Reads the script of an invocation.
fn ready(invocation: &Invocation, log: Log, own: &Own) -> Result<Ready, Failure> {
    let run = &invocation.run;
    let remote = match own.allows_remote {
        true => Some(script::remote::modules(&run.script, &own.authorities(), false)?),
        false => None,
    };
    let secrets = secrets(&run.secret_sources)?;
    script::read(&run.script, run.env.clone(), invocation.overrides.clone(), secrets, log, remote)
}

/// Returns the secrets of all sources. Those of the default one come first, and once more under its name.
fn secrets(sources: &[SecretSource]) -> Result<Vec<Secret>, Failure> {
    let mut all = Vec::new();
    for source in sources {
        let mut pairs = source.pairs.clone();
        if let Some(path) = &source.file {
            let unreadable = |e: std::io::Error| {
                Failure::machine(format!("cannot read the file of `--secret-source`, `{path}`: {e}"), None)
            };
            plimsoll_plan::inputs::note(Path::new(path));
            for line in std::fs::read_to_string(path).map_err(unreadable)?.lines() {
                let Some((name, value)) = line.split_once('=') else {
                    let message = format!("a line of `{path}` is not NAME=VALUE");
                    let hint = "write one secret on each line";
                    return Err(Diagnostic::new(
                        "K107",
                        Place::Flag("--secret-source".into()),
                        message,
                        hint,
                    )
                    .into());
                };
                pairs.push((name.to_owned(), value.to_owned()));
            }
        }
        let is_default = source.is_default || sources.len() == 1;
        let names = [Some(source.name.as_str()), is_default.then_some("default")];
        for name in names.into_iter().flatten() {
            all.extend(pairs.iter().map(|(key, value)| Secret {
                source: name.to_owned(),
                name: key.clone(),
                value: value.clone(),
            }));
        }
    }
    Ok(all)
}

fn is_local(host: &str) -> bool {
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Refuses what agents cannot report.
fn refuse_with_agents(invocation: &Invocation, team: &ToolFlags) -> Result<(), Failure> {
    let run = &invocation.run;
    tools::refuse_stdin(&run.script, &team.agents)?;
    if let Some(output) = run.outputs.first() {
        return Err(tools::refuse_samples("--out", &format!("--out {output}")));
    }
    if run.console_output.is_some() {
        let message = "the console of a script is on the machines of the agents";
        let hint = "omit `--console-output`: the end of the load shows the messages of each agent";
        return Err(tools::refuse("--console-output", message, hint));
    }
    if run.key_log.is_some() {
        let message = "`SSLKEYLOGFILE` has no effect: the connections are on the machines of the agents";
        return Err(tools::refuse("--agents", message, "unset the variable, or omit `--agents`"));
    }
    Ok(())
}

/// `plimsoll k6 run`.
fn run(words: &[String]) -> Result<Exit, Failure> {
    let (team, words) = ToolFlags::separated(words)?;
    let (own, words) = separated(&words)?;
    let invocation = parsed(&words, flags::parse)?;
    agents::check(&team.agents)?;
    if team.agents.selection.is_some() {
        refuse_with_agents(&invocation, &team)?;
    }
    let targets = out::targets(&invocation.run.outputs)?;
    let log = log::of(&invocation.run)?;
    let mut ready = ready(&invocation, log.clone(), &own)?;
    // The thresholds that plimsoll itself does not measure are evaluated at the end of a test of k6.
    let notes = ready.test.notes.iter().filter(|note| !note.contains("is not evaluated"));
    for note in invocation.notes.iter().chain(notes) {
        log.write(Level::Warning, Source::Run, note);
    }
    // A local host that does not answer makes requests fail, as in k6. Others are asked about before the run.
    let goes_elsewhere = |target: &Target| ready.code.settings.mapped(target).as_ref() != Ok(target);
    let asked = ready.draft.target.take();
    ready.draft.target = asked.filter(|target| !is_local(&target.host) && !goes_elsewhere(target));
    // Where nothing is verified, the authorities would have no effect.
    if !ready.test.settings.insecure_skip_tls_verify {
        for file in &own.authorities() {
            let unreadable = |e| Failure::machine(format!("cannot read `{file}`: {e}"), None);
            plimsoll_plan::inputs::note(Path::new(file));
            ready.draft.tls_files.ca.push(std::fs::read(file).map_err(unreadable)?);
        }
    }
    ready.draft.tls_files.key_log = invocation.run.key_log.as_ref().map(Into::into);
    if let Some(problem) = plimsoll_k6end::unmeasured(&ready.test.thresholds).into_iter().next() {
        return Err(Failure::Text(vec![Diagnostic::of("K106", Place::Whole, problem)]));
    }
    let outputs = out::create(targets, &ready)?;
    let code = std::sync::Arc::clone(&ready.code);
    let test = ready.test.clone();
    let time_trends: Vec<String> =
        ready.init.metrics.iter().filter(|one| one.is_time).map(|one| one.name.clone()).collect();
    let again = Again::of_tool(tools::of_k6(&invocation.run, own.allows_remote, &own.authorities()));
    let manner = MannerFlags {
        quiet: invocation.run.quiet,
        no_color: invocation.run.no_color,
        out: own.out,
        allow: own.allow,
        agents: team.agents,
        command: Some(again),
        steered: team.part.steered,
        part_of_agent: team.part.part_of_agent,
        with_parent: team.part.with_parent,
        ..MannerFlags::default()
    };
    let (shard, seed) = (team.part.shard, team.part.seed);
    let flags = LoadFlags { manner: manner.clone(), shard, seed, ..LoadFlags::default() };
    if let Some(of) = flags.shard.as_deref().and_then(|shard| shard.split_once('/')?.1.parse().ok()) {
        share_users(&mut ready, of);
    }
    let plan = script::planned(ready, &flags)?;
    let measured = load::measure(plan, &manner, None);
    let written = out::finish(outputs);
    let measured = match measured {
        Ok(measured) => measured,
        Err(failure) => return instead(&code, failure, manner.no_color),
    };
    if own.prints_report {
        // It was asked for, also with `--quiet`, which is that of k6.
        load::print(&measured, &MannerFlags { quiet: false, ..manner.clone() })?;
    }
    let own_end = script::own_end(&code).or(measured.by_agents.end());
    let phase = codes::of_phase(&code).or(measured.by_agents.phase());
    if manner.part_of_agent {
        // Its results are a part of those of the coordinator.
        return Ok(own_end.or(phase).unwrap_or(measured.exit));
    }
    let of_agents = measured.by_agents.setup.clone().and_then(|bytes| String::from_utf8(bytes).ok());
    let setup = of_agents.or_else(|| code.shared().and_then(|shared| shared.setup_json()));
    let scenarios: Vec<String> = test.scenarios.iter().map(|one| one.name.clone()).collect();
    let options = Options {
        thresholds: &test.thresholds,
        trend_stats: &test.settings.summary_trend_stats,
        time_unit: test.settings.summary_time_unit,
        has_color: say::look_of_results(manner.no_color).color,
        is_stdout_tty: std::io::stdout().is_terminal(),
        is_stderr_tty: std::io::stderr().is_terminal(),
        time_trends: &time_trends,
        scenarios: &scenarios,
        setup_data: setup.as_deref(),
    };
    let end = EndOfTest::new(&measured.record, &options);
    if let Some(warning) = too_few_users(&test, &measured.record) {
        log.write(Level::Warning, Source::Run, &warning);
    }
    finish(&invocation, &code, &end, &options)?;
    written?;
    let has_missed = plimsoll_k6end::evaluate(&end, &options).iter().any(|outcome| !outcome.is_met);
    Ok(match measured.exit {
        _ if own_end == Some(Exit::K6Aborted) => Exit::K6Aborted,
        Exit::Interrupted | Exit::Terminated | Exit::HungUp => Exit::K6Interrupted,
        _ if has_missed => Exit::ThresholdMissed,
        exit => match phase.or(own_end) {
            Some(failed) => failed,
            // Without thresholds, the default ones apply. With some, a run whose iterations throw fails all the same.
            None if exit == Exit::ThresholdMissed && has_missed_default(&measured.summary) => {
                load::tell_unless_passed(&measured.summary);
                exit
            }
            // Numbers without the share of an agent are not those of the test.
            None if measured.has_lost_agents() => Exit::Inconclusive,
            None => Exit::Pass,
        },
    })
}

/// Divides `maxVUs` among the agents, as k6 divides it among its instances. It is the same number for each, so that the
/// parts are of one plan.
fn share_users(ready: &mut Ready, of: u32) {
    let workloads = ready.draft.workloads.iter_mut().map(|workload| &mut workload.load);
    for load in workloads.chain([&mut ready.draft.load]) {
        load.max_connections = load.max_connections.map(|most| most.div_ceil(of.max(1)));
    }
}

/// Returns a warning if arrivals were dropped because no user was free.
fn too_few_users(test: &Test, record: &RunRecord) -> Option<String> {
    let arrive = |one: &Scenario| {
        matches!(one.executor, Executor::ConstantArrivalRate { .. } | Executor::RampingArrivalRate { .. })
    };
    let of = |machine: &GeneratorRecord| {
        machine.totals.run.sums.get(RunSum::IterationsDropped.id()).copied().unwrap_or(0)
    };
    let dropped: u64 = record.generators.values().map(of).sum();
    (dropped > 0 && test.scenarios.iter().all(arrive)).then(|| {
        format!("Insufficient VUs: {} found no free user; raise `maxVUs`", counted(dropped, "arrival"))
    })
}

/// Returns whether a default threshold is missed.
fn has_missed_default(summary: &Summary) -> bool {
    summary.thresholds.iter().any(|one| one.is_default && one.standing == Standing::Missed)
}

/// Returns the code of a run without a result: `setup()` failed, which is in the log, or plimsoll could not run.
fn instead(code: &ScriptCode, failure: Failure, no_color: bool) -> Result<Exit, Failure> {
    let Some(exit) = codes::of_phase(code) else { return Err(failure) };
    say::failure(&failure, no_color);
    Ok(exit)
}

/// Calls `handleSummary()`, or prints the end of the test, and writes the files that were asked for.
fn finish(
    invocation: &Invocation,
    code: &ScriptCode,
    end: &EndOfTest,
    options: &Options<'_>,
) -> Result<(), Failure> {
    let write = |path: &str, text: &str| {
        std::fs::write(path, text).map_err(|e| Failure::machine(format!("cannot write `{path}`: {e}"), None))
    };
    let mode = match invocation.run.summary_mode {
        SummaryMode::Disabled => return Ok(()),
        SummaryMode::Compact => Mode::Compact,
        SummaryMode::Full => Mode::Full,
        SummaryMode::Legacy => Mode::Legacy,
    };
    if let Some(path) = &invocation.run.summary_export {
        write(path, &format!("{:#}\n", plimsoll_k6end::export(end, options)))?;
    }
    let data = plimsoll_k6end::data(end, options)?.to_string();
    match plimsoll_js::handle_summary(code, &data) {
        Ok(None) => {}
        Ok(Some(files)) => {
            for (path, text) in files {
                match path.as_str() {
                    "stdout" => say::result(&text)?,
                    "stderr" => say::talk(&text),
                    path => write(path, &text)?,
                }
            }
            return Ok(());
        }
        // As in k6, the usual text replaces that of a function that throws.
        Err(why) => code.script.log.write(Level::Error, Source::Exception, &why),
    }
    say::result(&plimsoll_k6end::text(end, options, mode))?;
    Ok(())
}
