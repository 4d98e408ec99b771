//! Requests below `/_test-server/`: the ruler responds immediately, regardless of pauses, delays, and faults.

use super::slots::Stage;
use super::{Server, Streams};
use crate::clock::now_ns;
use crate::control::{View, Wanted, understand};
use crate::error::Error;
use crate::listener;
use crate::settings::Settings;
use crate::timers::Key;

impl Server {
    pub(super) fn command(&mut self, key: Key) -> Result<(), Error> {
        self.exempt(key);
        let Some(connection) = self.slots.get(key) else { return Ok(()) };
        connection.turn = connection.turn.wrapping_add(1);
        connection.stage = Stage::Waiting;
        let target = connection.reader.target().to_vec();
        connection.reader.restart();
        let (status, kind, lines, body) = self.run_command(&target);
        self.reply(key, status, kind, &lines, &body)
    }

    /// Carries out a command; returns status, media type, further header lines, and body of the response.
    pub(super) fn run_command(&mut self, target: &[u8]) -> (u16, &'static str, String, Vec<u8>) {
        let view = View {
            recorder: &self.recorder,
            station: &self.station,
            settings: &self.settings,
            open: self.slots.open(),
            streams_open: self.streams_open,
        };
        let done = match understand(target, &view) {
            Ok(Wanted::Show(kind, lines, body)) => return (200, kind, lines, body),
            Ok(Wanted::Change(settings, names)) => self.change(*settings, &names),
            Ok(Wanted::Clear) => {
                self.recorder.clear();
                self.station.clear();
                Ok(())
            }
            Ok(Wanted::ClearKept) => {
                self.recorder.kept.clear();
                Ok(())
            }
            Err(sentence) => Err(sentence),
        };
        match done {
            Ok(()) => (200, "text/plain", String::new(), b"ok\n".to_vec()),
            Err(sentence) => (400, "text/plain", String::new(), format!("{sentence}\n").into_bytes()),
        }
    }

    /// Removes a connection from the counts if its first request is a command: it belongs to the tester.
    pub(super) fn exempt(&mut self, key: Key) {
        let Some(connection) = self.slots.get(key) else { return };
        if connection.turn > 0 || connection.is_control {
            return;
        }
        if connection.epoch == self.recorder.epoch() {
            self.recorder.counters.accepted -= 1;
            self.recorder.counters.bytes_in -= connection.bytes_in;
        }
        self.slots.exempt(key);
    }

    /// Applies new settings. An error is a sentence, and nothing has changed.
    fn change(&mut self, settings: Settings, names: &[String]) -> Result<(), String> {
        let named = |name: &str| names.iter().any(|given| given == name);
        let now = now_ns();
        if settings.service.listen && self.listener.is_none() {
            let (socket, _) =
                listener::open(self.address, settings.service.backlog).map_err(|error| error.to_string())?;
            self.listener = Some(socket);
        } else if !settings.service.listen && self.listener.is_some() {
            self.disarm_listener().map_err(|error| error.to_string())?;
            self.listener = None;
        }
        if named("pause") || named("pause_at") {
            self.pause_from_ns = now + settings.service.pause_at_ns;
        }
        if named("seed") {
            self.streams = Streams::new(settings.service.seed);
        }
        let watch = named("idle_close");
        self.settings = settings;
        if named("workers") {
            self.station.restaff(self.settings.service.workers, now);
            self.take_waiting();
        }
        if watch {
            for key in self.slots.keys() {
                let since_ns = self.slots.get(key).map_or(now, |connection| connection.idle_since_ns);
                self.watch_idleness(key, since_ns);
            }
        }
        if self.is_full() { Ok(()) } else { self.arm_listener().map_err(|error| error.to_string()) }
    }
}
