//! `plimsoll merge A B ...`: merges the runs of several load generators exactly.

use super::page::{self, Wanted};
use super::report;
use crate::exit::{Exit, Failure};
use crate::flags::verbs::Merge;
use crate::home;
use plimsoll_analysis::summarise;
use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;
use plimsoll_record::record::RunRecord;
use plimsoll_record::run_file;
use std::path::Path;

pub fn command(flags: &Merge) -> Result<Exit, Failure> {
    if flags.files.is_empty() {
        return Err(Diagnostic::new(
            "U017",
            Place::Whole,
            "missing run files to merge",
            "add them, such as `plimsoll merge a.plim b.plim --out both.plim`",
        )
        .into());
    }
    if let Some(out) = &flags.out {
        home::refuse_taken(Path::new(out))?;
    }
    let wanted = Wanted::of(&flags.page, flags.form.flag())?;
    home::refuse_missing(&flags.files)?;
    let mut merged = RunRecord::default();
    for file in &flags.files {
        let one = run_file::read(Path::new(file))?;
        merged = RunRecord::merge(merged, one)?;
    }
    if let Some(out) = &flags.out {
        run_file::write(Path::new(out), &merged)?;
    }
    let summary = summarise(&merged);
    if !wanted.as_ref().is_some_and(Wanted::is_result) {
        report::print(&summary, &flags.form, flags.out.as_deref())?;
    }
    page::write_run(wanted.as_ref(), &merged, &summary, flags.out.as_ref().map(Path::new))
}
