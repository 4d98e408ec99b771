//! What is written about a figure against the figure itself: labels beside outputs, one quantity given twice, a row
//! that is a copy of another.

use super::say::{Out, num};
use super::view::{has, is_total, table_rows};
use crate::Certainty::{Likely, Possible, Proved};
use crate::foreign::model::{Claim, Document, Figure, Measure, Row, Statement};
use std::collections::BTreeMap;

/// A heading or a labelled line above an output says another number than the output.
pub fn label_contradicts_row(documents: &[Document], out: &mut Out) {
    for document in documents {
        for (i, row) in
            document.rows.iter().enumerate().filter(|(_, r)| r.table.is_none() && r.tool.is_some())
        {
            let floor =
                document.rows[..i].iter().map(|r| r.lines.1).filter(|l| *l < row.lines.0).max().unwrap_or(0);
            let heading = row.headings.last();
            let is_heading = |s: &&Statement| Some(&s.text) == heading && s.line < row.lines.0;
            let from =
                document.prose.iter().filter(is_heading).map(|s| s.line).max().unwrap_or(floor).max(floor);
            let near =
                document.claims.iter().filter(|c| c.line >= from && c.line > floor && c.line < row.lines.0);
            let labels: Vec<&Claim> = near.filter(|c| is_label(c, heading)).collect();
            let machines = document.claims.iter().filter(|c| c.line < row.lines.0).rev().find_map(|c| {
                let (_, f) = c.figures.iter().find(|(m, _)| *m == Some(Measure::Generators))?;
                (c.line > floor && f.value > 1.0).then_some(f.value)
            });
            let mut lines = Vec::new();
            let mut quotes: Vec<(&Claim, &Figure)> = Vec::new();
            for claim in labels.iter().copied() {
                for (measure, figure) in &claim.figures {
                    if is_list_of_levels(&labels, heading, claim, *measure, figure) {
                        continue;
                    }
                    let Some((name, own)) =
                        measure.and_then(|m| differs(m, figure, &claim.text, machines, row))
                    else {
                        continue;
                    };
                    lines
                        .push(format!("{name}: `{}` above, `{}` in the output", figure.written, own.written));
                    quotes.push((claim, own));
                }
            }
            let Some((first, _)) = quotes.first() else { continue };
            let mut say = out.say(Proved, format!("`{}` contradicts the output below it", first.text.trim()));
            say = say.lines(lines);
            for (claim, figure) in quotes {
                say = say.claim(document, claim).figure(document, figure);
            }
            say.explained("figures were copied by hand, or the output belongs to another run")
                .advise("write labels from the data, and say which of the two holds");
        }
    }
}

/// Several labels for one quantity with several values label none of them.
fn is_list_of_levels(
    labels: &[&Claim],
    heading: Option<&String>,
    claim: &Claim,
    measure: Option<Measure>,
    figure: &Figure,
) -> bool {
    let threads = |c: &Claim| has(&c.text, &["thread"]);
    let others = labels.iter().filter(|c| Some(&c.text) != heading && threads(c) == threads(claim));
    let mut figures = others.flat_map(|c| &c.figures);
    Some(&claim.text) != heading && figures.any(|(m, f)| *m == measure && f.value != figure.value)
}

/// A heading, or a short line of the form `name: value` with one figure; a command has a rule of its own.
fn is_label(claim: &Claim, heading: Option<&String>) -> bool {
    if claim.text.contains(" | ") || claim.text.contains("| ./") {
        return false;
    }
    let words = claim.text.split_whitespace().count();
    let labelled = words <= 12 && claim.figures.len() == 1 && claim.text.contains([':', '=']);
    Some(&claim.text) == heading || labelled
}

