//! `--out json=FILE` and `--out csv=FILE`: a line for each sample.

use crate::exit::Failure;
use crate::say;
use plimsoll_js::{Ready, SampleSink};
use plimsoll_k6::threshold::Kind;
use plimsoll_k6end::{About, OwnMetric, SampleFile, SampleTarget};
use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;
use std::sync::Arc;

/// The files of a run, in the order of their flags.
pub struct Outputs {
    files: Vec<(String, SampleFile)>,
}

impl SampleSink for Outputs {
    fn take(&self, unix_ns: u64, values: &[(&str, f64)], tags: &[(&str, &str)]) {
        for (_, file) in &self.files {
            file.add(unix_ns, values, tags);
        }
    }
}

/// Returns where the samples of each `--out` go.
///
/// # Errors
/// Returns an error for an output that is not supported.
pub fn targets(outputs: &[String]) -> Result<Vec<(String, SampleTarget)>, Failure> {
    let of_flag = |message: String, hint: &str| -> Failure {
        Diagnostic::new("U006", Place::Flag("--out".into()), message, hint).into()
    };
    let target = |output: &String| match SampleTarget::parse(output, |name| std::env::var(name).ok()) {
        Some(Ok(target)) => Ok((output.clone(), target)),
        Some(Err(problem)) => {
            Err(Failure::Text(vec![Diagnostic::of("U006", Place::Flag("--out".into()), problem)]))
        }
        None => {
            let message = format!("`--out {output}` is not supported");
            Err(of_flag(
                message,
                "use `json=FILE` or `csv=FILE`, or `--save FILE.plim` and `plimsoll report`",
            ))
        }
    };
    outputs.iter().map(target).collect()
}

/// Creates the files, and lets the script write to them.
///
/// # Errors
/// Returns an error if a file cannot be created.
pub fn create(targets: Vec<(String, SampleTarget)>, ready: &Ready) -> Result<Option<Arc<Outputs>>, Failure> {
    if targets.is_empty() {
        return Ok(None);
    }
    let metric = |one: &plimsoll_js::Metric| OwnMetric {
        name: one.name.clone(),
        kind: one.family.custom().map_or(Kind::Trend, Kind::from),
        is_time: one.is_time,
    };
    let metrics: Vec<OwnMetric> = ready.init.metrics.iter().map(metric).collect();
    let about =
        About { settings: &ready.test.settings, thresholds: &ready.test.thresholds, metrics: &metrics };
    let mut files = Vec::new();
    for (output, target) in targets {
        let file = SampleFile::create(&target, &about).map_err(|e| unwritable(&output, &e))?;
        files.push((output, file));
    }
    let outputs = Arc::new(Outputs { files });
    ready.code.sample_to(Arc::clone(&outputs) as Arc<dyn SampleSink>);
    Ok(Some(outputs))
}

/// Completes the files.
///
/// # Errors
/// Returns an error if one could not be written completely. The others are complete.
pub fn finish(outputs: Option<Arc<Outputs>>) -> Result<(), Failure> {
    let mut first = Ok(());
    for (output, file) in outputs.iter().flat_map(|all| &all.files) {
        if let Err(e) = file.finish() {
            let failure = unwritable(output, &e);
            match first {
                Ok(()) => first = Err(failure),
                // Only one failure ends the command.
                Err(_) => say::failure(&failure, true),
            }
        }
    }
    first
}

fn unwritable(output: &str, error: &std::io::Error) -> Failure {
    Failure::machine(format!("cannot write the samples of `--out {output}`: {error}"), None)
}
