//! A table or a summary beside the samples that it is of: every figure is computed again.

use super::say::{Out, num, time};
use super::view::is_total;
use crate::Certainty::Proved;
use crate::foreign::model::{Document, Figure, Measure, Row, Samples};
use std::collections::BTreeMap;

/// Rows of samples by label; the total has no name.
fn by_label(document: &Document) -> BTreeMap<String, (&Row, &Samples)> {
    let sampled = document.rows.iter().filter_map(|row| Some((row, row.samples.as_ref()?)));
    sampled.map(|(row, samples)| (key(row), (row, samples))).collect()
}

fn key(row: &Row) -> String {
    if row.label == "all samples" || is_total(row) { String::new() } else { row.label.trim().to_lowercase() }
}

/// Rows without samples that belong together: of one table, or those of one tool outside of tables.
fn summaries(document: &Document) -> Vec<Vec<&Row>> {
    let mut groups: BTreeMap<Option<usize>, Vec<&Row>> = BTreeMap::new();
    for row in document.rows.iter().filter(|row| row.samples.is_none()) {
        groups.entry(row.table).or_default().push(row);
    }
    groups.into_values().collect()
}

pub fn figures_differ(documents: &[Document], out: &mut Out) {
    for source in documents {
        let labels = by_label(source);
        if labels.is_empty() {
            continue;
        }
        for document in documents {
            for rows in summaries(document) {
                compare(source, &labels, document, &rows, out);
            }
        }
    }
}

fn compare(
    source: &Document,
    labels: &BTreeMap<String, (&Row, &Samples)>,
    document: &Document,
    rows: &[&Row],
    out: &mut Out,
) {
    let same = |row: &&&Row| labels.contains_key(&key(row));
    let named = rows.iter().filter(same).filter(|row| !key(row).is_empty()).count();
    let unique = rows.iter().map(|row| key(row)).collect::<std::collections::BTreeSet<_>>().len();
    // The labels are those of the file, each once: otherwise the table is of other runs.
    if named == 0 || named * 2 < rows.len() || unique < rows.len() {
        return;
    }
    let mut lines = Vec::new();
    let mut wrong: Vec<&Figure> = Vec::new();
    let mut checked = 0;
    for row in rows.iter().filter(same) {
        let Some((own, samples)) = labels.get(&key(row)) else { continue };
        for (measure, figure) in &row.figures {
            let Some((low, high)) = again(*measure, own, samples) else { continue };
            checked += 1;
            if figure.meets(low, high) || in_window(*measure, figure, samples) {
                continue;
            }
            let describe = |value: f64| match measure {
                Measure::Requests | Measure::Errors => num(value),
                Measure::ErrorRatio => format!("{}%", num(value * 100.0)),
                Measure::Rate => format!("{}/s", num(value)),
                _ => time(value),
            };
            let name = name(*measure);
            lines.push(format!(
                "{}: {name} of the samples {}, stated {}",
                row.label,
                describe(f64::midpoint(low, high)),
                describe(figure.value)
            ));
            wrong.push(figure);
        }
    }
    if wrong.is_empty() {
        return;
    }
    let sentence = format!(
        "{} of {checked} figures in `{}` are not those of the samples in `{}`",
        wrong.len(),
        document.name,
        source.name
    );
    let mut say = out.say(Proved, sentence).lines(lines);
    for figure in wrong {
        say = say.figure(document, figure);
    }
    say.explained("the figures are of another run, of a part of this one, or were changed by hand")
        .advise("compute every figure from the file of samples");
}

fn name(measure: Measure) -> String {
    match measure {
        Measure::Percentile(5_000) => "median".into(),
        Measure::Percentile(p) => format!("p{}", f64::from(p) / 100.0),
        Measure::ErrorRatio => "share of errors".into(),
        other => format!("{other:?}").to_lowercase(),
    }
}

/// The range of a figure, computed from the samples.
fn again(measure: Measure, own: &Row, samples: &Samples) -> Option<(f64, f64)> {
    /// The clock of the file.
    const CLOCK: f64 = 1e-3;
    /// Whether the last sample's time belongs to the window.
    const WINDOW: f64 = 0.01;
    let computed = own.figures.get(&measure);
    let around = |slack: f64| computed.map(|f| (f.value - slack, f.value + slack));
    match measure {
        Measure::Requests | Measure::Errors => around(0.0),
        Measure::ErrorRatio => around(1e-6),
        Measure::Mean | Measure::Min | Measure::Max => around(CLOCK),
        Measure::Rate => computed.map(|f| (f.value * (1.0 - WINDOW), f.value * (1.0 + WINDOW))),
        Measure::Percentile(p) => {
            let span = crate::row::percentile_of(&samples.times, f64::from(p) / 10_000.0);
            Some((span.0 - CLOCK, span.1 + CLOCK))
        }
        _ => None,
    }
}

/// JMeter's report takes percentiles from the last samples of each label only.
fn in_window(measure: Measure, figure: &Figure, samples: &Samples) -> bool {
    let Measure::Percentile(p) = measure else { return false };
    let sorted = &samples.recent_s;
    let rank = (f64::from(p) / 10_000.0 * sorted.len() as f64) as usize;
    let value = |at: usize| sorted.get(at.min(sorted.len().saturating_sub(1))).copied();
    let range = value(rank.saturating_sub(2)).zip(value(rank + 2));
    range.is_some_and(|(low, high)| figure.meets(low - 1e-3, high + 1e-3))
}
