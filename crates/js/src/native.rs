//! The functions that scripts, and the JavaScript part of the modules, call.

pub mod channel;
mod cipher;
mod console;
mod core;
mod crypto;
mod execution;
mod experimental;
mod files;
pub mod grpc;
mod http;
pub mod jars;
mod measure;
pub mod redis;
mod schema;
mod text;
mod timers;

pub use http::response;

use crate::host::Host;
use plimsoll_quickjs::{Native, Realm, Thrown, Value};
use std::rc::Rc;

/// Name, number of parameters, and function.
type Row = (&'static str, i32, Native);

/// The functions of `native`.
const ROWS: &[&[Row]] = &[
    channel::ROWS,
    cipher::ROWS,
    core::ROWS,
    crypto::ROWS,
    execution::ROWS,
    experimental::ROWS,
    files::ROWS,
    grpc::ROWS,
    http::ROWS,
    http::response::ROWS,
    jars::ROWS,
    measure::ROWS,
    redis::ROWS,
    schema::ROWS,
    text::ROWS,
    timers::ROWS,
    console::ROWS,
];

/// Number of functions.
const COUNT: usize = count();

const fn count() -> usize {
    let (mut at, mut all) = (0, 0);
    while at < ROWS.len() {
        all += ROWS[at].len();
        at += 1;
    }
    all
}

/// All functions, for the runtime.
pub static NATIVES: &[Native] = &all();

const fn all() -> [Native; COUNT] {
    let mut natives: [Native; COUNT] = [core::nothing; COUNT];
    let (mut at, mut next) = (0, 0);
    while at < ROWS.len() {
        let mut row = 0;
        while row < ROWS[at].len() {
            natives[next] = ROWS[at][row].2;
            next += 1;
            row += 1;
        }
        at += 1;
    }
    natives
}

/// Returns the object `native` of a realm.
///
/// # Errors
/// Returns an error if memory has run out.
pub fn object(realm: &Realm) -> Result<Value, Thrown> {
    let object = realm.object();
    for (name, length, native) in ROWS.iter().flat_map(|rows| rows.iter()) {
        object.set_str(name, realm.function(name, *length, *native))?;
    }
    Ok(object)
}

/// Adds the global objects of scripts to a realm.
///
/// # Errors
/// Returns an error if memory has run out.
pub fn install(realm: &Realm, host: &Rc<Host>) -> Result<(), Thrown> {
    core::install(realm)?;
    console::install(realm)?;
    timers::install(realm)?;
    files::install(realm)?;
    http::response::install(realm, host)?;
    jars::install(realm, host)
}
