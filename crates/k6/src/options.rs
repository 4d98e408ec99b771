//! Combines the sources of options into a [`Test`]: flags, variables, the script, a configuration file, and defaults,
//! in this order of priority.

mod reader;
mod scenario;
mod shortcut;

use crate::settings;
use crate::test::{Executor, Scenario, Stage, Test};
use crate::threshold;
use crate::value;
use plimsoll_plan::load::Share;
use plimsoll_plan::series::Custom;
use plimsoll_plan::{Diagnostic, Problem};
use reader::Reader;
use serde_json::Value;

/// The codes of this crate.
pub mod code {
    /// An invalid value of an option.
    pub const VALUE: &str = "K101";
    /// An unknown key where k6 allows none.
    pub const KEY: &str = "K102";
    /// Options that contradict each other.
    pub const CONFLICT: &str = "K103";
    /// An option of k6 that plimsoll does not support.
    pub const UNSUPPORTED: &str = "K104";
    /// A scenario that calls a function which the script does not export.
    pub const EXEC: &str = "K105";
    /// An invalid threshold.
    pub const THRESHOLD: &str = "K106";
}

/// The options that one source sets.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Layer {
    pub vus: Option<u64>,
    pub duration_ns: Option<u64>,
    pub iterations: Option<u64>,
    pub stages: Option<Vec<Stage>>,
    pub scenarios: Option<Vec<Scenario>>,
    /// Thresholds by metric, as `options` has them.
    pub thresholds: Option<Value>,
    /// `executionSegment`.
    pub segment: Option<String>,
    /// `executionSegmentSequence`.
    pub sequence: Option<String>,
    pub settings: settings::Layer,
}

impl Layer {
    /// Returns this layer, with what it leaves open from a lower one. A layer that sets any of duration, iterations,
    /// stages, and scenarios replaces all four of the lower ones.
    fn or(self, lower: Layer) -> Layer {
        let is_load = self.duration_ns.is_some() || self.iterations.is_some() || self.stages.is_some();
        let load = if is_load || self.scenarios.is_some() {
            (self.duration_ns, self.iterations, self.stages, self.scenarios)
        } else {
            (lower.duration_ns, lower.iterations, lower.stages, lower.scenarios)
        };
        let (duration_ns, iterations, stages, scenarios) = load;
        Layer {
            vus: self.vus.or(lower.vus),
            duration_ns,
            iterations,
            stages,
            scenarios,
            thresholds: self.thresholds.or(lower.thresholds),
            segment: self.segment.or(lower.segment),
            sequence: self.sequence.or(lower.sequence),
            settings: self.settings.or(lower.settings),
        }
    }
}

/// The sources of options other than the script.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Overrides {
    /// Flags.
    pub flags: Layer,
    /// Variables `K6_*`.
    pub variables: Layer,
    /// The configuration file (`--config`): an object like `options`.
    pub file: Option<Value>,
    /// The metrics that the script defines, for thresholds.
    pub metrics: Vec<(String, Custom)>,
}

/// Reads a test: the exported `options` of a script as JSON (`null` without any), and the names of the functions that
/// it exports.
///
/// # Errors
/// Returns every mistake found: values, unknown keys of scenarios, contradictions, missing functions, and thresholds.
pub fn read(options: &Value, cli: &Overrides, exports: &[String]) -> Result<Test, Vec<Diagnostic>> {
    let mut reader = Reader::default();
    let file = cli.file.as_ref().map(|file| layer(&mut reader, file, "config file: "));
    let script = layer(&mut reader, options, "");
    let all = cli.flags.clone().or(cli.variables.clone()).or(script).or(file.unwrap_or_default());
    let shard = shard(&mut reader, &all);
    let thresholds = thresholds(&mut reader, &all, &cli.metrics);
    let settings = all.settings.clone().settings();
    note_settings(&mut reader, &settings);
    let mut scenarios = shortcut::scenarios(&mut reader, all);
    scenarios.sort_by(|a, b| a.name.cmp(&b.name));
    for scenario in &scenarios {
        check_exec(&mut reader, scenario, exports);
    }
    if !reader.wrong.is_empty() {
        return Err(reader.wrong);
    }
    Ok(Test { scenarios, thresholds, settings, shard, notes: reader.notes })
}

