//! The load of a test: its scenarios, or one scenario made of `vus`, `duration`, `iterations`, and `stages`.

use super::reader::Reader;
use super::{Layer, ONCE, code, scenario};
use crate::test::{Executor, Scenario};
use crate::value;
use plimsoll_plan::phrase::counted;

/// The name of the scenario of a shortcut, and of its function.
const DEFAULT: &str = "default";

/// Returns the scenarios, with the first shortcut that applies.
pub(super) fn scenarios(reader: &mut Reader, all: Layer) -> Vec<Scenario> {
    let Layer { vus, duration_ns, iterations, stages, scenarios, .. } = all;
    let has_stages = stages.as_ref().is_some_and(|stages| !stages.is_empty());
    let names = [
        ("iterations", iterations.is_some()),
        ("duration", duration_ns.is_some()),
        ("stages", has_stages),
        ("scenarios", scenarios.is_some()),
    ];
    let set: Vec<&str> = names.iter().filter(|(_, is_set)| *is_set).map(|(name, _)| *name).collect();
    // With iterations, a duration is their time limit.
    let conflict = match set.as_slice() {
        ["iterations", "duration"] | [_] | [] => None,
        ["iterations", "duration", other, ..] => Some(("iterations", *other)),
        [first, second, ..] => Some((*first, *second)),
    };
    if let Some((first, second)) = conflict {
        let message = format!("`{first}` and `{second}` contradict each other");
        reader.wrong(code::CONFLICT, message, format!("keep one of them, for example `{second}`"));
        return Vec::new();
    }
    let users = match vus.map(value::users_of).transpose() {
        Ok(users) => users,
        Err(problem) => {
            reader.problem("vus", problem);
            return Vec::new();
        }
    };
    let executor = match (iterations, duration_ns, stages, scenarios) {
        (Some(iterations), max, ..) => Executor::SharedIterations {
            vus: users.unwrap_or(1),
            iterations,
            max_duration_ns: max.unwrap_or(scenario::MAX_DURATION_NS),
        },
        (None, Some(0), ..) => {
            let hint = "use the executor `externally-controlled` for a test without an end";
            reader.wrong(code::VALUE, "`duration` must be above 0", hint);
            return Vec::new();
        }
        (None, Some(duration_ns), ..) => Executor::ConstantVus { vus: users.unwrap_or(1), duration_ns },
        (None, None, Some(stages), _) if has_stages => Executor::RampingVus {
            start_vus: users.unwrap_or(1),
            stages,
            graceful_ramp_down_ns: scenario::GRACEFUL_NS,
        },
        // As in k6 2, `vus` alone replaces scenarios. Version 1 ignored `vus` in this case.
        (None, None, None, scenarios) if let Some(vus) = users => {
            if scenarios.is_some() {
                reader.note(format!(
                    "`vus` replaces all scenarios: the test is {} of the function `{DEFAULT}`.",
                    counted(vus.into(), "iteration")
                ));
            }
            Executor::SharedIterations {
                vus,
                iterations: vus.into(),
                max_duration_ns: scenario::MAX_DURATION_NS,
            }
        }
        (None, None, _, Some(scenarios)) if !scenarios.is_empty() => return scenarios,
        (None, None, stages, scenarios) => {
            for (name, is_empty) in [("stages", stages.is_some()), ("scenarios", scenarios.is_some())] {
                if is_empty {
                    reader.note(format!("`{name}` is empty, so the test is one iteration of one user."));
                }
            }
            ONCE
        }
    };
    let scenario = Scenario {
        name: DEFAULT.into(),
        exec: DEFAULT.into(),
        executor,
        env: Vec::new(),
        tags: Vec::new(),
        start_ns: 0,
        graceful_stop_ns: scenario::GRACEFUL_NS,
    };
    scenario::check(reader, "", &scenario.executor);
    vec![scenario]
}
