//! What agents report of their loads: into the record of each, and into the sum of all.

use super::Here;
use crate::exit::Failure;
use plimsoll_cluster::coordinator::{Input, Output};
use plimsoll_cluster::event_codec::Error;
use plimsoll_cluster::whole::Effect;
use plimsoll_control::breaker::Trip;
use plimsoll_experiment::folder::WHOLE;
use plimsoll_record::event::{AgentOutline, INTERRUPTED, Note, NoteKind, RunEvent, StoppedBy};
use plimsoll_record::record::EncodedTick;
use plimsoll_record::run_file::{Refused, RunFile};
use std::sync::Arc;

/// Reports something of an agent that is not an event.
pub fn unreadable(e: Error) -> Failure {
    Failure::machine(format!("an agent sent something that is not an event: {e}"), None)
}

/// Reports a part that is not written.
pub fn unwritten(refused: Refused) -> Failure {
    match refused {
        Refused::Damaged(e) => unreadable(e),
        Refused::NoFile(e) => e.into(),
    }
}

impl Here<'_> {
    /// Takes the next event of an agent.
    pub(super) fn event(&mut self, part: usize, event: RunEvent) -> Result<Vec<Input>, Failure> {
        let of = self.parts.len();
        let here = &mut self.parts[part];
        let Some(((late_ns, bound_ns), (_, begin_unix_ns))) = here.begun.zip(self.begin) else {
            here.early.push(Output::Event { part, event });
            return Ok(Vec::new());
        };
        let event = match event {
            RunEvent::Opened(opening) => {
                let mut opening = Arc::unwrap_or_clone(opening);
                // One clock for all: that of the coordinator.
                // In the order of the parts, unlike a random name.
                opening.origin = format!("{}-{:04}", self.run, part + 1);
                opening.started_unix_ns = begin_unix_ns + late_ns;
                opening.outline.cell.clone_from(&self.outline.cell);
                let monitors = std::mem::take(&mut opening.outline.monitors).into_iter();
                opening.outline.monitors =
                    monitors.map(|monitor| monitor.of_agent(&here.identity.name)).collect();
                opening.environment.agent = Some(AgentOutline {
                    name: here.identity.name.clone(),
                    labels: here.identity.labels.clone(),
                    start_delay_ns: late_ns,
                    clock_bound_ns: bound_ns,
                });
                here.open(&opening, part, of);
                RunEvent::Opened(Arc::new(opening))
            }
            // For an agent, every stop is an interrupt. The coordinator says why it stopped the load.
            RunEvent::Noted(note) if note.text == INTERRUPTED && self.stopped_by.is_some() => {
                return Ok(Vec::new());
            }
            RunEvent::Ended(mut ending) if ending.stopped_by == StoppedBy::Interrupt => {
                ending.stopped_by = self.stopped_by.unwrap_or(ending.stopped_by);
                RunEvent::Ended(ending)
            }
            other => other,
        };
        if let Some(writer) = &mut here.writer {
            writer.event(&event).map_err(unwritten)?;
        }
        let Some(whole) = &mut self.whole else { return Ok(Vec::new()) };
        if let (RunEvent::Opened(opening), false) = (&event, self.has_opened) {
            let opening = whole.opening(opening, &self.run);
            // Live views of other processes read it. The load does not depend on it.
            self.whole_file = RunFile::create(&self.folder.join(WHOLE), &opening).ok();
            self.show(&RunEvent::Opened(Arc::new(opening)));
            self.has_opened = true;
        }
        let Some(whole) = &mut self.whole else { return Ok(Vec::new()) };
        let effect = whole.event(part, &event);
        if let RunEvent::Ended(_) = event {
            self.close(part)?;
        }
        Ok(self.affected(effect))
    }

    /// Takes the next second of an agent.
    pub(super) fn tick(&mut self, part: usize, tick: EncodedTick) -> Result<Vec<Input>, Failure> {
        let here = &mut self.parts[part];
        if here.begun.is_none() || self.begin.is_none() {
            here.early.push(Output::Ticked { part, tick });
            return Ok(Vec::new());
        }
        let effect = self.whole.as_mut().map(|whole| whole.tick(part, &tick)).transpose();
        let effect = effect
            .map_err(|refused| Failure::machine(format!("an agent contradicts itself: {refused}"), None))?;
        if let Some(writer) = &mut here.writer {
            writer.tick(tick).map_err(unwritten)?;
        }
        Ok(self.affected(effect.unwrap_or_default()))
    }

    /// Shows what follows for the load as a whole, and stops it if it must not continue.
    pub(super) fn affected(&mut self, effect: Effect) -> Vec<Input> {
        effect.events.iter().for_each(|event| self.show(event));
        let Some((Trip { at_ns, sentence }, stopped_by)) = effect.trip else { return Vec::new() };
        self.stopped_by = Some(stopped_by);
        self.tell(&format!("{sentence}\n"));
        for part in &mut self.parts {
            part.notes.push(Note { at_ns, kind: NoteKind::Control, text: sentence.clone() });
        }
        vec![Input::Stop]
    }
}
