//! `plimsoll vegeta attack|report`: the command lines of Vegeta. The results that `attack` writes are a run file, which
//! `report` reads, so that pipes between the two stay as they are.

use super::foreign::{self, Unreachable, codes};
use crate::exit::{Exit, Failure};
use crate::flags::tool::Vegeta;
use crate::{flags, say, wall};
use plimsoll_lines::flags::USAGE;
use plimsoll_lines::vegeta::{self as lines, ReportType};
use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;
use plimsoll_record::record::RunRecord;
use plimsoll_record::run_file;
use plimsoll_toolend::{Figures, vegeta};
use std::io::{IsTerminal, Read, Write};
use std::path::Path;

/// What Vegeta prints for `-version`: the values that its build sets.
const VERSION: &str =
    concat!("Version: v12.13.0 (plimsoll ", env!("CARGO_PKG_VERSION"), ")\nCommit: \nRuntime: \nDate: \n");

pub fn command(given: &Vegeta) -> Result<Exit, Failure> {
    codes::GO.apply(&given.words, run)
}

fn run(words: &[String]) -> Result<Exit, Failure> {
    // Flags of all actions come before their name; `-cpus` has a value, which may be the next word.
    let mut at = 0;
    while let Some(word) = words.get(at).filter(|word| word.starts_with('-')) {
        if matches!(word.as_str(), "-version" | "--version") {
            say::result(VERSION)?;
            return Ok(Exit::Pass);
        }
        at += if matches!(word.as_str(), "-cpus" | "--cpus") { 2 } else { 1 };
    }
    let (before, rest) = words.split_at(at.min(words.len()));
    let Some((action, words)) = rest.split_first() else {
        return wrong(
            "missing action of `vegeta`",
            "write `plimsoll vegeta attack` or `plimsoll vegeta report`",
        );
    };
    match action.as_str() {
        "attack" | "report" if matches!(words, [only] if ["-h", "-help", "--help"].contains(&only.as_str())) =>
        {
            say::result(&flags::help_of::<Vegeta>())?;
            Ok(Exit::Pass)
        }
        "attack" => attack(&[before, words].concat()),
        "report" if before.is_empty() => report(words),
        "report" => unsupported("flags before `report` have no effect", "write them after it"),
        "plot" => {
            unsupported("`vegeta plot` is not supported", "write `plimsoll report FILE --html plot.html`")
        }
        "encode" | "dump" => {
            let message = format!("`vegeta {action}` is not supported: a run has no list of its requests");
            unsupported(&message, "write `plimsoll report FILE --csv`, or `--json`")
        }
        other => wrong(&format!("unknown action `{other}` of `vegeta`"), "use `attack` or `report`"),
    }
}

fn unsupported(message: &str, hint: &str) -> Result<Exit, Failure> {
    Err(Diagnostic::new("U006", Place::Whole, message, hint).into())
}

/// Returns the mistake of a line that Vegeta refuses, too.
fn wrong(message: &str, hint: &str) -> Result<Exit, Failure> {
    Err(Diagnostic::new(USAGE, Place::Whole, message, hint).into())
}

fn attack(words: &[String]) -> Result<Exit, Failure> {
    let line = lines::attack(words, || {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    });
    let line = line.map_err(Failure::Text)?;
    let ended = foreign::run(line.draft.clone(), &line.own, Unreachable::IsLoaded)?;
    let file = &ended.measured.run_file;
    match &line.output {
        Some(output) => {
            std::fs::copy(file, output)
                .map_err(|e| Failure::machine(format!("cannot write `{output}`: {e}"), None))?;
        }
        None if std::io::stdout().is_terminal() => {
            return foreign::finish(&ended, &vegeta::text(&ended.figures), &line.own, Exit::Pass);
        }
        None => {
            let bytes = std::fs::read(file)
                .map_err(|e| Failure::machine(format!("cannot read `{}`: {e}", file.display()), None))?;
            say::bytes(&bytes)?;
        }
    }
    foreign::finish(&ended, "", &line.own, Exit::Pass)
}

fn report(words: &[String]) -> Result<Exit, Failure> {
    let line = lines::report(words).map_err(Failure::Text)?;
    let mut record = RunRecord::default();
    if line.files.is_empty() {
        record = of_stdin()?;
    }
    for file in &line.files {
        record = RunRecord::merge(record, run_file::read(Path::new(file))?)?;
    }
    let figures = Figures::new(&record);
    let text = match &line.kind {
        ReportType::Text => vegeta::text(&figures),
        ReportType::Json(edges) => vegeta::json(&figures, edges),
        ReportType::Histogram(edges) => vegeta::histogram(&figures, edges),
        ReportType::HdrPlot => vegeta::hdr_plot(&figures),
    };
    match &line.output {
        Some(output) => foreign::write_over(output, &text)?,
        None => say::result(&text)?,
    }
    Ok(Exit::Pass)
}

/// Reads a run file from standard input. Its reader needs a file, which is removed afterwards.
fn of_stdin() -> Result<RunRecord, Failure> {
    let failed = |e: std::io::Error| Failure::machine(format!("cannot read standard input: {e}"), None);
    let name = format!("plimsoll-{}.plim", wall::hex(&wall::random::<8>()?));
    let path = std::env::temp_dir().join(name);
    let copied = std::fs::OpenOptions::new().write(true).create_new(true).open(&path).and_then(|mut file| {
        std::io::copy(&mut std::io::stdin().lock(), &mut file).and_then(|_| file.flush())
    });
    let read = copied.map_err(failed).and_then(|()| {
        run_file::read(&path).map_err(|error| {
            let sentence = error.to_string().replace(&format!("`{}`", path.display()), "standard input");
            Failure::machine(sentence, error.hint())
        })
    });
    // Failing to remove a temporary file does little harm.
    let _ = std::fs::remove_file(&path);
    read
}
