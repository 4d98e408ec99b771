//! The result of an experiment, from all of its runs. It is a pure function of the folder, so a later report says the
//! same as the one after the last run.

mod next;

use crate::compare::expect::{self, Answer as Expected, Borne};
use crate::compare::{CompareOptions, Comparison, variants};
use crate::folder::{self, Folder, Index, rebuilt};
use crate::schedule::{Done, Schedule, done};
use crate::search::{self, Answer, CapacitySearch, IntervalKind, Move, Probe, RefusalKind, Trial};
use crate::study::{CellThreshold, Study, StudyAsked, study};
pub use crate::validity::{is_valid, met};
pub use next::Next;
use plimsoll_analysis::summary::{Outcome, ThresholdResult};
use plimsoll_analysis::{Digest, digest};
use plimsoll_plan::experiment::{Axis, Experiment, Find, Purpose, Setting};
use plimsoll_plan::phrase::{counted, quantity};
use plimsoll_plan::threshold::{FigureUnit, Kind, Threshold};
use plimsoll_record::run_file;
use serde::Serialize;
use std::path::Path;

/// Increases when a field changes its meaning.
pub const SCHEMA_VERSION: u32 = 2;

/// Default maximum time of a search in ns; it then reports what is known.
pub const BUDGET_NS: u64 = 300_000_000_000;

/// A bracket whose ends differ by at most this factor is a result.
const CLOSE: f64 = 1.10;

/// The result of an experiment as a document.
#[derive(Debug, Clone, Serialize)]
pub struct Conclusion {
    pub schema_version: u32,
    pub name: String,
    /// The question of the experiment, in the author's words; may be empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub question: String,
    pub parameters: Vec<Axis>,
    /// The number of combinations, requested repeats, valid runs, and runs still missing.
    pub combinations: usize,
    pub repeat: u32,
    pub runs: usize,
    pub missing_runs: usize,
    /// Combinations with a threshold that most runs missed; 0 where rows end at such a combination.
    pub missed_combinations: usize,
    /// Combinations without a conclusive run.
    pub inconclusive_combinations: usize,
    /// Excluded run files, each with the reason.
    pub excluded_runs: Vec<String>,
    /// Thresholds of the runs; may be empty.
    pub thresholds: Vec<String>,
    /// The thresholds that the author set. Every run also has a few default thresholds, such as `error_rate == 0%`;
    /// meeting those does not answer a question.
    pub explicit_thresholds: Vec<String>,
    pub result: Outcome,
    /// A sentence that can be quoted on its own.
    pub sentence: String,
    /// Present for a sweep.
    pub study: Option<Study>,
    pub searches: Vec<Searched>,
    pub comparisons: Vec<Comparison>,
    pub expectations: Vec<Expected>,
}

/// The search in one cell.
#[derive(Debug, Clone, Serialize)]
pub struct Searched {
    pub settings: Vec<Setting>,
    /// `None`: it was stopped before its end, after `steps` steps.
    pub answer: Option<Box<Answer>>,
    pub steps: usize,
}

/// Returns the search for these options and thresholds.
pub fn quest(find: &Find, thresholds: &[Threshold], seed: u64) -> CapacitySearch {
    let usual = CapacitySearch::default();
    let times = thresholds.iter().filter(|t| t.subject.kind() == Kind::Times);
    CapacitySearch {
        users: find.users,
        from: find.from,
        to: find.to.unwrap_or(usual.to),
        step: find.step,
        stop_when: find.stop_when,
        step_duration_ns: find.step_duration_ns,
        precision: find.precision.unwrap_or(usual.precision),
        confirm: find.confirm.unwrap_or(usual.confirm),
        // A ladder has its own end.
        max_time_ns: find.max_time_ns.or(find.step.is_none().then_some(BUDGET_NS)),
        longest_limit_ns: times.map(|t| t.value as u64).max(),
        seed,
        ..usual
    }
}

/// Returns the trials of one cell in order.
pub fn trials<'a>(digests: impl Iterator<Item = &'a Digest>, settings: &[Setting]) -> Vec<Trial> {
    let mut all: Vec<(u32, Trial)> = digests
        .filter(|digest| is_valid(digest))
        .filter_map(|digest| {
            let cell = digest.cell.as_ref().filter(|cell| cell.settings == settings)?;
            Some((cell.run_index, Trial::of(probe(digest, cell.run_index, cell.purpose?), digest)))
        })
        .collect();
    all.sort_by_key(|(turn, _)| *turn);
    // A search counts its own steps; a folder with several searches numbers them together.
    all.into_iter()
        .zip(0..)
        .map(|((_, mut trial), turn)| {
            trial.probe.turn = turn;
            trial
        })
        .collect()
}

