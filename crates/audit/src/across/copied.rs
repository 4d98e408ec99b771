//! A table in one document with the outputs that it was copied from: a row that agrees with one output in several
//! figures, and differs from it in one, was copied incorrectly.

use super::labels::significant;
use super::say::{Out, num, time};
use crate::Certainty::Likely;
use crate::foreign::model::{Document, Figure, Measure, Row};

/// Figures with so many digits agree by chance in one of some hundred cases.
const DIGITS: usize = 3;
/// So many of them agree if a row is that of an output.
const AGREEING: usize = 2;
/// Maximum number of compared pairs of rows: thousands of rows were not copied by hand.
const PAIRS_MAX: usize = 100_000;

const COMPARED: [Measure; 13] = [
    Measure::Rate,
    Measure::Mean,
    Measure::StdDev,
    Measure::Min,
    Measure::Max,
    Measure::Percentile(5_000),
    Measure::Percentile(7_500),
    Measure::Percentile(9_000),
    Measure::Percentile(9_500),
    Measure::Percentile(9_900),
    Measure::Requests,
    Measure::Errors,
    Measure::Users,
];

pub fn table_differs(documents: &[Document], out: &mut Out) {
    let outputs: Vec<(&Document, &Row)> = documents
        .iter()
        .flat_map(|d| d.rows.iter().map(move |row| (d, row)))
        .filter(|(_, row)| row.tool.is_some() && row.samples.is_none())
        .collect();
    for document in documents {
        let rows: Vec<&Row> =
            document.rows.iter().filter(|row| row.table.is_some() && row.tool.is_none()).collect();
        if outputs.is_empty() || rows.len() * outputs.len() > PAIRS_MAX {
            continue;
        }
        for row in rows {
            let pairs: Vec<_> =
                outputs.iter().map(|(d, output)| (*d, *output, compare(row, output))).collect();
            // A row that agrees with another output in every figure was copied correctly.
            let Some((source, output, best)) =
                pairs.iter().max_by_key(|(.., c)| (c.agree, usize::MAX - c.differ.len()))
            else {
                continue;
            };
            let [differing] = best.differ[..] else { continue };
            let second = pairs.iter().filter(|(_, other, _)| !std::ptr::eq(*other, *output));
            let unique = second.map(|(.., c)| c.agree).max().unwrap_or(0) < best.agree;
            if best.agree < AGREEING || !unique {
                continue;
            }
            say(document, row, source, output, differing, best.agree, out);
        }
    }
}

struct Comparison {
    agree: usize,
    differ: Vec<Measure>,
}

/// Rounded or cut, a copy is within one unit of its last digit.
fn compare(row: &Row, output: &Row) -> Comparison {
    let mut comparison = Comparison { agree: 0, differ: Vec::new() };
    for measure in COMPARED {
        let (Some(own), Some(other)) = (row.figures.get(&measure), output.figures.get(&measure)) else {
            continue;
        };
        let room = own.high - own.low;
        if own.low - room <= other.high && other.low <= own.high + room {
            // Two users or no errors are equal in many runs.
            comparison.agree += usize::from(significant(own) >= DIGITS && significant(other) >= DIGITS);
        } else {
            comparison.differ.push(measure);
        }
    }
    comparison
}

fn say(
    document: &Document,
    row: &Row,
    source: &Document,
    output: &Row,
    measure: Measure,
    agreeing: usize,
    out: &mut Out,
) {
    let (Some(own), Some(other)) = (row.figures.get(&measure), output.figures.get(&measure)) else { return };
    let tell = |figure: &Figure| match measure {
        Measure::Rate | Measure::Requests | Measure::Errors | Measure::Users => num(figure.value),
        _ => time(figure.value),
    };
    let sentence = format!(
        "the row `{}` has {agreeing} figures of the output `{}`, and another {}",
        row.label,
        output.label,
        format!("{measure:?}").to_lowercase()
    );
    out.say(Likely, sentence)
        .line(format!("{} in the table, {} in the output", tell(own), tell(other)))
        .figure(document, own)
        .figure(source, other)
        .explained("a figure was copied from another run, or a digit was mistyped")
        .advise("write tables from the outputs with a program");
}