/// Reads one object of options.
fn layer(reader: &mut Reader, options: &Value, source: &str) -> Layer {
    let mut layer = Layer::default();
    let fields = match options {
        Value::Null => return layer,
        Value::Object(fields) => fields,
        other => {
            let message = format!("{source}`options` must be an object, not `{}`", value::describe(other));
            reader.wrong(code::VALUE, message, "export an object: `export const options = { ... }`");
            return layer;
        }
    };
    for (key, value) in fields {
        let place = format!("{source}{key}");
        match key.as_str() {
            "vus" => layer.vus = reader.at(&place, value::int(value)),
            "duration" => layer.duration_ns = reader.at(&place, value::duration_ns(value)),
            "iterations" => layer.iterations = reader.at(&place, value::int(value)),
            "stages" => layer.stages = scenario::stages(reader, &place, value),
            "scenarios" => layer.scenarios = scenario::all(reader, &place, value),
            "thresholds" => layer.thresholds = Some(value.clone()).filter(|value| !value.is_null()),
            "executionSegment" => layer.segment = reader.at(&place, value::string(value)),
            "executionSegmentSequence" => layer.sequence = reader.at(&place, value::string(value)),
            "ext" | "cloud" => {
                if !value.is_null() {
                    reader.note(format!("`{key}` has no effect on a local run."));
                }
            }
            "metricSamplesBufferSize" => {
                reader.note(format!("`{key}` has no effect: samples are counted, not stored."));
            }
            "handleSummaryTimeout" => {
                if reader.at(&place, value::duration_ns(value)).is_some() {
                    reader.note(format!(
                        "`{key}` has no effect: `handleSummary()` cannot wait, and a loop without end is stopped."
                    ));
                }
            }
            "noUsageReport" | "linger" | "collectors" if !source.is_empty() => {
                reader.note(format!("`{key}` in the configuration file has no effect."));
            }
            _ => match layer.settings.set(key, value) {
                Ok(true) => {}
                Ok(false) => unknown(reader, key, source),
                Err(problem) => reader.problem(&place, problem),
            },
        }
    }
    layer
}

/// Warns about an unknown key, as k6 does: scripts may have options for other tools.
fn unknown(reader: &mut Reader, key: &str, source: &str) {
    const LOAD: [&str; 7] =
        ["vus", "duration", "iterations", "stages", "scenarios", "thresholds", "executionSegment"];
    let known = settings::Layer::KEYS.iter().chain(&LOAD).copied();
    let near = plimsoll_build::nearest::nearest(key, known);
    let hint = near.map_or(String::new(), |near| format!(" Did you mean `{near}`?"));
    reader.note(format!("{source}Unknown option `{key}` has no effect.{hint}"));
}

fn note_settings(reader: &mut Reader, settings: &settings::Settings) {
    if settings.tls_version.is_some_and(|tls| tls.allows_older) {
        reader.note("`tlsVersion` allows versions below TLS 1.2, which plimsoll never offers.".into());
    }
    if settings.insecure_skip_tls_verify {
        reader.note("Certificates are not verified (`insecureSkipTLSVerify`).".into());
    }
}

/// Maps an execution segment to a shard: one of several parts of equal size.
fn shard(reader: &mut Reader, all: &Layer) -> Option<Share> {
    let Some(segment) = all.segment.as_deref().filter(|text| !text.is_empty()) else {
        if all.sequence.as_deref().is_some_and(|text| !text.is_empty()) {
            let hint = "add `executionSegment`, or remove `executionSegmentSequence`";
            reader.wrong(code::CONFLICT, "`executionSegmentSequence` requires `executionSegment`", hint);
        }
        return None;
    };
    let share = equal_part(segment).ok_or_else(|| {
        Problem::new(
            format!(
                "the segment `{segment}` is not supported: it must be one of several parts of equal size"
            ),
            "write a segment such as `0:1/4` or `1/4:2/4`",
        )
    });
    let share = reader.at("executionSegment", share.map(Some))?;
    if let Some(sequence) = all.sequence.as_deref().filter(|text| !text.is_empty()) {
        let ends: Vec<Option<(u64, u64)>> = sequence.split(',').map(fraction).collect();
        let of = u64::from(share.of);
        let is_equal = ends.len() as u64 == of + 1
            && (0..).zip(&ends).all(|(k, end)| end.is_some_and(|(top, bottom)| top * of == k * bottom));
        if !is_equal {
            let message = format!("the sequence `{sequence}` does not have {of} parts of equal size");
            reader.wrong(code::UNSUPPORTED, message, "remove `executionSegmentSequence`");
        }
    }
    (share.of > 1).then_some(share)
}

