//! Little's law over whole tables: N = X R for each row, and the sum over rows that the same users worked through.
//! (Little: A Proof for the Queuing Formula L = lambda W, Operations Research 9, 1961.)

use super::say::{Out, num, share, time};
use super::view::{
    around, middle, parts_of_one_run, same_window, stated, table_rows, together, value, window,
};
use crate::Certainty::{Likely, Possible, Proved};
use crate::foreign::model::{Claim, Document, Figure, Measure, Row, Table};
use crate::foreign::table::{GUESSED, several};

const PAUSES: &[&str] = &["think time", "pause", "pacing", "sleep", "wait between"];
/// Tools whose scripts pause as they like.
const SCRIPTED: &[&str] = &["k6", "locust", "gatling", "artillery", " vus", "vus)", "virtual user"];

/// Users around a table, or those that every other table of the text states.
fn users_of<'a>(document: &'a Document, table: &'a Table) -> Option<(&'a Claim, &'a Figure, bool)> {
    if let Some((claim, figure)) = stated(table, Measure::Users) {
        return Some((claim, figure, true));
    }
    if around(table, Measure::Users).next().is_some() {
        return None;
    }
    // Only for a table that follows them and counts its samples as they do.
    let counted = table_rows(document, table).all(|r| r.figures.contains_key(&Measure::Requests));
    let before = document.tables.iter().filter(|t| counted && t.lines.1 < table.lines.0);
    let others: Vec<_> = before.filter_map(|t| stated(t, Measure::Users)).collect();
    let (claim, figure) = others.first()?;
    (others.len() >= 3 && others.iter().all(|(_, f)| f.value == figure.value))
        .then_some((*claim, *figure, false))
}

/// X R of one row with its range.
pub(super) fn in_flight(row: &Row) -> Option<(f64, f64, f64)> {
    let (x, r) = (row.figures.get(&Measure::Rate)?, row.figures.get(&Measure::Mean)?);
    let n = x.value * r.value;
    (n.is_finite() && n > 0.0).then_some((x.low * r.low, n, x.high * r.high))
}

/// The rows of a table that hold rate and mean and no users of their own.
fn judged<'a>(document: &'a Document, table: &'a Table) -> Vec<(&'a Row, (f64, f64, f64))> {
    let rows: Vec<&Row> = table_rows(document, table).collect();
    let total = |r: &Row| {
        let label = r.label.to_lowercase();
        label.starts_with("total") || label.starts_with("all") || label.starts_with("sum")
    };
    let own = rows.iter().any(|r| r.figures.contains_key(&Measure::Users));
    if own {
        return Vec::new();
    }
    rows.into_iter().filter(|r| !total(r)).filter_map(|r| Some((r, in_flight(r)?))).collect()
}

pub(super) fn term((row, (_, n, _)): &(&Row, (f64, f64, f64))) -> String {
    let (x, r) = (value(row, Measure::Rate).unwrap_or(0.0), value(row, Measure::Mean).unwrap_or(0.0));
    format!("{}: {}/s x {} = {}", row.label, num(x), time(r), num(*n))
}

