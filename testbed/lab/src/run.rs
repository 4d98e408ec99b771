//! `lab run NAME`: a system comes up, its experiment runs, its report is held against what was predicted, and it goes
//! down. `lab test` does the same at a small scale.

use super::prediction::{self, Prediction, Row};
use super::state::{self, State};
use super::{contract, down, link, links, places, process, save, up};
use chore::interrupt;
use chore::machine;
use chore::{Outcome, shell};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Exit codes of the tool that are answers: passed, doubtful, failed. An overload that was provoked ends with 99.
const ANSWERS: [i32; 3] = [0, 3, 99];
/// The only run of an experiment that has no parts and no matrix.
const ALONE: &str = "00-run";
/// A measured run of at most 90 minutes, and some.
const WITHIN: Duration = Duration::from_secs(3 * 3600);

#[derive(Debug, Default, PartialEq)]
pub struct Options {
    pub name: String,
    /// Multiplies every length of the experiment.
    pub scale: f64,
    /// Nothing: the one of the file, or the one at which it is up.
    pub base: Option<u16>,
    /// Tables and figures go into the repository.
    pub save: bool,
    pub part: Option<String>,
    /// The system stays up afterwards.
    pub keep: bool,
    /// A binary that is there already, instead of a release build.
    pub tool: Option<PathBuf>,
}

/// What an experiment left.
pub struct Measured {
    /// Run files, one folder or one per part.
    pub folder: PathBuf,
    pub parts: Vec<Part>,
    pub rows: Vec<Row>,
    /// Those that did not hold and have no answer in the file, or of which nothing was measured.
    pub unanswered: Vec<Unmet>,
    /// What went wrong on the way: the tool's own end, and parts of which no report could be made.
    pub failed: Vec<String>,
    /// As a person would type it.
    pub command: String,
}

/// A prediction that did not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmet {
    /// Nothing for an experiment without parts.
    pub part: Option<String>,
    pub sentence: String,
    /// There was a figure: a longer cell may show another one.
    pub is_measured: bool,
}

pub struct Part {
    /// Nothing for an experiment without parts.
    pub name: String,
    /// `03-name`, in the order of the file.
    pub folder: String,
    pub markdown: String,
    pub csv: String,
    pub json: Value,
}

pub fn command(options: &Options) -> Outcome {
    let name = &options.name;
    let tool = tool(options.tool.as_deref())?;
    // Refused now and not after an hour.
    if options.save {
        save::check(name)?;
    }
    let _lock = state::lock(&places::state(name), name)?;
    let was_up = State::read(&places::state(name))?.is_some_and(|state| state.whole);
    let state = up::up(name, options.base)?;
    let outcome = measure(options, &tool, &state, WITHIN).and_then(|measured| {
        println!("\n{}", prediction::table(&measured.rows));
        println!("run files and reports: {}", super::describe(&measured.folder));
        // Looked at it may be, published not: a record of half an experiment reads like a whole one.
        if !measured.failed.is_empty() {
            return Err(measured.failed.join("\n"));
        }
        if options.save { save::save(options, &measured) } else { Ok(()) }
    });
    // A system that somebody had started before stays as it was found.
    if options.keep || was_up {
        println!("{name}: stays up: `cargo xtask lab down {name}` stops it");
        return outcome;
    }
    let stopped = down::down(name);
    outcome.and(stopped)
}

/// The tool in the state of the checkout, or the one that was named.
pub fn tool(given: Option<&Path>) -> Result<PathBuf, String> {
    if let Some(file) = given {
        let absolute = std::path::absolute(file).ok().filter(|file| file.is_file());
        return absolute.ok_or_else(|| format!("there is no `{}`", file.display()));
    }
    // Cargo knows whether it is stale.
    shell::run(shell::cargo().args(["build", "--quiet", "--release", "--package", "plimsoll"]))?;
    interrupt::check()?;
    Ok(shell::target_folder()?.join("release/plimsoll"))
}

