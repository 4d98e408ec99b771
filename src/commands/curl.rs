//! `plimsoll curl ...`: loads with a pasted curl line; plimsoll's flags come before it.

use super::{load, run};
use crate::exit::{Exit, Failure};
use crate::flags::verbs::Curl;
use plimsoll_front::Located;

pub fn command(curl: &Curl) -> Result<Exit, Failure> {
    let draft = plimsoll_lines::curl::parse(&curl.words).map_err(Failure::Text)?;
    let located = Located { draft, ..Located::default() };
    let plan = run::sealed(located, &curl.flags, true)?;
    load::command(plan, &curl.flags.manner)
}
