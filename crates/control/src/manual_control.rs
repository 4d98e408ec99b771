//! Manual control of a load: which changes are allowed, and which were made. A pure function from requests and times
//! to commands and notes.

use plimsoll_engine::Command;
use plimsoll_plan::Outline;
use plimsoll_plan::load::{Arrivals, Load, Profile};
use plimsoll_plan::phrase::rate_per_s;
use plimsoll_record::event::{Note, NoteKind};
pub use plimsoll_record::steered::NOTE_CHARS;
use plimsoll_record::steered::Steered;

/// Maximum number of notes per run, so that a program that keeps writing them cannot fill the memory.
pub const NOTES_MOST: usize = 10_000;

/// Manual control of one run.
pub(crate) struct ManualControl {
    /// The load that `scale` starts from, or why it cannot be scaled.
    load: Result<Load, &'static str>,
    level: f64,
    /// Number of load generators that share the load.
    parts: u32,
    is_paused: bool,
    /// Whether a load is running.
    is_on: bool,
    notes: usize,
    done: Vec<Done>,
}

/// A note for the timeline, with its time on the engine's clock.
pub(crate) struct Done {
    pub now_ns: u64,
    pub note: Note,
}

impl ManualControl {
    pub fn on(outline: &Outline) -> Self {
        let load = scalable(outline).map(|()| outline.load.clone());
        let parts = outline.share.of.max(1);
        Self { level: outline.load.profile().start, parts, load, ..Self::off() }.started()
    }

    /// Returns the control before and after a load, when there is nothing to steer.
    pub fn off() -> Self {
        let load = Err("no load is running");
        Self { load, level: 0.0, parts: 1, is_paused: false, is_on: false, notes: 0, done: Vec::new() }
    }

    fn started(mut self) -> Self {
        self.is_on = true;
        self
    }

    pub fn let_go(&mut self) {
        self.is_on = false;
    }

    pub fn is_paused(&self) -> bool {
        self.is_paused
    }

    pub fn done(&mut self) -> Vec<Done> {
        std::mem::take(&mut self.done)
    }

    pub fn note(&mut self, text: &str, now_ns: u64) -> Result<(), String> {
        self.check_on()?;
        // Notes are shown in terminals and written to line-based files.
        let clean = |c: char| if c.is_control() { ' ' } else { c };
        let text: String = text.trim().chars().map(clean).take(NOTE_CHARS).collect();
        if text.is_empty() {
            return Err("the note is empty".into());
        }
        if self.notes >= NOTES_MOST {
            return Err(format!("this run already has {NOTES_MOST} notes"));
        }
        self.notes += 1;
        self.done.push(Done { now_ns, note: Note { at_ns: 0, kind: NoteKind::Note, text } });
        Ok(())
    }

    pub fn pause(&mut self, now_ns: u64) -> Result<Command, String> {
        self.check_on()?;
        if std::mem::replace(&mut self.is_paused, true) {
            return Err("the load is already paused".into());
        }
        self.tell(Steered::Paused, now_ns);
        Ok(Command::Pause)
    }

    pub fn resume(&mut self, now_ns: u64) -> Result<Command, String> {
        self.check_on()?;
        if !std::mem::take(&mut self.is_paused) {
            return Err("the load is not paused".into());
        }
        self.tell(Steered::Resumed, now_ns);
        Ok(Command::Resume)
    }

    pub fn scale(&mut self, factor: f64, now_ns: u64) -> Result<Command, String> {
        let steered = self.change(factor)?;
        self.tell(steered, now_ns);
        Ok(Command::SetLevel(self.level))
    }

    /// Takes over a share of what a lost agent sent. `left` agents send the whole load now.
    pub fn rebalance(&mut self, factor: f64, left: u32, agent: &str, now_ns: u64) -> Result<Command, String> {
        self.change(factor)?;
        let whole = rate_per_s(self.level * f64::from(left) / f64::from(self.parts));
        let text = format!("load rebalanced to {whole} after agent `{agent}` was lost");
        self.done.push(Done { now_ns, note: Note { at_ns: 0, kind: NoteKind::Control, text } });
        Ok(Command::SetLevel(self.level))
    }

    /// Multiplies the level.
    fn change(&mut self, factor: f64) -> Result<Steered, String> {
        self.check_on()?;
        let load = self.load.as_ref().map_err(|why| format!("cannot change the level: {why}"))?;
        if !factor.is_finite() || factor <= 0.0 {
            return Err("invalid factor: use a number above 0, such as 1.1".into());
        }
        let to = match load {
            Load::Open { .. } => self.level * factor,
            Load::Closed { users } => fewer_or_more(self.level, factor).clamp(1.0, users.start.max(1.0)),
        };
        if to == self.level {
            return Err(match load {
                Load::Closed { users } if factor > 1.0 => format!(
                    "cannot change the level: the plan has {:.0} users, which is the maximum",
                    users.start
                ),
                Load::Closed { .. } if factor < 1.0 => {
                    "cannot change the level: one user is the minimum; pause the load instead".into()
                }
                Load::Closed { .. } | Load::Open { .. } => {
                    "cannot change the level: this factor leaves it unchanged".into()
                }
            });
        }
        let steered = Steered::level(load, to);
        self.level = to;
        Ok(steered)
    }

