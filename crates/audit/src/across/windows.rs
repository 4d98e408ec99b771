//! When the rows of a table were measured: samples / rate is the window of each row. Rates of different windows cannot
//! be added, percentiles of different parts cannot be averaged.

use super::say::{Out, num, share, time};
use super::view::{
    around, has, middle, parts_of_one_run, section, spread, stated, table_rows, together, value, window,
};
use crate::Certainty::{Likely, Possible, Proved};
use crate::foreign::model::{Document, Measure, Row, Table};

pub(super) fn windows<'a>(document: &'a Document, table: &'a Table) -> Vec<(&'a Row, f64)> {
    table_rows(document, table).filter_map(|r| Some((r, window(r)?))).collect()
}

pub(super) fn window_line((row, w): &(&Row, f64)) -> String {
    let (n, x) = (value(row, Measure::Requests).unwrap_or(0.0), value(row, Measure::Rate).unwrap_or(0.0));
    format!("{}: {} / {}/s = {}", row.label, num(n), num(x), time(*w))
}

/// The stated duration is not samples / rate.
pub fn not_the_duration(documents: &[Document], out: &mut Out) {
    for document in documents {
        for table in &document.tables {
            let rows = windows(document, table);
            let all: Vec<&Row> = rows.iter().map(|(r, _)| *r).collect();
            if !together(&all) || all.iter().any(|r| r.figures.contains_key(&Measure::Duration)) {
                continue;
            }
            let Some((claim, duration)) = stated(table, Measure::Duration) else { continue };
            // A sentence with two durations states none for this table; `at least` is a bound.
            let several = around(table, Measure::Duration).count() > 1
                || claim.figures.iter().filter(|(_, f)| f.value >= 60.0).count() > 1;
            let Some(usual) = middle(&rows.iter().map(|(_, w)| *w).collect::<Vec<_>>()) else { continue };
            let fits = duration.meets(usual * 0.95, usual * 1.05);
            if several || fits || has(&claim.text, &["at least", "up to", "ramp", "more than", "about"]) {
                continue;
            }
            let mut say = out.say(
                Likely,
                format!("samples / rate is {}, the stated duration {}", time(usual), duration.written),
            );
            say = say.lines(rows.iter().map(window_line));
            for (row, _) in &rows {
                say = say.figures(document, row, &[Measure::Requests, Measure::Rate]);
            }
            say.claim(document, claim)
                .explained("the rate is of a part of the run, or the samples are")
                .advise("state begin and end of the window that was counted");
        }
    }
}

/// Tables of one section with the same rows: parts of one run.
fn parts(document: &Document) -> Vec<(&Table, &Table)> {
    let mut found = Vec::new();
    for (i, a) in document.tables.iter().enumerate() {
        for b in &document.tables[i + 1..] {
            let one = parts_of_one_run(a, b) && a.caption != b.caption && a.columns == b.columns;
            let labels = |t: &Table| table_rows(document, t).map(|r| r.label.clone()).collect::<Vec<_>>();
            let common = labels(a).iter().filter(|l| labels(b).contains(l)).count();
            if one && common >= 3 && common == a.rows.len() && around(a, Measure::Users).count() <= 1 {
                found.push((a, b));
            }
        }
    }
    found
}

/// Rates of parts with different windows were measured at different times; their sum was never reached.
pub fn rates_not_additive(documents: &[Document], out: &mut Out) {
    for document in documents {
        for (a, b) in parts(document) {
            let total = |t: &Table| {
                let rows = windows(document, t);
                let all: Vec<&Row> = rows.iter().map(|(r, _)| *r).collect();
                let window = middle(&rows.iter().map(|(_, w)| *w).collect::<Vec<_>>())?;
                let sum = |m| all.iter().filter_map(|r| value(r, m)).sum::<f64>();
                together(&all).then(|| (window, sum(Measure::Requests), sum(Measure::Rate)))
            };
            let (Some((wa, na, xa)), Some((wb, nb, xb))) = (total(a), total(b)) else { continue };
            let true_rate = (na + nb) / wa.max(wb);
            if spread(&[wa, wb]).is_none_or(|s| s < 1.05) {
                continue;
            }
            out.say(
                Likely,
                format!(
                    "the parts were measured over {} and {}: their rates cannot be added",
                    time(wa),
                    time(wb)
                ),
            )
            .line(format!("{}/s + {}/s = {}/s holds only while both ran", num(xa), num(xb), num(xa + xb)))
            .line(format!(
                "({} + {}) / {} = {}/s over the whole",
                num(na),
                num(nb),
                time(wa.max(wb)),
                num(true_rate)
            ))
            .line(format!("{} less than the sum", share(1.0 - true_rate / (xa + xb))))
            .at(document, a.lines.0, a.caption.clone())
            .at(document, b.lines.0, b.caption.clone())
            .explained("one part ended earlier, and the other had the servers to itself")
            .advise("count all parts over one common window");
        }
    }
}