/// The figure of the row that the claim cannot be, with its name.
fn differs<'a>(
    measure: Measure,
    said: &Figure,
    text: &str,
    machines: Option<f64>,
    row: &'a Row,
) -> Option<(String, &'a Figure)> {
    // What was asked for may differ from what came about.
    const WISHES: &[&str] = &[
        "limit",
        "max ",
        "target",
        "planned",
        "requested",
        "goal",
        "expected",
        "up to",
        "threshold",
        "slo",
        "sla",
        "below",
        "under ",
        "above",
        "at most",
        "at least",
        "less than",
        "more than",
        "warm-up",
        "warmup",
        "warm up",
        "timeout",
        "server threads",
        "threads server",
        " per ",
        "each ",
        "budget",
        "require",
        "<",
        ">",
        "≤",
        "≥",
    ];
    if has(text, WISHES) {
        return None;
    }
    let own = row.figures.get(&measure);
    match measure {
        Measure::Users | Measure::GeneratorThreads => {
            let threads = row.figures.get(&Measure::GeneratorThreads);
            // `10 threads (users)` may mean either; only a number that is neither is wrong.
            let about_threads = has(text, &["thread"]);
            let users = row.figures.get(&Measure::Users)?;
            // Users of several machines, of which this output shows one.
            if machines.is_some_and(|m| said.meets(users.low * m, users.high * m)) {
                return None;
            }
            let of_a_core = row.others.get("clients of a core");
            let fits = said.meets(users.low, users.high)
                || of_a_core.is_some_and(|c| said.meets(c.low, c.high))
                || (about_threads || measure == Measure::GeneratorThreads)
                    && threads.is_some_and(|t| said.meets(t.low, t.high));
            (!fits).then(|| (if about_threads { "threads" } else { "connections" }.to_owned(), users))
        }
        Measure::Requests => own.filter(|o| !said.meets(o.low, o.high)).map(|o| ("requests".to_owned(), o)),
        Measure::Duration => {
            own.filter(|o| !said.meets(o.low * 0.9, o.high * 1.1)).map(|o| ("duration".to_owned(), o))
        }
        Measure::Percentile(p) => {
            own.filter(|o| !said.meets(o.low, o.high)).map(|o| (format!("p{}", f64::from(p) / 100.0), o))
        }
        Measure::Mean | Measure::Max => {
            own.filter(|o| !said.meets(o.low, o.high)).map(|o| (format!("{measure:?}").to_lowercase(), o))
        }
        Measure::Errors => {
            let kinds =
                [Measure::ConnectErrors, Measure::ReadErrors, Measure::WriteErrors, Measure::TimeoutErrors];
            let found: Vec<&Figure> = kinds.iter().filter_map(|m| row.figures.get(m)).collect();
            let sum: f64 = found.iter().map(|f| f.value).sum();
            let any = found.iter().any(|f| f.value == said.value);
            let first = found.iter().find(|f| f.value > 0.0).or(found.first()).copied()?;
            (said.value != sum && !any).then_some(("errors".to_owned(), first))
        }
        _ => None,
    }
}

const MEASURED: [Measure; 9] = [
    Measure::Rate,
    Measure::Mean,
    Measure::StdDev,
    Measure::Max,
    Measure::BytesPerS,
    Measure::Percentile(5_000),
    Measure::Percentile(9_000),
    Measure::Percentile(9_500),
    Measure::Percentile(9_900),
];

/// Digits that carry information: `920.6` has four, `1000` has one.
pub(super) fn significant(figure: &Figure) -> usize {
    let digits: String = figure
        .written
        .chars()
        .take_while(|c| !c.is_alphabetic() && *c != '%')
        .filter(char::is_ascii_digit)
        .collect();
    digits.trim_start_matches('0').trim_end_matches('0').len()
}

/// Two configurations with one set of figures.
pub fn copied_row(documents: &[Document], out: &mut Out) {
    for document in documents {
        let groups = document.tables.iter().map(|t| table_rows(document, t).collect::<Vec<_>>());
        let outputs: Vec<&Row> =
            document.rows.iter().filter(|r| r.table.is_none() && r.tool.is_some()).collect();
        for rows in groups.chain([outputs]) {
            for (a, b) in group_identical(&rows) {
                let both: Vec<&Figure> = MEASURED.iter().filter_map(|m| a.figures.get(m)).collect();
                let config =
                    [Measure::Users, Measure::Servers, Measure::OfferedRate, Measure::GeneratorThreads];
                let other = config
                    .iter()
                    .any(|m| a.figures.get(m).zip(b.figures.get(m)).is_some_and(|(x, y)| x.value != y.value));
                let named = a.table.is_some() && a.label != b.label;
                if !(other || named) {
                    continue;
                }
                let figures: Vec<String> = both.iter().map(|x| x.written.clone()).collect();
                out.say(
                    Likely,
                    format!("`{}` and `{}` have the same figures to the last digit", a.label, b.label),
                )
                .line(figures.join(", "))
                .figures(document, a, &MEASURED[..2])
                .figures(document, b, &MEASURED[..2])
                .explained("one row was copied into the place of the other")
                .advise("look the figures up in the original output of both");
            }
        }
    }
}

