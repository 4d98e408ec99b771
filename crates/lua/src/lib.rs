//! Scripts of wrk, in Lua, as programs.
//!
//! A [`Session`] has a state for `setup` and `done`, and one for each thread, as in wrk: users of a thread share its
//! state. A script that makes its requests before the load costs nothing during it ([`Session::fixed`]); any other
//! becomes the code of a plan ([`LuaCode`]).
//!
//! The differences: a connection does not wait for all responses of a pipelined string before it sends the next one;
//! `wrk.connect` tries nothing, because all addresses are tried before the load; connections take turns at the
//! addresses of all threads (`thread.addr`); and the library `ffi` is missing.

#![forbid(unsafe_code)]

mod code;
mod done;
mod message;
mod session;
mod thread;

pub use code::LuaCode;
pub use done::{Distribution, Results};
pub use session::{Lookup, Session, Site};
pub use thread::{MEMORY_MAX, Watch, too_large};
