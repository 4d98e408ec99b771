//! Tables of a page: plain ones to read, and such that the script sorts, filters and copies. Each number carries its
//! raw value beside its text.

use maud::{Markup, html};

/// A column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column<'a> {
    pub title: &'a str,
    pub is_number: bool,
}

/// A column of words.
pub const fn text(title: &str) -> Column<'_> {
    Column { title, is_number: false }
}

/// A column of numbers.
pub const fn number(title: &str) -> Column<'_> {
    Column { title, is_number: true }
}

/// A cell: a number with its raw value in base units (`None`: not known), or words.
pub enum Cell {
    /// Escaped when it is written.
    Text(String),
    Number(String, Option<f64>),
    Markup(Markup),
    /// A number with more than its text.
    Valued(Markup, Option<f64>),
}

impl Cell {
    pub fn text(text: impl Into<String>) -> Cell {
        Cell::Text(text.into())
    }

    /// `raw` that is not finite counts as not known.
    pub fn number(text: impl Into<String>, raw: Option<f64>) -> Cell {
        Cell::Number(text.into(), raw.filter(|raw| raw.is_finite()))
    }

    /// An exact count.
    pub fn count(n: u64) -> Cell {
        Cell::number(crate::format::count(n), Some(n as f64))
    }
}

/// A row; the first cell names it.
pub struct Row {
    pub cells: Vec<Cell>,
    /// Words for the style sheet: `bad`.
    pub class: &'static str,
    /// Of a tree: its own anchor, that of the row above it, and how deep it lies.
    pub place: Option<Place>,
}

pub struct Place {
    pub id: String,
    pub parent: Option<String>,
    pub depth: usize,
}

impl Row {
    pub fn new(cells: Vec<Cell>) -> Row {
        Row { cells, class: "", place: None }
    }

    pub fn marked(mut self, class: &'static str) -> Row {
        self.class = class;
        self
    }
}

/// More rows than this are searched for, not looked through.
const FILTERED: usize = 12;

/// A table of the page. `id` is unique and gets `table-` in front; `caption` is read by those who do not see where it
/// stands.
pub fn table(id: &str, caption: &str, columns: &[Column], rows: &[Row]) -> Markup {
    html! {
        div.wide role="group" tabindex="0" aria-label=(caption) {
            table.data #{ "table-" (id) } data-sortable[rows.len() > 1] data-filterable[rows.len() > FILTERED] {
                caption { (caption) }
                thead {
                    tr {
                        @for column in columns {
                            th scope="col" data-kind=(if column.is_number { "number" } else { "text" }) {
                                (column.title)
                            }
                        }
                    }
                }
                tbody { @for row in rows { (line(row, columns)) } }
            }
        }
    }
}

fn line(row: &Row, columns: &[Column]) -> Markup {
    let place = row.place.as_ref();
    let class = (!row.class.is_empty()).then_some(row.class);
    let cells = || row.cells.iter().zip(columns);
    html! {
        tr id=[place.map(|p| &p.id)]
            class=[class]
            data-depth=[place.map(|p| p.depth)]
            data-parent=[place.and_then(|p| p.parent.as_ref())]
        {
            @for (at, (cell, column)) in cells().enumerate() {
                // A value is a number for the style sheet; where it is not known the class says so.
                @let class = (column.is_number && raw(cell).is_none()).then_some("n");
                @if at == 0 { th class=[class] scope="row" data-v=[raw(cell)] { (content(cell)) } }
                @else { td class=[class] data-v=[raw(cell)] { (content(cell)) } }
            }
        }
    }
}

fn content(cell: &Cell) -> Markup {
    match cell {
        Cell::Text(text) | Cell::Number(text, _) => html! { (text) },
        Cell::Markup(markup) | Cell::Valued(markup, _) => markup.clone(),
    }
}

fn raw(cell: &Cell) -> Option<f64> {
    match cell {
        Cell::Number(_, raw) | Cell::Valued(_, raw) => *raw,
        _ => None,
    }
}

/// Words and figures in two columns.
pub fn facts(rows: &[(String, Markup)]) -> Markup {
    html! {
        dl.facts {
            @for (name, value) in rows { div { dt { (name) } dd { (value) } } }
        }
    }
}