/// Rows with the same telling figures, each with the first of its kind. By a key and not pair by pair: tables have
/// thousands of rows. The total of one part is that part, and no copy.
fn group_identical<'a>(rows: &[&'a Row]) -> Vec<(&'a Row, &'a Row)> {
    let mut first: BTreeMap<Vec<(Measure, u64)>, &Row> = BTreeMap::new();
    let mut found = Vec::new();
    for row in rows.iter().copied().filter(|r| !is_total(r)) {
        let own = || MEASURED.iter().filter_map(|m| Some((*m, row.figures.get(m)?)));
        // Three figures of three digits, or two of five, are not equal by chance.
        let telling = |digits: usize| own().filter(|(_, f)| significant(f) >= digits).count();
        if telling(3) < 3 && telling(5) < 2 {
            continue;
        }
        let key = own().map(|(m, f)| (m, f.value.to_bits())).collect();
        match first.get(&key) {
            Some(before) => found.push((*before, row)),
            None => {
                first.insert(key, row);
            }
        }
    }
    found
}

/// One figure in the columns of two quantities of different kind.
pub fn pasted_figure(documents: &[Document], out: &mut Out) {
    for document in documents {
        for row in document.rows.iter().filter(|r| r.table.is_some()) {
            let Some(rate) = row.figures.get(&Measure::Rate).filter(|f| significant(f) >= 4) else {
                continue;
            };
            let digits = |f: &Figure| f.written.trim_end_matches(|c: char| !c.is_ascii_digit()).to_owned();
            let times = row.figures.iter().filter(|(m, _)| {
                matches!(
                    m,
                    Measure::Percentile(_) | Measure::Mean | Measure::Max | Measure::Min | Measure::StdDev
                )
            });
            for (_, figure) in times.filter(|(_, f)| digits(f) == digits(rate)) {
                out.say(
                    Likely,
                    format!("`{}` stands in `{}` both as a time and as the rate", digits(rate), row.label),
                )
                .line(format!("{} = {}", figure.written, rate.written))
                .figure(document, figure)
                .figure(document, rate)
                .explained("one cell was pasted over the other: two quantities do not agree in four digits")
                .advise("look both up in the original output");
            }
        }
    }
}

const THINGS: &[&str] = &[
    "item", "row", "record", "file", "event", "byte", "product", "document", "entrie", "object", "user",
    "message",
];

/// One quantity with two values that differ by a slip of a digit or two.
pub fn slip_of_digits(documents: &[Document], out: &mut Out) {
    for document in documents {
        let mut found: Vec<(&Claim, &Figure, &str)> = Vec::new();
        for claim in &document.claims {
            for (measure, figure) in &claim.figures {
                let thing = THINGS.iter().find(|t| figure.unit.trim_end_matches('s') == **t);
                let count = measure.is_none() || figure.unit.starts_with("byte");
                if let Some(thing) =
                    thing.filter(|_| count && figure.value >= 1_000.0 && significant(figure) >= 4)
                {
                    found.push((claim, figure, thing));
                }
            }
        }
        // Hundreds of such figures are data, and none of them is a slip of another.
        let mut once = std::collections::BTreeSet::new();
        found.retain(|(_, f, thing)| once.insert((*thing, f.value.to_bits())));
        if found.len() > 200 {
            continue;
        }
        for (i, (claim, a, thing)) in found.iter().enumerate() {
            let rest = found[i + 1..].iter().filter(|(_, f, t)| t == thing && f.value != a.value);
            for (other, b, _) in rest.filter(|(_, b, _)| is_slip(a.value, b.value)) {
                out.say(
                    Possible,
                    format!(
                        "`{}` and `{}` {thing}s: one quantity with a slip of digits, or two quantities",
                        a.written, b.written
                    ),
                )
                .line(format!("{} against {}", num(a.value), num(b.value)))
                .claim(document, claim)
                .claim(document, other)
                .explained("a number that was typed by hand")
                .advise("say which of the two holds");
            }
        }
    }
}

