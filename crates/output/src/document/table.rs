//! Tables of typed cells: a cell knows its value, and the writers make text of it in one way.

use super::{On, Role, Tone};
use crate::format::{NONE, count, duration_f64_ns, maybe_ns, quantity, rate_per_s, ratio};
use plimsoll_analysis::summary::Quantile;
use std::ops::Range;

/// A table, made column by column: [`Table::of`].
pub struct Table {
    /// Unique in a report.
    pub id: String,
    /// For those who do not see where it stands.
    pub caption: String,
    pub columns: Vec<Column>,
    pub rows: Vec<Row>,
    /// Columns that the terminal moves it in.
    pub indent: usize,
    /// Which percentile puts the rows of a long table of the terminal in order, behind their failures.
    pub by: &'static str,
}

/// The first cell names it.
pub struct Row {
    pub cells: Vec<Cell>,
    pub mark: Option<Mark>,
    pub on: On,
    /// Of a tree, on a page.
    pub place: Option<Place>,
    /// Failures, and the percentile: of many rows a terminal shows those with the most.
    pub rank: (u64, Option<u64>),
}

impl Default for Row {
    fn default() -> Row {
        Row { cells: Vec::new(), mark: None, on: On::ALL, place: None, rank: (0, None) }
    }
}

/// Where a row of a tree lies: its own anchor, that of the row above it, and how deep.
#[derive(Debug, Clone)]
pub struct Place {
    pub id: String,
    pub parent: Option<String>,
    pub depth: usize,
}

/// What is to be seen of a row as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// No measurement: not to be read as one.
    Faint,
    /// It missed what is asked of it.
    Bad,
    /// It holds the rows below it.
    Part,
}

/// A head and what stands below it.
pub struct Column {
    pub head: String,
    /// The head in the terminal, where it is another; a table without any has no line of heads.
    pub brief: Option<String>,
    /// Sorted as numbers in a page.
    pub is_number: bool,
    /// Ends at one edge in the text outputs.
    pub is_right: bool,
    pub on: On,
    /// In the terminal.
    pub role: Role,
    /// Windows of the terminal that show it, in columns.
    pub windows: Range<usize>,
    /// Columns that the head has in the terminal: it is a name that stands elsewhere in full.
    pub head_most: usize,
    /// Shown in the terminal where room is left.
    pub is_optional: bool,
    /// The last one of the terminal: broken below itself, and left out without room.
    pub is_wrapped: bool,
    /// A picture of the terminal: columns that it needs, and more than it uses.
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

    /// Words that belong to the number before them.
    pub fn right(head: impl Into<String>) -> Column {
        Column { is_right: true, ..Column::text(head) }
    }

    /// Drawn as wide as there is room, and only if there is `least`.
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

/// A table in the making, over the rows of a result.
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

    /// The outputs that show each row.
    pub fn on(mut self, on: impl Fn(&T) -> On) -> Self {
        for (out, row) in self.table.rows.iter_mut().zip(&self.all) {
            out.on = on(row);
        }
        self
    }

    /// Where each row lies in a tree, by its place in the table.
    pub fn below(mut self, place: impl Fn(usize) -> Option<Place>) -> Self {
        self.table.rows.iter_mut().enumerate().for_each(|(at, row)| row.place = place(at));
        self
    }

    /// Whether this holds for some row.
    pub fn any(&self, is_so: impl Fn(&T) -> bool) -> bool {
        self.all.iter().any(|row| is_so(row))
    }

    /// What is to be seen of each row as a whole.
    pub fn marked(mut self, mark: impl Fn(&T) -> Option<Mark>) -> Self {
        for (out, row) in self.table.rows.iter_mut().zip(&self.all) {
            out.mark = mark(row);
        }
        self
    }

    /// What a reader of a long table looks for: failures, then a high percentile.
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

/// What a cell says.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Not known, or not to be told.
    Missing,
    /// Escaped where it is written.
    Text(String),
    /// Commands between backticks.
    Prose(String),
    /// As it is typed.
    Code(String),
    Count(u64),
    /// A mean, in nanoseconds.
    Nanoseconds(f64),
    /// Per second.
    Rate(f64),
    /// 1 is the whole.
    Share(f64),
    Quantity(f64),
    /// A number that has been put into words, in base units.
    Number(String, Option<f64>),
    /// Several, one behind the other.
    Facts(Vec<String>),
    /// The same, some of them behind a sign.
    Judged(Vec<(Option<Tone>, String)>),
    /// Words, each with where a page leads from it and what is there.
    Links(Vec<(String, Option<String>, String)>),
    /// SVG, for a page.
    Drawn(String),
    /// A bar that is full at 1.
    Bar(f64),
    /// An interval of differences as a picture around 0.
    Spread(Spread),
}

