//! Control of a load from agents by another process, what it sees of the load, and the end of a coordinator that fails.

use super::Here;
use plimsoll_cluster::coordinator::Input;
use plimsoll_cluster::{message, subject};
use plimsoll_engine::clock::now_ns;
use plimsoll_record::event::{Note, NoteKind, RunEvent, Sink};

impl Here<'_> {
    /// Lets all agents end their loads at once.
    pub(super) fn release_all(&self) {
        for part in &self.parts {
            let (run, instance) = (self.run.clone(), part.identity.instance.clone());
            let order = message::Order { run, instance, wish: message::Wish::Release };
            self.bus.publish(subject::orders(&part.identity.name), message::encode(&order));
        }
    }

    /// Shows an event of the load as a whole to those who watch it.
    pub(super) fn show(&mut self, event: &RunEvent) {
        if let Some(view) = &mut self.view {
            view.event(event);
        }
        match (&mut self.whole_file, event) {
            (Some(file), event) if !matches!(event, RunEvent::Opened(_)) => file.event(event),
            _ => {}
        }
    }

    /// Takes a command that controls the load. A note is one of the whole; the agents do everything else.
    pub(super) fn controlled(&mut self, line: String) -> Option<Input> {
        let value: serde_json::Value = serde_json::from_str(&line).ok()?;
        if value["do"] != "note" {
            return Some(Input::Steer(line));
        }
        let at_ns = self.begin.map_or(0, |(begin_ns, _)| now_ns().saturating_sub(begin_ns));
        let text = value["text"].as_str().unwrap_or_default().to_owned();
        let note = Note { at_ns, kind: NoteKind::Note, text };
        self.show(&RunEvent::Noted(note.clone()));
        self.parts.first_mut()?.notes.push(note);
        None
    }
}
