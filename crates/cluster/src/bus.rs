//! The way to the other side, for code without `async`: a NATS server ([`nats`]), or this process ([`local`]).

pub mod local;
pub mod nats;

pub use local::Hub;
pub use nats::Access;
use plimsoll_plan::Problem;
use std::sync::mpsc::Sender;
use std::time::Duration;

/// A received message.
#[derive(Debug, Clone)]
pub struct Message {
    pub subject: String,
    /// Subject for the answer, if one is expected.
    pub reply: Option<String>,
    pub payload: Vec<u8>,
}

/// A change of the connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    Connected,
    Disconnected,
    /// The server refused something, such as a subject without permission.
    Refused(String),
}

/// What a bus hands out.
#[derive(Debug, Clone)]
pub enum Heard {
    Message(Message),
    Change(Change),
}

/// A connection, shared by its clones.
#[derive(Clone)]
pub struct Bus(Way);

#[derive(Clone)]
enum Way {
    Nats(nats::Connection),
    Local(local::Connection),
}

impl Bus {
    /// Connects to a server. Everything that is heard goes to `heard`.
    ///
    /// # Errors
    /// Returns an error if the server cannot be reached, or does not accept the credentials.
    pub fn connect(access: Access, heard: Sender<Heard>) -> Result<Bus, Problem> {
        nats::Connection::open(access, heard).map(|connection| Bus(Way::Nats(connection)))
    }

    /// Joins the others in this process. Everything that is heard goes to `heard`.
    pub fn join(hub: &Hub, heard: Sender<Heard>) -> Bus {
        Bus(Way::Local(hub.connection(heard)))
    }

    /// Returns the largest message that can be sent, bytes.
    pub fn max_payload(&self) -> usize {
        match &self.0 {
            Way::Nats(connection) => connection.max_payload(),
            Way::Local(_) => usize::MAX,
        }
    }

    /// Returns the version of the server; `None` without one.
    pub fn server_version(&self) -> Option<&str> {
        match &self.0 {
            Way::Nats(connection) => Some(connection.server_version()),
            Way::Local(_) => None,
        }
    }

    /// Publishes a message; whether it arrives is not known.
    pub fn publish(&self, subject: String, payload: Vec<u8>) {
        match &self.0 {
            Way::Nats(connection) => connection.publish(subject, payload),
            Way::Local(connection) => connection.publish(&subject, &payload),
        }
    }

    /// Hands out messages with this subject, also after a new connection.
    pub fn subscribe(&self, subject: &str) {
        match &self.0 {
            Way::Nats(connection) => connection.subscribe(subject),
            Way::Local(connection) => connection.subscribe(subject),
        }
    }

    /// Asks, and blocks until the answer.
    ///
    /// # Errors
    /// Returns a sentence if there is none in time.
    pub fn request(&self, subject: &str, payload: Vec<u8>, wait: Duration) -> Result<Vec<u8>, String> {
        match &self.0 {
            Way::Nats(connection) => connection.request(subject, payload, wait),
            Way::Local(connection) => connection.request(subject, &payload, wait),
        }
    }

    /// Sends what is still to be sent, for at most a second, and closes the connection.
    pub fn close(&self) {
        match &self.0 {
            Way::Nats(connection) => connection.close(),
            Way::Local(connection) => connection.close(),
        }
    }
}