/// An interval around its value; both sides of the picture stand for `reach`.
#[derive(Debug, Clone, PartialEq)]
pub struct Spread {
    pub reach: f64,
    /// `reach` in words.
    pub edge: String,
    /// Value, low and high end; `None`: it has no place on this scale.
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

    /// In base units; `None`: there is no number, or none that could be sorted.
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

/// A value and how it stands out.
pub struct Cell {
    pub value: Value,
    pub emphasis: Option<Emphasis>,
    /// Bold in Markdown, which has neither colors nor signs.
    pub is_bold: bool,
    /// In the text outputs, behind it.
    pub tail: Option<(Tone, String)>,
    /// In a page, small below it.
    pub asides: Vec<(Tone, String)>,
    /// Fewer words, for a terminal without room.
    pub brief: Option<String>,
    /// Where a page leads from it.
    pub href: Option<String>,
}

/// How a cell stands out.
pub enum Emphasis {
    /// It is a word of judgement.
    Status(Tone),
    /// Something was found about it.
    Marked(Tone),
    /// A number that is judged elsewhere in its row: a page needs no second color.
    Toned(Tone),
    /// A number that should be 0.
    Bad,
    /// What is looked for first.
    Strong,
    /// Behind a sign of the terminal.
    Signed(Tone),
}

impl Cell {
    pub fn text(text: impl Into<String>) -> Cell {
        Value::Text(text.into()).into()
    }

    /// A number that has been put into words, in base units.
    pub fn number(text: impl Into<String>, raw: Option<f64>) -> Cell {
        Value::Number(text.into(), raw).into()
    }

    /// A time; `None`: not known.
    pub fn nanoseconds(ns: Option<u64>) -> Cell {
        Cell::number(maybe_ns(ns), ns.map(|ns| ns as f64))
    }

    /// A percentile by the rule of every output; where it may not be told there is nothing to sort by either.
    pub fn quantile(quantile: Quantile) -> Cell {
        Cell::number(crate::format::quantile(quantile), quantile.value_ns().map(|ns| ns as f64))
    }

    /// How many failed.
    pub fn errors(n: u64) -> Cell {
        let cell = Cell::count(n);
        if n > 0 { cell.toned(Tone::Fail) } else { cell }
    }

    pub fn count(n: impl Into<u64>) -> Cell {
        Value::Count(n.into()).into()
    }

    /// A word of judgement.
    pub fn status(tone: Tone, word: impl Into<String>) -> Cell {
        Cell { emphasis: Some(Emphasis::Status(tone)), ..Cell::text(word) }
    }

    /// Something was found about it.
    pub fn marked(self, tone: Option<Tone>) -> Cell {
        Cell { emphasis: tone.map(Emphasis::Marked).or(self.emphasis), ..self }
    }

    pub fn toned(self, tone: Tone) -> Cell {
        Cell { emphasis: Some(Emphasis::Toned(tone)), ..self }
    }

    /// Stands out if it is not 0.
    pub fn bad(self, is_bad: bool) -> Cell {
        Cell { emphasis: is_bad.then_some(Emphasis::Bad).or(self.emphasis), ..self }
    }

    pub fn strong(self, is_strong: bool) -> Cell {
        Cell { emphasis: is_strong.then_some(Emphasis::Strong).or(self.emphasis), ..self }
    }

    pub fn signed(self, tone: Tone) -> Cell {
        Cell { emphasis: Some(Emphasis::Signed(tone)), ..self }
    }

    /// Behind it in the text outputs, where there is something to say.
    pub fn tail(self, tone: Tone, text: &str) -> Cell {
        Cell { tail: (!text.is_empty()).then(|| (tone, text.to_owned())), ..self }
    }

    /// Small below it in a page, where there is something to say.
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
