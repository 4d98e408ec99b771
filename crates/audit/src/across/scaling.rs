//! One thing measured with different numbers of servers: what more of them gained.

use super::in_flight::{in_flight, term};
use super::say::{Out, num, share};
use super::view::{Seen, middle, table_rows, value};
use crate::Certainty::Likely;
use crate::foreign::model::{Document, Measure, Row};
use std::collections::BTreeMap;

/// Rows of one thing with different numbers of servers.
fn pairs(document: &Document) -> Vec<(usize, Vec<[&Row; 2]>)> {
    let mut found = Vec::new();
    for (at, table) in document.tables.iter().enumerate() {
        let mut groups: BTreeMap<String, Vec<&Row>> = BTreeMap::new();
        for row in table_rows(document, table).filter(|r| value(r, Measure::Servers).is_some()) {
            let seen = Seen { document, row, url: "" };
            let key = if row.label.contains(", ") {
                row.words.get("row").map_or(String::new(), |w| w.text.clone())
            } else {
                seen.variant()
            };
            groups.entry(key).or_default().push(row);
        }
        let mut made = Vec::new();
        for rows in groups.values_mut() {
            rows.sort_by(|a, b| {
                value(a, Measure::Servers)
                    .partial_cmp(&value(b, Measure::Servers))
                    .unwrap_or(std::cmp::Ordering::Equal)
            });
            for two in rows.windows(2) {
                let grows = value(two[1], Measure::Servers) > value(two[0], Measure::Servers);
                let users = value(two[0], Measure::Users) == value(two[1], Measure::Users);
                let zero = value(two[0], Measure::Servers).is_none_or(|s| s < 1.0);
                if grows && users && !zero {
                    made.push([two[0], two[1]]);
                }
            }
        }
        if !made.is_empty() {
            found.push((at, made));
        }
    }
    found
}

/// Rate and servers of both rows: gain and factor.
fn gain(pair: &[&Row; 2]) -> Option<(f64, f64)> {
    let ratio = |m| Some(value(pair[1], m)? / value(pair[0], m)?).filter(|r: &f64| r.is_finite() && *r > 0.0);
    Some((ratio(Measure::Rate)?, ratio(Measure::Servers)?))
}

fn gain_line(pair: &[&Row; 2]) -> String {
    let (gain, factor) = gain(pair).unwrap_or((0.0, 1.0));
    let x = |r: &Row| num(value(r, Measure::Rate).unwrap_or(0.0));
    format!(
        "{}: {} / {} = {gain:.2} with {} times the servers",
        pair[1].label,
        x(pair[1]),
        x(pair[0]),
        num(factor)
    )
}

/// More than proportional: the second row did more than two of the first.
pub fn gains_too_much(documents: &[Document], out: &mut Out) {
    for document in documents {
        for (_, pairs) in pairs(document) {
            for pair in pairs.iter().filter(|p| gain(p).is_some_and(|(g, f)| g > f * 1.05)) {
                out.say(Likely, format!("`{}` gains more than its servers explain", pair[1].label))
                    .line(gain_line(pair))
                    .figures(document, pair[0], &[Measure::Rate])
                    .figures(document, pair[1], &[Measure::Rate])
                    .explained("another load, a warm cache, or a wrong figure in one of the two cells")
                    .advise("repeat both rows at the same users");
            }
        }
    }
}

/// More servers and no more throughput.
pub fn gains_nothing(documents: &[Document], out: &mut Out) {
    for document in documents {
        for (_, pairs) in pairs(document) {
            let idle: Vec<_> = pairs
                .iter()
                .filter(|p| gain(p).is_some_and(|(g, f)| f > 1.0 && (g - 1.0) / (f - 1.0) < 0.1))
                .collect();
            for pair in idle {
                let (g, f) = gain(pair).unwrap_or((1.0, 2.0));
                out.say(
                    Likely,
                    format!("`{}` gains nothing from more servers: another part is the limit", pair[1].label),
                )
                .line(gain_line(pair))
                .line(format!("{} of the added capacity is used", share((g - 1.0) / (f - 1.0))))
                .lines(pairs.iter().filter(|p| p[1].label != pair[1].label).map(gain_line))
                .figures(document, pair[0], &[Measure::Rate])
                .figures(document, pair[1], &[Measure::Rate])
                .explained("a part that all servers share: a database, a proxy, a lock, the load generator")
                .advise("name the full part, and print the efficiency of scaling beside each row");
            }
        }
    }
}

/// The requests in flight change with the servers in one row, and in no other.
pub fn in_flight_outlier(documents: &[Document], out: &mut Out) {
    for document in documents {
        for (_, pairs) in pairs(document) {
            let ratio = |p: &[&Row; 2]| Some(in_flight(p[1])?.1 / in_flight(p[0])?.1);
            let ratios: Vec<f64> = pairs.iter().filter_map(ratio).collect();
            let Some(usual) = middle(&ratios).filter(|_| ratios.len() >= 4) else { continue };
            let odd: Vec<_> = pairs
                .iter()
                .filter(|p| ratio(p).is_some_and(|r| r > 1.5 * usual || r < usual / 1.5))
                .collect();
            if odd.len() * 4 > ratios.len() {
                continue;
            }
            for pair in odd {
                let mut say = out.say(
                    Likely,
                    format!(
                        "`{}` ran at another load than its pair, or one of the two is wrong",
                        pair[1].label
                    ),
                );
                for row in pair {
                    let n = in_flight(row).unwrap_or((0.0, 0.0, 0.0));
                    say = say.line(term(&(*row, n))).figures(document, row, &[Measure::Rate, Measure::Mean]);
                }
                say.line(format!(
                    "N grows by {:.2} here, by {usual:.2} in the usual row",
                    ratio(pair).unwrap_or(0.0)
                ))
                .explained("with the same users N = X R stays nearly the same whatever the servers do")
                .advise("look both cells up in the original output");
            }
        }
    }
}
