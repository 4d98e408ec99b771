//! Reads `scenarios`: an executor with its values, strictly.

use super::code;
use super::reader::Reader;
use crate::test::{Executor, Pool, Scenario, Stage};
use crate::value::{self, Read, describe};
use plimsoll_plan::Problem;
use plimsoll_plan::phrase::counted;
use plimsoll_plan::unit::SECOND_NS;
use serde_json::{Map, Value};

/// Defaults of k6, in ns.
pub(super) const MAX_DURATION_NS: u64 = 600 * SECOND_NS;
pub(super) const GRACEFUL_NS: u64 = 30 * SECOND_NS;
/// The shortest duration of an executor.
const DURATION_MIN_NS: u64 = SECOND_NS;

/// Keys of all executors, and those of each.
const COMMON: [&str; 7] = ["executor", "startTime", "gracefulStop", "exec", "env", "tags", "options"];
const EXECUTORS: [(&str, &[&str]); 7] = [
    ("constant-vus", &["vus", "duration"]),
    ("ramping-vus", &["startVUs", "stages", "gracefulRampDown"]),
    ("shared-iterations", &["vus", "iterations", "maxDuration"]),
    ("per-vu-iterations", &["vus", "iterations", "maxDuration"]),
    ("constant-arrival-rate", &["rate", "timeUnit", "duration", "preAllocatedVUs", "maxVUs"]),
    ("ramping-arrival-rate", &["startRate", "timeUnit", "stages", "preAllocatedVUs", "maxVUs"]),
    ("externally-controlled", &["vus", "maxVUs", "duration"]),
];

/// Reads all scenarios. `None`: unset.
pub(super) fn all(reader: &mut Reader, place: &str, value: &Value) -> Option<Vec<Scenario>> {
    let Value::Object(entries) = value else {
        if !value.is_null() {
            let problem = Problem::plain(format!("invalid value `{}`: expected an object", describe(value)));
            reader.problem(place, problem);
        }
        return None;
    };
    Some(entries.iter().filter_map(|(name, value)| one(reader, place, name, value)).collect())
}

/// The fields of one scenario, with its path for diagnostics.
struct Fields<'a> {
    place: &'a str,
    map: &'a Map<String, Value>,
}

impl Fields<'_> {
    fn get<T>(&self, reader: &mut Reader, key: &str, read: fn(&Value) -> Read<T>) -> Option<T> {
        let value = self.map.get(key)?;
        reader.at(&format!("{}.{key}", self.place), read(value))
    }

    /// Returns a value that has no default.
    fn need<T: Default>(&self, reader: &mut Reader, key: &str, read: fn(&Value) -> Read<T>) -> T {
        let before = reader.wrong.len();
        let value = self.get(reader, key, read);
        if value.is_none() && reader.wrong.len() == before {
            let message = format!("missing `{key}` in `{}`", self.place);
            reader.wrong(code::VALUE, message, format!("add `{key}`"));
        }
        value.unwrap_or_default()
    }

    fn stages(&self, reader: &mut Reader) -> Vec<Stage> {
        let Some(value) = self.map.get("stages").filter(|value| !value.is_null()) else { return Vec::new() };
        stages(reader, &format!("{}.stages", self.place), value).unwrap_or_default()
    }
}

fn one(reader: &mut Reader, place: &str, name: &str, value: &Value) -> Option<Scenario> {
    let place = format!("{place}.{name}");
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if name.is_empty() || !name.chars().all(is_name) {
        let message = format!("invalid scenario name `{name}`");
        reader.wrong(code::VALUE, message, "use letters, digits, `_`, and `-`");
    }
    let Value::Object(map) = value else {
        let problem = Problem::plain(format!("invalid value `{}`: expected an object", describe(value)));
        reader.problem(&place, problem);
        return None;
    };
    let fields = Fields { place: &place, map };
    let kind = fields.need(reader, "executor", value::string);
    let Some((kind, keys)) = EXECUTORS.iter().find(|(known, _)| *known == kind) else {
        if !kind.is_empty() {
            let names = EXECUTORS.iter().map(|(known, _)| *known);
            let hint = match plimsoll_build::nearest::nearest(&kind, names.clone()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("use {}", names.collect::<Vec<_>>().join(", ")),
            };
            reader.wrong(code::VALUE, format!("unknown executor `{kind}` in `{place}`"), hint);
        }
        return None;
    };
    check_keys(reader, &fields, kind, keys);
    let before = reader.wrong.len();
    let executor = executor(reader, &fields, kind);
    if reader.wrong.len() == before {
        check(reader, &format!("{place}."), &executor);
    }
    let start_ns = fields.get(reader, "startTime", value::duration_ns).unwrap_or(0);
    let is_external = matches!(executor, Executor::ExternallyControlled { .. });
    let exec = fields.get(reader, "exec", value::string);
    if exec.as_deref() == Some("") {
        reader.wrong(code::VALUE, format!("empty `exec` in `{place}`"), "name an exported function");
    }
    Some(Scenario {
        name: name.to_owned(),
        executor,
        exec: exec.unwrap_or_else(|| "default".into()),
        env: fields.get(reader, "env", value::pairs).unwrap_or_default(),
        tags: fields.get(reader, "tags", value::pairs).unwrap_or_default(),
        start_ns,
        graceful_stop_ns: match fields.get(reader, "gracefulStop", value::duration_ns) {
            Some(graceful_stop_ns) => graceful_stop_ns,
            None if is_external => 0,
            None => GRACEFUL_NS,
        },
    })
}

