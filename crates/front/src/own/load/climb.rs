//! `load: { rate: 100/s, step: x1.10, step_duration: 15s, stop_when: missed }`: the short form of a ladder, which is a
//! search that goes up from the level that is written.

use crate::own::reader::Reader;
use crate::own::yaml::Entry;
use plimsoll_plan::draft::LoadDraft;
use plimsoll_plan::experiment::{Find, Step, Until};

/// What the three keys of a ladder say.
#[derive(Default)]
pub struct Climb {
    pub step: Option<Step>,
    pub step_duration_ns: Option<u64>,
    pub stop_when: Option<Until>,
}

impl Climb {
    /// The ladder that they make with the level beside them, if they are there and nothing contradicts them.
    pub fn settle(self, entries: &[Entry], load: &LoadDraft, r: &mut Reader<'_>) -> Option<Find> {
        let pos = |name: &str| entries.iter().find(|entry| entry.key == name).map(|entry| entry.pos);
        let Some(step_pos) = pos("step") else {
            if let Some((name, pos)) =
                ["step_duration", "stop_when"].iter().find_map(|name| Some((name, pos(name)?)))
            {
                let message = format!("`{name}` belongs to a ladder, and no `step` says how its levels rise");
                r.complain("F016", pos, message, "add one, such as `step: x1.10`");
            }
            return None;
        };
        // Missing keys and contradictions are all told at once, and only then is it no ladder.
        let before = r.wrong.len();
        if pos("rate").or(pos("users")).is_none() {
            let message = "`step` raises a level, and neither `rate` nor `users` says the first";
            r.complain("F016", step_pos, message, "add it, such as `rate: 100/s`");
        }
        if pos("stop_when").is_none() {
            let message = "nothing says when the ladder ends";
            r.complain("F016", step_pos, message, "add it, such as `stop_when: offered - achieved > 5%`");
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
            let hint = "leave the second out: a ladder goes up until its `stop_when`, and each level lasts \
                        `step_duration`";
            r.complain("F017", step_pos.max(other), message, hint);
        }
        let from = load.rate_per_s.or(load.users.map(f64::from));
        // A level that cannot be read is reported where it stands.
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
