//! Runs of the two tools with plans.

use crate::plan::Plan;
use crate::server::{Seen, Server};
use crate::xml;
use chore::bounded;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// No plan takes longer, in seconds.
const LIMIT_S: u64 = 20;
/// Starts JMeter once for many plans.
const DRIVER: &str = "testbed/jmeterdiff/src/Plans.java";

pub struct Tools {
    /// The folder of JMeter.
    pub home: PathBuf,
    pub plimsoll: PathBuf,
}

/// A plan with its server and a folder for each tool.
pub struct Prepared {
    server: Server,
    jmeter: PathBuf,
    plimsoll: PathBuf,
}

/// What a run left.
#[derive(Debug, Default)]
pub struct Run {
    pub seen: Vec<Seen>,
    pub port: String,
    /// The text of the file of results.
    pub results: String,
    /// Files that the plan has written.
    pub files: BTreeMap<String, String>,
    /// What the tool says about its run.
    pub log: String,
}

const PLAN: &str = "plan.jmx";
const RESULTS: &str = "results.jtl";
const LOG: &str = "tool.log";

impl Prepared {
    /// Writes a plan for both tools, each with a copy of the data files.
    ///
    /// # Errors
    /// Returns a sentence if a file cannot be written.
    pub fn new(plan: &Plan, files: &Path, work: &Path) -> Result<Prepared, String> {
        let server = Server::start()?;
        let folder = work.join(&plan.name);
        let failed = |e: std::io::Error| format!("cannot prepare `{}`: {e}", folder.display());
        if folder.exists() {
            std::fs::remove_dir_all(&folder).map_err(failed)?;
        }
        let text = xml::plan(&plan.lines);
        let text = text.replace("HOST", "127.0.0.1").replace("PORT", &server.address.port().to_string());
        let folders = ["jmeter", "plimsoll"].map(|tool| folder.join(tool));
        for own in &folders {
            copy(&files.join("files"), own).map_err(failed)?;
            std::fs::write(own.join(PLAN), &text).map_err(failed)?;
        }
        let [jmeter, plimsoll] = folders;
        Ok(Prepared { server, jmeter, plimsoll })
    }

    /// Returns what a run has left in its folder.
    fn run(&self, folder: &Path, before: &BTreeMap<String, String>, log: String) -> Run {
        let mut files = files(folder);
        let results = files.remove(RESULTS).unwrap_or_default();
        files.retain(|name, _| !before.contains_key(name) && name != LOG);
        Run { seen: self.server.take(), port: self.server.address.port().to_string(), results, files, log }
    }
}

impl Tools {
    /// Runs all plans in one process of JMeter.
    ///
    /// # Errors
    /// Returns a sentence if the process fails, or a plan does not end.
    pub fn jmeter(&self, plans: &[Prepared]) -> Result<Vec<Run>, String> {
        let Some(first) = plans.first() else { return Ok(Vec::new()) };
        let home = self.home.display();
        let mut command = Command::new("java");
        command.arg("-cp").arg(format!("{home}/bin/ApacheJMeter.jar:{home}/lib/*:{home}/lib/ext/*"));
        // The log of JMeter must not fill this terminal.
        command.args(["-Dlog4j2.level=OFF", "-Duser.language=en", "-Duser.country=US"]);
        command.arg(chore::shell::root().join(DRIVER)).arg(&self.home).arg(LIMIT_S.to_string());
        for plan in plans {
            command.arg(plan.jmeter.join(PLAN)).arg(plan.jmeter.join(RESULTS));
        }
        let before: Vec<_> = plans.iter().map(|plan| files(&plan.jmeter)).collect();
        let said = first.jmeter.with_extension("log");
        let here = first.jmeter.with_extension("here");
        // Some elements find their files there.
        copy(&chore::shell::root().join(crate::PLANS).join("files"), &here)
            .map_err(|e| format!("cannot fill `{}`: {e}", here.display()))?;
        let limit = Duration::from_secs(60 + LIMIT_S * plans.len() as u64);
        bounded::quietly(command.current_dir(&here), &said, limit)?;
        let said = bounded::text(&said)?;
        let run = |(plan, before): (&Prepared, &BTreeMap<String, String>)| {
            let start = format!("PLAN {} ", plan.jmeter.join(PLAN).display());
            let end = said.lines().find_map(|line| line.strip_prefix(&start));
            match end {
                Some("done") => Ok(plan.run(&plan.jmeter, before, String::new())),
                Some(other) => Ok(plan.run(&plan.jmeter, before, other.to_owned())),
                None => Err(format!("JMeter did not run `{}`", plan.jmeter.display())),
            }
        };
        plans.iter().zip(&before).map(run).collect()
    }

    /// Runs a plan with plimsoll.
    ///
    /// # Errors
    /// Returns a sentence if the program cannot be started.
    pub fn plimsoll(&self, plan: &Prepared) -> Result<Run, String> {
        let before = files(&plan.plimsoll);
        let mut command = Command::new(&self.plimsoll);
        command.current_dir(&plan.plimsoll).env("XDG_STATE_HOME", plan.plimsoll.with_extension("state"));
        command.args(["jmeter", "-n", "-t", PLAN, "-l", RESULTS, "-Jgiven=property"]);
        let said = plan.plimsoll.join(LOG);
        let end = bounded::run(&mut command, &said, Duration::from_secs(2 * LIMIT_S))?;
        let mut log = bounded::text(&said)?;
        if !end.is_well() {
            log = format!("{end}\n{log}");
        }
        Ok(plan.run(&plan.plimsoll, &before, log))
    }
}

/// Copies the files of a folder.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        std::fs::copy(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}

/// The files of a folder itself, as text.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.filter(|entry| entry.path().is_file());
    let text = |path: PathBuf| String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned();
    files.map(|entry| (entry.file_name().to_string_lossy().into_owned(), text(entry.path()))).collect()
}