/// Refuses unknown keys, and those that the executor or plimsoll does not support.
fn check_keys(reader: &mut Reader, fields: &Fields<'_>, kind: &str, keys: &[&str]) {
    for (key, value) in fields.map {
        let known = COMMON.iter().chain(keys).copied();
        let is_fixed =
            kind == "externally-controlled" && ["startTime", "gracefulStop"].contains(&key.as_str());
        if is_fixed && !value.is_null() {
            let message = format!("`{}.{key}`: the executor `{kind}` does not have it", fields.place);
            reader.wrong(code::CONFLICT, message, format!("remove `{key}`"));
        } else if !known.clone().any(|own| own == key) {
            let near = plimsoll_build::nearest::nearest(key, known.clone());
            let hint = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("use {}", known.collect::<Vec<_>>().join(", ")),
            };
            let message = format!("unknown key `{key}` in `{}` (executor `{kind}`)", fields.place);
            reader.wrong(code::KEY, message, hint);
        } else if key == "options" {
            scenario_options(reader, fields.place, value);
        }
    }
}

fn scenario_options(reader: &mut Reader, place: &str, value: &Value) {
    let Value::Object(map) = value else { return };
    for (key, value) in map {
        if key == "browser" {
            if !value.is_null() {
                let message = format!("`{place}.options.browser` is not supported: plimsoll has no browser");
                reader.wrong(code::UNSUPPORTED, message, "remove the scenario, or test its requests");
            }
        } else {
            let message = format!("unknown key `{key}` in `{place}.options`");
            reader.wrong(code::KEY, message, "remove it");
        }
    }
}

fn executor(reader: &mut Reader, fields: &Fields<'_>, kind: &str) -> Executor {
    let vus = |reader: &mut Reader| fields.get(reader, "vus", value::users).unwrap_or(1);
    let unit = |reader: &mut Reader| fields.get(reader, "timeUnit", value::duration_ns).unwrap_or(SECOND_NS);
    let most = |reader: &mut Reader| {
        fields.get(reader, "maxDuration", value::duration_ns).unwrap_or(MAX_DURATION_NS)
    };
    let pool = |reader: &mut Reader| {
        let allocated = fields.need(reader, "preAllocatedVUs", value::users);
        let max = fields.get(reader, "maxVUs", value::users).unwrap_or(allocated);
        Pool { allocated, max }
    };
    match kind {
        "constant-vus" => Executor::ConstantVus {
            vus: vus(reader),
            duration_ns: fields.need(reader, "duration", value::duration_ns),
        },
        "ramping-vus" => Executor::RampingVus {
            start_vus: fields.get(reader, "startVUs", value::users).unwrap_or(1),
            stages: fields.stages(reader),
            graceful_ramp_down_ns: fields
                .get(reader, "gracefulRampDown", value::duration_ns)
                .unwrap_or(GRACEFUL_NS),
        },
        "shared-iterations" => Executor::SharedIterations {
            vus: vus(reader),
            iterations: fields.get(reader, "iterations", value::int).unwrap_or(1),
            max_duration_ns: most(reader),
        },
        "per-vu-iterations" => Executor::PerVuIterations {
            vus: vus(reader),
            iterations: fields.get(reader, "iterations", value::int).unwrap_or(1),
            max_duration_ns: most(reader),
        },
        "constant-arrival-rate" => Executor::ConstantArrivalRate {
            rate: fields.need(reader, "rate", value::int),
            time_unit_ns: unit(reader),
            duration_ns: fields.need(reader, "duration", value::duration_ns),
            vus: pool(reader),
        },
        "ramping-arrival-rate" => Executor::RampingArrivalRate {
            start_rate: fields.get(reader, "startRate", value::int).unwrap_or(0),
            time_unit_ns: unit(reader),
            stages: fields.stages(reader),
            vus: pool(reader),
        },
        _ => {
            let vus = fields.get(reader, "vus", value::users).unwrap_or(0);
            let max_vus = fields.get(reader, "maxVUs", value::users).unwrap_or(vus);
            let duration_ns = fields.get(reader, "duration", value::duration_ns).filter(|ns| *ns > 0);
            Executor::ExternallyControlled { vus, max_vus, duration_ns }
        }
    }
}

