//! `load: { arrivals: 100/s, step: x1.10, every: 15s, until: missed }`: the short form of a ladder, which is a search
//! that goes up from the level that is written.

use crate::own::reader::Reader;
use crate::own::yaml::Entry;
use plimsoll_plan::draft::LoadDraft;
use plimsoll_plan::experiment::{Find, Step, Until};

/// What the three keys of a ladder say.
#[derive(Default)]
pub struct Climb {
    pub step: Option<Step>,
    pub every_ns: Option<u64>,
    pub until: Option<Until>,
}

impl Climb {
    /// The ladder that they make with the level beside them, if they are there and nothing contradicts them.
    pub fn settle(self, entries: &[Entry], load: &LoadDraft, r: &mut Reader<'_>) -> Option<Find> {
        let pos = |name: &str| entries.iter().find(|entry| entry.key == name).map(|entry| entry.pos);
        let Some(step_pos) = pos("step") else {
            if let Some((name, pos)) = ["every", "until"].iter().find_map(|name| Some((name, pos(name)?))) {
                let message = format!("`{name}` belongs to a ladder, and no `step` says how its levels rise");
                r.complain("F016", pos, message, "add one, such as `step: x1.10`");
            }
            return None;
        };
        // Missing keys and contradictions are all told at once, and only then is it no ladder.
        let before = r.wrong.len();
        if pos("arrivals").or(pos("users")).is_none() {
            let message = "`step` raises a level, and neither `arrivals` nor `users` says the first";
            r.complain("F016", step_pos, message, "add it, such as `arrivals: 100/s`");
        }
        if pos("until").is_none() {
            let message = "nothing says when the ladder ends";
            r.complain("F016", step_pos, message, "add it, such as `until: offered - achieved > 5%`");
        }
        const OTHERS: [&str; 9] =
            ["stages", "rows", "spike", "steps", "recorded", "duration", "requests", "iterations", "loops"];
        let mut others: Vec<_> = OTHERS.iter().filter_map(|name| Some((*name, pos(name)?))).collect();
        // `100 over 5s` says how many and how long, which a duration beside it would say too.
        if let (true, Some(pos)) = (others.is_empty() && load.iterations.is_some(), pos("arrivals")) {
            others.push(("over", pos));
        }
        for (name, other) in others {
            let message = format!("`step` and `{name}` contradict each other");
            let hint =
                "leave the second out: a ladder goes up until its `until`, and each level lasts `every`";
            r.complain("F017", step_pos.max(other), message, hint);
        }
        let from = load.rate_per_s.or(load.connections.map(f64::from));
        // A level that cannot be read is reported where it stands.
        let is_sound = r.wrong.len() == before && from.is_some() && self.until.is_some();
        (is_sound && self.step.is_some()).then(|| Find {
            users: load.rate_per_s.is_none(),
            from,
            step: self.step,
            until: self.until,
            every_ns: self.every_ns,
            ..Find::default()
        })
    }
}
