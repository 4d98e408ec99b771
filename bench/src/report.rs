//! The files of a bench: a README with date, machine, versions, commands, tables, and goals, and every raw number
//! as CSV.

use super::options::Options;
use super::tools::Roster;
use super::{Context, goals};
use chore::machine;
use chore::{Outcome, shell};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub struct Report {
    head: String,
    sections: Vec<String>,
    notes: Vec<String>,
    raw: String,
    measures: BTreeMap<&'static str, f64>,
    smoke: bool,
}

impl Report {
    pub fn new(options: &Options, roster: &Roster, context: &Context) -> Result<Report, String> {
        let mut head = format!("# Bench of {}\n\n", machine::today());
        for line in options.note.iter() {
            head.push_str(&format!("{line}\n\n"));
        }
        head.push_str(&format!("Command: `{}`; commit {}.\n\n", options.line, machine::commit()));
        head.push_str("| machine | |\n|---|---|\n");
        for (name, value) in machine::describe() {
            head.push_str(&format!("| {name} | {value} |\n"));
        }
        let pins = if context.pinned {
            "generator on core 0, target on core 1"
        } else {
            "none: one core, or no taskset"
        };
        head.push_str(&format!("| pinning | {pins} |\n\n| tool | version |\n|---|---|\n"));
        for (name, version) in roster.versions() {
            head.push_str(&format!("| {name} | {version} |\n"));
        }
        if !roster.missing.is_empty() {
            head.push_str(&format!("\nNot on this machine: {}.\n", roster.missing.join(", ")));
        }
        head.push_str(
            "\nRequests are counted by the server, CPU by the kernel (startup included), peak memory from /proc.\n\
             Never compare rows of different runs: compare ratios.\n",
        );
        let raw = "bench,round,tool,measure,value,unit\n".to_string();
        let (sections, notes, measures) = (Vec::new(), Vec::new(), BTreeMap::new());
        Ok(Report { head, sections, notes, raw, measures, smoke: context.smoke })
    }

    pub fn head(&self) -> &str {
        self.head.trim_end()
    }

    /// One number. Names contain no commas, because they come from this code.
    pub fn raw(&mut self, bench: &str, round: usize, tool: &str, measure: &str, value: f64, unit: &str) {
        self.raw.push_str(&format!("{bench},{round},{tool},{measure},{value},{unit}\n"));
    }

    /// A number that a goal may use.
    pub fn measure(&mut self, name: &'static str, value: Option<f64>) {
        if let Some(value) = value {
            self.measures.insert(name, value);
        }
    }

    /// A note that a reader needs: another tool that failed, or a goal that this machine cannot show.
    pub fn note(&mut self, sentence: &str) {
        println!("note: {sentence}");
        self.notes.push(sentence.replace('\n', " | "));
    }

    pub fn section(&mut self, bench: &str, what: &str, commands: &[String], text: &str) {
        println!("\n{text}");
        let mut commands = commands.to_vec();
        commands.sort();
        let load = machine::load_average();
        self.sections.push(format!(
            "## {bench}: {what}\n\n{text}\nLoad average when it was done: {load}.\n\n```\n{}\n```\n",
            commands.join("\n")
        ));
    }

    pub fn goals(&self) -> String {
        goals::table(&self.measures, !self.smoke)
    }

    /// Writes into `bench/runs/<date>-<machine>`; a second run on a day gets a number, and nothing is overwritten.
    pub fn write_run(&self, root: &Path) -> Result<PathBuf, String> {
        let runs = root.join("bench/runs");
        let name = format!("{}-{}", machine::today(), machine::label());
        let numbered = (2..).map(|n| runs.join(format!("{name}-{n}")));
        let folder = std::iter::once(runs.join(&name)).chain(numbered).find(|folder| !folder.exists());
        self.write(&folder.ok_or("no free name is left")?)
    }

    pub fn write(&self, folder: &Path) -> Result<PathBuf, String> {
        std::fs::create_dir_all(folder).map_err(|e| format!("cannot make `{}`: {e}", folder.display()))?;
        let mut text = format!("{}\n## Goals\n\n", self.head);
        if self.smoke {
            text.push_str("A smoke run, which shows that every bench works. Its numbers mean nothing.\n\n");
        }
        text.push_str(&self.goals());
        for section in &self.sections {
            text.push_str(&format!("\n{section}"));
        }
        if !self.notes.is_empty() {
            text.push_str(&format!("\n## Notes\n\n- {}\n", self.notes.join("\n- ")));
        }
        save(&folder.join("README.md"), &without_machine(&text))?;
        save(&folder.join("raw.csv"), &self.raw)?;
        Ok(folder.to_path_buf())
    }
}

/// A record is published, so it names no directory of the machine that made it.
fn without_machine(text: &str) -> String {
    text.replace(&shell::root().display().to_string(), ".")
}

fn save(file: &Path, text: &str) -> Outcome {
    std::fs::write(file, text).map_err(|e| format!("cannot write `{}`: {e}", file.display()))
}