/// Derives the probe from a run. The rest before it is not recorded; it only counts toward the maximum time.
fn probe(digest: &Digest, turn: u32, purpose: Purpose) -> Probe {
    Probe {
        level: if purpose == Purpose::Baseline { 1.0 } else { digest.level.value() },
        purpose,
        rest_ns: 0,
        warmup_ns: digest.blocks.first().map_or(0, |block| block.from_ns),
        length_ns: (digest.measured_s * 1e9) as u64,
        turn,
    }
}

/// Returns the run of a run file, or the valid runs of a folder, with the value of `variant` that is the baseline.
///
/// # Errors
/// Returns an error if a file cannot be read, or if a folder has no valid run.
pub fn sides(path: &Path) -> Result<(Vec<Digest>, Option<String>), folder::Error> {
    if !path.is_dir() {
        return Ok((vec![digest(&run_file::read(path)?)], None));
    }
    let read = folder::read(path)?;
    let first = read.index.as_ref().and_then(|index| first_variant(&index.experiment)).map(str::to_owned);
    let runs: Vec<Digest> = read.runs.into_iter().map(|run| run.digest).filter(is_valid).collect();
    match runs.is_empty() {
        true => Err(folder::Error::Empty { path: path.into() }),
        false => Ok((runs, first)),
    }
}

/// Reads all runs of a folder together.
pub fn conclude(folder: Folder) -> Option<Conclusion> {
    let Folder { index, runs, left_out } = folder;
    let index = index.or_else(|| rebuilt(&runs))?;
    let mut digests: Vec<Digest> = runs.into_iter().map(|run| run.digest).filter(is_valid).collect();
    // They ran in random order; the report uses the order of the file.
    digests.sort_by_key(|digest| {
        let settings = digest.cell.as_ref().map(|cell| &cell.settings);
        index.cells.iter().position(|cell| Some(cell) == settings)
    });
    let experiment = &index.experiment;
    let is_search = experiment.find.is_some()
        || digests.iter().any(|d| d.cell.as_ref().is_some_and(|cell| cell.purpose.is_some()));
    let searches = if is_search { searches(&index, &digests) } else { Vec::new() };
    let study = (!is_search).then(|| {
        let asked = StudyAsked {
            min_duration_ns: experiment.min_duration_ns,
            trim_to_steady_state: experiment.trim_to_steady_state,
            ..StudyAsked::default()
        };
        study(&digests, &asked)
    });
    let asked = CompareOptions::default();
    let comparisons =
        if is_search { Vec::new() } else { variants(&digests, first_variant(experiment), &asked) };
    let capacities: Vec<(String, f64, (f64, f64))> = searches.iter().filter_map(capacity_of).collect();
    let expectations: Vec<Expected> =
        experiment.expects.iter().map(|e| expect::judge(e, &digests, &capacities, &asked)).collect();
    let missing = missing(&index, &digests, &searches);
    let missed_combinations = if is_search { 0 } else { cells_that_missed(&index, &digests) };
    let invalid = study.as_ref().map_or(0, |study| study.table.iter().filter(|row| !row.is_valid).count());
    let inconclusive_combinations = invalid + if is_search { 0 } else { cells_undecided(&index, &digests) };
    let mut conclusion = Conclusion {
        schema_version: SCHEMA_VERSION,
        name: experiment.name.clone(),
        question: experiment.question.clone(),
        parameters: experiment.axes.clone(),
        combinations: index.cells.len(),
        repeat: experiment.repeat.max(1),
        runs: digests.len(),
        missing_runs: missing,
        missed_combinations,
        inconclusive_combinations,
        excluded_runs: left_out,
        thresholds: thresholds(&digests, |_| true),
        explicit_thresholds: thresholds(&digests, |judged| !judged.is_default),
        result: Outcome::Pass,
        sentence: String::new(),
        study,
        searches,
        comparisons,
        expectations,
    };
    (conclusion.result, conclusion.sentence) = judged(&conclusion);
    Some(conclusion)
}

impl Conclusion {
    /// Whether the runs could have failed something: thresholds of the author, expectations, or a search. Otherwise
    /// PASS would only mean that the runs were completed and met the default thresholds.
    pub fn is_judged(&self) -> bool {
        !(self.explicit_thresholds.is_empty() && self.expectations.is_empty() && self.searches.is_empty())
    }
}

