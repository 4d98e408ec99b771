//! Named baselines: the runs that later runs are compared with, in a plain file that can be committed with the code.
//!
//! The run files stay where they are. The baseline repeats their figures for readers, and to detect a run file that was
//! replaced.

use super::types::SideFacts;
use plimsoll_analysis::digest::Digest;
use plimsoll_analysis::summary::Outcome;
use plimsoll_plan::phrase::ratio;
use serde::{Deserialize, Serialize};

/// Increases when a field changes its meaning.
pub const BASELINE_VERSION: u32 = 1;

/// The content of a baseline file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    pub schema_version: u32,
    pub name: String,
    /// In the date format of the caller.
    pub date: String,
    pub facts: SideFacts,
    pub runs: Vec<BaselineRun>,
}

/// One run of a baseline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BaselineRun {
    /// The path of the run file: relative to the baseline's file, or as given by the caller.
    pub file: String,
    pub requests: u64,
    pub rate_per_s: f64,
    pub error_ratio: f64,
    pub response_mean_ns: Option<f64>,
    pub response_p50_ns: Option<u64>,
    pub response_p99_ns: Option<u64>,
    pub service_p99_ns: Option<u64>,
}

impl Baseline {
    /// Makes a baseline of runs and the names of their files.
    ///
    /// # Errors
    /// Returns a sentence if there is no run, or if a run is unsuitable: failed requests, an INCONCLUSIVE verdict, or
    /// an incomplete record.
    pub fn of(name: &str, date: &str, runs: &[(String, &Digest)]) -> Result<Baseline, String> {
        if name.trim().is_empty() {
            return Err("a baseline needs a name".into());
        }
        let Some((_, first)) = runs.first() else {
            return Err(format!("the baseline `{name}` has no runs"));
        };
        for (file, run) in runs {
            refuse(file, run)?;
        }
        let facts = SideFacts {
            name: name.into(),
            runs: runs.len(),
            requests: runs.iter().map(|(_, run)| run.requests).sum(),
            measured_s: runs.iter().map(|(_, run)| run.measured_s).sum(),
            target: first.target.clone(),
        };
        let runs = runs.iter().map(|(file, run)| BaselineRun::of(file, run)).collect();
        Ok(Baseline { schema_version: BASELINE_VERSION, name: name.into(), date: date.into(), facts, runs })
    }

    /// Returns the text of the file.
    ///
    /// # Errors
    /// Returns a sentence if a figure cannot be written as JSON.
    pub fn to_json(&self) -> Result<String, String> {
        let text = serde_json::to_string_pretty(self);
        text.map(|text| text + "\n").map_err(|e| format!("cannot write the baseline `{}`: {e}", self.name))
    }

    /// Reads the text of the file.
    ///
    /// # Errors
    /// Returns a sentence if the text is not a baseline, or has a newer version.
    pub fn from_json(text: &str) -> Result<Baseline, String> {
        #[derive(Deserialize)]
        struct Version {
            schema_version: u32,
        }
        let wrong = |e: serde_json::Error| format!("not a valid baseline: {e}");
        // The version first: a newer file may lack fields that this version expects, and the version is the better
        // error.
        let version: Version = serde_json::from_str(text).map_err(wrong)?;
        if version.schema_version != BASELINE_VERSION {
            return Err(format!(
                "the baseline has version {}; this plimsoll reads version {BASELINE_VERSION}",
                version.schema_version
            ));
        }
        serde_json::from_str(text).map_err(wrong)
    }

    /// Checks that `run` is still the run that the baseline was made from.
    ///
    /// # Errors
    /// Returns a sentence if its values differ, or if the baseline has no such file.
    pub fn check(&self, file: &str, run: &Digest) -> Result<(), String> {
        let chosen = self.runs.iter().find(|chosen| chosen.file == file);
        let chosen = chosen.ok_or_else(|| format!("the baseline `{}` has no run `{file}`", self.name))?;
        if *chosen == BaselineRun::of(file, run) {
            return Ok(());
        }
        Err(format!(
            "`{file}` changed after the baseline `{}` was saved on {}: its values differ",
            self.name, self.date
        ))
    }
}

impl BaselineRun {
    fn of(file: &str, run: &Digest) -> BaselineRun {
        BaselineRun {
            file: file.into(),
            requests: run.requests,
            rate_per_s: run.rate_per_s,
            error_ratio: run.error_ratio,
            response_mean_ns: run.response_time.mean_ns,
            response_p50_ns: run.response_time.p50_ns,
            response_p99_ns: run.response_time.p99_ns,
            service_p99_ns: run.service_time.p99_ns,
        }
    }
}

fn refuse(file: &str, run: &Digest) -> Result<(), String> {
    if !run.complete {
        return Err(format!(
            "`{file}` is incomplete: seconds or its end are missing, so it cannot be a baseline"
        ));
    }
    if run.outcome == Outcome::Inconclusive {
        let codes: Vec<&str> = run.cautions.iter().map(|caution| caution.kind.code()).collect();
        return Err(format!("`{file}` is INCONCLUSIVE ({}), so it cannot be a baseline", codes.join(", ")));
    }
    if run.requests == 0 {
        return Err(format!("`{file}` has no completed requests"));
    }
    if run.errors > 0 {
        let share = ratio(run.error_ratio);
        return Err(format!("{share} of the requests of `{file}` failed; a baseline must have no errors"));
    }
    Ok(())
}
