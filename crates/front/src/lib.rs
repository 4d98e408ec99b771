//! Texts in, a [`Draft`] or every mistake at once out: experiment files and pasted curl lines.
//!
//! Nothing here opens a socket or knows how a load is run. A mistake is a [`Diagnostic`] with the file, line and
//! column; what the draft as a whole gets wrong is found later, by the seal, which knows fields only:
//! [`Located::locate`] turns its fields back into places in the text.
//!
//! Codes: `F0xx` a file, `C0xx` a curl line or a list of URLs.

#![forbid(unsafe_code)]

pub mod body;
pub mod curl;
mod detect;
pub mod explain;
mod given;
pub mod header;
mod nearest;
pub mod own;
mod read;
mod schema;
mod show;
pub mod urls;

use plimsoll_plan::diag::Place;
use plimsoll_plan::experiment::{Experiment, Setting};
use plimsoll_plan::{Diagnostic, Draft};
use std::collections::BTreeMap;

pub use detect::{Kind, detect};
pub use given::{Given, parse_set};
pub use nearest::nearest;
pub use read::{listed as text_of, parts_with, read, read_with, study_with};
pub use schema::schema;
pub use show::{show, show_study};

/// Where each field of a draft was written, by its key in [`plimsoll_plan::draft::key`].
pub type Places = BTreeMap<&'static str, Place>;

/// A draft that remembers where it was written.
#[derive(Debug, Clone, Default)]
pub struct Located {
    pub draft: Draft,
    /// Only fields that the text gives: what is missing here came from a flag or from a default.
    pub places: Places,
}

/// An experiment file as a whole.
#[derive(Debug, Clone, Default)]
pub struct Study {
    pub experiment: Experiment,
    /// At least one; the full matrix in the order of the axes, the last axis fastest.
    pub cells: Vec<StudyCell>,
}

/// One of the experiments of a file.
#[derive(Debug, Clone)]
pub struct Part {
    /// `None`: the file has no parts, and this is all of it.
    pub name: Option<String>,
    /// Its place in the file, from 1.
    pub number: usize,
    pub study: Study,
}

/// One combination of the values of all axes.
#[derive(Debug, Clone)]
pub struct StudyCell {
    /// In the order of the axes; empty when the file spans none.
    pub settings: Vec<Setting>,
    pub located: Located,
}

impl Located {
    /// See [`locate`].
    pub fn locate(&self, diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
        locate(diagnostics, &self.places)
    }
}

/// Replaces each [`Place::Field`] that the text gave by its line and column. A field that it did not give stays a
/// field: its mistake comes from a flag, and the caller names that.
pub fn locate(mut diagnostics: Vec<Diagnostic>, places: &Places) -> Vec<Diagnostic> {
    for diagnostic in &mut diagnostics {
        if let Place::Field(key) = diagnostic.place
            && let Some(place) = places.get(key)
        {
            diagnostic.place = place.clone();
        }
    }
    diagnostics
}

/// Splits a sentence of `plan` into what is wrong and how to mend it, which it joins with a semicolon. From the right,
/// because the value that it quotes may hold a semicolon of its own.
fn message_and_hint(sentence: &str) -> (&str, &str) {
    sentence.rsplit_once("; ").unwrap_or((sentence, ""))
}

/// What a request is called when its author gave it no name; holds no secret, because it stands in every report.
fn default_name(method: &str, path: &str) -> String {
    format!("{method} {}", plimsoll_plan::request::redacted_path(path))
}
