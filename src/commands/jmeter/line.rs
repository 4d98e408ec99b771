//! `plimsoll jmeter`: the command line of JMeter, for jobs that change only one word.

use super::results::{Results, Totals};
use super::samples::{self, OwnSamples};
use super::{planned, statistics, tell_notes};
use crate::commands::agents::{self, tools};
use crate::commands::campaign::Again;
use crate::commands::{load, page};
use crate::exit::{Exit, Failure};
use crate::flags::agents::ToolFlags;
use crate::flags::load::{LoadFlags, MannerFlags};
use crate::flags::page::PageFlag;
use crate::flags::tool::Jmeter;
use crate::{flags, part, say, wall};
use plimsoll_jmeter::{Level, Log, Options, SampleSink};
use plimsoll_jmx::flags::Invocation;
use plimsoll_jmx::plan::Columns;
use plimsoll_jmx::{Given, code};
use plimsoll_output::terminal;
use plimsoll_plan::diag::Place;
use plimsoll_plan::{Diagnostic, Problem};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Help for an agent that cannot write.
const SPACE: &str = "check the free space of the agent's `--dir`";
/// The folder of the report without `-o`, as in JMeter.
const REPORT: &str = "report-output";

/// `plimsoll jmeter -n -t plan.jmx ...`
pub fn command(given: &Jmeter) -> Result<Exit, Failure> {
    if let [only] = given.words.as_slice()
        && matches!(only.as_str(), "--help" | "-h" | "-?" | "--?")
    {
        say::result(&flags::help_of::<Jmeter>())?;
        return Ok(Exit::Pass);
    }
    if matches!(given.words.as_slice(), [only] if matches!(only.as_str(), "--version" | "-v")) {
        say::result(&flags::version_as("JMeter 5.6.3"))?;
        return Ok(Exit::Pass);
    }
    let (team, words) = ToolFlags::separated(&given.words)?;
    let asked = plimsoll_jmx::flags::parse(&words).map_err(of_flags)?;
    agents::check(&team.agents)?;
    let uses_agents = team.agents.selection.is_some();
    if uses_agents && !asked.system.is_empty() {
        let hint = "run without `--agents`";
        return Err(of_flags(Problem::new("a key store is not sent to agents", hint)));
    }
    let is_part = team.part.part_of_agent;
    for note in &asked.notes {
        say::talk(&format!("note: {note}\n"));
    }
    let properties = properties(&asked)?;
    let columns = columns(&properties)?;
    let folder = report_folder(&asked)?;
    let reading = plimsoll_jmx::read(
        Path::new(&asked.plan),
        &Given {
            set: asked.own.set.clone(),
            properties,
            system: asked.system.iter().cloned().collect(),
            has_certificate: false,
            skips_scripts: asked.own.skips_scripts,
        },
    )
    .map_err(Failure::Text)?;
    super::refuse_writers(&reading, &team.agents)?;
    // The coordinator has shown them.
    if !is_part {
        tell_notes(&reading);
    }
    // Everything about the plan is known before the first file is changed.
    let log = Arc::new(LogFile::open(asked.log.as_deref())?);
    let results = Arc::new(Results::default());
    let own_samples = match (team.part.samples, &asked.own.out) {
        (true, Some(record)) => Some(Arc::new(OwnSamples::create(Path::new(record))?)),
        _ => None,
    };
    let sink = own_samples.clone().map(|own| own as Arc<dyn SampleSink>);
    let options = Options {
        results: sink.or_else(|| (!is_part).then(|| Arc::clone(&results) as Arc<dyn SampleSink>)),
        columns,
        log: log.log(),
        skips_scripts: asked.own.skips_scripts,
        unix_ns: wall::now_unix_ns(),
    };
    let manner = MannerFlags {
        quiet: is_part,
        out: asked.own.out.clone(),
        allow: asked.own.allow.clone(),
        agents: team.agents,
        command: Some(Again::of_tool(tools::of_jmeter(&asked))),
        steered: team.part.steered,
        part_of_agent: is_part,
        with_parent: team.part.with_parent,
        ..MannerFlags::default()
    };
    let (shard, seed) = (team.part.shard, team.part.seed);
    let flags = LoadFlags { manner: manner.clone(), shard, seed, ..LoadFlags::default() };
    let plan = planned(&reading, options, &flags)?;
    if let Some(file) = &asked.results {
        if asked.replaces {
            remove(Path::new(file))?;
        }
        results.open(file, &columns)?;
    }
    log.write("INFO", &format!("running {}", asked.plan));
    let measured = load::measure(plan, &manner, None)?;
    if let Some(own) = own_samples {
        own.finish().and_then(part::send_samples).map_err(|e| {
            Failure::machine(format!("cannot keep the samples of `-l`: {e}"), Some(SPACE.into()))
        })?;
    }
    if is_part {
        // Its results are a part of those of the coordinator.
        return Ok(measured.exit);
    }
    samples::join(&measured.by_agents.samples, &*results)?;
    let own = results.finish()?;
    // Without `-l`, agents send no samples.
    let is_of_requests = uses_agents && asked.results.is_none();
    let totals = if is_of_requests { Totals::of_requests(&measured.summary) } else { own };
    if uses_agents && let (Some(file), true) = (&asked.results, measured.has_lost_agents()) {
        say::talk(&format!("`{file}` lacks the samples of lost agents\n"));
    }
    say::result(&format!("{}\n", totals.line()))?;
    log.write("INFO", &totals.line());
    log.write("INFO", &measured.summary.verdict.sentence);
    let path = measured.run_file.display().to_string();
    let look = say::look_of_talk(false);
    say::talk(&terminal::summary(&measured.summary, &look, load::detail(false), Some(&path)));
    if let Some(folder) = &folder {
        report(folder, &asked, &measured)?;
    }
    Ok(match measured.exit {
        exit @ (Exit::Interrupted | Exit::Terminated | Exit::HungUp) => exit,
        exit if asked.own.exits_with_verdict => exit,
        _ if measured.has_lost_agents() => Exit::Inconclusive,
        // JMeter's code does not depend on its results.
        _ => Exit::Pass,
    })
}

