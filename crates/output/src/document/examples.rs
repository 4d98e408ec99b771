//! What failed, one by one: as it was kept, with the beginning of the answer.

use super::{Cell, Column, Table, Value};

/// Examples, the first ones of each output.
pub struct Examples {
    pub all: Vec<Example>,
}

/// One of them, and those that say the same.
pub struct Example {
    pub failure: String,
    pub request: String,
    pub at: String,
    /// 0: there is none.
    pub status: u16,
    /// The machine, where there are several; else empty.
    pub host: String,
    pub found: String,
    /// The beginning of the answer.
    pub excerpt: String,
    /// How many say the same, and when the last was.
    pub alike: Option<(usize, String)>,
    /// The first failure of its kind of its request: a screen has room for no other.
    pub is_first: bool,
}

/// Those that Markdown shows; further ones are in the JSON document.
pub const IN_TABLE: usize = 10;
/// Those that the terminal shows.
pub const ON_SCREEN: usize = 4;
/// Those that a page shows: it is to be read.
pub const ON_PAGE: usize = 30;

impl Example {
    /// `3 alike, the last at 9 s`
    pub fn repeats(&self) -> Option<String> {
        self.alike.as_ref().map(|(count, last)| format!("; {count} alike, the last at {last}"))
    }
}

impl Examples {
    pub fn table(&self) -> Table {
        let at = |one: &Example| Cell::text(format!("{}{}", one.at, one.repeats().unwrap_or_default()));
        let answer = |one: &Example| match one.excerpt.trim() {
            "" => Cell::text(""),
            _ => Value::Code(one.excerpt.clone()).into(),
        };
        Table::of("samples", "Examples of failures", self.all.iter().take(IN_TABLE))
            .column(Column::text("failure"), |one| Cell::text(&one.failure))
            .column(Column::text("request"), |one| Cell::text(&one.request))
            .column(Column::text("at"), at)
            .column(Column::text("status"), |one| Cell::text(one.status.to_string()))
            .column(Column::text("found"), |one| Cell::text(&one.found))
            .column(Column::text("answer"), answer)
            .done()
    }
}
