//! An entry of the list: what to know about a run or an experiment before opening its page.

use super::walk::{Found, Shape, id_of, sound};
use crate::annotations::Annotations;
use plimsoll_analysis::summary::{Outcome, Summary};
use plimsoll_analysis::{Digest, summarise};
use plimsoll_experiment::conclusion::{Conclusion, conclude};
use plimsoll_experiment::folder::{self, parts};
use plimsoll_plan::phrase::counted;
use plimsoll_record::run_file;
use serde::{Deserialize, Serialize};
use std::path::Path;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Run,
    Experiment,
    Search,
    Parts,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Run => "run",
            Kind::Experiment => "experiment",
            Kind::Search => "search",
            Kind::Parts => "parts",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Derived from the path; constant while the file stays where it is.
    pub id: String,
    pub kind: Kind,
    pub path: String,
    pub name: String,
    pub target: String,
    pub started_unix_ns: u64,
    /// Time from the start of the first run to the end of the last, s.
    pub duration_s: f64,
    /// `PASS`, `FAIL`, `INCONCLUSIVE`, or `MEASURED` without thresholds; `None` while running.
    pub verdict: Option<String>,
    pub sentence: String,
    /// Rate of a run.
    pub rate_per_s: Option<f64>,
    /// p99 as in the report; `None` also if there are too few samples.
    pub p99_ns: Option<u64>,
    /// Whether p99 is a lower bound.
    #[serde(default)]
    pub p99_is_lower_bound: bool,
    /// Number of failed requests.
    pub errors: u64,
    pub requests: u64,
    pub is_running: bool,
    #[serde(default)]
    pub tags: Vec<String>,
    #[serde(default)]
    pub note: String,
    /// Version of tags and note, on which a change must be based.
    #[serde(default)]
    pub annotations_version: String,
    /// Number of runs, for an experiment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<usize>,
}

impl Entry {
    /// Replaces the annotations.
    pub fn annotate(&mut self, annotations: &Annotations) {
        self.annotations_version = annotations.version();
        (self.tags, self.note) = (annotations.tags.clone(), annotations.note.clone());
    }
}

/// Reads a found run or folder.
///
/// # Errors
/// Returns a sentence if it cannot be listed.
pub fn read(found: &Found) -> Result<Entry, String> {
    let mut entry = match found.shape {
        Shape::Run => {
            let record = run_file::read(&found.path).map_err(|e| e.to_string())?;
            of_run(&summarise(&record), &found.path)
        }
        Shape::Experiment => of_folder(&found.path)?,
        Shape::Parts => of_parts(&found.path)?,
    };
    if found.is_going_on {
        entry.verdict = None;
        entry.sentence = String::new();
        (entry.rate_per_s, entry.p99_ns) = (None, None);
    }
    Ok(entry)
}

fn of_run(s: &Summary, path: &Path) -> Entry {
    let p99 = s.response_time.percentiles.iter().find(|p| p.q == 0.99 && p.has_enough_samples);
    Entry {
        name: s.name.clone(),
        target: s.target.clone(),
        started_unix_ns: s.generators.iter().map(|o| o.started_unix_ns).min().unwrap_or(0),
        duration_s: s.generators.iter().map(|o| o.elapsed_s).fold(0.0, f64::max),
        verdict: Some(word(s.verdict.result).into()),
        sentence: s.verdict.sentence.clone(),
        rate_per_s: Some(s.achieved.rate_per_s),
        p99_ns: p99.map(|p| p.value_ns),
        p99_is_lower_bound: p99.is_some_and(|p| p.is_lower_bound),
        errors: s.totals.errors,
        requests: s.totals.requests,
        ..blank(Kind::Run, path)
    }
}

