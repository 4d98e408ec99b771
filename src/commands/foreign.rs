//! Runs a command line of another tool: the load, the verdict on standard error, the report that `--report` names, and
//! the exit code.

pub mod codes;

use super::load::{self, Measured};
use super::{page, run};
use crate::exit::{Exit, Failure};
use crate::flags::load::{LoadFlags, MannerFlags};
use crate::say;
use plimsoll_analysis::summary::{Severity, Summary};
use plimsoll_front::Located;
use plimsoll_lines::flags::Own;
use plimsoll_output::terminal::Detail;
use plimsoll_output::{Look, json, markdown, style, terminal};
use plimsoll_plan::diag::Place;
use plimsoll_plan::{Diagnostic, Draft};
use plimsoll_toolend::Figures;
use std::io::IsTerminal;
use std::path::Path;

/// A load that has ended.
pub struct Ended {
    pub measured: Measured,
    pub figures: Figures,
}

/// What a tool does if nothing listens at the address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unreachable {
    /// Ends before the load.
    Ends,
    /// Sends its load, whose requests all fail. With `--verdict`, the run ends before the load.
    IsLoaded,
}

/// Runs the load of a command line.
///
/// # Errors
/// Returns an error if a file of the flags exists already, or if the load cannot run.
pub fn run(draft: Draft, own: &Own, unreachable: Unreachable) -> Result<Ended, Failure> {
    for (flag, file) in [("--report", &own.report)] {
        if let Some(file) = file.as_ref().filter(|file| Path::new(file).symlink_metadata().is_ok()) {
            let message = format!("cannot write `{file}`: it exists already");
            let hint = "choose another name, or move the existing file";
            return Err(Diagnostic::new("U020", Place::Flag(flag.into()), message, hint).into());
        }
    }
    let has_view = style::can_repaint(say::variable, std::io::stderr().is_terminal());
    let manner = MannerFlags {
        // Standard output has the text of the tool; lines of progress would disturb those who read standard error.
        quiet: !has_view,
        out: own.save.clone(),
        allow: own.allow.clone(),
        loads_unreachable: unreachable == Unreachable::IsLoaded && !own.has_verdict,
        ..MannerFlags::default()
    };
    let flags = LoadFlags { manner: manner.clone(), ..LoadFlags::default() };
    let located = Located { draft, ..Located::default() };
    let plan = run::sealed(located, &flags, true)?;
    let measured = load::measure(plan, &manner, None)?;
    let figures = Figures::new(&measured.record);
    Ok(Ended { measured, figures })
}

/// Prints the text of the tool, then the verdict on standard error, and writes the report. Returns the exit code: that
/// of the tool, or with `--verdict` that of the verdict.
///
/// # Errors
/// Returns an error if the text or the report cannot be written.
pub fn finish(ended: &Ended, text: &str, own: &Own, of_tool: Exit) -> Result<Exit, Failure> {
    say::result(text)?;
    let Measured { summary, run_file, exit, .. } = &ended.measured;
    say::talk(&verdict(summary, run_file));
    if let Some(file) = &own.report {
        page::put(Path::new(file), "--report", &report(&ended.measured, file)?)?;
    }
    Ok(if own.has_verdict { *exit } else { of_tool })
}

/// Returns the verdict, the cautions that a reader must know, and where the run is.
fn verdict(summary: &Summary, run_file: &Path) -> String {
    let mut text = format!("{}\n", summary.verdict.sentence);
    for caution in summary.cautions.iter().filter(|caution| caution.severity != Severity::Note) {
        text.push_str(&format!("caution: {}: {}\n", caution.title(), caution.evidence_text()));
    }
    text.push_str(&format!("plimsoll report {}\n", run_file.display()));
    text
}

/// Returns the report in the format that the name of its file asks for.
fn report(measured: &Measured, file: &str) -> Result<String, Failure> {
    let Measured { summary, record, run_file, .. } = measured;
    let ending = Path::new(file).extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    Ok(match ending {
        "html" | "htm" => page::of_run(record, summary, Some(run_file))?.render()?,
        "md" => markdown::to_string(summary),
        "json" => json::to_string(summary)?,
        _ => {
            let shown = run_file.display().to_string();
            terminal::summary(
                summary,
                &Look::from_env(say::variable, false, None),
                Detail::Full,
                Some(&shown),
            )
        }
    })
}

/// Writes a file that a flag of the tool names, over an existing one as the tool does.
///
/// # Errors
/// Returns an error if the file cannot be written.
pub fn write_over(path: &str, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text).map_err(|e| Failure::machine(format!("cannot write `{path}`: {e}"), None))
}
