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
pub mod stack;
mod text;
mod timers;

pub use core::share_envs;
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
    stack::ROWS,
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

/// Adds the functions that the text of a module calls to the object `native` of a realm: no script needs all of them,
/// and each realm has its own.
///
/// # Errors
/// Returns an error if memory has run out.
pub fn lend(realm: &Realm, object: &Value, text: &str) -> Result<(), Thrown> {
    for used in used_in(text) {
        let row = ROWS.iter().flat_map(|rows| rows.iter()).find(|row| row.0 == used);
        if let Some((name, length, native)) = row
            && object.get_str(name)?.is_nullish()
        {
            object.set_str(name, realm.function(name, *length, *native))?;
        }
    }
    Ok(())
}

/// Returns the names of functions in a text: `native.NAME`.
fn used_in(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("native.").map(|(at, mark)| {
        let rest = &text[at + mark.len()..];
        let end = rest.find(|letter: char| !letter.is_ascii_alphanumeric());
        &rest[..end.unwrap_or(rest.len())]
    })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modules::{ALL, BOOT};

    #[test]
    fn modules_call_functions_that_exist_by_their_names() {
        let texts = || ALL.iter().map(|(_, text)| *text).chain([BOOT]);
        let rows = || ROWS.iter().flat_map(|rows| rows.iter());
        for used in texts().flat_map(used_in) {
            assert!(rows().any(|row| row.0 == used), "no function `{used}`");
        }
        // What is found by a computed name would not be lent.
        assert!(texts().all(|text| !text.contains("native[")));
        assert_eq!(used_in("a(native.b, native.cD(1)); native.e").collect::<Vec<_>>(), ["b", "cD", "e"]);
    }
}