/// Runs the experiment of a system that is up, makes its reports, and judges the predictions.
pub fn measure(options: &Options, tool: &Path, state: &State, within: Duration) -> Result<Measured, String> {
    let name = &options.name;
    let file = places::experiment(name).join("experiment.yaml");
    if !file.is_file() {
        return Err(format!("there is no `{}`", super::describe(&file)));
    }
    // Read before the load, for the same reason: a misspelt key must not cost a measurement.
    let predictions = predictions(name)?;
    let runs = places::state(name).join("runs");
    super::make_folder(&runs)?;
    let folder = runs.join(machine::now());
    let mut line = vec!["run".to_string(), super::describe(&file)];
    for (name, value) in variables(&file, options.scale, state)? {
        line.extend(["--set".into(), format!("{name}={value}")]);
    }
    if let Some(part) = &options.part {
        line.extend(["--part".into(), part.clone()]);
    }
    line.extend(["--out".into(), super::describe(&folder)]);
    let mut command = Command::new(tool);
    command.current_dir(shell::root()).args(&line).stdin(Stdio::null());
    // By its own name, whatever the file of `--tool` is called: this line is published.
    let shown = format!("plimsoll {}", line.join(" "));
    println!("{shown}");
    let mut child = command.spawn().map_err(|e| format!("cannot start `{shown}`: {e}"))?;
    let status = process::wait(&mut child, Instant::now() + within)?;
    interrupt::check()?;
    let code = status.ok_or_else(|| format!("`{shown}` did not end within {} s", within.as_secs()))?.code();
    let mut failed = Vec::new();
    if !code.is_some_and(|code| ANSWERS.contains(&code)) {
        let code = code.map_or("by a signal".into(), |code| format!("with {code}"));
        let sentence = format!("`{shown}` ended {code}");
        // One part that could not run must not cost the figures of the others.
        if !folder.exists() {
            return Err(sentence);
        }
        failed.push(sentence);
    }
    if folder.is_file() {
        into_folder(&folder)?;
    }
    let parts = parts(tool, &folder, &mut failed)?;
    // With `--part` the others did not run, and nothing is said about them.
    let asked = predictions.iter().filter(|p| options.part.is_none() || p.part == options.part);
    let (mut rows, mut unanswered) = (Vec::new(), Vec::new());
    for p in asked {
        let row = match parts.iter().find(|part| p.part.as_deref().unwrap_or_default() == part.name) {
            Some(part) => p.judge(&part.json, options.scale),
            None => p.without("its part did not run", options.scale),
        };
        // An answer speaks of a figure: it is no excuse for having none.
        if !row.held && (p.answer.is_none() || !row.measured) {
            let sentence = format!("prediction `{}`: predicted {}, seen {}", row.id, row.predicted, row.seen);
            unanswered.push(Unmet { part: p.part.clone(), sentence, is_measured: row.measured });
        }
        rows.push(row);
    }
    let measured = Measured { folder, parts, rows, unanswered, failed, command: shown };
    write(&measured)?;
    Ok(measured)
}

/// Base and scale; and for each link whose name the file uses as a variable the address of its far end, which depends
/// on what other networks the machine has.
fn variables(file: &Path, scale: f64, state: &State) -> Result<Vec<(String, String)>, String> {
    let text =
        std::fs::read_to_string(file).map_err(|e| format!("cannot read `{}`: {e}", super::describe(file)))?;
    let mut variables = vec![("base".into(), state.base.to_string()), ("scale".into(), scale.to_string())];
    for linked in state.links.iter().filter(|l| text.contains(&format!("${{{}}}", l.name))) {
        variables.push((linked.name.clone(), link::ends(Some(linked)).far));
    }
    Ok(variables)
}

fn predictions(name: &str) -> Result<Vec<Prediction>, String> {
    let file = places::experiment(name).join("predictions.json");
    let text = std::fs::read_to_string(&file)
        .map_err(|e| format!("cannot read `{}`: {e}", super::describe(&file)))?;
    prediction::parse(&text).map_err(|e| format!("experiments/{name}/{e}"))
}

/// The reports of all parts, in their order. An experiment without parts is its own only one; a part of one run may
/// be a run file instead of a folder. A part without a report is said in `failed` and left out.
fn parts(tool: &Path, folder: &Path, failed: &mut Vec<String>) -> Result<Vec<Part>, String> {
    let entries =
        std::fs::read_dir(folder).map_err(|e| format!("cannot list `{}`: {e}", folder.display()))?;
    let mut inside: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    inside.sort();
    let mut parts = Vec::new();
    for path in inside {
        let ending = path.extension().unwrap_or_default();
        let whole = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let folder = whole.strip_suffix(".plim").unwrap_or(&whole);
        let Some(name) = part_name(folder).filter(|_| path.is_dir() || ending.is_empty() || ending == "plim")
        else {
            continue;
        };
        let name = if folder == ALONE { "" } else { name };
        match part(tool, &path, name.to_string(), folder.to_string()) {
            Ok(part) => parts.push(part),
            Err(sentence) => failed.push(sentence),
        }
        interrupt::check()?;
    }
    if parts.is_empty() && failed.is_empty() {
        parts.push(part(tool, folder, String::new(), "experiment".into())?);
    }
    Ok(parts)
}

