//! `lab run NAME` starts a system, runs its experiment, compares the report with the predictions, and stops the system.
//! `lab test` does the same at a small scale.

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

/// Exit codes of the tool that are results: passed, inconclusive, failed. An intended overload exits with 99.
const ANSWERS: [i32; 3] = [0, 3, 99];
/// The only run of an experiment without parts and without a matrix.
const ALONE: &str = "00-run";
/// Time limit: the longest experiment takes 90 minutes.
const WITHIN: Duration = Duration::from_secs(3 * 3600);

#[derive(Debug, Default, PartialEq)]
pub struct Options {
    pub name: String,
    /// Multiplies every length of the experiment.
    pub scale: f64,
    /// None: the base of the file, or of the running system.
    pub base: Option<u16>,
    /// Save tables and charts in the repository.
    pub save: bool,
    pub part: Option<String>,
    /// Keep the system running afterward.
    pub keep: bool,
    /// An existing binary, instead of a release build.
    pub tool: Option<PathBuf>,
}

/// The results of an experiment.
pub struct Measured {
    /// Run files, one folder or one per part.
    pub folder: PathBuf,
    pub parts: Vec<Part>,
    pub rows: Vec<Row>,
    /// Predictions that did not hold and have no `answer` in the file, or that have no measured value.
    pub unanswered: Vec<Unmet>,
    /// Errors of the tool, and parts without a report.
    pub failed: Vec<String>,
    /// The command line of the tool.
    pub command: String,
}

/// A prediction that did not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmet {
    /// None for an experiment without parts.
    pub part: Option<String>,
    pub sentence: String,
    /// A value was measured: a longer run may measure another one.
    pub is_measured: bool,
}

pub struct Part {
    /// Empty for an experiment without parts.
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
    // Fail now, not after an hour.
    if options.save {
        save::check(name)?;
    }
    let _lock = state::lock(&places::state(name), name)?;
    let was_up = State::read(&places::state(name))?.is_some_and(|state| state.whole);
    let state = up::up(name, options.base)?;
    let outcome = measure(options, &tool, &state, WITHIN).and_then(|measured| {
        println!("\n{}", prediction::table(&measured.rows));
        println!("run files and reports: {}", super::describe(&measured.folder));
        // Do not save an incomplete experiment: its record would look complete.
        if !measured.failed.is_empty() {
            return Err(measured.failed.join("\n"));
        }
        if options.save { save::save(options, &measured) } else { Ok(()) }
    });
    // A system that was running before stays up.
    if options.keep || was_up {
        println!("{name}: stays up; `cargo xtask lab down {name}` stops it");
        return outcome;
    }
    let stopped = down::down(name);
    outcome.and(stopped)
}

/// Returns the given tool, or builds that of the checkout.
pub fn tool(given: Option<&Path>) -> Result<PathBuf, String> {
    if let Some(file) = given {
        let absolute = std::path::absolute(file).ok().filter(|file| file.is_file());
        return absolute.ok_or_else(|| format!("`{}` does not exist", file.display()));
    }
    // Cargo rebuilds it only if it is stale.
    shell::run(shell::cargo().args(["build", "--quiet", "--release", "--package", "plimsoll"]))?;
    interrupt::check()?;
    Ok(shell::target_folder()?.join("release/plimsoll"))
}

/// Runs the experiment of a running system, creates its reports, and checks the predictions.
pub fn measure(options: &Options, tool: &Path, state: &State, within: Duration) -> Result<Measured, String> {
    let name = &options.name;
    let file = places::experiment(name).join("experiment.yaml");
    if !file.is_file() {
        return Err(format!("`{}` does not exist", super::describe(&file)));
    }
    // Read before the load, for the same reason: a misspelled key must not cost a measurement.
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
    // Shown as `plimsoll`, regardless of the path in `--tool`: this line is published.
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
        // If one part cannot run, the results of the others must not be lost.
        if !folder.exists() {
            return Err(sentence);
        }
        failed.push(sentence);
    }
    if folder.is_file() {
        into_folder(&folder)?;
    }
    let parts = parts(tool, &folder, &mut failed)?;
    // With `--part`, the other parts did not run, so their predictions are not checked.
    let asked = predictions.iter().filter(|p| options.part.is_none() || p.part == options.part);
    let (mut rows, mut unanswered) = (Vec::new(), Vec::new());
    for p in asked {
        let row = match parts.iter().find(|part| p.part.as_deref().unwrap_or_default() == part.name) {
            Some(part) => p.judge(&part.json, options.scale),
            None => p.without("its part did not run", options.scale),
        };
        // An `answer` explains a measured value; it does not excuse a missing one.
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

/// Returns base and scale, and for each link whose name the file uses as a variable the address of its far end, which
/// depends on the other networks of the machine.
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

/// Returns the reports of all parts, in their order. An experiment without parts is one part; a part of one run may be
/// a run file instead of a folder. A part without a report is skipped and adds an error to `failed`.
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

/// Moves the file of a single run into a folder of the same name, which also takes the reports.
fn into_folder(file: &Path) -> Outcome {
    let aside = file.with_extension("plim");
    let moved = std::fs::rename(file, &aside)
        .and_then(|()| std::fs::create_dir(file))
        .and_then(|()| std::fs::rename(&aside, file.join(format!("{ALONE}.plim"))));
    moved.map_err(|e| format!("cannot move `{}`: {e}", file.display()))
}

/// Returns `line` for `03-line`, and None for a run of an experiment without parts.
fn part_name(folder: &str) -> Option<&str> {
    let (number, name) = folder.split_once('-')?;
    (number.len() == 2 && number.bytes().all(|b| b.is_ascii_digit())).then_some(name)
}

fn part(tool: &Path, runs: &Path, name: String, folder: String) -> Result<Part, String> {
    interrupt::check()?;
    let json = report(tool, runs, &["--json"])?;
    let json =
        serde_json::from_str(&json).map_err(|e| format!("the report of `{folder}` is not JSON: {e}"))?;
    let figures = super::describe(&figures(runs));
    let markdown = report(tool, runs, &["--markdown", "--charts", &figures])?;
    let csv = report(tool, runs, &["--csv"])?;
    Ok(Part { name, folder, markdown, csv, json })
}

/// Returns the folder for charts: in the folder of the runs, or next to the file of a single run.
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

/// Writes the reports next to the run files, for reading them later.
fn write(measured: &Measured) -> Outcome {
    for part in &measured.parts {
        let json = serde_json::to_string_pretty(&part.json).map_err(|e| format!("cannot write JSON: {e}"))?;
        write_file(&measured.folder.join(format!("{}.json", part.folder)), &json)?;
        write_file(&measured.folder.join(format!("{}.csv", part.folder)), &part.csv)?;
    }
    // Links to charts are relative to the report.
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

/// Checks the contract of a running system, and prints how many requests meet it.
pub fn check_contract(name: &str, state: &State) -> Result<Vec<String>, String> {
    let (asked, broken) = contract::check(name, state)?;
    println!("{name}: contract: {} of {asked} responses as expected", asked - broken.len());
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
