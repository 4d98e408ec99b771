//! `plimsoll runs list|show|prune`: the runs in the state directory.

use super::report;
use crate::exit::{Exit, Failure};
use crate::flags::tool::{Runs, RunsAction};
use crate::flags::verbs::{Form, Report};
use crate::kept::{self, Kept};
use crate::{home, say, wall};
use plimsoll_output::format::bytes;
use plimsoll_plan::diag::Place;
use plimsoll_plan::phrase::{count, counted, utc};
use plimsoll_plan::{Diagnostic, Problem, unit};
use std::fmt::Write;

pub fn command(flags: &Runs) -> Result<Exit, Failure> {
    let all = kept::all(&home::state_folder()?)?;
    match &flags.action {
        None => list(&all, false),
        Some(RunsAction::List { json }) => list(&all, *json),
        Some(RunsAction::Show { name, form }) => show(&all, name.as_deref(), form),
        Some(RunsAction::Prune { keep, dry_run }) => prune(all, keep.as_deref(), *dry_run),
    }
}

fn list(all: &[Kept], json: bool) -> Result<Exit, Failure> {
    let folder = home::state_folder()?;
    if json {
        let rows: Vec<serde_json::Value> = all
            .iter()
            .map(|kept| {
                serde_json::json!({
                    "name": kept.name, "path": kept.path, "is_folder": kept.is_folder, "size_bytes": kept.bytes,
                    "changed_unix_ns": kept.changed_unix_ns,
                })
            })
            .collect();
        let document = serde_json::json!({"folder": folder, "total_bytes": total(all), "runs": rows});
        say::result(&format!("{document:#}\n"))?;
        return Ok(Exit::Pass);
    }
    let mut text = String::new();
    let width = all.iter().map(|kept| kept.name.chars().count()).max().unwrap_or(0);
    for kept in all {
        let kind = if kept.is_folder { "folder" } else { "" };
        let row =
            format!("{:<width$}  {}  {:>8}  {kind}", kept.name, utc(kept.changed_unix_ns), bytes(kept.bytes));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", plimsoll_output::line::clean(row.trim_end()));
    }
    let _ =
        writeln!(text, "{} in {}, {}", counted(all.len() as u64, "run"), folder.display(), bytes(total(all)));
    say::result(&text)?;
    Ok(Exit::Pass)
}

fn total(all: &[Kept]) -> u64 {
    all.iter().map(|kept| kept.bytes).sum()
}

/// Prints the report of the newest run, or of the run whose name begins with `name`.
fn show(all: &[Kept], name: Option<&str>, form: &Form) -> Result<Exit, Failure> {
    let wrong = |message: String, hint: &str| Diagnostic::new("U039", Place::Whole, message, hint).into();
    let kept = match name {
        None => all.first().ok_or_else(|| {
            wrong("there are no saved runs".into(), "start one with `plimsoll http://127.0.0.1:8080/`")
        })?,
        Some(name) => {
            let name = name.strip_suffix(".plim").unwrap_or(name);
            let mut found = all.iter().filter(|kept| kept.name.starts_with(name));
            match (all.iter().find(|kept| kept.name == name), found.next(), found.count()) {
                (Some(exact), ..) => exact,
                (None, Some(only), 0) => only,
                (None, None, _) => {
                    return Err(wrong(
                        format!("unknown run `{name}`"),
                        "`plimsoll runs list` lists all runs",
                    ));
                }
                (None, Some(_), more) => {
                    let message = format!("{} runs begin with `{name}`", count(more as u64 + 1));
                    return Err(wrong(message, "add more of the name"));
                }
            }
        }
    };
    let flags = Report {
        file: Some(kept.path.display().to_string()),
        form: form.clone(),
        quiet: false,
        template: None,
        page: Default::default(),
        charts: None,
        png: false,
    };
    report::command(&flags)
}

/// Deletes older runs, except those that are still being written.
fn prune(all: Vec<Kept>, keep: Option<&str>, dry_run: bool) -> Result<Exit, Failure> {
    let wrong =
        |problem: Problem| Failure::from(Diagnostic::of("U011", Place::Flag("--keep".into()), problem));
    let missing = || Problem::new("missing age of the runs to keep", "add `--keep 30d`");
    let keep_ns = unit::duration_ns(keep.ok_or_else(missing).map_err(wrong)?).map_err(wrong)?;
    let now = wall::now_unix_ns();
    let is_old = |kept: &Kept| now.saturating_sub(kept.changed_unix_ns) > keep_ns && !kept.is_going_on(now);
    let (old, rest): (Vec<Kept>, Vec<Kept>) = all.into_iter().partition(is_old);
    let mut text = String::new();
    for kept in &old {
        if !dry_run {
            kept.delete()?;
        }
        let _ = writeln!(text, "{}  {}", plimsoll_output::line::clean(&kept.name), bytes(kept.bytes));
    }
    let done = if dry_run { "would be deleted" } else { "deleted" };
    let _ = writeln!(
        text,
        "{} {done}, {}; {} kept, {}",
        counted(old.len() as u64, "run"),
        bytes(total(&old)),
        count(rest.len() as u64),
        bytes(total(&rest))
    );
    say::result(&text)?;
    Ok(Exit::Pass)
}
