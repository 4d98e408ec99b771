//! Fills in templates: a [`Text`] becomes bytes each time it is sent, without allocating once the buffers have grown.
//!
//! The front has resolved every name. A placeholder is an index into the user's variables, the values of setup, or the
//! row of a feeder, or a function of the user's random numbers and of the clocks that the caller provides.

mod call;
mod derive;
mod escape;
mod fake;
mod shared;
mod time;
mod vars;

pub(crate) use derive::{check_signer, hmac};
pub use escape::escape_from;
pub use shared::{Counters, Globals};
pub use time::{write_moment, write_time};
pub use vars::Vars;

use crate::feed::Rows;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use plimsoll_plan::data::Feeder;
use plimsoll_plan::value::{FeederId, Part, Placeholder, RequestPart, Text};
use plimsoll_stats::random::SplitMix64;

/// The source of all values of a text: one user at one moment.
pub struct Scope<'a> {
    pub vars: &'a mut Vars,
    pub globals: &'a Globals,
    pub rows: &'a mut Rows,
    pub random: &'a mut SplitMix64,
    pub counters: &'a Counters,
    /// Nanoseconds since 1970, for `${now()}`.
    pub unix_ns: u64,
    /// Number of the user over all machines, starting at 1.
    pub user: u32,
    /// Number of the user's iteration, starting at 1.
    pub iteration: u64,
    /// The user's timings by slot, ns; 0 is a missing one.
    pub timings: &'a [u64],
    /// The parts of the request that is being rendered, for its headers.
    pub request: RequestParts<'a>,
}

/// The parts of a request that values of its headers may use; empty outside of headers.
#[derive(Debug, Clone, Copy, Default)]
pub struct RequestParts<'a> {
    pub method: &'a [u8],
    /// Path and query.
    pub path: &'a [u8],
    pub body: &'a [u8],
}

impl Scope<'_> {
    /// Returns the same values with the parts of a request.
    pub fn with_request<'s>(&'s mut self, request: RequestParts<'s>) -> Scope<'s> {
        Scope {
            vars: &mut *self.vars,
            globals: self.globals,
            rows: &mut *self.rows,
            random: &mut *self.random,
            counters: self.counters,
            unix_ns: self.unix_ns,
            user: self.user,
            iteration: self.iteration,
            timings: self.timings,
            request,
        }
    }
}

/// The reason why a text could not be filled in.
#[derive(Debug, Clone, PartialEq)]
pub enum Unfilled {
    /// This variable is not set, or the feeder has no such value; never a [`Placeholder::Call`].
    Missing(Placeholder),
    /// The feeder has no row left for this user and does not start over ([`plimsoll_plan::data::AtEnd::Stop`]).
    Exhausted(FeederId),
    /// The value is not allowed in its place, for example a line end in a header.
    Unsendable,
    /// The field of a gRPC message at this path cannot have the value; `expects` says what it can have.
    Unfit { path: String, expects: String },
    /// The library could not sign a token.
    Unsigned,
    /// The value should be decoded, but it is not Base64.
    NotBase64,
}

impl Unfilled {
    /// Returns a message for errors and failure examples. `vars`, `globals`, and `feeders` name the script's slots.
    pub fn sentence(&self, vars: &[String], globals: &[String], feeders: &[Feeder]) -> String {
        let name = |names: &[String], id: u16| names.get(usize::from(id)).cloned().unwrap_or_default();
        let feeder = |id: u16| feeders.get(usize::from(id));
        match self {
            Unfilled::Missing(Placeholder::Var(id)) => {
                format!("`{}` has no value: nothing has set it", name(vars, *id))
            }
            Unfilled::Missing(Placeholder::Global(id)) => {
                format!("`{}` has no value: setup has not extracted it", name(globals, *id))
            }
            Unfilled::Missing(Placeholder::Column { feeder: id, column }) => {
                let column = feeder(*id).and_then(|f| f.columns.get(usize::from(*column)).cloned());
                let feeder = feeder(*id).map_or("", |f| &f.name);
                format!("`{feeder}.{}` has no value: the file is not there yet", column.unwrap_or_default())
            }
            Unfilled::Missing(Placeholder::Call(function)) => format!("`{}` has no value", function.name()),
            Unfilled::Missing(Placeholder::Base64(_)) => "credentials have no value".into(),
            Unfilled::Missing(Placeholder::Timing(_)) => {
                "a time of a request has no value: this user has no response to it yet".into()
            }
            Unfilled::Missing(Placeholder::Derived(_) | Placeholder::Request(_)) => {
                "a part of the request has no value".into()
            }
            Unfilled::Exhausted(id) => {
                format!("data `{}` has no row left for this user", feeder(*id).map_or("", |f| &f.name))
            }
            Unfilled::Unfit { path, expects } => format!("invalid value of `{path}`: expected {expects}"),
            Unfilled::Unsendable => "a value contains a line end or a NUL where neither is allowed".into(),
            Unfilled::Unsigned => "a token could not be signed".into(),
            Unfilled::NotBase64 => "a value to decode is not Base64".into(),
        }
    }
}

/// Appends `text` to `out`, with its placeholders filled in and escaped as each part requires.
///
/// # Errors
/// Returns the first placeholder that cannot be filled in; `out` then has its original length.
pub fn fill(text: &Text, scope: &mut Scope<'_>, out: &mut Vec<u8>) -> Result<(), Unfilled> {
    let begin = out.len();
    for part in &text.parts {
        match part {
            Part::Literal(bytes) => out.extend_from_slice(bytes),
            Part::Secret(secret) => out.extend_from_slice(secret.reveal().as_bytes()),
            Part::Placeholder(hole, escape) => {
                let value = out.len();
                if let Err(reason) = put(hole, scope, out) {
                    out.truncate(begin);
                    return Err(reason);
                }
                escape_from(out, value, *escape);
            }
        }
    }
    Ok(())
}

fn put(hole: &Placeholder, scope: &mut Scope<'_>, out: &mut Vec<u8>) -> Result<(), Unfilled> {
    let found = match hole {
        Placeholder::Derived(derived) => return derive::put(derived, scope, out),
        Placeholder::Timing(slot) => match scope.timings.get(usize::from(*slot)) {
            None | Some(0) => None,
            Some(ns) => {
                time::milliseconds(*ns, out);
                return Ok(());
            }
        },
        Placeholder::Request(part) => Some(match part {
            RequestPart::Method => scope.request.method,
            RequestPart::Path => scope.request.path,
            RequestPart::Body => scope.request.body,
        }),
        Placeholder::Var(id) => scope.vars.get(*id),
        Placeholder::Global(id) => scope.globals.get(*id),
        Placeholder::Column { feeder, column } => return scope.rows.value(*feeder, *column, out),
        Placeholder::Call(function) => {
            call::put(function, scope, out);
            return Ok(());
        }
        Placeholder::Base64(text) => {
            let begin = out.len();
            fill(text, scope, out)?;
            let coded = STANDARD.encode(&out[begin..]);
            out.truncate(begin);
            out.extend_from_slice(coded.as_bytes());
            return Ok(());
        }
    };
    match found {
        Some(value) => {
            out.extend_from_slice(value);
            Ok(())
        }
        // The placeholder of a variable contains two bytes, so this clone allocates nothing.
        None => Err(Unfilled::Missing(hole.clone())),
    }
}
