//! Where links of a page lead.

use plimsoll_analysis::summary::Summary;
use plimsoll_chart::Chart;

/// What findings can point at: a link that leads nowhere is worse than none.
pub struct Anchors {
    known: Vec<String>,
}

impl Anchors {
    pub fn of(s: &Summary, charts: &[Chart]) -> Anchors {
        let mut known: Vec<String> = charts.iter().map(|chart| format!("chart-{}", chart.id)).collect();
        known.extend(["generator", "times", "connections", "method"].map(String::from));
        if crate::watched::is_watched(s) {
            known.push("system".into());
        }
        let is_failing = s.errors.iter().any(|row| row.count > 0);
        let sections = [
            ("requests", !s.requests.is_empty()),
            ("machines", s.origins.len() > 1),
            ("errors", is_failing),
            ("checks", !s.checks.is_empty()),
            ("thresholds", !s.thresholds.is_empty()),
            ("findings", !s.cautions.is_empty()),
            ("phases", charts.iter().any(|chart| chart.id == "phases")),
        ];
        known.extend(sections.into_iter().filter(|(_, is_there)| *is_there).map(|(id, _)| id.to_owned()));
        Anchors { known }
    }

    /// The first of these that there is.
    pub fn first(&self, wanted: &[&str]) -> Option<String> {
        wanted.iter().find(|id| self.known.iter().any(|known| known == *id)).map(|id| (*id).to_owned())
    }
}
