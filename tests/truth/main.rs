//! The tool against the ruler: what it says is compared with what a server saw that shares no code with it.
//!
//! Every test writes down first what arithmetic or the ruler's own log says, then looks. Loads of real
//! sockets disturb each other, so each test takes [`support::alone`] first, however many threads the test
//! runner has.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../support/mod.rs"]
mod support;

mod canary;
mod help;

mod bounds;
mod capacity;
mod counts;
mod delivery;
mod faults;
mod grpc;
mod grpc_interop;
mod grpc_scripts;
mod grpc_server;
mod grpc_streams;
mod grpc_web;
mod http2;
mod killed;
mod memory;
mod merge_truth;
mod outages;
mod pauses;
mod peers;
mod phases;
mod pipeline;
mod provoke;
mod routes;
mod safety;
mod shapes;
mod sleeper;
mod times;
mod trust;
mod watched;
mod websocket;
