//! Tables of typed cells: a cell knows its value, and all writers turn it into text in the same way.

use super::{On, Role, Tone};
use crate::format::{NONE, count, duration_f64_ns, maybe_ns, quantity, rate_per_s, ratio};
use plimsoll_analysis::summary::Quantile;
use std::ops::Range;

/// A table, built column by column: [`Table::of`].
pub struct Table {
    /// Unique in a report.
    pub id: String,
    /// The caption, for screen readers.
    pub caption: String,
    pub columns: Vec<Column>,
    pub rows: Vec<Row>,
    /// Indentation in the terminal, in columns.
    pub indent: usize,
    /// The percentile that sorts the rows of a long table of the terminal, after their failures.
    pub by: &'static str,
}

/// A row, whose first cell names it.
pub struct Row {
    pub cells: Vec<Cell>,
    pub mark: Option<Mark>,
    pub on: On,
    /// For a tree, on a page.
    pub place: Option<Place>,
    /// Failures and percentile: of many rows, a terminal shows those with the highest.
    pub rank: (u64, Option<u64>),
}

impl Default for Row {
    fn default() -> Row {
        Row { cells: Vec::new(), mark: None, on: On::ALL, place: None, rank: (0, None) }
    }
}

/// The place of a row in a tree: its anchor, the anchor of its parent, and its depth.
#[derive(Debug, Clone)]
pub struct Place {
    pub id: String,
    pub parent: Option<String>,
    pub depth: usize,
}

/// The emphasis of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// Not a valid measurement.
    Faint,
    /// It missed a threshold.
    Bad,
    /// It contains the rows below it.
    Part,
}

/// A header and the cells below it.
pub struct Column {
    pub head: String,
    /// The header in the terminal if it differs; a table without any has no header row.
    pub brief: Option<String>,
    /// Sorted as numbers on a page.
    pub is_number: bool,
    /// Right-aligned in text outputs.
    pub is_right: bool,
    pub on: On,
    /// The text style in the terminal.
    pub role: Role,
    /// Widths of a terminal that show it, in columns.
    pub windows: Range<usize>,
    /// Width of the header in the terminal, in columns: it is a name that is shown in full elsewhere.
    pub head_most: usize,
    /// Shown in the terminal if room is left.
    pub is_optional: bool,
    /// The last column of the terminal: wrapped within itself, and omitted without room.
    pub is_wrapped: bool,
    /// A picture of the terminal: the columns that it needs, and the maximum that it uses.
    pub picture: Option<(usize, usize)>,
}

impl Column {
    pub fn text(head: impl Into<String>) -> Column {
        Column {
            head: head.into(),
            brief: None,
            is_number: false,
            is_right: false,
            on: On::ALL,
            role: Role::Plain,
            windows: 0..usize::MAX,
            head_most: usize::MAX,
            is_optional: false,
            is_wrapped: false,
            picture: None,
        }
    }

    pub fn number(head: impl Into<String>) -> Column {
        Column { is_number: true, is_right: true, ..Column::text(head) }
    }

    /// Returns a column of words that belong to the previous number.
    pub fn right(head: impl Into<String>) -> Column {
        Column { is_right: true, ..Column::text(head) }
    }

    /// Returns a picture column, drawn as wide as there is room, and only with at least `least` columns.
    pub fn picture(head: impl Into<String>, least: usize, most: usize) -> Column {
        Column { picture: Some((least, most)), on: On::TERMINAL, ..Column::text(head) }
    }

    pub fn brief(self, head: impl Into<String>) -> Column {
        Column { brief: Some(head.into()), ..self }
    }

    pub fn on(self, on: On) -> Column {
        Column { on, ..self }
    }

    pub fn role(self, role: Role) -> Column {
        Column { role, ..self }
    }

    pub fn windows(self, windows: Range<usize>) -> Column {
        Column { windows, ..self }
    }

    pub fn narrow(self, head_most: usize) -> Column {
        Column { head_most, ..self }
    }

    pub fn wrapped(self) -> Column {
        Column { is_wrapped: true, ..self }
    }

    pub fn optional(self) -> Column {
        Column { is_optional: true, ..self }
    }
}

/// A table under construction, over the rows of a result.
pub struct Rows<'a, T> {
    all: Vec<&'a T>,
    table: Table,
}

impl Table {
    pub fn of<'a, T>(
        id: impl Into<String>,
        caption: impl Into<String>,
        all: impl IntoIterator<Item = &'a T>,
    ) -> Rows<'a, T> {
        let all: Vec<&T> = all.into_iter().collect();
        let rows = all.iter().map(|_| Row::default()).collect();
        Rows {
            all,
            table: Table {
                id: id.into(),
                caption: caption.into(),
                columns: Vec::new(),
                rows,
                indent: 0,
                by: "",
            },
        }
    }
}

