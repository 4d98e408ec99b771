//! The frame of a page: head, policy, sections, and the data of its charts.

use crate::Error;
use crate::chart::Chart;
use maud::{DOCTYPE, Markup, html};
use serde_json::Value;

/// A page in the making.
pub struct Page {
    /// What kind of result it shows: `run`, `experiment`, `search`, `comparison`, `audit`, `parts`.
    pub kind: &'static str,
    pub title: String,
    /// Above everything else: the verdict.
    pub head: Markup,
    pub sections: Vec<Section>,
    /// Those that the sections show, for the script.
    pub charts: Vec<Chart>,
    /// What `--json` prints of the same result.
    pub document: Value,
    /// In the console: what leads back to the list of runs. A file has none.
    pub bar: Option<Markup>,
}

/// One part of a page. A result that has nothing for it has no such part.
pub struct Section {
    /// Unique in a page; the anchor.
    pub id: &'static str,
    pub title: &'static str,
    pub body: Markup,
}

impl Page {
    /// The file.
    ///
    /// # Errors
    /// When the data cannot be expressed in JSON.
    pub fn render(&self) -> Result<String, Error> {
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head { meta charset="utf-8"; title { (self.title) } }
                body { (self.head) @for section in &self.sections { section id=(section.id) { h2 { (section.title) } (section.body) } } }
            }
        };
        Ok(page.into_string())
    }
}