/// More requests in flight than there are users.
pub fn more_than_stated(documents: &[Document], out: &mut Out) {
    for document in documents {
        for table in &document.tables {
            let Some((claim, users, true)) = users_of(document, table) else { continue };
            // Several requests on one connection, or times in a unit that nobody states: N has no bound.
            let guessed = |r: &Row| r.figures.get(&Measure::Mean).is_some_and(|m| m.unit == GUESSED);
            // loadtest runs all clients on each core.
            let is_of_cores = super::view::mentions(document, &["running on cores"]);
            if several::is_open(document, table) || is_of_cores || table_rows(document, table).any(guessed) {
                continue;
            }
            let rows = judged(document, table);
            let all: Vec<&Row> = rows.iter().map(|(r, _)| *r).collect();
            let sum: f64 = rows.iter().map(|(_, n)| n.0).sum();
            // Rows that each fill the users were measured one after the other.
            let most = rows.iter().map(|(_, n)| n.1).fold(0.0, f64::max);
            let over: Vec<_> = rows.iter().filter(|(_, n)| n.0 > users.high * 1.01).collect();
            if !over.is_empty() {
                let mut say = out.say(
                    Proved,
                    format!(
                        "`{}` needs {} requests in flight, {} users are stated",
                        over[0].0.label,
                        num(over[0].1.1),
                        num(users.value)
                    ),
                );
                for one in &over {
                    say = say.line(format!("{} > {}", term(one), num(users.value)));
                    say = say.figures(document, one.0, &[Measure::Rate, Measure::Mean]);
                }
                say.claim(document, claim)
                    .explained("users were counted per machine, or rate and time are of different windows")
                    .advise("state users over all machines, and print N = X R beside every row");
            } else if together(&all) && sum > users.high * 1.01 && most < users.value * 0.8 {
                let mut say = out.say(
                    Likely,
                    format!(
                        "the rows together need {} requests in flight, {} users are stated",
                        num(sum),
                        num(users.value)
                    ),
                );
                say = say.lines(rows.iter().map(term)).line(format!(
                    "sum = {} > {}",
                    num(sum),
                    num(users.value)
                ));
                for (row, _) in &rows {
                    say = say.figures(document, row, &[Measure::Rate, Measure::Mean]);
                }
                say.claim(document, claim)
                    .explained("users were counted per machine or per group")
                    .advise("state users over all machines, and print N = X R beside every row");
            }
        }
    }
}

/// Users spend part of their time outside of every sample: in the generator, or in pauses nobody mentions.
pub fn time_missing(documents: &[Document], out: &mut Out) {
    for document in documents {
        let mut done: Vec<(u32, f64)> = Vec::new();
        for table in &document.tables {
            let Some((claim, users, own)) = users_of(document, table) else { continue };
            // A thread that ends after its loops has no more time.
            if super::view::mentions(document, PAUSES) || super::view::has(&claim.text, &["loops"]) {
                continue;
            }
            // Parts of one run (two sites, one number of users) are added up.
            let one_run = |t: &&Table| t.lines == table.lines || own && parts_of_one_run(table, t);
            let parts: Vec<&Table> = document.tables.iter().filter(one_run).collect();
            let sums: Vec<f64> = parts
                .iter()
                .filter_map(|t| {
                    let rows = judged(document, t);
                    let all: Vec<&Row> = rows.iter().map(|(r, _)| *r).collect();
                    let sum: f64 = rows.iter().map(|(_, n)| n.2).sum();
                    (same_window(&all) && sum <= users.value * 1.05).then_some(sum)
                })
                .collect();
            // Rows without samples may be of one run or of several.
            let windows: Vec<f64> = judged(document, table).iter().filter_map(|(r, _)| window(r)).collect();
            if windows.len() != judged(document, table).len() {
                continue;
            }
            if sums.len() == parts.len() {
                let sum: f64 = sums.iter().sum();
                let idle = 1.0 - sum / users.value;
                if idle < 0.07 || sum <= 0.0 || done.contains(&(claim.line, sum)) {
                    continue;
                }
                done.push((claim.line, sum));
                let rows: Vec<_> = parts.iter().flat_map(|t| judged(document, t)).collect();
                let rate: f64 =
                    rows.iter().filter_map(|(r, _)| value(r, Measure::Rate)).sum::<f64>() / rows.len() as f64;
                let mut say = out.say(
                    if idle > 0.15 { Likely } else { Possible },
                    format!(
                        "{} of the time of {} users is in no sample: the rows account for {}",
                        share(idle),
                        num(users.value),
                        num(sum)
                    ),
                );
                say = say.lines(rows.iter().map(term)).line(format!(
                    "sum = {} of {}",
                    num(sum),
                    num(users.value)
                ));
                say = say.line(format!(
                    "({} - {}) / {}/s = {} in each pass outside of the samples",
                    num(users.value),
                    num(sum),
                    num(rate),
                    time((users.value - sum) / rate)
                ));
                for (row, _) in &rows {
                    say = say.figures(document, row, &[Measure::Rate, Measure::Mean]);
                }
                say.claim(document, claim)
                    .explained("the load generator itself, pauses, or ramp-up and an uneven end")
                    .advise("measure the generator's own time per iteration, and state it");
                continue;
            }
            for one in judged(document, table) {
                let idle = 1.0 - one.1.2 / users.value;
                if idle < 0.12 {
                    continue;
                }
                let certainty = if idle > 0.3 && own { Likely } else { Possible };
                out.say(
                    certainty,
                    format!(
                        "`{}` accounts for {} of {} users: {} of their time is in no sample",
                        one.0.label,
                        num(one.1.1),
                        num(users.value),
                        share(idle)
                    ),
                )
                .line(term(&one))
                .line(format!("1 - {} / {} = {}", num(one.1.2), num(users.value), share(idle)))
                .figures(document, one.0, &[Measure::Rate, Measure::Mean])
                .claim(document, claim)
                .explained("the load generator is the limit, or fewer users ran than elsewhere in the text")
                .advise("state the users of this table, and check the generator's processor");
            }
        }
    }
}

