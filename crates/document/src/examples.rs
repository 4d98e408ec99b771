//! Failure examples: each as it was kept, with the beginning of the response.

use super::{Cell, Column, Table, Value};

/// Examples; each output shows the first ones.
pub struct Examples {
    pub all: Vec<Example>,
}

/// One example, which may represent several equal ones.
pub struct Example {
    pub failure: String,
    pub request: String,
    pub at: String,
    /// 0 if there is none.
    pub status: u16,
    /// The machine, if there are several; otherwise empty.
    pub host: String,
    pub found: String,
    /// The beginning of the response.
    pub excerpt: String,
    /// The number of equal examples, and the time of the last one.
    pub alike: Option<(usize, String)>,
    /// Whether this is the first failure of its kind and request: one screen has no room for others.
    pub is_first: bool,
}

/// The number that Markdown shows; the others are in the JSON document.
pub const IN_TABLE: usize = 10;
/// The number that the terminal shows.
pub const ON_SCREEN: usize = 4;
/// The number that a page shows, limited for readability.
pub const ON_PAGE: usize = 30;

impl Example {
    /// `3 alike, the last at 9 s`
    pub fn repeats(&self) -> Option<String> {
        self.alike.as_ref().map(|(count, last)| format!("; {count} similar, the last at {last}"))
    }
}

impl Examples {
    pub fn table(&self) -> Table {
        let at = |one: &Example| Cell::text(format!("{}{}", one.at, one.repeats().unwrap_or_default()));
        let answer = |one: &Example| match one.excerpt.trim() {
            "" => Cell::text(""),
            _ => Value::Code(one.excerpt.clone()).into(),
        };
        Table::of("samples", "Failure examples", self.all.iter().take(IN_TABLE))
            .column(Column::text("failure"), |one| Cell::text(&one.failure))
            .column(Column::text("request"), |one| Cell::text(&one.request))
            .column(Column::text("at"), at)
            .column(Column::text("status"), |one| Cell::text(one.status.to_string()))
            .column(Column::text("found"), |one| Cell::text(&one.found))
            .column(Column::text("response"), answer)
            .done()
    }
}
