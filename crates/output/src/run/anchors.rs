//! Where links of a page lead.

use crate::anchor::Anchor;
use plimsoll_analysis::summary::Summary;
use plimsoll_chart::Chart;

/// What findings can point at: a link that leads nowhere is worse than none.
pub struct Anchors {
    known: Vec<Anchor>,
}

impl Anchors {
    pub fn of(s: &Summary, charts: &[Chart]) -> Anchors {
        let has_chart = |id: &str| charts.iter().any(|chart| chart.id == id);
        let is_failing = s.errors.iter().any(|row| row.count > 0);
        let places = [
            (Anchor::Timeline, has_chart("timeline")),
            (Anchor::Spectrum, has_chart("spectrum")),
            (Anchor::Generator, true),
            (Anchor::Times, true),
            (Anchor::Connections, true),
            (Anchor::Method, true),
            (Anchor::System, crate::watched::is_watched(s)),
            (Anchor::Requests, !s.requests.is_empty()),
            (Anchor::Machines, s.generators.len() > 1),
            (Anchor::Errors, is_failing),
            (Anchor::Checks, !s.checks.is_empty()),
            (Anchor::Thresholds, !s.thresholds.is_empty()),
            (Anchor::Findings, !s.cautions.is_empty()),
            (Anchor::Phases, has_chart("phases")),
        ];
        Anchors { known: places.into_iter().filter(|(_, is_there)| *is_there).map(|(one, _)| one).collect() }
    }

    /// The first of these that there is.
    pub fn first(&self, wanted: &[Anchor]) -> Option<Anchor> {
        wanted.iter().copied().find(|one| self.known.contains(one))
    }
}