/// Percentiles of parts are no percentiles of the whole.
pub fn percentiles_of_parts(documents: &[Document], out: &mut Out) {
    for document in documents {
        for (a, b) in parts(document) {
            let mut lines = Vec::new();
            for row in table_rows(document, a) {
                let Some(other) = table_rows(document, b).find(|r| r.label == row.label) else { continue };
                for (measure, x) in row.figures.iter().filter(|(m, _)| matches!(m, Measure::Percentile(_))) {
                    let Some(y) = other.figures.get(measure) else { continue };
                    if spread(&[x.value, y.value]).is_some_and(|s| s >= 1.5)
                        && let Measure::Percentile(p) = measure
                    {
                        lines.push(format!(
                            "{}: p{} {} and {}",
                            row.label,
                            f64::from(*p) / 100.0,
                            time(x.value),
                            time(y.value)
                        ));
                    }
                }
            }
            if lines.is_empty() {
                continue;
            }
            out.say(
                Proved,
                format!(
                    "percentiles are given per part (`{}`, `{}`): those of the whole are not stated",
                    a.caption, b.caption
                ),
            )
            .lines(lines)
            .at(document, a.lines.0, a.caption.clone())
            .at(document, b.lines.0, b.caption.clone())
            .explained("a percentile of the whole lies between those of the parts, and is not their mean")
            .advise("merge the samples or the histograms, and state the percentiles of the whole");
        }
    }
}

/// Equal samples, but rates of slightly different windows: each row has its own first and last sample.
pub fn own_windows(documents: &[Document], out: &mut Out) {
    for document in documents {
        for table in &document.tables {
            let rows = windows(document, table);
            let n = rows.first().and_then(|(r, _)| value(r, Measure::Requests));
            let equal = rows.len() >= 3 && rows.iter().all(|(r, _)| value(r, Measure::Requests) == n);
            let lengths: Vec<f64> = rows.iter().map(|(_, w)| *w).collect();
            let rates: Vec<_> = rows.iter().filter_map(|(r, _)| r.figures.get(&Measure::Rate)).collect();
            let (Some(low), Some(high)) =
                (rates.iter().map(|f| f.high).reduce(f64::min), rates.iter().map(|f| f.low).reduce(f64::max))
            else {
                continue;
            };
            let close = spread(&lengths).is_some_and(|s| s < 1.02);
            // Within a thousandth it is the order of the steps in one pass, and hurts nobody.
            if !equal || !close || high <= low * 1.001 {
                continue;
            }
            let (shortest, longest) = (
                lengths.iter().copied().fold(f64::MAX, f64::min),
                lengths.iter().copied().fold(0.0, f64::max),
            );
            let mut say = out.say(
                Possible,
                "equal samples at unequal rates: each row was counted over a window of its own".into(),
            );
            say = say.line(format!(
                "{} samples each, windows of {} to {} s",
                num(n.unwrap_or(0.0)),
                num(shortest),
                num(longest)
            ));
            for f in rates {
                say = say.figure(document, f);
            }
            say.explained("the tool divides by the time from a label's first to its last sample")
                .advise("add the samples and divide by one window instead of adding the rates");
        }
    }
}

/// Whole-number ratios in one window: a fixed sequence of steps, called a mix.
pub fn sequence_not_mix(documents: &[Document], out: &mut Out) {
    for document in documents {
        for table in &document.tables {
            let rows: Vec<&Row> = table_rows(document, table).collect();
            let counts: Vec<f64> = rows.iter().filter_map(|r| value(r, Measure::Requests)).collect();
            let Some(least) = counts.iter().copied().reduce(f64::min).filter(|l| *l >= 100.0) else {
                continue;
            };
            let whole = counts.iter().all(|n| (n / least).fract() == 0.0);
            let mixed = spread(&counts).is_some_and(|s| s >= 2.0);
            let said = table
                .headings
                .iter()
                .find(|h| has(h, &["ratio", " mix", "production", "realistic", "distribution"]));
            let Some(said) = said.filter(|_| {
                whole && mixed && rows.len() >= 3 && counts.len() == rows.len() && together(&rows)
            }) else {
                continue;
            };
            let parts: Vec<String> = counts.iter().map(|n| num(n / least)).collect();
            let all: f64 = counts.iter().sum::<f64>() / least;
            let mut say = out.say(
                Likely,
                "the samples stand in exact whole ratios: a fixed sequence of \
                 steps, no mix of independent users"
                    .into(),
            );
            say = say.line(format!("{} of {}", parts.join(" : "), num(all)));
            for row in rows {
                say = say.figures(document, row, &[Measure::Requests]);
            }
            say.at(document, table.lines.0, said.clone())
                .explained(
                    "each user walks through the same steps in the same order: one slow step \
                     holds back all others",
                )
                .advise("draw the steps at random by weight, or say that it is a sequence");
        }
    }
}