/// Returns part and number of parts of a segment such as `1/4:2/4`, `1/4` (the first part), or `25%`.
fn equal_part(segment: &str) -> Option<Share> {
    let (from, to) = match segment.split_once(':') {
        Some((from, to)) => (fraction(from)?, fraction(to)?),
        None => ((0, 1), fraction(segment)?),
    };
    // The length of the part is `top / bottom`; it must be `1 / of`, and the start a multiple of it.
    let top = (to.0.checked_mul(from.1)?).checked_sub(from.0.checked_mul(to.1)?)?;
    let bottom = to.1.checked_mul(from.1)?;
    if top == 0 || bottom % top != 0 || to.0 > to.1 {
        return None;
    }
    let of = bottom / top;
    let start = from.0.checked_mul(of)?;
    (start % from.1 == 0).then_some(())?;
    Some(Share { part: u32::try_from(start / from.1 + 1).ok()?, of: u32::try_from(of).ok()? })
}

/// Parses `1/4`, `25%`, `0.25`, or `1` as a fraction.
fn fraction(text: &str) -> Option<(u64, u64)> {
    let text = text.trim();
    if let Some((top, bottom)) = text.split_once('/') {
        return Some((top.trim().parse().ok()?, bottom.trim().parse().ok().filter(|n| *n > 0)?));
    }
    let (number, scale) = match text.strip_suffix('%') {
        Some(number) => (number.trim(), 100),
        None => (text, 1),
    };
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    if decimals.len() > 9 {
        return None;
    }
    let bottom = 10u64.pow(decimals.len() as u32);
    let top = format!("{whole}{decimals}").parse::<u64>().ok()?;
    Some((top, bottom.checked_mul(scale)?))
}

fn thresholds(reader: &mut Reader, all: &Layer, metrics: &[(String, Custom)]) -> Vec<threshold::Threshold> {
    let Some(value) = &all.thresholds else { return Vec::new() };
    // As in k6, thresholds that are not evaluated are not checked, either.
    if all.settings.no_thresholds == Some(true) {
        return Vec::new();
    }
    match threshold::read(value, metrics) {
        Ok((thresholds, notes)) => {
            notes.into_iter().for_each(|note| reader.note(note));
            for one in thresholds.iter().filter(|one| one.counterpart().is_none()) {
                let text = format!("{}: {}", one.key, one.source);
                reader.note(format!("Threshold `{text}` is not evaluated: plimsoll does not measure this."));
            }
            thresholds
        }
        Err(wrong) => {
            reader.wrong.extend(wrong);
            Vec::new()
        }
    }
}

fn check_exec(reader: &mut Reader, scenario: &Scenario, exports: &[String]) {
    if exports.contains(&scenario.exec) {
        return;
    }
    let near = plimsoll_build::nearest::nearest(&scenario.exec, exports.iter().map(String::as_str));
    let message = format!(
        "unknown function `{}` of scenario `{}`: the script does not export it",
        scenario.exec, scenario.name
    );
    let hint = match (near, exports.is_empty()) {
        (Some(near), _) => format!("did you mean `{near}`?"),
        (None, true) => "export a function, such as `export default function () { ... }`".into(),
        (None, false) => {
            let names: Vec<String> = exports.iter().map(|name| format!("`{name}`")).collect();
            format!("export it, or use {}", names.join(", "))
        }
    };
    reader.wrong(code::EXEC, message, hint);
}

/// The executor of a test without any load: one user, one iteration.
const ONCE: Executor =
    Executor::PerVuIterations { vus: 1, iterations: 1, max_duration_ns: scenario::MAX_DURATION_NS };