impl<T> Rows<'_, T> {
    pub fn column(mut self, column: Column, cell: impl Fn(&T) -> Cell) -> Self {
        self.table.columns.push(column);
        for (out, row) in self.table.rows.iter_mut().zip(&self.all) {
            out.cells.push(cell(row));
        }
        self
    }

    /// Sets the outputs that show each row.
    pub fn on(mut self, on: impl Fn(&T) -> On) -> Self {
        for (out, row) in self.table.rows.iter_mut().zip(&self.all) {
            out.on = on(row);
        }
        self
    }

    /// Sets the place of each row in a tree, by its position in the table.
    pub fn below(mut self, place: impl Fn(usize) -> Option<Place>) -> Self {
        self.table.rows.iter_mut().enumerate().for_each(|(at, row)| row.place = place(at));
        self
    }

    /// Returns whether this holds for any row.
    pub fn any(&self, is_so: impl Fn(&T) -> bool) -> bool {
        self.all.iter().any(|row| is_so(row))
    }

    /// Sets the emphasis of each row.
    pub fn marked(mut self, mark: impl Fn(&T) -> Option<Mark>) -> Self {
        for (out, row) in self.table.rows.iter_mut().zip(&self.all) {
            out.mark = mark(row);
        }
        self
    }

    /// Sets the key of long tables: failures, then a high percentile.
    pub fn worst_first(
        mut self,
        failures: impl Fn(&T) -> u64,
        time_ns: impl Fn(&T, f64) -> Option<u64>,
    ) -> Self {
        let (q, by) = super::telling(&self.all, &time_ns);
        self.table.by = by;
        for (out, row) in self.table.rows.iter_mut().zip(&self.all) {
            out.rank = (failures(row), time_ns(row, q));
        }
        self
    }

    pub fn done(self) -> Table {
        self.table
    }
}

/// The content of a cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Unknown, or withheld.
    Missing,
    /// Text, escaped by the writer.
    Text(String),
    /// Text with commands in backticks.
    Prose(String),
    /// Text to be typed literally.
    Code(String),
    Count(u64),
    /// A mean, in nanoseconds.
    Nanoseconds(f64),
    /// A rate per second.
    Rate(f64),
    /// A ratio; 1 is the whole.
    Share(f64),
    Quantity(f64),
    /// A formatted number, with its value in base units.
    Number(String, Option<f64>),
    /// Several values in sequence.
    Facts(Vec<String>),
    /// The same, some of them after a sign.
    Judged(Vec<(Option<Tone>, String)>),
    /// Words, each with the target of its link on a page and the link's name.
    Links(Vec<(String, Option<String>, String)>),
    /// SVG, for a page.
    Drawn(String),
    /// A bar that is full at 1.
    Bar(f64),
    /// An interval of differences as a picture around 0.
    Spread(Spread),
}

/// An interval around its value; both ends of the picture are at `reach`.
#[derive(Debug, Clone, PartialEq)]
pub struct Spread {
    pub reach: f64,
    /// `reach` as text.
    pub edge: String,
    /// Value, low end, and high end; `None` if it is outside this scale.
    pub ends: Option<[f64; 3]>,
}

impl Value {
    pub fn text(&self) -> String {
        match self {
            Value::Missing => NONE.into(),
            Value::Text(text) | Value::Prose(text) | Value::Code(text) | Value::Number(text, _) => {
                text.clone()
            }
            Value::Count(n) => count(*n),
            Value::Nanoseconds(ns) => duration_f64_ns(*ns),
            Value::Rate(rate) => rate_per_s(*rate),
            Value::Share(share) => ratio(*share),
            Value::Quantity(x) => quantity(*x),
            Value::Facts(all) => all.join("; "),
            Value::Judged(all) => all.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("; "),
            Value::Links(all) => all.iter().map(|(text, ..)| text.as_str()).collect::<Vec<_>>().join(" "),
            Value::Drawn(_) | Value::Bar(_) | Value::Spread(_) => String::new(),
        }
    }

    /// Returns the value in base units; `None` if there is no number, or none that can be sorted.
    pub fn raw(&self) -> Option<f64> {
        match self {
            Value::Missing | Value::Text(_) | Value::Prose(_) | Value::Code(_) => None,
            Value::Facts(_) | Value::Judged(_) | Value::Links(_) | Value::Drawn(_) | Value::Bar(_) => None,
            Value::Spread(_) => None,
            Value::Count(n) => Some(*n as f64),
            Value::Nanoseconds(x) | Value::Rate(x) | Value::Share(x) | Value::Quantity(x) => Some(*x),
            Value::Number(_, raw) => raw.filter(|raw| raw.is_finite()),
        }
    }
}

