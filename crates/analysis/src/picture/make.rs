//! From a record to what charts show of it ([`crate::picture`]): the summary's ticks once more, added up to as many
//! rows and columns as can be seen.

use super::groups::Groups;
use super::heat::Columns;
use super::spans::SpansOf;
use super::spectra;
use crate::caution::CautionLimits;
use crate::cells::Cells;
use crate::facts::Facts;
use crate::offered::demand;
use crate::picture::{Picture, ROWS_MAX};
use crate::slices::slices_of;
use crate::summary::{Second, Summary};
use crate::timeline::{Moment, Standing, Sum, moment, moments_seen, ticks};
use plimsoll_plan::{Fault, Side};
use plimsoll_record::record::RunRecord;

/// What charts show of a run. `summary` is that of the same record; `spans` come from its file ([`spans_of`]), and of
/// none there are no `sparks`. Reads every tick: [`crate::summarise_with_picture`] makes both at once in half the time.
pub fn picture(record: &RunRecord, summary: &Summary, spans: &SpansOf) -> Picture {
    let facts = Facts::new(record);
    let mut strokes = Strokes::new(&facts);
    moments_seen(&facts, |sum, moment| strokes.take(sum, moment));
    strokes.picture(&facts, summary, spans)
}

/// A picture in the making: takes the ticks in their order.
pub(crate) struct Strokes<'a> {
    facts: &'a Facts<'a>,
    groups: Groups,
    /// The row that grows.
    row: Option<Sum>,
    open: Standing,
    rows: Vec<Second>,
    /// By row and fault.
    failures: Vec<[u64; Fault::COUNT]>,
    columns: Columns,
}

impl<'a> Strokes<'a> {
    pub fn new(facts: &'a Facts<'a>) -> Self {
        let ticks = ticks(facts);
        Self {
            facts,
            groups: Groups::of(&facts.plan, &ticks, ROWS_MAX),
            row: None,
            open: Standing::default(),
            rows: Vec::new(),
            failures: Vec::new(),
            columns: Columns::new(&facts.plan, &ticks),
        }
    }

    /// The next tick, and what the timeline says of it.
    pub fn take(&mut self, sum: &Sum, moment: &Moment) {
        self.columns.take(sum);
        let begins = self.groups.begins(sum.first);
        if self.groups.width() == 1 {
            // A row of one tick is the timeline's, to the last digit.
            self.rows.push(moment.second.clone());
            self.failures.push(failures(sum));
            return;
        }
        match &mut self.row {
            Some(row) if !begins => row.then(sum),
            _ => {
                self.end_row();
                self.row = Some(sum.clone());
            }
        }
    }

    fn end_row(&mut self) {
        if let Some(row) = self.row.take() {
            self.rows.push(moment(&self.facts.plan, &row, &mut self.open).second);
            self.failures.push(failures(&row));
        }
    }

    pub fn picture(mut self, facts: &Facts, summary: &Summary, spans: &SpansOf) -> Picture {
        self.end_row();
        let classes = classes(&self.failures);
        let by_class = |row: &[u64; Fault::COUNT]| classes.iter().map(|fault| row[*fault as usize]).collect();
        let (response_heat, service_heat) = self.columns.heats(facts);
        Picture {
            ticks_per_row: self.groups.width(),
            failures: self.failures.iter().map(by_class).collect(),
            classes: classes.iter().map(|fault| fault.name()).collect(),
            rows: self.rows,
            response_heat,
            service_heat,
            spectra: spectra::spectra(facts, demand(facts).belief(&CautionLimits::default())),
            slices: slices_of(&facts.run, &facts.all, facts.plan.timeout_ns),
            sparks: spans.sparks(facts),
            moments: summary.events.clone(),
        }
    }
}

fn failures(sum: &Sum) -> [u64; Fault::COUNT] {
    let mut counts = [0; Fault::COUNT];
    for fault in Fault::ALL {
        counts[*fault as usize] = sum.all.fault(*fault);
    }
    counts
}

/// Those that occurred and are not this machine's, the most frequent first; in the order of the table where they are
/// even.
fn classes(rows: &[[u64; Fault::COUNT]]) -> Vec<Fault> {
    let total = |fault: Fault| rows.iter().fold(0u64, |sum, row| sum.saturating_add(row[fault as usize]));
    let mut found: Vec<(u64, Fault)> = Fault::ALL
        .iter()
        .filter(|fault| fault.side() != Side::Client)
        .map(|fault| (total(*fault), *fault))
        .filter(|(n, _)| *n > 0)
        .collect();
    found.sort_by_key(|(n, _)| std::cmp::Reverse(*n));
    found.into_iter().map(|(_, fault)| fault).collect()
}