fn thresholds(digests: &[Digest], is_wanted: impl Fn(&ThresholdResult) -> bool) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for judged in digests.iter().flat_map(|digest| &digest.thresholds).filter(|judged| is_wanted(judged)) {
        if !out.contains(&judged.text) {
            out.push(judged.text.clone());
        }
    }
    out
}

/// Returns the baseline: the variant that the file names first.
fn first_variant(experiment: &Experiment) -> Option<&str> {
    let axis = experiment.axes.iter().find(|axis| axis.name == "variant")?;
    axis.values.first().map(String::as_str)
}

fn searches(index: &Index, digests: &[Digest]) -> Vec<Searched> {
    let find = index.experiment.find.clone().unwrap_or_default();
    let of_cell = |settings: &Vec<Setting>| {
        let history = trials(digests.iter(), settings);
        // The search used the limits of its runs.
        let limit_ns = history
            .iter()
            .flat_map(|trial| &trial.judged)
            .filter(|judged| judged.unit == FigureUnit::Nanoseconds)
            .map(|judged| judged.limit as u64)
            .max();
        let quest = CapacitySearch { longest_limit_ns: limit_ns, ..quest(&find, &[], index.seed) };
        let answer = match search::next(&quest, &history) {
            Move::Done(answer) => Some(answer),
            Move::Try(_) => None,
        };
        Searched { settings: settings.clone(), answer, steps: history.len() }
    };
    index.cells.iter().map(of_cell).collect()
}

/// Returns the name of a cell for expectations, which is the values of its settings, and its capacity.
fn capacity_of(searched: &Searched) -> Option<(String, f64, (f64, f64))> {
    let capacity = searched.answer.as_ref()?.capacity.as_ref()?;
    let name = searched.settings.iter().map(|s| s.value.as_str()).collect::<Vec<_>>().join(" ");
    Some((name, capacity.level(), (capacity.interval[0], capacity.interval[1])))
}

fn missing(index: &Index, digests: &[Digest], searches: &[Searched]) -> usize {
    if !searches.is_empty() {
        return searches.iter().filter(|searched| searched.answer.is_none()).count();
    }
    let schedule = Schedule {
        axes: &index.experiment.axes,
        cells: &index.cells,
        repeat: index.experiment.repeat,
        seed: index.seed,
        stop_on_miss: index.experiment.stop_on_miss,
    };
    let mut there: Vec<Done> = digests.iter().filter_map(|digest| done(digest, &index.cells)).collect();
    let mut missing = 0;
    while let Some(turn) = schedule.next(&there) {
        missing += 1;
        there.push(Done { cell: turn.cell, repeat: turn.repeat, met: None });
    }
    missing
}

/// Counts the cells in which most runs missed a threshold. A row that ends at missed thresholds is meant to miss
/// them.
fn cells_that_missed(index: &Index, digests: &[Digest]) -> usize {
    let missed = |runs: &[&Digest]| {
        let bad =
            runs.iter().filter(|digest| digest.thresholds.iter().any(ThresholdResult::is_missed)).count();
        2 * bad > runs.len() && !index.experiment.stop_on_miss
    };
    index.cells.iter().filter(|settings| missed(&sound_runs(settings, digests))).count()
}

/// Counts the cells in which no run has enough samples for the percentiles in its thresholds.
fn cells_undecided(index: &Index, digests: &[Digest]) -> usize {
    let undecided = |runs: &[&Digest]| {
        let few = |digest: &&Digest| digest.thresholds.iter().any(|t| t.is_met && t.has_too_few_samples);
        !runs.is_empty() && runs.iter().all(few)
    };
    index.cells.iter().filter(|settings| undecided(&sound_runs(settings, digests))).count()
}

fn sound_runs<'a>(settings: &Vec<Setting>, digests: &'a [Digest]) -> Vec<&'a Digest> {
    let of_cell = |digest: &&Digest| digest.cell.as_ref().is_some_and(|cell| cell.settings == *settings);
    digests.iter().filter(of_cell).filter(|digest| !digest.is_doubtful()).collect()
}