/// Samples of a loop count divide by the users; these do not.
pub fn not_divisible(documents: &[Document], out: &mut Out) {
    for document in documents {
        for table in &document.tables {
            let rows: Vec<&Row> = table_rows(document, table).collect();
            let Some(n) = rows.first().and_then(|r| value(r, Measure::Requests)) else { continue };
            let equal = rows.len() >= 3 && rows.iter().all(|r| value(r, Measure::Requests) == Some(n));
            let Some((claim, users)) = stated(table, Measure::Users).filter(|_| equal) else { continue };
            let u = users.value;
            if u < 2.0 || u.fract() != 0.0 || n < u || n % u == 0.0 {
                continue;
            }
            let lines = around(table, Measure::Generators)
                .filter(|(_, g)| g.value > 1.0 && g.value.fract() == 0.0 && n % g.value != 0.0);
            let mut texts: Vec<String> = vec![format!("{} / {} = {}", num(n), num(u), num(n / u))];
            texts.extend(
                lines.map(|(_, g)| format!("{} / {} machines = {}", num(n), num(g.value), num(n / g.value))),
            );
            texts.dedup();
            let near = (0..=(u * 0.1) as u64)
                .flat_map(|d| [u + d as f64, u - d as f64])
                .find(|c| *c >= 2.0 && (2.0 * n) % c == 0.0 && c % 10.0 == 0.0);
            if let Some(c) = near {
                texts.push(format!(
                    "{} users would fit: {} / {} = {}",
                    num(c),
                    num(2.0 * n),
                    num(c),
                    num(2.0 * n / c)
                ));
            }
            let mut say = out.say(
                Likely,
                format!(
                    "every row has {} samples, which {} users cannot have made in equal loops",
                    num(n),
                    num(u)
                ),
            );
            say = say.lines(texts).claim(document, claim);
            for row in rows {
                say = say.figures(document, row, &[Measure::Requests]);
            }
            say.explained("equal counts come from a number of loops: samples = users x loops")
                .advise("state users per machine, machines and loops");
        }
    }
}

/// Machines in the sentence and machines in the captions differ.
pub fn machines_differ(documents: &[Document], out: &mut Out) {
    for document in documents {
        for claim in document.claims.iter().filter(|c| c.figures.len() >= 2) {
            let named = claim
                .figures
                .iter()
                .filter(|(_, f)| f.written.bytes().all(|b| b.is_ascii_digit()))
                .filter_map(|(_, f)| {
                    // `7 from AWS`, `8 in Frankfurt`.
                    let mut words = claim.text.split_once(&format!("{} ", f.written))?.1.split_whitespace();
                    let link = words.next().filter(|w| ["from", "in", "on", "at"].contains(w))?;
                    let place = words.next()?.trim_matches(|c: char| !c.is_alphanumeric());
                    (!link.is_empty() && place.starts_with(char::is_uppercase)).then_some((f, place))
                });
            for (figure, place) in named {
                for table in &document.tables {
                    if !table.caption.split(|c: char| !c.is_alphanumeric()).any(|w| w == place)
                        || !table.headings.starts_with(section(&claim.headings))
                    {
                        continue;
                    }
                    let caption = around(table, Measure::Generators).find(|(c, _)| c.text == table.caption);
                    let Some((_, other)) = caption.filter(|(_, g)| g.value != figure.value) else { continue };
                    out.say(
                        Proved,
                        format!(
                            "{} machines at {place} in the sentence, {} in the caption",
                            figure.written, other.written
                        ),
                    )
                    .line(format!("{} != {}", figure.written, other.written))
                    .claim(document, claim)
                    .at(document, table.lines.0, table.caption.clone())
                    .explained("one of the two was not brought up to date")
                    .advise("write machines from the run's own record");
                }
            }
        }
    }
}

