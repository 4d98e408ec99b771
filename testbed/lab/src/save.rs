//! `lab run NAME --save`: writes tables, charts, and the conditions of the measurement to
//! `experiments/NAME/runs/<date>-<machine>/`. It saves no run files and no names of users or folders, and overwrites
//! nothing.

use super::run::{Measured, Options, write_file};
use super::{links, places, prediction};
use chore::machine;
use chore::{Outcome, needs, shell};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn folder(name: &str) -> PathBuf {
    let label = format!("{}-{}", machine::today(), machine::label());
    places::experiment(name).join("runs").join(label)
}

/// Checks before a long measurement that the folder for its result does not exist.
pub fn check(name: &str) -> Outcome {
    let folder = folder(name);
    if folder.exists() {
        let shown = super::describe(&folder);
        return Err(format!("`{shown}` exists already\nhelp: move it away, or omit `--save`"));
    }
    Ok(())
}

pub fn save(options: &Options, measured: &Measured) -> Outcome {
    check(&options.name)?;
    let folder = folder(&options.name);
    super::make_folder(&folder)?;
    let pictures = figures(&measured.folder)?;
    let inside =
        |figure: &Path| figure.strip_prefix(&measured.folder).unwrap_or(figure).display().to_string();
    let copied: Vec<String> = pictures.iter().map(|figure| inside(figure)).collect();
    let markdown = links::moved(&measured.markdown(), &measured.folder, |inside| {
        let is_there = copied.iter().any(|figure| figure == inside);
        is_there.then(|| format!("figures/{}", links::saved_name(inside)))
    });
    write_file(&folder.join("report.md"), &without_machine(&markdown))?;
    for part in &measured.parts {
        write_file(&folder.join(format!("{}.csv", part.folder)), &without_machine(&short(&part.csv)))?;
    }
    write_file(&folder.join("predictions.md"), &without_machine(&prediction::table(&measured.rows)))?;
    write_file(&folder.join("README.md"), &without_machine(&readme(options, measured)?))?;
    for (figure, inside) in pictures.iter().zip(&copied) {
        let to = folder.join("figures").join(links::saved_name(inside));
        super::make_folder(&folder.join("figures"))?;
        std::fs::copy(figure, &to).map_err(|e| format!("cannot copy `{}`: {e}", figure.display()))?;
    }
    println!("saved: {}", super::describe(&folder));
    Ok(())
}

/// Returns what a reader needs to verify or repeat the measurement: date, machine, versions, and command.
fn readme(options: &Options, measured: &Measured) -> Result<String, String> {
    let name = &options.name;
    let mut text = format!("# {name}, measured on {}\n\n", machine::today());
    let part = options.part.as_ref().map(|part| format!(" --part {part}")).unwrap_or_default();
    text.push_str(&format!(
        "`cargo xtask lab run {name} --scale {}{part} --save`, which ran:\n\n```console\n$ {}\n```\n\n",
        options.scale, measured.command
    ));
    text.push_str("| machine | |\n|---|---|\n");
    for (what, value) in machine::describe() {
        text.push_str(&format!("| {what} | {value} |\n"));
    }
    text.push_str(&format!("| commit | {} |\n\n| component | version |\n|---|---|\n", machine::commit()));
    let (system, _) = places::system(name, None)?;
    for program in &system.needs {
        let path = needs::find(program).map_or(program.clone(), |path| path.display().to_string());
        text.push_str(&format!("| {program} | {} |\n", version(&path)));
    }
    text.push_str(
        "\nThe load generator, servers, and monitors shared the machine. The tables are in [report.md](report.md) and, \
         as\nnumbers, in the CSV files; the predictions are in [predictions.md](predictions.md).\n",
    );
    Ok(text)
}

/// Returns the first line with a digit of a program's version output. It tries the flags of all programs that systems
/// use; none of these programs starts its service with one of them.
fn version(program: &str) -> String {
    for flag in ["--version", "version", "-v", "-V"] {
        let Ok(out) = Command::new(program).arg(flag).stdin(Stdio::null()).output() else { continue };
        let text = [out.stdout, out.stderr].concat();
        let text = String::from_utf8_lossy(&text).into_owned();
        let line = text.lines().find(|line| line.contains(|c: char| c.is_ascii_digit()));
        if let Some(line) = line.filter(|_| out.status.success()) {
            return line.trim().chars().take(80).collect();
        }
    }
    "unknown".into()
}

/// Removes the path of the checkout, because a record is published.
fn without_machine(text: &str) -> String {
    text.replace(&shell::root().display().to_string(), ".")
}

/// Keeps only CPU and memory of the monitored metrics: all others are several hundred lines per combination, and are in
/// the run files.
fn short(csv: &str) -> String {
    // The steps of a search and the seconds of a run have other columns.
    if csv.split(',').nth(5) != Some("figure") {
        return csv.to_owned();
    }
    let is_kept = |line: &&str| {
        let watched = line.split(',').nth(5).and_then(|figure| figure.split_once('.'));
        watched.is_none_or(|(_, metric)| {
            ["cpu ", "rss ", "memory ", "memory_rss "].iter().any(|name| metric.starts_with(name))
        })
    };
    csv.lines().filter(is_kept).map(|line| format!("{line}\n")).collect()
}

/// Returns all charts below a folder.
fn figures(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries =
        std::fs::read_dir(folder).map_err(|e| format!("cannot list `{}`: {e}", folder.display()))?;
    let mut found = Vec::new();
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            found.extend(figures(&path)?);
        } else if path.extension().is_some_and(|ending| ending == "svg") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
