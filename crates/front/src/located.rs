//! What a text gives: drafts that remember where they were written.

use plimsoll_plan::diag::{Field, Place};
use plimsoll_plan::experiment::{Experiment, Setting};
use plimsoll_plan::{Diagnostic, Draft};
use std::collections::BTreeMap;

/// Where each field of a draft was written, see [`plimsoll_plan::draft::key`].
pub type Places = BTreeMap<Field, Place>;

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
        if let Place::Field(field) = diagnostic.place
            && let Some(place) = places.get(&field)
        {
            diagnostic.place = place.clone();
        }
    }
    diagnostics
}