/// Two closed loops with the same users: the slower server also had less load.
pub fn closed_loops_compared(documents: &[Document], out: &mut Out) {
    for document in documents {
        if super::view::mentions(document, &["arrival rate", "open loop", "open model", "constant rate"]) {
            continue;
        }
        let total = |t: &Table| table_rows(document, t).filter_map(|r| value(r, Measure::Rate)).sum::<f64>();
        let labels = |t: &Table| table_rows(document, t).map(|r| r.label.clone()).collect::<Vec<_>>();
        for (i, a) in document.tables.iter().enumerate() {
            let Some(b) = document.tables.get(i + 1) else { continue };
            let (Some((claim, ua)), Some((other_claim, ub))) =
                (stated(a, Measure::Users), stated(b, Measure::Users))
            else {
                continue;
            };
            let common = labels(a).iter().filter(|l| labels(b).contains(l)).count();
            let offered =
                around(a, Measure::OfferedRate).chain(around(b, Measure::OfferedRate)).next().is_some();
            let other_section = claim.line != other_claim.line;
            let ratio = spread(&[total(a), total(b)]).unwrap_or(1.0);
            // Every common row moved the same way; else the tables are of different kinds.
            let rate = |t: &Table, l: &str| {
                table_rows(document, t).find(|r| r.label == l).and_then(|r| value(r, Measure::Rate))
            };
            let grows = total(b) > total(a);
            let moved = labels(a)
                .iter()
                .filter_map(|l| Some((rate(a, l)?, rate(b, l)?)))
                .all(|(x, y)| if grows { y >= 1.3 * x } else { x >= 1.3 * y });
            if !moved {
                continue;
            }
            if offered || !other_section || ua.value != ub.value || common < 3 || ratio < 1.5 {
                continue;
            }
            out.say(
                Possible,
                format!(
                    "the same {} users sent x {} more in one table than in the other: \
                 the slower system also had less load",
                    num(ua.value),
                    num(ratio)
                ),
            )
            .line(format!("{}/s and {}/s at {} users", num(total(a)), num(total(b)), num(ua.value)))
            .claim(document, claim)
            .at(document, a.lines.0, a.caption.clone())
            .at(document, b.lines.0, b.caption.clone())
            .explained(
                "in a closed loop each user waits for its answer: N = X R ties load and latency together",
            )
            .advise("compare latencies at one arrival rate that both systems can serve");
        }
    }
}

/// Percentiles of many rows gather just above a whole second: a timer set them, not the work.
pub fn whole_seconds(documents: &[Document], out: &mut Out) {
    for document in documents {
        for table in &document.tables {
            let rows: Vec<&Row> = table_rows(document, table).collect();
            for p in [9_000u16, 9_500, 9_900] {
                let measure = Measure::Percentile(p);
                let tails: Vec<(&Row, f64)> =
                    rows.iter().filter_map(|r| Some((*r, value(r, measure)?))).collect();
                for k in [1.0, 2.0, 3.0, 7.0] {
                    let inside: Vec<&(&Row, f64)> =
                        tails.iter().filter(|(_, v)| *v >= k + 0.02 && *v <= k + 0.25).collect();
                    let means: Vec<f64> =
                        inside.iter().filter_map(|(r, _)| value(r, Measure::Mean)).collect();
                    let varied = spread(&means).is_some_and(|s| s >= 1.5);
                    if inside.len() < 4
                        || inside.len() * 2 < tails.len()
                        || means.len() != inside.len()
                        || !varied
                    {
                        continue;
                    }
                    let values: Vec<f64> = inside.iter().map(|(_, v)| *v).collect();
                    let (low, high) = (
                        values.iter().copied().fold(f64::MAX, f64::min),
                        values.iter().copied().fold(0.0, f64::max),
                    );
                    let mut say = out.say(
                        Likely,
                        format!(
                            "p{} of {} of {} rows lies between {} and {}, whatever their mean: a \
                             timer of {} s",
                            f64::from(p) / 100.0,
                            inside.len(),
                            tails.len(),
                            time(low),
                            time(high),
                            num(k)
                        ),
                    );
                    for (row, v) in &inside {
                        say =
                            say.line(format!("{}: {} = {} s + {}", row.label, time(*v), num(k), time(v - k)));
                        say = say.figures(document, row, &[measure]);
                    }
                    say.explained(
                        "lost SYN packets are sent again after 1, 3, 7 s (RFC 6298), and \
                         stalls of names or pools after whole seconds",
                    )
                    .advise(
                        "count TCP retransmissions and connections opened; reuse connections on every hop",
                    );
                }
            }
        }
    }
}
