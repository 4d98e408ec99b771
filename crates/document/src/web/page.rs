//! The frame of a page: head, policy, contents, sections, and the data of its charts.
//!
//! The same input yields the same bytes, because neither a clock nor chance is involved.

use crate::Error;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::{Compression, write::GzEncoder};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use plimsoll_chart::Chart;
use plimsoll_plan::phrase::is_harmful;
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::io::Write;

/// The only style sheet of pages and of the console.
pub const STYLE: &str = concat!(include_str!("style.css"), include_str!("../../../chart/src/chart.css"));

/// Incremented when the data block of a page changes its form.
const DATA_VERSION: u32 = 1;

/// A page under construction.
pub struct Page {
    /// The kind of result: `run`, `experiment`, `search`, `comparison`, `audit`, `parts`.
    pub kind: &'static str,
    pub title: String,
    /// Above everything else: the verdict. It contains the page's only `h1`.
    pub head: Markup,
    pub sections: Vec<Section>,
    /// The charts of the sections, for the script.
    pub charts: Vec<Chart>,
    /// The output of `--json` for the same result.
    pub document: Value,
    /// In the console: a link back to the list of runs. A file has none.
    pub bar: Option<Markup>,
}

/// One part of a page. It is omitted for a result without data for it.
pub struct Section {
    /// Unique on a page; the anchor.
    pub id: &'static str,
    pub title: Cow<'static, str>,
    pub body: Markup,
}

/// The data for the script.
#[derive(Serialize)]
struct Data<'a> {
    version: u32,
    kind: &'a str,
    charts: &'a [Chart],
    document: &'a Value,
}

impl Page {
    /// Returns the file, with the interactive script if this build includes one.
    ///
    /// # Errors
    /// Returns an error if the data cannot be expressed in JSON.
    pub fn render(&self) -> Result<String, Error> {
        self.render_with(plimsoll_ui::report_script())
    }

    /// Returns the file with this script, or without any, as a static page.
    ///
    /// # Errors
    /// Returns an error like [`Page::render`].
    pub fn render_with(&self, script: Option<&str>) -> Result<String, Error> {
        let data = self.data()?;
        let page = html! {
            (DOCTYPE)
            html lang="en" data-theme="auto" data-kind=(self.kind) data-moves[script.is_some()] {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(policy(script));
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    meta name="referrer" content="no-referrer";
                    // Browsers request an icon by themselves; this one is empty and embedded.
                    link rel="icon" href="data:,";
                    title { (safe(&self.title)) }
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    (PreEscaped(safe(&self.body(script.is_some()).into_string())))
                    script #page-data type="application/octet-stream" { (data) }
                    @if let Some(script) = script { script { (PreEscaped(script)) } }
                }
            }
        };
        Ok(page.into_string())
    }

    fn body(&self, is_moving: bool) -> Markup {
        html! {
            a.skip href="#main" { "Skip to the result" }
            @if let Some(bar) = &self.bar { header.bar { (bar) } }
            div.frame {
                nav.contents aria-label="Contents" {
                    ol {
                        li { a href="#main" { "Verdict" } }
                        @for section in &self.sections {
                            li { a href={ "#" (section.id) } { (section.title) } }
                        }
                    }
                }
                main #main tabindex="-1" {
                    (self.head)
                    @for section in &self.sections {
                        section id=(section.id) aria-labelledby={ (section.id) "-title" } {
                            h2 id={ (section.id) "-title" } { (section.title) }
                            (section.body)
                        }
                    }
                    footer {
                        p {
                            "Made by plimsoll " (env!("CARGO_PKG_VERSION"))
                            ". This file is self-contained and sends no requests."
                        }
                        @if !is_moving {
                            p {
                                "Charts and tables are static here. For interactive ones, use a build of plimsoll \
                                 that was made with Node."
                            }
                        }
                    }
                }
            }
        }
    }

    /// Returns JSON, gzipped, in base64, so that nothing in it can end its element.
    fn data(&self) -> Result<String, Error> {
        let data =
            Data { version: DATA_VERSION, kind: self.kind, charts: &self.charts, document: &self.document };
        // The gzip header contains neither a time nor a name.
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        packed.write_all(&serde_json::to_vec(&data)?).map_err(Error::Packing)?;
        Ok(STANDARD.encode(packed.finish().map_err(Error::Packing)?))
    }
}

/// Only embedded content may be loaded, run, or sent.
fn policy(script: Option<&str>) -> String {
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    format!(
        "default-src 'none'; script-src {}; style-src {}; img-src data: blob:; base-uri 'none'; \
         form-action 'none'",
        script.map_or_else(|| "'none'".into(), hash),
        hash(STYLE)
    )
}

/// Replaces characters that could reverse the surrounding text, for a whole page, because names come from outside.
fn safe(text: &str) -> String {
    let describe = |c: char| if is_harmful(c) && c != '\n' && c != '\t' { '\u{fffd}' } else { c };
    text.chars().map(describe).collect()
}
