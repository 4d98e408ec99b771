//! One row in the making: what every reader does with a figure that it found, or did not find.

use super::number::Comma;
use super::text::{Text, unread};
use crate::model::{Document, Figure, Measure, Row, Tool, Word};

/// A row, the lines that it took, and what it could not read.
pub struct Entry {
    pub row: Row,
    taken: Vec<u32>,
    odd: Vec<(u32, String, String)>,
}

impl Entry {
    pub fn new(tool: Tool, text: &Text, at: usize) -> Self {
        let line = text.number(at);
        let row =
            Row { tool: Some(tool), lines: (line, line), headings: text.headings(at), ..Row::default() };
        Self { row, taken: Vec::new(), odd: Vec::new() }
    }

    /// The reader understood this line.
    pub fn take(&mut self, line: u32) {
        self.taken.push(line);
        self.row.lines.0 = self.row.lines.0.min(line);
        self.row.lines.1 = self.row.lines.1.max(line);
    }

    /// A figure of a line; nothing: the line looks like a result and is not one.
    pub fn put(&mut self, measure: Measure, figure: Option<Figure>, (line, text): (u32, &str)) -> bool {
        self.take(line);
        match figure {
            // The first one counts: a second one of the same name belongs to something else.
            Some(figure) => {
                self.note_comma(&figure);
                self.row.figures.entry(measure).or_insert(figure);
                true
            }
            None => {
                self.note_oddity(line, text, "no number with a unit that this tool prints");
                false
            }
        }
    }

    /// The same for a quantity that has only a name.
    pub fn other(&mut self, name: impl Into<String>, figure: Option<Figure>, (line, text): (u32, &str)) {
        self.take(line);
        match figure {
            Some(figure) => {
                self.note_comma(&figure);
                self.row.others.entry(name.into()).or_insert(figure);
            }
            None => self.note_oddity(line, text, "no number with a unit that this tool prints"),
        }
    }

    /// A percentile by its per cent; 100 is the maximum, and what the measure cannot hold keeps its name.
    pub fn percentile(&mut self, per_cent: f64, figure: Option<Figure>, place: (u32, &str)) {
        match measure_of(per_cent) {
            Some(measure) => {
                self.put(measure, figure, place);
            }
            None => self.other(format!("p{per_cent}"), figure, place),
        }
    }

    pub fn word(&mut self, key: &str, text: impl Into<String>, line: u32) {
        self.row.words.entry(key.to_owned()).or_insert(Word { text: text.into(), line });
    }

    pub fn note_oddity(&mut self, line: u32, what: &str, why: &str) {
        self.odd.push((line, what.to_owned(), why.to_owned()));
    }

    pub fn has(&self, measure: Measure) -> bool {
        self.row.figures.contains_key(&measure)
    }

    /// What the row's own label is made of: a path, and how many at once.
    pub fn label(&mut self, what: &str, users: &str) {
        let path =
            what.split_once("://").map_or(what, |(_, rest)| rest.find('/').map_or("/", |i| &rest[i..]));
        let one = users.strip_suffix('s').unwrap_or(users);
        let named =
            |value: f64| if value == 1.0 { format!("1 {one}") } else { format!("{value:.0} {users}") };
        let users = self.row.figures.get(&Measure::Users).map(|figure| named(figure.value));
        self.row.label = match (path.is_empty(), users) {
            (false, Some(users)) => format!("{path}, {users}"),
            (false, None) => path.to_owned(),
            (true, Some(users)) => users,
            (true, None) => String::new(),
        };
    }

    /// Hands the row over, and says whether there was one. One without
    /// figures is no result: a tool's name in a sentence.
    pub fn finish(self, document: &mut Document) -> bool {
        let is_row = !self.row.figures.is_empty() || self.row.samples.is_some();
        if is_row || !self.row.others.is_empty() {
            for (line, what, why) in self.odd {
                unread(document, line, what, why);
            }
        }
        if is_row {
            document.taken.extend(self.taken);
            document.rows.push(self.row);
        }
        is_row
    }

    /// No tool here groups the digits of a measurement, so a comma came from a locale or from a hand.
    fn note_comma(&mut self, figure: &Figure) {
        let point = super::number::leading(&figure.written, Comma::Groups);
        if figure.written.contains(',') && point.is_some_and(|(number, _)| number.comma) {
            self.word("decimal_comma", figure.written.clone(), figure.line);
        }
    }
}

/// 95 gives p95 and 100 the maximum; 99.999 has no measure.
pub fn measure_of(per_cent: f64) -> Option<Measure> {
    let share = per_cent * 100.0;
    match share {
        _ if share == 10_000.0 => Some(Measure::Max),
        _ if share == 0.0 => Some(Measure::Min),
        // proof: between 1 and 9,999, and whole.
        _ if (1.0..10_000.0).contains(&share) && (share - share.round()).abs() < 1e-6 => {
            Some(Measure::Percentile(share.round() as u16))
        }
        _ => None,
    }
}
