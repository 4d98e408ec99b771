//! Several load generators on this machine that share one run: processes of this program, each with its part of the
//! load, whose run files are merged exactly. Each process has its own file descriptors, port bookkeeping, and
//! threads; they share nothing but the machine.

use crate::commands::load::{ByAgents, Measured, Shared};
use crate::exit::Failure;
use crate::flags::load::LoadFlags;
use crate::say;
use crate::steer::{self, REFUSED, Who};
use plimsoll_analysis::summarise;
use plimsoll_engine::signals::interrupt;
use plimsoll_plan::Outline;
use plimsoll_record::{RunRecord, run_file};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Command line with which another process reads the same experiment.
#[derive(Debug, Clone)]
pub struct Again {
    words: Vec<String>,
    is_part: bool,
    /// Whether the words name a file, which may have several combinations.
    is_file: bool,
}

impl Again {
    /// Returns `plimsoll run FILE [--part NAME]` with the flags of this command.
    pub fn new(file: &str, part: Option<&str>, flags: &LoadFlags) -> Again {
        let mut words = vec!["run".to_owned(), file.to_owned()];
        words.extend(part.map(|part| format!("--part={part}")));
        words.extend(flags.words());
        Again { words, is_part: part.is_some(), is_file: true }
    }

    /// Returns the command line of a load without a file of combinations: `words`, then the flags of this command.
    pub fn plain(mut words: Vec<String>, flags: &LoadFlags) -> Again {
        words.extend(flags.words());
        Again { words, is_part: false, is_file: false }
    }

    /// Returns a command line of another tool.
    pub fn of_tool(words: Vec<String>) -> Again {
        Again { words, is_part: false, is_file: false }
    }

    /// Returns the words after the program's name.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Returns the same command line with one more word.
    pub fn with(&self, word: Option<String>) -> Again {
        let mut again = self.clone();
        again.words.extend(word);
        again
    }

    /// Returns true if `--single-run` selects one of several combinations.
    pub fn is_file(&self) -> bool {
        self.is_file
    }

    /// Returns true if the file has several experiments and this is one of them.
    pub fn is_part(&self) -> bool {
        self.is_part
    }
}

/// The processes that share a run.
#[derive(Debug, Clone, Copy)]
pub struct GeneratorGroup {
    /// Number of processes.
    pub of: u32,
    /// Whether each process receives the commands that this process reads.
    pub is_steered: bool,
}

/// Interval of the checks for an interrupt while the generators run.
const LOOK: Duration = Duration::from_millis(50);
/// Exit codes of a run with any verdict, and of one that an interrupt ended before its load.
const RAN: [i32; 6] = [0, 3, 99, 129, 130, 143];

/// Measures one run of a cell with several concurrent processes and writes one run file.
///
/// # Errors
/// Returns the error of the first process that failed. The others are then interrupted and nothing is kept.
pub fn measure(
    again: &Again,
    crew: GeneratorGroup,
    outline: &Outline,
    file: &Path,
    shared: &Shared,
) -> Result<Measured, Failure> {
    let folder = file.with_extension("generators");
    let failed = |doing: &str, e: &std::io::Error| {
        Failure::machine(format!("cannot {doing} directory `{}`: {e}", folder.display()), None)
    };
    // A killed run may have left one.
    if folder.exists() {
        std::fs::remove_dir_all(&folder).map_err(|e| failed("delete", &e))?;
    }
    std::fs::create_dir_all(&folder).map_err(|e| failed("create", &e))?;
    let run_of = |part: u32| folder.join(format!("{part}.plim"));
    if crew.is_steered {
        steer::listen(&shared.interrupts, Who::Alone)?;
    }
    let ran = together(crew.of, shared, |part| command(again, part, crew, outline, &run_of(part)));
    shared.interrupts.lead(Vec::new());
    let is_missing = shared.interrupts.happened() && (1..=crew.of).any(|part| !run_of(part).exists());
    let ran = ran.and_then(|()| match is_missing {
        true => Err(shared.interrupts.cut_short("interrupted before every generator started its load")),
        false => Ok(()),
    });
    // The same interrupt may have stopped the service, and made a setup fail.
    let merged = ran.map_err(|failure| shared.interrupts.instead_of(failure)).and_then(|()| {
        let mut merged = RunRecord::default();
        for part in 1..=crew.of {
            merged = RunRecord::merge(merged, run_file::read(&run_of(part))?)?;
        }
        // Only this process knows the cell of the run.
        for origin in merged.generators.values_mut() {
            Arc::make_mut(&mut origin.opening).outline.cell.clone_from(&outline.cell);
        }
        run_file::write(file, &merged)?;
        Ok(merged)
    });
    // The run's own error matters more than a failure to clean up.
    let removed = std::fs::remove_dir_all(&folder).map_err(|e| failed("delete", &e));
    let record = merged?;
    removed?;
    let summary = summarise(&record);
    let exit = summary.verdict.result.into();
    Ok(Measured { summary, record, run_file: file.to_path_buf(), exit, by_agents: ByAgents::default() })
}