/// An experiment of a single run leaves a file; it goes into a folder of that name, which has room for the reports.
fn into_folder(file: &Path) -> Outcome {
    let aside = file.with_extension("plim");
    let moved = std::fs::rename(file, &aside)
        .and_then(|()| std::fs::create_dir(file))
        .and_then(|()| std::fs::rename(&aside, file.join(format!("{ALONE}.plim"))));
    moved.map_err(|e| format!("cannot move `{}`: {e}", file.display()))
}

/// `line` of `03-line`; nothing for a run of an experiment without parts.
fn part_name(folder: &str) -> Option<&str> {
    let (number, name) = folder.split_once('-')?;
    (number.len() == 2 && number.bytes().all(|b| b.is_ascii_digit())).then_some(name)
}

fn part(tool: &Path, runs: &Path, name: String, folder: String) -> Result<Part, String> {
    interrupt::check()?;
    let json = report(tool, runs, &["--json"])?;
    let json =
        serde_json::from_str(&json).map_err(|e| format!("the report of `{folder}` is no JSON: {e}"))?;
    let figures = super::describe(&figures(runs));
    let markdown = report(tool, runs, &["--markdown", "--charts", &figures])?;
    let csv = report(tool, runs, &["--csv"])?;
    Ok(Part { name, folder, markdown, csv, json })
}

/// In the folder of the runs; a single run is a file, which has room only beside it.
fn figures(runs: &Path) -> PathBuf {
    if runs.is_dir() { runs.join("figures") } else { runs.with_extension("").join("figures") }
}

fn report(tool: &Path, runs: &Path, format: &[&str]) -> Result<String, String> {
    let mut command = Command::new(tool);
    command
        .current_dir(shell::root())
        .arg("report")
        .arg(super::describe(runs))
        .args(format)
        .stdin(Stdio::null());
    let shown = shell::show(&command);
    let out = command.output().map_err(|e| format!("cannot start `{shown}`: {e}"))?;
    if !out.status.code().is_some_and(|code| ANSWERS.contains(&code)) {
        return Err(format!(
            "`{shown}` failed: {}\n{}",
            out.status,
            String::from_utf8_lossy(&out.stderr).trim()
        ));
    }
    String::from_utf8(out.stdout).map_err(|_| format!("`{shown}` printed bytes that are not UTF-8"))
}

/// Reports beside the run files: what a person reads after the terminal has scrolled away.
fn write(measured: &Measured) -> Outcome {
    for part in &measured.parts {
        let json = serde_json::to_string_pretty(&part.json).map_err(|e| format!("cannot write JSON: {e}"))?;
        write_file(&measured.folder.join(format!("{}.json", part.folder)), &json)?;
        write_file(&measured.folder.join(format!("{}.csv", part.folder)), &part.csv)?;
    }
    // Beside the pictures: their links begin where the report lies.
    let markdown = links::moved(&measured.markdown(), &measured.folder, |inside| Some(inside.to_owned()));
    write_file(&measured.folder.join("report.md"), &markdown)?;
    write_file(&measured.folder.join("predictions.md"), &prediction::table(&measured.rows))
}

impl Measured {
    pub fn markdown(&self) -> String {
        let texts: Vec<&str> = self.parts.iter().map(|part| part.markdown.trim_end()).collect();
        format!("{}\n", texts.join("\n\n"))
    }
}

pub fn write_file(file: &Path, text: &str) -> Outcome {
    std::fs::write(file, text).map_err(|e| format!("cannot write `{}`: {e}", file.display()))
}

/// The contract of a running system, told to a person.
pub fn check_contract(name: &str, state: &State) -> Result<Vec<String>, String> {
    let (asked, broken) = contract::check(name, state)?;
    println!("{name}: contract: {} of {asked} answers as they must be", asked - broken.len());
    Ok(broken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_has_two_digits_and_a_run_of_a_matrix_has_four() {
        assert_eq!(part_name("03-keep-alive"), Some("keep-alive"));
        assert_eq!(part_name("0003-users-2"), None);
        assert_eq!(part_name("experiment"), None);
    }
}
