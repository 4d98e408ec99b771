//! Agents: one load from several machines. A coordinator gives each agent a part of a run, starts all of them at the
//! same time, and gathers their events into one record. Messages go over NATS.
//!
//! [`Agent`] and [`Coordinator`] are state machines without sockets, clocks, and threads: a message or the time goes
//! in, and messages come out. So tests run a thousand agents in simulated time, over a network that loses, repeats,
//! and delays.

#![forbid(unsafe_code)]

pub mod agent;
pub mod bus;
pub mod bytes;
pub mod clock;
pub mod coordinator;
pub mod envelope;
pub mod event_codec;
pub mod message;
pub mod news;
pub mod roster;
pub mod server_setup;
pub mod signature;
pub mod subject;
pub mod whole;

pub use agent::Agent;
pub use coordinator::Coordinator;