/// Returns the words after the program's name.
fn words(again: &Again, part: u32, crew: GeneratorGroup, outline: &Outline, run_file: &Path) -> Vec<String> {
    let mut words = again.words.clone();
    let settings = outline.cell.iter().flat_map(|cell| &cell.settings);
    words.extend(settings.map(|setting| format!("--set={}={}", setting.parameter, setting.value)));
    words.extend([
        format!("--shard={part}/{}", crew.of),
        format!("--seed={}", outline.seed),
        format!("--out={}", run_file.display()),
        "--single-run".to_owned(),
        "--quiet".to_owned(),
        format!("--with-parent={}", std::process::id()),
        "--no-color".to_owned(),
    ]);
    words.extend(crew.is_steered.then(|| "--steered".to_owned()));
    // All generators load the same system, so one set of monitors is enough.
    words.extend((part > 1).then(|| "--unwatched".to_owned()));
    words
}

fn command(
    again: &Again,
    part: u32,
    crew: GeneratorGroup,
    outline: &Outline,
    run_file: &Path,
) -> Result<Command, Failure> {
    use std::os::unix::process::CommandExt;
    let program = std::env::current_exe()
        .map_err(|e| Failure::machine(format!("cannot find this program's executable: {e}"), None))?;
    let mut command = Command::new(program);
    command.args(words(again, part, crew, outline, run_file));
    command.stdin(if crew.is_steered { Stdio::piped() } else { Stdio::null() });
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    // Ctrl-C reaches the generators once, through this process; a second one would stop them without reports.
    command.process_group(0);
    Ok(command)
}

/// Starts all generators and waits for them. Passes on an interrupt, and interrupts the others if one fails.
fn together(
    of: u32,
    shared: &Shared,
    command: impl Fn(u32) -> Result<Command, Failure>,
) -> Result<(), Failure> {
    let (tell, told) = channel::<(u32, std::io::Result<Output>)>();
    let mut running: Vec<(u32, u32)> = Vec::new();
    let mut failure: Option<Failure> = None;
    let mut steered: Vec<ChildStdin> = Vec::new();
    for part in 1..=of {
        let child = command(part).and_then(|mut command| {
            command
                .spawn()
                .map_err(|e| Failure::machine(format!("cannot start generator {part} of {of}: {e}"), None))
        });
        match child {
            Ok(mut child) => {
                running.push((part, child.id()));
                steered.extend(child.stdin.take());
                let tell = tell.clone();
                // Drains its output, so that it cannot block on a full pipe.
                std::thread::spawn(move || tell.send((part, heard(child, part, of))));
            }
            Err(error) => {
                failure = Some(error);
                break;
            }
        }
    }
    shared.interrupts.lead(steered);
    let mut passed_on = false;
    while !running.is_empty() {
        if (shared.interrupts.happened() || failure.is_some()) && !std::mem::replace(&mut passed_on, true) {
            running.iter().for_each(|(_, pid)| interrupt(*pid));
        }
        let (part, output) = match told.recv_timeout(LOOK) {
            Ok(ended) => ended,
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => break,
        };
        running.retain(|(other, _)| *other != part);
        if let Some(why) = why(part, of, output) {
            failure.get_or_insert(why);
        }
    }
    failure.map_or(Ok(()), Err)
}

/// Waits for the end of a generator and returns its messages, but prints rejected commands immediately.
fn heard(mut child: Child, part: u32, of: u32) -> std::io::Result<Output> {
    let mut stderr = Vec::new();
    for line in child.stderr.take().into_iter().flat_map(|pipe| BufReader::new(pipe).split(b'\n')) {
        let line = line?;
        if line.starts_with(REFUSED.as_bytes()) {
            say::talk(&format!("generator {part} of {of}: {}\n", String::from_utf8_lossy(&line)));
        } else {
            stderr.extend(line);
            stderr.push(b'\n');
        }
    }
    Ok(Output { status: child.wait()?, stdout: Vec::new(), stderr })
}

/// Returns why a generator failed, in its own words.
fn why(part: u32, of: u32, output: std::io::Result<Output>) -> Option<Failure> {
    let output = match output {
        Ok(output) if output.status.code().is_some_and(|code| RAN.contains(&code)) => return None,
        Ok(output) => output,
        Err(e) => {
            return Some(Failure::machine(format!("cannot wait for generator {part} of {of}: {e}"), None));
        }
    };
    let said = String::from_utf8_lossy(&output.stderr);
    let said: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let sentence = match said.first() {
        Some(first) => first.trim_start_matches("error: ").to_owned(),
        None => output.status.to_string(),
    };
    let hint = said.get(1..).filter(|rest| !rest.is_empty()).map(|rest| rest.join(" "));
    Some(Failure::machine(
        format!("generator {part} of {of}: {sentence}"),
        hint.map(|hint| hint.trim_start_matches("help: ").to_owned()),
    ))
}