fn of_folder(path: &Path) -> Result<Entry, String> {
    let (digests, conclusion) = concluded(path)?;
    let kind = if conclusion.searches.is_empty() { Kind::Experiment } else { Kind::Search };
    Ok(Entry {
        name: conclusion.name.clone(),
        verdict: Some(judged(&conclusion).into()),
        sentence: conclusion.sentence.clone(),
        ..added_up(&digests, blank(kind, path))
    })
}

fn of_parts(path: &Path) -> Result<Entry, String> {
    let list = parts::read(path).map_err(|e| e.to_string())?;
    let list = list.ok_or_else(|| format!("`{}` no longer lists any parts", path.display()))?;
    let mut all = Vec::new();
    // A part without runs is inconclusive, and so is an unreadable one.
    let mut results = [0u64; 4];
    for part in &list.parts {
        sound(path, &part.folder)?;
        let outcome = match concluded(&path.join(&part.folder)) {
            Ok((digests, conclusion)) => {
                all.extend(digests);
                conclusion.result
            }
            Err(_) => Outcome::Inconclusive,
        };
        results[outcome as usize] += 1;
    }
    let [passed, failed, doubtful, cut_short] = results;
    let open = doubtful + cut_short;
    let result = match (failed, open) {
        (0, 0) => Outcome::Pass,
        (0, _) => Outcome::Inconclusive,
        _ => Outcome::Fail,
    };
    let sentence = format!(
        "{}: {passed} passed, {failed} failed, {open} inconclusive or not run",
        counted(list.parts.len() as u64, "part")
    );
    Ok(Entry {
        name: list.name,
        verdict: Some(word(result).into()),
        sentence,
        ..added_up(&all, blank(Kind::Parts, path))
    })
}

fn concluded(path: &Path) -> Result<(Vec<Digest>, Conclusion), String> {
    let read = folder::read(path).map_err(|e| e.to_string())?;
    let digests: Vec<Digest> = read.runs.iter().map(|run| run.digest.clone()).collect();
    let empty = || folder::Error::Empty { path: path.into() }.to_string();
    if digests.is_empty() {
        return Err(empty());
    }
    Ok((digests, conclude(read).ok_or_else(empty)?))
}

/// Sums up several runs.
fn added_up(digests: &[Digest], entry: Entry) -> Entry {
    let ends = digests.iter().map(|d| d.started_unix_ns as f64 / 1e9 + d.measured_s);
    let begin_ns = digests.iter().map(|d| d.started_unix_ns).min().unwrap_or(0);
    Entry {
        target: digests.first().map(|d| d.target.clone()).unwrap_or_default(),
        started_unix_ns: begin_ns,
        duration_s: (ends.fold(0.0, f64::max) - begin_ns as f64 / 1e9).max(0.0),
        errors: digests.iter().map(|d| d.errors).sum(),
        requests: digests.iter().map(|d| d.requests).sum(),
        runs: Some(digests.len()),
        ..entry
    }
}

fn blank(kind: Kind, path: &Path) -> Entry {
    Entry {
        id: id_of(path),
        kind,
        path: path.display().to_string(),
        name: String::new(),
        target: String::new(),
        started_unix_ns: 0,
        duration_s: 0.0,
        verdict: None,
        sentence: String::new(),
        rate_per_s: None,
        p99_ns: None,
        p99_is_lower_bound: false,
        errors: 0,
        requests: 0,
        is_running: false,
        tags: Vec::new(),
        note: String::new(),
        annotations_version: Annotations::default().version(),
        runs: None,
    }
}

/// Returns the verdict that the page shows; results without thresholds are `MEASURED`, not `PASS`.
fn judged(conclusion: &Conclusion) -> &'static str {
    let is_bare = conclusion.result == Outcome::Pass && !conclusion.is_judged();
    if is_bare { "MEASURED" } else { word(conclusion.result) }
}

fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Pass => "PASS",
        Outcome::Fail => "FAIL",
        Outcome::Inconclusive => "INCONCLUSIVE",
        Outcome::Interrupted => "INTERRUPTED",
    }
}
