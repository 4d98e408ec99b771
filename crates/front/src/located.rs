//! Drafts with the places where their fields were written.

use plimsoll_plan::diag::{Field, Place};
use plimsoll_plan::experiment::{Experiment, Setting};
use plimsoll_plan::{Diagnostic, Draft};
use std::collections::BTreeMap;

/// Where each field of a draft was written, see [`plimsoll_plan::draft::key`].
pub type Places = BTreeMap<Field, Place>;

/// A draft with the places of its fields.
#[derive(Debug, Clone, Default)]
pub struct Located {
    pub draft: Draft,
    /// Only fields that the text sets; others come from a flag or a default.
    pub places: Places,
}

/// A whole experiment file.
#[derive(Debug, Clone, Default)]
pub struct Study {
    pub experiment: Experiment,
    /// At least one; the full matrix in the order of the axes, the last axis fastest.
    pub cells: Vec<StudyCell>,
}

/// One of the experiments of a file.
#[derive(Debug, Clone)]
pub struct Part {
    /// `None` if the file has no parts.
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
    /// Replaces fields with their places, as [`locate`] does.
    pub fn locate(&self, diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
        locate(diagnostics, &self.places)
    }
}

/// Replaces each [`Place::Field`] that the text set with its line and column. A field that it did not set stays a
/// field: its mistake comes from a flag, which the caller names.
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