/// Determines result and sentence. A sweep passes by being complete, unless expectations or thresholds decide.
fn judged(c: &Conclusion) -> (Outcome, String) {
    let count = |held: Borne| c.expectations.iter().filter(|e| e.verdict == held).count();
    let (wrong, open) = (count(Borne::Refuted), count(Borne::Inconclusive));
    let of_searches = || c.searches.iter().filter_map(|s| s.answer.as_deref());
    // A search that ran out of time has a result, only with a wider interval than requested.
    let has_answer = |answer: &&Answer| {
        let stopped =
            answer.refusal.as_ref().is_some_and(|refusal| refusal.kind != RefusalKind::MaxTimeReached);
        let told = answer.capacity.as_ref().is_some_and(|c| {
            // If there is only a bracket, its ends must be close.
            let close = c.interval[1] <= c.interval[0] * CLOSE;
            answer.refusal.is_none()
                || c.interval_kind == IntervalKind::Confidence95
                || (close && !c.is_lower_bound)
        });
        told && !stopped
    };
    let refused = of_searches().filter(|answer| !has_answer(answer));
    // A search that missed even its first level has a result: a failure.
    let carries_nothing = |answer: &&Answer| {
        let kind = answer.refusal.as_ref().map(|refusal| refusal.kind);
        matches!(kind, Some(RefusalKind::NothingMet | RefusalKind::EndedAtFirstStep))
    };
    let (missed, refused): (Vec<_>, Vec<_>) = refused.partition(carries_nothing);
    let is_beyond_thresholds = of_searches().any(|answer| !answer.missed_thresholds.is_empty());
    let in_doubt = c.runs == 0
        || c.missing_runs > 0
        || c.inconclusive_combinations > 0
        || !refused.is_empty()
        || open > 0;
    let result = if in_doubt {
        Outcome::Inconclusive
    } else if wrong > 0 || !missed.is_empty() || c.missed_combinations > 0 || is_beyond_thresholds {
        Outcome::Fail
    } else {
        Outcome::Pass
    };
    (result, sentence(c, wrong, open))
}

fn sentence(c: &Conclusion, wrong: usize, open: usize) -> String {
    let mut parts = Vec::new();
    match c.searches.as_slice() {
        [] => {
            let found = c.study.iter().map(|study| study.sentence.clone());
            parts.extend(found.filter(|found| !found.is_empty()));
            parts.push(format!(
                "{} of {}",
                counted(c.runs as u64, "run"),
                counted(c.combinations as u64, "combination")
            ));
        }
        [one] => match &one.answer {
            Some(answer) => parts.push(answer.sentence.clone()),
            None => parts.push(format!("the search was stopped after {}", counted(one.steps as u64, "step"))),
        },
        many => {
            let found: Vec<f64> = many.iter().filter_map(capacity_of).map(|(_, level, _)| level).collect();
            let [low, high] =
                [found.iter().copied().reduce(f64::min), found.iter().copied().reduce(f64::max)]
                    .map(Option::unwrap_or_default);
            let unit = if many.iter().any(|s| s.answer.as_ref().is_some_and(|a| a.is_users)) {
                "users"
            } else {
                "arrivals/s"
            };
            let range = match found.len() {
                0 => String::new(),
                1 => format!(": {} {unit}", quantity(high)),
                _ => format!(": {}–{} {unit}", quantity(low), quantity(high)),
            };
            parts.push(format!("{} of {} searches found a capacity{range}", found.len(), many.len()));
        }
    }
    // The study names the threshold and its first level, unless no single threshold was missed by most runs of a
    // cell.
    let rows = c.study.iter().flat_map(|study| &study.table).filter(|row| row.is_valid);
    let is_told = rows.flat_map(|row| &row.thresholds).any(CellThreshold::is_missed);
    let combinations = |n: usize| counted(n as u64, "combination");
    if c.missed_combinations > 0 && !is_told {
        parts.push(format!("{} missed thresholds", combinations(c.missed_combinations)));
    }
    if c.inconclusive_combinations > 0 {
        let verb = if c.inconclusive_combinations == 1 { "is" } else { "are" };
        parts.push(format!("{} {verb} inconclusive", combinations(c.inconclusive_combinations)));
    }
    if !c.excluded_runs.is_empty() {
        parts.push(format!("{} excluded", counted(c.excluded_runs.len() as u64, "run file")));
    }
    if c.missing_runs > 0 && c.searches.is_empty() {
        parts.push(format!("{} missing", counted(c.missing_runs as u64, "run")));
    }
    let held = c.expectations.len() - wrong - open;
    let told = [(held, "confirmed"), (wrong, "refuted"), (open, "inconclusive")];
    let told: Vec<String> =
        told.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")).collect();
    if !told.is_empty() {
        let all = counted(c.expectations.len() as u64, "expectation");
        parts.push(format!("{all}: {}", told.join(", ")));
    }
    parts.join("; ")
}
