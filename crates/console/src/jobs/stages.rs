//! Stages of a run, for the bar above its live view.

use plimsoll_output::format;
use plimsoll_plan::Outline;
use plimsoll_plan::load::Load;
use serde::Serialize;

/// A stage of the load profile.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Stage {
    pub from_s: f64,
    pub to_s: f64,
    pub label: String,
}

/// The timing of a run's plan.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Course {
    /// `None` if the run ends when its requests are done.
    pub planned_s: Option<f64>,
    pub stages: Vec<Stage>,
    /// Number of the run in its experiment, from 1.
    pub turn: Option<u32>,
    /// Number of runs in the experiment, if known.
    pub turns: Option<usize>,
}

/// Returns the timing of a run; `turns` is the number of runs in its experiment, if known.
pub fn course(outline: &Outline, turns: Option<usize>) -> Course {
    let word = |level: f64| match outline.load {
        Load::Open { .. } => format!("{} arrivals", format::rate_per_s(level)),
        Load::Closed { .. } => format!("{} users", format::count(level.round() as u64)),
    };
    let profile = outline.load.profile();
    let staged_ns: u64 = profile.stages.iter().map(|stage| stage.duration_ns).sum();
    let end_ns = outline.stop.duration_ns.or((staged_ns > 0).then_some(staged_ns));
    let mut stages = Vec::new();
    let (mut begin_ns, mut level) = (0u64, profile.start);
    for stage in &profile.stages {
        let to_ns = begin_ns + stage.duration_ns;
        // A jump takes no time and has no place in the bar.
        if to_ns > begin_ns {
            let word = if stage.to == level { word(level) } else { format!("to {}", word(stage.to)) };
            stages.push(Stage { from_s: begin_ns as f64 / 1e9, to_s: to_ns as f64 / 1e9, label: word });
        }
        (begin_ns, level) = (to_ns, stage.to);
    }
    if let Some(end_ns) = end_ns.filter(|end_ns| *end_ns > begin_ns) {
        stages.push(Stage { from_s: begin_ns as f64 / 1e9, to_s: end_ns as f64 / 1e9, label: word(level) });
    }
    let turn = outline.cell.as_ref().map(|cell| cell.run_index + 1);
    let turns = turns.filter(|_| turn.is_some());
    Course { planned_s: end_ns.map(|ns| ns as f64 / 1e9), stages, turn, turns }
}