fn of_flags(problem: Problem) -> Failure {
    Failure::Text(vec![Diagnostic::of(code::FLAG, Place::Whole, problem)])
}

/// Returns the properties of all files and flags: later ones have priority, and flags come last.
fn properties(asked: &Invocation) -> Result<BTreeMap<String, String>, Failure> {
    let mut all = BTreeMap::new();
    for file in &asked.property_files {
        let text = std::fs::read_to_string(file).map_err(|e| {
            let problem =
                Problem::new(format!("cannot read the properties `{file}`: {e}"), "check `-q` and `-p`");
            Failure::Text(vec![Diagnostic::of(code::FILE, Place::Flag("-q".into()), problem)])
        })?;
        all.extend(plimsoll_jmx::properties::parse(&text));
    }
    all.extend(asked.properties.iter().cloned());
    Ok(all)
}

/// Returns the columns of the file of results: properties change them.
fn columns(properties: &BTreeMap<String, String>) -> Result<Columns, Failure> {
    let mut columns = Columns::default();
    let prefix = "jmeter.save.saveservice.";
    for (name, value) in
        properties.iter().filter_map(|(name, value)| Some((name.strip_prefix(prefix)?, value)))
    {
        let is_on = value.eq_ignore_ascii_case("true");
        match name {
            "output_format" => match value.to_ascii_lowercase().as_str() {
                "csv" => columns.is_xml = false,
                "xml" => columns.is_xml = true,
                _ => {
                    return Err(of_flags(Problem::new(
                        format!("results as `{value}` are not supported"),
                        "use `csv` or `xml` for `jmeter.save.saveservice.output_format`",
                    )));
                }
            },
            "time" => columns.time = is_on,
            "label" => columns.label = is_on,
            "response_code" => columns.code = is_on,
            "response_message" => columns.message = is_on,
            "thread_name" => columns.thread_name = is_on,
            "data_type" => columns.data_type = is_on,
            "successful" => columns.success = is_on,
            "assertion_results_failure_message" => columns.failure_message = is_on,
            "bytes" => columns.bytes = is_on,
            "sent_bytes" => columns.sent_bytes = is_on,
            "thread_counts" => columns.thread_counts = is_on,
            "url" => columns.url = is_on,
            "filename" => columns.file_name = is_on,
            "latency" => columns.latency = is_on,
            "encoding" => columns.encoding = is_on,
            "sample_count" => columns.sample_count = is_on,
            "hostname" => columns.hostname = is_on,
            "idle_time" => columns.idle_time = is_on,
            "connect_time" => columns.connect_time = is_on,
            "print_field_names" => columns.has_names = is_on,
            "subresults" => columns.sub_results = is_on,
            // Parts of results as XML.
            "requestHeaders" => columns.request_headers = is_on,
            "responseHeaders" => columns.response_headers = is_on,
            "response_data" => columns.response_data = is_on,
            "response_data.on_error" => columns.response_data_on_error = is_on,
            "samplerData" => columns.sampler_data = is_on,
            "assertions" => columns.assertions = is_on,
            // JMeter reads it and does not use it.
            "assertion_results" => {}
            _ => {
                return Err(of_flags(Problem::new(
                    format!("the property `{prefix}{name}` is not supported"),
                    "remove it, or use the columns of CSV",
                )));
            }
        }
    }
    Ok(columns)
}

