//! What several rules ask of rows, tables and sentences: the same number in flight, the same configuration, what is
//! stated around a table.

use crate::foreign::model::{Claim, Document, Figure, Measure, Row, Table};
use std::collections::BTreeMap;

/// A row with its document and the address it was measured at, as far as that is known.
#[derive(Clone, Copy)]
pub struct Seen<'a> {
    pub document: &'a Document,
    pub row: &'a Row,
    pub url: &'a str,
}

/// All runs over all documents; labels of a run are none. A tool's output without its address was of the one before it.
pub fn rows(documents: &[Document]) -> Vec<Seen<'_>> {
    let mut seen = Vec::new();
    for document in documents {
        let mut url = "";
        for row in document.rows.iter().filter(|row| !row.is_part) {
            if let Some(word) = row.words.get("url") {
                url = &word.text;
            }
            let own = if row.table.is_some() { "" } else { url };
            seen.push(Seen { document, row, url: own });
        }
    }
    seen
}

/// A figure's value.
pub fn value(row: &Row, measure: Measure) -> Option<f64> {
    row.figures.get(&measure).map(|f| f.value).filter(|v| v.is_finite())
}

/// The median, whoever prints it.
pub const MEDIAN: Measure = Measure::Percentile(5_000);

impl<'a> Seen<'a> {
    pub fn get(&self, measure: Measure) -> Option<f64> {
        value(self.row, measure)
    }

    pub fn users(&self) -> Option<f64> {
        self.get(Measure::Users).filter(|u| *u >= 1.0)
    }

    /// Connections that came about.
    pub fn live(&self) -> Option<f64> {
        let errors = self.get(Measure::ConnectErrors).unwrap_or(0.0);
        let left = self.users()? - errors;
        // wrk opens a connection again after an error of reading or writing: what failed then was live before.
        let again = [Measure::ReadErrors, Measure::WriteErrors].iter().any(|m| self.get(*m) > Some(0.0));
        let in_flight = self.get(Measure::Rate).zip(self.get(Measure::Mean)).map_or(0.0, |(x, r)| x * r);
        let never = if again && in_flight > left * 1.02 { 0.0 } else { errors };
        Some(self.users()? - never).filter(|l| *l > 0.0)
    }

    /// No failure of any kind is stated.
    pub fn clean(&self) -> bool {
        const FAULTS: [Measure; 8] = [
            Measure::Errors,
            Measure::ConnectErrors,
            Measure::ReadErrors,
            Measure::WriteErrors,
            Measure::TimeoutErrors,
            Measure::LengthErrors,
            Measure::ExceptionErrors,
            Measure::Non2xx,
        ];
        FAULTS.iter().all(|m| self.get(*m).is_none_or(|v| v == 0.0))
    }

    /// Bytes per answer.
    pub fn answer(&self) -> Option<f64> {
        let ratio = |a, b| Some(self.get(a)? / self.get(b)?).filter(|r: &f64| r.is_finite() && *r > 0.0);
        ratio(Measure::BytesTotal, Measure::Requests)
            .or_else(|| ratio(Measure::BytesPerS, Measure::Rate))
            .or_else(|| self.get(Measure::BodyBytes).filter(|b| *b > 0.0))
    }

    /// What is compared, apart from the load: the words of a table's row, or tool, address and headings of an output.
    pub fn variant(&self) -> String {
        if let Some(table) = self.row.table {
            let words =
                self.row.words.iter().filter(|(k, _)| *k != "row").map(|(k, w)| format!("{k}={}", w.text));
            let words: Vec<String> = words.collect();
            return format!("{}#{table} {}", self.document.name, words.join(" "));
        }
        let level = |heading: &&String| {
            let users = |c: &Claim| c.figures.iter().any(|(m, _)| *m == Some(Measure::Users));
            !self.document.claims.iter().any(|c| c.text == **heading && users(c))
        };
        let headings: Vec<&String> = self.row.headings.iter().filter(level).collect();
        let word = |key: &str| self.row.words.get(key).map_or("", |w| w.text.as_str());
        format!("{:?} {} {} {headings:?}", self.row.tool, self.url, word("version"))
    }

    /// What two runs must have in common to be repeats: live connections, servers, and every whole number of the row
    /// that is not measured (`pool size`), but not the number of the repeat itself.
    pub fn settings(&self) -> Option<String> {
        use Measure::{BodyBytes, GeneratorThreads, Generators, Loops, OfferedRate, Servers};
        const REPEAT: [&str; 9] =
            ["run", "#", "no", "nr", "iteration", "trial", "repeat", "round", "attempt"];
        let mut key = format!("{:?}", self.live()?);
        key += &self.said_above();
        // Scripts and their arguments are a part of what was run.
        if let Some(command) = self.row.words.get("command") {
            key += &command.text.split_whitespace().collect::<Vec<_>>().join(" ");
        }
        for measure in [GeneratorThreads, Servers, Generators, Loops, OfferedRate, BodyBytes] {
            key += &format!(" {:?}", self.get(measure));
        }
        let repeat =
            |name: &str| name.split(|c: char| !(c.is_alphabetic() || c == '#')).any(|w| REPEAT.contains(&w));
        for (name, figure) in self.row.others.iter().filter(|(k, f)| f.low == f.high && !repeat(k)) {
            key += &format!(" {name}={}", figure.value);
        }
        Some(key)
    }