    fn tell(&mut self, steered: Steered, now_ns: u64) {
        self.done.push(Done { now_ns, note: steered.note(0) });
    }

    fn check_on(&self) -> Result<(), String> {
        if self.is_on { Ok(()) } else { Err("no load is running".into()) }
    }
}

/// Returns a whole number of users. A factor too small for a whole user still changes one, or else 5 users could not
/// decrease by tenths.
fn fewer_or_more(users: f64, factor: f64) -> f64 {
    let to = (users * factor).round();
    if factor > 1.0 {
        to.max(users + 1.0)
    } else if factor < 1.0 {
        to.min(users - 1.0)
    } else {
        users
    }
}

/// Returns an error unless the agents that are left can take over the load of a lost one.
///
/// # Errors
/// Returns the reason.
pub fn can_rebalance(outline: &Outline) -> Result<(), &'static str> {
    scalable(outline)?;
    match outline.load {
        Load::Open { .. } => Ok(()),
        Load::Closed { .. } => Err("the load has users, and each agent has its own"),
    }
}

/// Returns an error unless the load has one constant level, which a factor can change.
fn scalable(outline: &Outline) -> Result<(), &'static str> {
    let is_flat = |profile: &Profile| profile.stages.iter().all(|stage| stage.to == profile.start);
    if outline.cell.as_ref().is_some_and(|cell| cell.purpose.is_some()) {
        return Err("a search sets its own levels");
    }
    if outline.workloads.len() > 1 {
        return Err("the run has more than one load");
    }
    if matches!(outline.load, Load::Open { arrivals: Arrivals::Recorded, .. }) {
        return Err("the arrivals replay recorded times");
    }
    if !is_flat(outline.load.profile()) {
        return Err("the plan changes the level over time");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_plan::draft::Draft;
    use plimsoll_plan::draft::LoadDraft;
    use plimsoll_plan::seal::{Machine, seal};
    use plimsoll_plan::{Request, Target};

    fn hand(users: u32) -> ManualControl {
        ManualControl::on(&outline(|load| load.users = Some(users)))
    }

    fn outline(change: impl FnOnce(&mut LoadDraft)) -> Outline {
        let mut load = LoadDraft { requests_total: Some(10_000), ..LoadDraft::default() };
        change(&mut load);
        let request = Request {
            origin: 0,
            name: "GET /".into(),
            method: "GET".into(),
            path: "/".into(),
            headers: Vec::new(),
            body: None,
        };
        let draft = Draft {
            target: Some(Target { host: "127.0.0.1".into(), port: 1, tls: false }),
            requests: vec![request],
            load,
            ..Draft::default()
        };
        seal(draft, Machine { cpus: 2, seed: 1 }).unwrap().outline
    }

    fn level(hand: &mut ManualControl, factor: f64) -> Result<f64, String> {
        let Command::SetLevel(to) = hand.scale(factor, 0)? else { panic!("another command") };
        Ok(to)
    }

    #[test]
    fn users_become_one_fewer_at_least_and_come_back_to_the_plan() {
        let mut few = hand(5);
        for to in [4.0, 3.0, 2.0, 1.0] {
            assert_eq!(level(&mut few, 0.9), Ok(to));
        }
        assert!(level(&mut few, 0.9).unwrap_err().contains("one user is the minimum"));
        for to in [2.0, 3.0, 4.0, 5.0] {
            assert_eq!(level(&mut few, 1.1), Ok(to));
        }
        assert!(level(&mut few, 1.1).unwrap_err().contains("the plan has 5 users"));
        assert!(level(&mut few, 1.0).unwrap_err().contains("leaves it unchanged"));
        assert_eq!(few.done().len(), 8, "rejected changes are not in the timeline");
        let mut many = hand(100);
        for (factor, to) in [(0.9, 90.0), (1.1, 99.0), (1.1, 100.0), (0.001, 1.0)] {
            assert_eq!(level(&mut many, factor), Ok(to));
        }
    }

    #[test]
    fn a_share_that_is_taken_over_is_no_manual_change() {
        assert_eq!(
            can_rebalance(&outline(|load| load.users = Some(5))),
            Err("the load has users, and each agent has its own")
        );
        let mut outline = outline(|load| load.rate_per_s = Some(200.0));
        assert_eq!(can_rebalance(&outline), Ok(()));
        outline.share = plimsoll_plan::load::Share { part: 1, of: 2 };
        let mut hand = ManualControl::on(&outline);
        // Half of 400/s is what this one sends now.
        assert!(matches!(hand.rebalance(2.0, 1, "b", 0), Ok(Command::SetLevel(400.0))));
        let Note { kind, text, .. } = hand.done().remove(0).note;
        assert_eq!(
            (kind, text.as_str()),
            (NoteKind::Control, "load rebalanced to 200/s after agent `b` was lost")
        );
    }
}
