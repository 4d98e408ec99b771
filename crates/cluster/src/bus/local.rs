//! The way between threads of one process: the subjects and wildcards of NATS, without a server. A message arrives at
//! once and exactly once, and messages of one sender arrive in order.

use super::{Heard, Message};
use std::collections::BTreeMap;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// First part of the subjects of answers, as in NATS.
const INBOX: &str = "_INBOX";

/// Where the connections of a process meet.
#[derive(Clone, Default)]
pub struct Hub {
    meeting: Arc<Mutex<Meeting>>,
}

#[derive(Default)]
struct Meeting {
    subscriptions: Vec<Subscription>,
    /// Those who wait for an answer, by its subject.
    questions: BTreeMap<String, Sender<Vec<u8>>>,
    /// Number of connections and questions so far.
    count: u64,
}

struct Subscription {
    connection: u64,
    subject: String,
    heard: Sender<Heard>,
}

impl Hub {
    /// Returns a new connection.
    pub(super) fn connection(&self, heard: Sender<Heard>) -> Connection {
        let number = self.lock().next();
        Connection { hub: self.clone(), number, heard }
    }

    /// No thread can panic while it holds the lock and has changed half of it.
    fn lock(&self) -> MutexGuard<'_, Meeting> {
        self.meeting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Meeting {
    fn next(&mut self) -> u64 {
        self.count += 1;
        self.count
    }

    /// Hands a message to all who want it; returns whether there is one.
    fn publish(&mut self, message: &Message) -> bool {
        if let Some(asking) = self.questions.remove(&message.subject) {
            return asking.send(message.payload.clone()).is_ok();
        }
        let mut is_heard = false;
        self.subscriptions.retain(|one| {
            if !is_match(&one.subject, &message.subject) {
                return true;
            }
            // A receiver that is gone hears nothing more.
            let is_there = one.heard.send(Heard::Message(message.clone())).is_ok();
            is_heard |= is_there;
            is_there
        });
        is_heard
    }
}

/// One side's connection, shared by its clones.
#[derive(Clone)]
pub struct Connection {
    hub: Hub,
    number: u64,
    heard: Sender<Heard>,
}

impl Connection {
    pub fn publish(&self, subject: &str, payload: &[u8]) {
        let message = Message { subject: subject.to_owned(), reply: None, payload: payload.to_vec() };
        self.hub.lock().publish(&message);
    }

    pub fn subscribe(&self, subject: &str) {
        let (subject, heard) = (subject.to_owned(), self.heard.clone());
        self.hub.lock().subscriptions.push(Subscription { connection: self.number, subject, heard });
    }

    /// # Errors
    /// Returns a sentence if there is no answer in time, or no connection that could give one.
    pub fn request(&self, subject: &str, payload: &[u8], wait: Duration) -> Result<Vec<u8>, String> {
        let (answer, answered) = channel();
        let mut meeting = self.hub.lock();
        let reply = format!("{INBOX}.{}", meeting.next());
        meeting.questions.insert(reply.clone(), answer);
        let message =
            Message { subject: subject.to_owned(), reply: Some(reply.clone()), payload: payload.to_vec() };
        let is_heard = meeting.publish(&message);
        drop(meeting);
        let answer = match is_heard {
            true => answered.recv_timeout(wait).map_err(|_| "no answer".to_owned()),
            false => Err("no connection answers".to_owned()),
        };
        // Still there without an answer.
        self.hub.lock().questions.remove(&reply);
        answer
    }

    pub fn close(&self) {
        self.hub.lock().subscriptions.retain(|one| one.connection != self.number);
    }
}

/// Returns whether a subject is one that was subscribed to: `*` is any part, and `>` the rest.
fn is_match(wanted: &str, subject: &str) -> bool {
    let (mut wanted, mut parts) = (wanted.split('.'), subject.split('.'));
    loop {
        match (wanted.next(), parts.next()) {
            (Some(">"), Some(_)) | (None, None) => return true,
            (Some("*"), Some(_)) => {}
            (Some(one), Some(part)) if one == part => {}
            _ => return false,
        }
    }
}