/// A table without a word on its load; N = X R says what it was.
pub fn load_is_implied(documents: &[Document], out: &mut Out) {
    for document in documents {
        for table in &document.tables {
            if around(table, Measure::Users).next().is_some()
                || around(table, Measure::OfferedRate).next().is_some()
            {
                continue;
            }
            let rows = judged(document, table);
            if several::is_open(document, table) {
                continue;
            }
            if rows.len() < 4 || rows.iter().any(|(r, _)| r.figures.contains_key(&Measure::OfferedRate)) {
                continue;
            }
            let all: Vec<f64> = rows.iter().map(|(_, n)| n.1).collect();
            let Some(usual) = middle(&all) else { continue };
            let mut say = out.say(
                Proved,
                format!(
                    "the users of this table are not stated; most rows had about {} in flight",
                    num(usual)
                ),
            );
            say = say.lines(rows.iter().map(term));
            let odd: Vec<String> = rows
                .iter()
                .filter(|(_, n)| n.1 > 1.5 * usual || n.1 < usual / 1.5)
                .map(|(r, n)| format!("{} ({})", r.label, num(n.1)))
                .collect();
            if !odd.is_empty() {
                say = say.line(format!("not like the others: {}", odd.join(", ")));
            }
            say.at(document, table.lines.0, table.columns.join(" | "))
                .advise("state the number of users of each row: rate and time mean nothing without it");
        }
    }
}

/// A closed loop needs users / rate for each request; a percentile below it says that most took less.
pub fn cycle_above_percentile(documents: &[Document], out: &mut Out) {
    for document in documents {
        for table in &document.tables {
            let Some((claim, users, true)) = users_of(document, table) else { continue };
            let rows: Vec<&Row> = table_rows(document, table).collect();
            let means = rows
                .iter()
                .any(|r| r.figures.contains_key(&Measure::Mean) || r.figures.contains_key(&Measure::Users));
            let may_pause =
                super::view::mentions(document, PAUSES) || super::view::mentions(document, SCRIPTED);
            if means || together(&rows) || may_pause {
                continue;
            }
            for row in rows {
                let Some(x) =
                    row.figures.get(&Measure::Rate).filter(|x| x.high > 0.0 && window(row).is_some())
                else {
                    continue;
                };
                let tail = row
                    .figures
                    .iter()
                    .find(|(m, _)| matches!(m, Measure::Percentile(p) if (9_000..9_900).contains(p)));
                let Some((Measure::Percentile(p), tail)) = tail else { continue };
                let cycle = users.low / x.high;
                if cycle <= tail.high * 1.02 {
                    continue;
                }
                out.say(
                    Likely,
                    format!(
                        "`{}`: each of {} users takes {} a request on average, p{} is \
                     {}",
                        row.label,
                        num(users.value),
                        time(cycle),
                        f64::from(*p) / 100.0,
                        tail.written
                    ),
                )
                .line(format!(
                    "{} / {}/s = {} > \
                         {}",
                    num(users.value),
                    num(x.value),
                    time(cycle),
                    time(tail.value)
                ))
                .figure(document, x)
                .figure(document, tail)
                .claim(document, claim)
                .explained(
                    "percentiles of a part of the samples (a window at the end), or a \
                         generator that is the limit",
                )
                .advise("state the mean of the row, and percentiles of the whole run");
            }
        }
    }
}