/// Reads stages. `None`: unset.
pub(super) fn stages(reader: &mut Reader, place: &str, value: &Value) -> Option<Vec<Stage>> {
    let Value::Array(items) = value else {
        if !value.is_null() {
            let problem = Problem::new(
                format!("invalid value `{}`: expected a list of stages", describe(value)),
                "write stages such as `[{ duration: \"30s\", target: 10 }]`",
            );
            reader.problem(place, problem);
        }
        return None;
    };
    let mut stages = Vec::with_capacity(items.len());
    for (number, item) in items.iter().enumerate() {
        let place = format!("{place}[{number}]");
        let Value::Object(map) = item else {
            let problem = Problem::plain(format!("invalid stage `{}`: expected an object", describe(item)));
            reader.problem(&place, problem);
            continue;
        };
        let fields = Fields { place: &place, map };
        for key in map.keys().filter(|key| !["duration", "target"].contains(&key.as_str())) {
            let message = format!("unknown key `{key}` in `{place}`");
            reader.wrong(code::KEY, message, "use `duration` and `target`");
        }
        stages.push(Stage {
            // Without a duration, the number changes at once.
            duration_ns: match map.contains_key("duration") {
                true => fields.need(reader, "duration", value::duration_ns),
                false => 0,
            },
            target: fields.need(reader, "target", value::int),
        });
    }
    Some(stages)
}

/// Reports values out of range; `front` is the path of the scenario with a period, or empty for a shortcut.
pub(super) fn check(reader: &mut Reader, front: &str, executor: &Executor) {
    let mut wrong = |is_wrong: bool, key: &str, message: String| {
        if is_wrong {
            reader.wrong(code::VALUE, format!("`{front}{key}`: {message}"), "");
        }
    };
    let short = |ns: u64| ns < DURATION_MIN_NS;
    const SHORT: &str = "the duration must be at least 1 s";
    const NONE: &str = "the number must be above 0";
    match executor {
        Executor::ConstantVus { vus, duration_ns } => {
            wrong(*vus == 0, "vus", NONE.into());
            wrong(short(*duration_ns), "duration", SHORT.into());
        }
        Executor::RampingVus { start_vus, stages, .. } => {
            wrong(stages.is_empty(), "stages", "at least one stage is required".into());
            let is_none = *start_vus == 0 && stages.iter().all(|stage| stage.target == 0);
            wrong(
                is_none && !stages.is_empty(),
                "stages",
                "some `target` or `startVUs` must be above 0".into(),
            );
            let most = stages.iter().map(|stage| stage.target).max().unwrap_or(0);
            wrong(most > 1_000_000, "stages", format!("`{most}` is more than 1,000,000 users"));
        }
        Executor::SharedIterations { vus, iterations, max_duration_ns } => {
            wrong(*vus == 0, "vus", NONE.into());
            let users = counted((*vus).into(), "user");
            let few = format!("each of {users} needs an iteration, and there are {iterations}");
            wrong(*iterations < u64::from(*vus), "iterations", few);
            wrong(short(*max_duration_ns), "maxDuration", SHORT.into());
        }
        Executor::PerVuIterations { vus, iterations, max_duration_ns } => {
            wrong(*vus == 0, "vus", NONE.into());
            wrong(*iterations == 0, "iterations", NONE.into());
            wrong(short(*max_duration_ns), "maxDuration", SHORT.into());
        }
        Executor::ConstantArrivalRate { rate, time_unit_ns, duration_ns, vus } => {
            wrong(*rate == 0, "rate", NONE.into());
            wrong(*time_unit_ns == 0, "timeUnit", "the time unit must be above 0".into());
            wrong(short(*duration_ns), "duration", SHORT.into());
            wrong(vus.max == 0 && vus.allocated == 0, "preAllocatedVUs", NONE.into());
            wrong(vus.max < vus.allocated, "maxVUs", "must not be below `preAllocatedVUs`".into());
        }
        Executor::RampingArrivalRate { time_unit_ns, stages, vus, start_rate } => {
            wrong(stages.is_empty(), "stages", "at least one stage is required".into());
            let is_none = *start_rate == 0 && stages.iter().all(|stage| stage.target == 0);
            wrong(
                is_none && !stages.is_empty(),
                "stages",
                "some `target` or `startRate` must be above 0".into(),
            );
            wrong(*time_unit_ns == 0, "timeUnit", "the time unit must be above 0".into());
            wrong(vus.max == 0 && vus.allocated == 0, "preAllocatedVUs", NONE.into());
            wrong(vus.max < vus.allocated, "maxVUs", "must not be below `preAllocatedVUs`".into());
        }
        Executor::ExternallyControlled { vus, max_vus, .. } => {
            wrong(*max_vus < *vus, "maxVUs", "must not be below `vus`".into());
            wrong(*max_vus == 0, "maxVUs", NONE.into());
        }
    }
}