/// Returns the folder of the report, which must not have any files.
fn report_folder(asked: &Invocation) -> Result<Option<PathBuf>, Failure> {
    if !asked.writes_report {
        return Ok(None);
    }
    let folder = PathBuf::from(asked.report_folder.as_deref().unwrap_or(REPORT));
    let is_taken = std::fs::read_dir(&folder).is_ok_and(|mut entries| entries.next().is_some());
    let results = asked.results.as_deref().unwrap_or_default();
    let has_results = std::fs::metadata(results).is_ok_and(|known| known.len() > 0);
    let taken = match (is_taken, has_results) {
        _ if asked.replaces => return Ok(Some(folder)),
        (true, _) => folder.display().to_string(),
        (_, true) => results.to_owned(),
        (false, false) => return Ok(Some(folder)),
    };
    Err(of_flags(Problem::new(
        format!("`{taken}` is not empty, and the report is of one test"),
        "choose another name, or add `-f` to replace it",
    )))
}

/// Deletes a file or a folder that may not exist.
fn remove(path: &Path) -> Result<(), Failure> {
    let removed = if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
    match removed {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            Err(Failure::machine(format!("cannot delete `{}`: {e}", path.display()), None))
        }
        _ => Ok(()),
    }
}

/// Writes the report: the page of the run, and JMeter's table.
fn report(folder: &Path, asked: &Invocation, measured: &load::Measured) -> Result<(), Failure> {
    let failed =
        |e: std::io::Error| Failure::machine(format!("cannot write `{}`: {e}", folder.display()), None);
    if asked.replaces {
        remove(folder)?;
    }
    std::fs::create_dir_all(folder).map_err(failed)?;
    let table = statistics::table(asked.results.as_deref().unwrap_or_default())?;
    std::fs::write(folder.join("statistics.json"), format!("{table:#}\n")).map_err(failed)?;
    let flag = PageFlag { html: Some(folder.join("index.html").display().to_string()) };
    let wanted = page::Wanted::of(&flag, None)?;
    page::write_run(wanted.as_ref(), &measured.record, &measured.summary, Some(&measured.run_file))?;
    Ok(())
}

/// `-j`: a file for messages. Without it, messages go to standard error.
struct LogFile(Option<Mutex<File>>);

impl LogFile {
    fn open(path: Option<&str>) -> Result<LogFile, Failure> {
        let open = |path: &str| {
            OpenOptions::new()
                .create(true)
                .append(true)
                .open(path)
                .map_err(|e| Failure::machine(format!("cannot write `{path}`: {e}"), None))
        };
        Ok(LogFile(path.map(open).transpose()?.map(Mutex::new)))
    }

    fn write(&self, level: &str, text: &str) {
        if let Some(file) = &self.0 {
            let date = wall::date(wall::now_unix_ns());
            // A log that cannot be written does not stop the load.
            let _ = writeln!(file.lock().unwrap_or_else(PoisonError::into_inner), "{date} {level} {text}");
        }
    }

    fn log(self: &Arc<Self>) -> Log {
        let log = Arc::clone(self);
        Log::new(move |level, text| match level {
            Level::Debug => {}
            _ if log.0.is_none() => say::talk(&format!("{text}\n")),
            Level::Info => log.write("INFO", text),
            Level::Warning => log.write("WARN", text),
            Level::Error => log.write("ERROR", text),
        })
    }
}
