//! `load: { rate: 100/s, step: x1.10, step_duration: 15s, stop_when: missed }`: the short form of a ladder, a search
//! that climbs from the configured level.

use crate::own::reader::Reader;
use crate::own::yaml::Entry;
use plimsoll_plan::draft::LoadDraft;
use plimsoll_plan::experiment::{Find, Step, Until};

/// The three keys of a ladder.
#[derive(Default)]
pub struct Climb {
    pub step: Option<Step>,
    pub step_duration_ns: Option<u64>,
    pub stop_when: Option<Until>,
}

impl Climb {
    /// Returns the ladder that the keys and the level form, if they are complete and nothing contradicts them.
    pub fn settle(self, entries: &[Entry], load: &LoadDraft, r: &mut Reader<'_>) -> Option<Find> {
        let pos = |name: &str| entries.iter().find(|entry| entry.key == name).map(|entry| entry.pos);
        let Some(step_pos) = pos("step") else {
            if let Some((name, pos)) =
                ["step_duration", "stop_when"].iter().find_map(|name| Some((name, pos(name)?)))
            {
                let message = format!("missing `step`: `{name}` requires it");
                r.complain("F016", pos, message, "add a step, such as `step: x1.10`");
            }
            return None;
        };
        // All missing keys and contradictions are reported at once.
        let before = r.wrong.len();
        if pos("rate").or(pos("users")).is_none() {
            let message = "missing first level: `step` requires `rate` or `users`";
            r.complain("F016", step_pos, message, "add a level, such as `rate: 100/s`");
        }
        if pos("stop_when").is_none() {
            let message = "missing `stop_when`: `step` requires a stop condition";
            let hint = "add a stop condition, such as `stop_when: offered - achieved > 5%`";
            r.complain("F016", step_pos, message, hint);
        }
        const OTHERS: [&str; 10] = [
            "stages",
            "schedule",
            "spike",
            "staircase",
            "replay",
            "total_arrivals",
            "duration",
            "requests",
            "iterations",
            "iterations_per_user",
        ];
        for (name, other) in OTHERS.iter().filter_map(|name| Some((*name, pos(name)?))) {
            let message = format!("`step` and `{name}` contradict each other");
            let hint = format!("remove `{name}` (`stop_when` ends the search, `step_duration` each level)");
            r.complain("F017", step_pos.max(other), message, hint);
        }
        let from = load.rate_per_s.or(load.users.map(f64::from));
        // An invalid level is reported at its place.
        let is_sound = r.wrong.len() == before && from.is_some() && self.stop_when.is_some();
        (is_sound && self.step.is_some()).then(|| Find {
            users: load.rate_per_s.is_none(),
            from,
            step: self.step,
            stop_when: self.stop_when,
            step_duration_ns: self.step_duration_ns,
            ..Find::default()
        })
    }
}