/// The same length, the same first digit, at most two places differ.
fn is_slip(a: f64, b: f64) -> bool {
    let (a, b) = (format!("{a:.0}"), format!("{b:.0}"));
    let differ = a.bytes().zip(b.bytes()).filter(|(x, y)| x != y).count();
    a.len() == b.len()
        && a.len() <= 12
        && a.as_bytes().first() == b.as_bytes().first()
        && (1..=2).contains(&differ)
}

/// `28 tests` are claimed; the text shows another number of rows.
pub fn tests_counted(documents: &[Document], out: &mut Out) {
    for document in documents {
        let measured =
            |r: &&Row| r.figures.contains_key(&Measure::Rate) || r.figures.contains_key(&Measure::Mean);
        let shown: Vec<&Row> = document.rows.iter().filter(measured).collect();
        for claim in &document.claims {
            let tests = claim.figures.iter().find(|(m, f)| {
                m.is_none()
                    && matches!(f.unit.as_str(), "tests" | "runs" | "measurements" | "benchmarks")
                    && (2.0..=200.0).contains(&f.value)
            });
            let Some((_, tests)) = tests.filter(|_| {
                has(&claim.text, &["total", "conducted", "performed", "carried out", "there are", "we ran"])
            }) else {
                continue;
            };
            let section = claim.headings.as_slice();
            let own = shown.iter().filter(|r| r.headings.starts_with(section)).count();
            let listed =
                document.prose.iter().filter(|s| s.numbered && s.headings.as_slice() == section).count();
            let counts = [own, shown.len()];
            if shown.is_empty() || counts.iter().any(|n| *n as f64 == tests.value) {
                continue;
            }
            let mut say = out
                .say(Possible, format!("{} tests are claimed, results of {own} are shown", num(tests.value)));
            say = say.line(format!(
                "{own} rows with a rate or a time in this section, {} in the whole text",
                shown.len()
            ));
            if listed > 0 {
                say = say.line(format!(
                    "{listed} configurations are listed: {} / {listed} = {} results of each",
                    num(tests.value),
                    num(tests.value / listed as f64)
                ));
            }
            say.claim(document, claim)
                .explained("results that were left out, or counted from a plan")
                .advise("publish every run, or the number of those that are shown");
        }
    }
}

/// Threads of the generator are taken for users.
pub fn threads_are_no_users(documents: &[Document], out: &mut Out) {
    for document in documents {
        let differ = document.rows.iter().find(|r| {
            let (threads, users) =
                (r.figures.get(&Measure::GeneratorThreads), r.figures.get(&Measure::Users));
            threads.zip(users).is_some_and(|(t, u)| t.value != u.value)
        });
        let Some(row) = differ else { continue };
        let called = |text: &str| {
            has(
                text,
                &[
                    "threads (users)",
                    "users (threads)",
                    "threads (clients)",
                    "clients (threads)",
                    "threads = users",
                    "threads as users",
                ],
            )
        };
        let Some(claim) = document.prose.iter().find(|s| called(&s.text)) else { continue };
        let (threads, users) = (&row.figures[&Measure::GeneratorThreads], &row.figures[&Measure::Users]);
        out.say(
            Proved,
            "threads of the load generator are called users: what is in flight at once are \
             the connections"
                .into(),
        )
        .line(format!(
            "{} threads carried {} connections: up to {} requests at \
                 once",
            threads.written,
            users.written,
            num(users.value)
        ))
        .describe(document, claim)
        .figures(document, row, &[Measure::GeneratorThreads, Measure::Users])
        .explained(
            "the generator spreads its connections over its threads; threads are a matter of \
                 the client's processors",
        )
        .advise("state connections as users, and threads as what they are");
    }
}
