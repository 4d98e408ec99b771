//! `plimsoll k6 inspect`: the options of a script, or of an archive, as JSON.

use super::super::script;
use super::{parsed, ready, separated, wrong};
use crate::exit::{Exit, Failure};
use crate::say;
use plimsoll_k6::requirements::requirements;
use plimsoll_k6::{flags, go_duration};

/// Adds duration and users, and shows scenarios instead of shortcuts.
pub const REQUIREMENTS: &str = "--execution-requirements";

pub fn command(words: &[String]) -> Result<Exit, Failure> {
    let (own, mut words) = separated(words)?;
    if !own.ca.is_empty() && !own.allows_remote {
        return wrong(
            "`--ca` has no effect without `--allow-remote`: `k6 inspect` sends nothing".into(),
            "omit it",
        );
    }
    if own.out.is_some() || own.prints_report || !own.allow.is_empty() {
        return wrong(
            "`--save`, `--report`, and `--allow` have no effect: `k6 inspect` sends nothing".into(),
            "omit them",
        );
    }
    let wants_requirements = words.iter().any(|word| word == REQUIREMENTS);
    words.retain(|word| word != REQUIREMENTS);
    let invocation = parsed(&words, flags::parse_inspect)?;
    let ready = ready(&invocation, script::console(false), &own)?;
    let mut all = plimsoll_js::as_given(&ready.test, &ready.options);
    if wants_requirements {
        let of = requirements(&ready.test);
        let mut effective = plimsoll_js::in_effect(&ready.test, &ready.options);
        all["scenarios"] = effective["scenarios"].take();
        all["totalDuration"] = of.duration_ns.map(go_duration).into();
        all["maxVUs"] = of.max_vus.into();
    }
    say::result(&format!("{all:#}\n"))?;
    Ok(Exit::Pass)
}
