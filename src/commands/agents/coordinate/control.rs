//! Control of a load from agents by another process, what it sees of the load, and the end of a coordinator that fails.

use super::Here;
use crate::exit::Failure;
use plimsoll_cluster::Coordinator;
use plimsoll_cluster::coordinator::Input;
use plimsoll_cluster::message::{Identity, Order, Wish};
use plimsoll_cluster::{signature, subject};
use plimsoll_engine::clock::now_ns;
use plimsoll_record::event::{Note, NoteKind, RunEvent, Sink};

impl Here<'_> {
    /// Lets all agents end their loads at once.
    pub(super) fn release_all(&self, coordinator: &Coordinator) {
        for (Identity { name, instance, turn, .. }, _) in coordinator.beats() {
            let (run, instance) = (self.run.clone(), instance.clone());
            // The error that ends the command is said already.
            let _ = self.order(name, &Order { run, instance, turn: *turn, wish: Wish::Release });
        }
    }

    /// Sends an order to an agent.
    pub(super) fn order(&self, agent: &str, order: &Order) -> Result<(), Failure> {
        let payload = signature::seal(order, agent, self.signer).map_err(Failure::of)?;
        let (bytes, max_bytes) = (payload.len(), self.bus.max_payload());
        if bytes > max_bytes {
            let sentence =
                format!("the task of an agent has {bytes} bytes, and the NATS server accepts {max_bytes}");
            let hint = "raise `max_payload` in the configuration of the server";
            return Err(Failure::machine(sentence, Some(hint.into())));
        }
        self.bus.publish(subject::orders(agent), payload);
        Ok(())
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