    /// What stands directly above an output, without its numbers: `Run 1` and `Run 2` are repeats, `sync` and `async`
    /// are not.
    fn said_above(&self) -> String {
        const LINES: u32 = 4;
        if self.row.table.is_some() {
            return String::new();
        }
        let first = self.row.lines.0;
        let end = self.document.prose.partition_point(|said| said.line < first);
        let near =
            self.document.prose[..end].iter().rev().take(2).take_while(|said| first - said.line <= LINES);
        let texts: Vec<&str> = near.map(|said| said.text.as_str()).collect();
        texts.join(" ").chars().filter(|c| !c.is_ascii_digit()).collect()
    }

    /// `Go`, `wrk /pick`: the variant for a sentence.
    pub fn name(&self) -> String {
        let words = self.row.words.iter().filter(|(k, _)| *k != "row").map(|(_, w)| w.text.clone());
        if self.row.table.is_some() { words.collect::<Vec<_>>().join(" ") } else { self.row.label.clone() }
    }
}

/// The row that adds up the others: `TOTAL` (JMeter), `Aggregated` (Locust), `All`.
pub fn is_total(row: &Row) -> bool {
    let label = row.label.trim().to_lowercase();
    let first = label.split(|c: char| !c.is_alphabetic()).find(|w| !w.is_empty()).unwrap_or("");
    const NAMES: [&str; 10] =
        ["total", "totals", "aggregated", "aggregate", "all", "sum", "overall", "总体", "合计", "总计"];
    NAMES.contains(&first)
}

/// Rows by variant, each sorted by users; only rows with users.
pub fn by_variant<'a>(seen: &[Seen<'a>]) -> Vec<(String, Vec<Seen<'a>>)> {
    let mut groups: Vec<(String, Vec<Seen<'a>>)> = Vec::new();
    // In the order of the text, but found by key: a file may have a variant in every row.
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for row in seen.iter().filter(|s| s.users().is_some()) {
        let key = row.variant();
        match places.get(&key).and_then(|at| groups.get_mut(*at)) {
            Some((_, rows)) => rows.push(*row),
            None => {
                places.insert(key.clone(), groups.len());
                groups.push((key, vec![*row]));
            }
        }
    }
    for (_, rows) in &mut groups {
        rows.sort_by(|a, b| a.users().partial_cmp(&b.users()).unwrap_or(std::cmp::Ordering::Equal));
    }
    groups
}

/// Figures of one measure in the sentences around a table.
pub fn around(table: &Table, measure: Measure) -> impl Iterator<Item = (&Claim, &Figure)> {
    table.around.iter().flat_map(move |c| {
        c.figures.iter().filter(move |(m, _)| *m == Some(measure)).map(move |(_, f)| (c, f))
    })
}

/// The one value that is stated around a table; several different ones state nothing.
pub fn stated(table: &Table, measure: Measure) -> Option<(&Claim, &Figure)> {
    let mut found = around(table, measure);
    let first = found.next()?;
    found.all(|(_, f)| f.value == first.1.value).then_some(first)
}

/// Rows of a table.
pub fn table_rows<'a>(document: &'a Document, table: &'a Table) -> impl Iterator<Item = &'a Row> {
    table.rows.iter().filter_map(|i| document.rows.get(*i))
}

/// Length of the window in which a row was counted: samples / rate, in s.
pub fn window(row: &Row) -> Option<f64> {
    let (n, x) = (value(row, Measure::Requests)?, value(row, Measure::Rate)?);
    Some(n / x).filter(|w| w.is_finite() && *w > 0.0)
}

/// Windows of all rows are one and the same: they ran side by side, or each for the same planned time.
pub fn same_window(rows: &[&Row]) -> bool {
    let windows: Vec<f64> = rows.iter().filter_map(|r| window(r)).collect();
    windows.len() == rows.len() && rows.len() >= 2 && spread(&windows).is_some_and(|s| s <= 1.03)
}

/// Whether the rows were measured side by side by the same users. Runs of one planned length have one window too, but
/// not counts in whole ratios.
pub fn together(rows: &[&Row]) -> bool {
    let counts: Vec<f64> = rows.iter().filter_map(|r| value(r, Measure::Requests)).collect();
    let least = counts.iter().copied().fold(f64::MAX, f64::min);
    let near = |n: &f64| (n / least - (n / least).round()).abs() <= 0.005 * n / least;
    same_window(rows) && counts.iter().all(near)
}

/// Two tables of one run: a sentence about its load generators stands above both, or each caption counts its own.
pub fn parts_of_one_run(a: &Table, b: &Table) -> bool {
    let machines =
        |t: &Table| around(t, Measure::Generators).map(|(c, _)| c.text.clone()).collect::<Vec<_>>();
    let (of_a, of_b) = (machines(a), machines(b));
    let captions = of_a.contains(&a.caption) && of_b.contains(&b.caption);
    section(&a.headings) == section(&b.headings) && (captions || of_a.iter().any(|c| of_b.contains(c)))
}

/// Largest over smallest.
pub fn spread(values: &[f64]) -> Option<f64> {
    let low = values.iter().copied().reduce(f64::min)?;
    let high = values.iter().copied().reduce(f64::max)?;
    (low > 0.0).then_some(high / low)
}

/// The middle value.
pub fn middle(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}

/// The section's number for tables that belong together: headings without a caption of their own.
pub fn section(headings: &[String]) -> &[String] {
    let own = headings.iter().rposition(|h| h.starts_with(|c: char| c.is_ascii_digit())).map(|i| i + 1);
    &headings[..own.unwrap_or(headings.len().saturating_sub(1))]
}

/// Any sentence, heading or code that holds one of these words (lower case).
pub fn mentions(document: &Document, words: &[&str]) -> bool {
    document.prose.iter().any(|s| has(&s.text, words))
}

pub fn has(text: &str, words: &[&str]) -> bool {
    let lower = text.to_lowercase();
    words.iter().any(|w| lower.contains(w))
}
