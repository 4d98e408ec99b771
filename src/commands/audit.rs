//! `plimsoll audit FILE ...`: checks published results for impossible numbers.

use super::page::Wanted;
use super::template;
use crate::exit::{Exit, Failure};
use crate::flags::judge::Audit;
use crate::say;
use plimsoll_audit::foreign::{self, Document};
use plimsoll_audit::{self as audit, Grade};
use plimsoll_output::audit as render;
use plimsoll_output::audit::page;
use plimsoll_output::figure;
use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;
use std::io::BufReader;

pub fn command(flags: &Audit) -> Result<Exit, Failure> {
    if flags.files.is_empty() {
        return Err(Diagnostic::new(
            "U025",
            Place::Whole,
            "missing file to audit",
            "add one, such as `plimsoll audit report.md`, or `-` for standard input",
        )
        .into());
    }
    let forms =
        [(flags.json, "--json"), (flags.markdown, "--markdown"), (flags.template.is_some(), "--template")];
    let wanted = Wanted::of(&flags.page, forms.into_iter().find(|(is_on, _)| *is_on).map(|(_, flag)| flag))?;
    let mut documents = Vec::new();
    for file in &flags.files {
        documents.push(document_of(file)?);
    }
    let found = audit::audit(&documents);
    nothing_to_audit(&flags.files, &documents, &found)?;
    let text = if flags.json {
        render::json(&found)?
    } else if let Some(own) = &flags.template {
        let charts = figure::audit::charts(&found, &documents);
        template::rendered(own, "audit", &render::json(&found)?, &charts)?
    } else if flags.markdown {
        render::markdown(&found)
    } else {
        render::terminal(&found, &say::look_of_results(flags.no_color))
    };
    if !wanted.as_ref().is_some_and(Wanted::is_result) {
        say::result(&text)?;
    }
    if let Some(wanted) = &wanted {
        wanted.write(&page(&found, &documents)?)?;
    }
    Ok(match found.worst() {
        Some(Grade::Impossible) => Exit::ThresholdMissed,
        Some(Grade::Implausible | Grade::Missing) | None => Exit::Pass,
    })
}

/// Returns an error if no text contains results, and prints a note if some do not.
fn nothing_to_audit(files: &[String], documents: &[Document], found: &audit::Audit) -> Result<(), Failure> {
    let empty = || files.iter().zip(documents).filter(|(_, one)| is_empty(one, found));
    let names: Vec<String> = empty().map(|(file, _)| format!("`{}`", describe(file))).collect();
    if names.is_empty() {
        return Ok(());
    }
    if names.len() < files.len() {
        say::talk(&format!("note: found no results in {}\n", names.join(", ")));
        return Ok(());
    }
    let message = format!("found no results in {}", names.join(", "));
    let hint = "use the output of wrk, wrk2, ab, k6, loadtest, JMeter, hey, oha, Vegeta, autocannon, bombardier, \
                siege, h2load, Gatling, Locust, Artillery, rewrk, ghz, fortio, or Taurus, or a table in Markdown \
                or CSV";
    // The command line is valid; the file cannot be read as a result.
    Err(Failure::machine(message, Some(hint.to_owned())))
}

/// Numbers in sentences are not a result, unless a finding is about them.
fn is_empty(document: &Document, found: &audit::Audit) -> bool {
    let is_silent = document.claims.is_empty() || found.findings.is_empty();
    document.rows.is_empty() && document.unread.is_empty() && is_silent
}

fn describe(file: &str) -> &str {
    if file == "-" { "standard input" } else { file }
}

/// Reads a file, or standard input. Files of samples are read as a stream, because they may exceed the memory.
fn document_of(file: &str) -> Result<Document, Failure> {
    const BUFFER: usize = 64 << 10;
    let read = match file {
        "-" => foreign::read_from(describe(file), &mut BufReader::with_capacity(BUFFER, std::io::stdin())),
        _ => std::fs::File::open(file).and_then(|opened| {
            foreign::read_from(describe(file), &mut BufReader::with_capacity(BUFFER, opened))
        }),
    };
    read.map_err(|e| Failure::machine(format!("cannot read `{}`: {e}", describe(file)), None))
}