/// A value and its emphasis.
pub struct Cell {
    pub value: Value,
    pub emphasis: Option<Emphasis>,
    /// Bold in Markdown, which has neither colors nor signs.
    pub is_bold: bool,
    /// Text after it, in text outputs.
    pub tail: Option<(Tone, String)>,
    /// Small text below it, on a page.
    pub asides: Vec<(Tone, String)>,
    /// A shorter text, for a terminal without room.
    pub brief: Option<String>,
    /// The target of its link on a page.
    pub href: Option<String>,
}

/// The emphasis of a cell.
pub enum Emphasis {
    /// The word of a rating.
    Status(Tone),
    /// It has a finding.
    Marked(Tone),
    /// A number that is rated elsewhere in its row: a page needs no second color.
    Toned(Tone),
    /// A number that should be 0.
    Bad,
    /// The cell that readers search for.
    Strong,
    /// After a sign of the terminal.
    Signed(Tone),
}

impl Cell {
    pub fn text(text: impl Into<String>) -> Cell {
        Value::Text(text.into()).into()
    }

    /// Returns a formatted number with its value in base units.
    pub fn number(text: impl Into<String>, raw: Option<f64>) -> Cell {
        Value::Number(text.into(), raw).into()
    }

    /// Returns a time; `None` is unknown.
    pub fn nanoseconds(ns: Option<u64>) -> Cell {
        Cell::number(maybe_ns(ns), ns.map(|ns| ns as f64))
    }

    /// Returns a percentile by the rule of all outputs; a withheld one cannot be sorted either.
    pub fn quantile(quantile: Quantile) -> Cell {
        Cell::number(crate::format::quantile(quantile), quantile.value_ns().map(|ns| ns as f64))
    }

    /// Returns a number of failures.
    pub fn errors(n: u64) -> Cell {
        let cell = Cell::count(n);
        if n > 0 { cell.toned(Tone::Fail) } else { cell }
    }

    pub fn count(n: impl Into<u64>) -> Cell {
        Value::Count(n.into()).into()
    }

    /// Returns the word of a rating.
    pub fn status(tone: Tone, word: impl Into<String>) -> Cell {
        Cell { emphasis: Some(Emphasis::Status(tone)), ..Cell::text(word) }
    }

    /// Marks the cell as having a finding.
    pub fn marked(self, tone: Option<Tone>) -> Cell {
        Cell { emphasis: tone.map(Emphasis::Marked).or(self.emphasis), ..self }
    }

    pub fn toned(self, tone: Tone) -> Cell {
        Cell { emphasis: Some(Emphasis::Toned(tone)), ..self }
    }

    /// Emphasizes the cell if it is not 0.
    pub fn bad(self, is_bad: bool) -> Cell {
        Cell { emphasis: is_bad.then_some(Emphasis::Bad).or(self.emphasis), ..self }
    }

    pub fn strong(self, is_strong: bool) -> Cell {
        Cell { emphasis: is_strong.then_some(Emphasis::Strong).or(self.emphasis), ..self }
    }

    pub fn signed(self, tone: Tone) -> Cell {
        Cell { emphasis: Some(Emphasis::Signed(tone)), ..self }
    }

    /// Adds text after it in text outputs, unless it is empty.
    pub fn tail(self, tone: Tone, text: &str) -> Cell {
        Cell { tail: (!text.is_empty()).then(|| (tone, text.to_owned())), ..self }
    }

    /// Adds small text below it on a page, unless it is empty.
    pub fn aside(mut self, tone: Tone, text: impl Into<String>) -> Cell {
        self.asides.extend(Some((tone, text.into())).filter(|(_, text)| !text.is_empty()));
        self
    }

    pub fn bold(self, is_bold: bool) -> Cell {
        Cell { is_bold, ..self }
    }

    pub fn brief(self, text: impl Into<String>) -> Cell {
        Cell { brief: Some(text.into()), ..self }
    }

    pub fn linked(self, href: Option<String>) -> Cell {
        Cell { href, ..self }
    }
}

impl From<Value> for Cell {
    fn from(value: Value) -> Cell {
        let (asides, tail, brief, href) = (Vec::new(), None, None, None);
        Cell { value, emphasis: None, is_bold: false, tail, asides, brief, href }
    }
}
