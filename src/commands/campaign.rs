//! Runs an experiment: one cell or probe after another, each into its own run file. Completed runs are not repeated,
//! so stopping costs at most one run.

mod again;
mod folder;
pub mod level;
mod settle;

use super::folder_report::{self, Form};
use super::load::{self, Shared};
use super::page::Wanted;
use super::run;
use crate::exit::{Exit, Failure};
use crate::flags::load::{LoadFlags, MannerFlags};
use crate::{say, wall};
pub use again::Again;
use level::Level;
use plimsoll_analysis::digest::digest_with;
use plimsoll_experiment::conclusion::{is_valid, quest, trials};
use plimsoll_experiment::folder::{INDEX_VERSION, Index, Run};
use plimsoll_experiment::schedule::{Done, Schedule, done, order, seed_of};
use plimsoll_experiment::search::{self, CapacitySearch, Move, Probe};
use plimsoll_front::{Located, Study, StudyCell};
use plimsoll_output::experiment::run_line;
use plimsoll_output::find::step_line;
use plimsoll_plan::diag::Place;
use plimsoll_plan::draft::key;
use plimsoll_plan::experiment::{CellOutline, Experiment, Find, Purpose, Setting};
use plimsoll_plan::load::Share;
use plimsoll_plan::phrase::counted;
use plimsoll_plan::threshold::Threshold;
use plimsoll_plan::{Diagnostic, Draft, Outline, Plan};
use std::path::{Path, PathBuf};

/// One cell of the matrix: its settings, and its draft with the flags applied.
pub struct Cell {
    pub settings: Vec<Setting>,
    pub located: Located,
}

/// Completed runs, and what stopped the experiment early.
pub struct Ran {
    pub folder: PathBuf,
    pub stopped: Option<Exit>,
    /// Exit code if a signal or a command stopped it.
    pub cut_short: Option<Exit>,
}

impl Ran {
    /// Prints the results so far and writes the page if one is requested. The reason that stopped the
    /// runs determines the exit code.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be read.
    pub fn print(&self, form: &Form, wanted: Option<&Wanted>) -> Result<Exit, Failure> {
        let exit = folder_report::print(&self.folder, form, wanted)?;
        Ok(match (self.stopped, self.cut_short, exit) {
            (Some(stopped), _, _) => stopped,
            (None, Some(cut_short), Exit::Pass | Exit::Inconclusive) => cut_short,
            _ => exit,
        })
    }
}

/// Returns the plans of all cells with the flags applied, so that every error in any cell comes before the first
/// packet.
///
/// # Errors
/// Returns the errors of the first cell that has any.
pub fn plans(study: &Study, flags: &LoadFlags) -> Result<Vec<Plan>, Failure> {
    let plan = |cell: &StudyCell| plan(&study.experiment, run::applied(cell.located.clone(), flags)?);
    study.cells.iter().map(plan).collect()
}

/// Returns the plan of a cell, as far as it is known before it runs.
fn plan(experiment: &Experiment, located: Located) -> Result<Plan, Failure> {
    if experiment.find.is_some() {
        return unloaded(located);
    }
    if experiment.generators > 1 {
        if located.draft.shard.is_some() {
            let message = "`generators` split the load of this machine, but this load is already a shard";
            let place = located.places.get(&key::SHARD).cloned().unwrap_or(Place::Flag("--shard".into()));
            return Err(Diagnostic::new("U037", place, message, "remove one of the two").into());
        }
        // The last one gets the fewest users; if it has any, all have.
        let mut last = located.clone();
        last.draft.shard = Some(Share { part: experiment.generators, of: experiment.generators });
        run::settled(last, true)?;
    }
    run::settled(located, true)
}

/// Executes all missing runs and returns the folder. `again` is the command line for agents.
///
/// # Errors
/// Returns an error if a plan, a folder, or a target is invalid. Completed runs are kept.
pub fn run(
    experiment: Experiment,
    cells: Vec<Cell>,
    manner: &MannerFlags,
    shared: &Shared,
    again: &Again,
) -> Result<Ran, Failure> {
    let mut manner = manner.clone();
    if experiment.generators > 1 {
        if manner.agents.selection.is_some() {
            let message = "`generators` and `--agents` both split the load";
            let hint = "remove `generators` from the file, or omit `--agents`";
            return Err(Diagnostic::new("U037", Place::Flag("--agents".into()), message, hint).into());
        }
        manner.agents.selection = Some(format!("local:{}", experiment.generators));
    }
    let find = experiment.find.clone();
    let plans: Vec<Outline> = cells
        .iter()
        .map(|cell| plan(&experiment, cell.located.clone()).map(|plan| plan.outline))
        .collect::<Result<_, Failure>>()?;
    // A seed from the command line applies to each cell; a seed in the file, to the experiment.
    let given = cells.first().and_then(|cell| cell.located.draft.seed);
    let seed = match given.or(experiment.seed) {
        Some(seed) => seed,
        None => run::seed()?,
    };
    let index = Index {
        version: INDEX_VERSION,
        cells: cells.iter().map(|cell| cell.settings.clone()).collect(),
        seed,
        plans: cells.iter().map(|cell| fingerprint(&cell.located)).collect(),
        experiment: Experiment { seed: None, ..experiment.clone() },
    };
    let name = if find.is_some() { "find" } else { "experiment" };
    let ready = folder::ready(manner.out.as_deref(), name, index)?;
    let thresholds = plans.iter().map(|plan| plan.thresholds.clone()).collect();
    let mut campaign = Campaign {
        turn: next_turn(&ready.path),
        folder: ready.path,
        seed: ready.seed,
        runs: ready.runs,
        shared,
        again,
        experiment,
        cells,
        manner: manner.clone(),
        thresholds,
    };
    if !manner.quiet && !campaign.runs.is_empty() {
        let there = counted(campaign.runs.len() as u64, "run");
        say::talk(&format!("{}: resuming after {there}\n", campaign.folder.display()));
    }
    let ran = match &find {
        Some(find) => campaign.search(find),
        None => campaign.sweep(),
    };
    // For a part, the command as a whole says how to resume.
    let is_part = again.is_part();
    if campaign.shared.interrupts.happened() && !manner.quiet && !is_part {
        let folder = campaign.folder.display();
        say::talk(&format!("stopped; to resume, rerun the same command with `--out {folder}`\n"));
    }
    let cut_short = (!manner.stop_early_ok).then(|| shared.interrupts.exit(Exit::Pass));
    let cut_short = cut_short.filter(|exit| *exit != Exit::Pass);
    match ran {
        // The results so far deserve a report, after the error that stopped them.
        Err(failure) if campaign.runs.iter().any(|run| is_valid(&run.digest)) => {
            say::failure(&failure, manner.no_color);
            // As if the interrupt had come during the load.
            let stopped = (!matches!(failure, Failure::CutShort { .. })).then(|| failure.exit());
            Ok(Ran { folder: campaign.folder, stopped, cut_short })
        }
        Err(failure) => Err(failure),
        // Nothing was measured.
        Ok(()) if campaign.runs.is_empty() && shared.interrupts.happened() => {
            Err(shared.interrupts.cut_short("interrupted before the first run"))
        }
        Ok(()) => Ok(Ran { folder: campaign.folder, stopped: None, cut_short }),
    }
}

/// Returns the plan of a search's cell for one user, to validate it before its levels are known.
///
/// # Errors
/// Returns an error if the plan is invalid.
pub fn unloaded(located: Located) -> Result<Plan, Failure> {
    // Keeps the thresholds, so that an error in them is found now.
    let thresholds = located.draft.thresholds.clone();
    let mut plan = run::settled(level::floor(located, FLOOR_NS, FLOOR_PAUSE_NS)?, true)?;
    plan.outline.thresholds = thresholds;
    Ok(plan)
}

/// Duration of the single-user run, ns. It only serves to validate the plan; the search chooses the real duration.
const FLOOR_NS: u64 = 2_000_000_000;
const FLOOR_PAUSE_NS: u64 = 100_000_000;

struct Campaign<'a> {
    experiment: Experiment,
    cells: Vec<Cell>,
    folder: PathBuf,
    seed: u64,
    runs: Vec<Run>,
    /// Number of the next run.
    turn: u32,
    manner: MannerFlags,
    shared: &'a Shared,
    again: &'a Again,
    /// Thresholds of each cell.
    thresholds: Vec<Vec<Threshold>>,
}

impl Campaign<'_> {
    /// Runs every combination as often as it should be repeated.
    fn sweep(&mut self) -> Result<(), Failure> {
        let settings: Vec<Vec<Setting>> = self.cells.iter().map(|cell| cell.settings.clone()).collect();
        let axes = self.experiment.axes.clone();
        let schedule = Schedule {
            axes: &axes,
            cells: &settings,
            repeat: self.experiment.repeat,
            seed: self.seed,
            stop_on_miss: self.experiment.stop_on_miss,
        };
        let all = schedule.turns().count();
        let mut first = true;
        loop {
            let done: Vec<Done> = self.runs.iter().filter_map(|run| done(&run.digest, &settings)).collect();
            let Some(turn) = schedule.next(&done).filter(|_| !self.shared.interrupts.happened()) else {
                return Ok(());
            };
            if !std::mem::take(&mut first) {
                wall::rest(self.experiment.cooldown_ns, &self.shared.interrupts);
                if self.shared.interrupts.happened() {
                    return Ok(());
                }
            }
            let mut plan = run::settled(self.cells[turn.cell].located.clone(), true)?;
            // One seed per round: the cells of a round share their random choices, the rounds do not.
            plan.outline.seed = seed_of(plan.outline.seed, turn.repeat);
            self.run(plan, turn.cell, turn.repeat, None)?;
            if let Some(run) = self.runs.last().filter(|_| !self.manner.quiet) {
                say::talk(&run_line(
                    &run.digest,
                    done.len() + 1,
                    all,
                    &say::look_of_talk(self.manner.no_color),
                ));
            }
        }
    }

    /// Runs one search per cell, interleaving their probes so that drift over time affects all alike.
    fn search(&mut self, find: &Find) -> Result<(), Failure> {
        let mut round = 0;
        let mut open: Vec<usize> = (0..self.cells.len()).collect();
        while !open.is_empty() && !self.shared.interrupts.happened() {
            let turns = order(open.len(), self.seed, round);
            let mut still = Vec::new();
            for at in turns {
                let cell = open[at];
                let quest = quest(find, &self.thresholds[cell], self.seed);
                let runs = self.runs.iter().map(|run| &run.digest);
                let history = trials(runs, &self.cells[cell].settings);
                match search::next(&quest, &history) {
                    Move::Done(_) => {}
                    Move::Try(probe) => {
                        still.push(cell);
                        if self.shared.interrupts.happened() {
                            continue;
                        }
                        self.probe(cell, &quest, &probe)?;
                    }
                }
            }
            still.sort_unstable();
            open = still;
            round += 1;
        }
        Ok(())
    }

    fn probe(&mut self, cell: usize, quest: &CapacitySearch, probe: &Probe) -> Result<(), Failure> {
        let located = self.cells[cell].located.clone();
        settle::rest(probe.rest_ns, &located, &self.manner, self.shared)?;
        if self.shared.interrupts.happened() {
            return Ok(());
        }
        let level = match probe.purpose {
            Purpose::Baseline => Level::Floor { length_ns: probe.length_ns, pause_ns: probe.pause_ns() },
            Purpose::Bracket | Purpose::Bisect | Purpose::Confirm | Purpose::Ladder => {
                Level::At(level::Step {
                    level: probe.level,
                    users: quest.users,
                    warmup_ns: probe.warmup_ns,
                    length_ns: probe.length_ns,
                    patience_ns: quest.longest_limit_ns.unwrap_or(0),
                })
            }
        };
        let located = level.of(located)?;
        let mut plan = run::settled(located, true)?;
        plan.outline.seed = seed_of(plan.outline.seed, self.turn);
        let repeat = self
            .runs
            .iter()
            .filter(|run| run.digest.cell.as_ref().is_some_and(|c| c.settings == self.cells[cell].settings));
        let repeat = repeat.count() as u32;
        self.run(plan, cell, repeat, Some((probe.purpose, level)))?;
        let history = trials(self.runs.iter().map(|run| &run.digest), &self.cells[cell].settings);
        // An interrupted run does not belong to the search.
        let is_told = !self.manner.quiet && self.runs.last().is_some_and(|run| is_valid(&run.digest));
        if let Some(step) = search::last_step(quest, &history).filter(|_| is_told) {
            let look = say::look_of_talk(self.manner.no_color);
            let line = step_line(&step, quest.users, &look);
            let whose: Vec<&str> = self.cells[cell].settings.iter().map(|s| s.value.as_str()).collect();
            let whose = if whose.is_empty() { String::new() } else { format!("{}: ", whose.join(" ")) };
            say::talk(&format!("{whose}{}\n", line.trim_end()));
        }
        Ok(())
    }

    fn run(
        &mut self,
        mut plan: Plan,
        cell: usize,
        repeat: u32,
        probe: Option<(Purpose, Level)>,
    ) -> Result<(), Failure> {
        let (probe, level) = probe.unzip();
        let settings = self.cells[cell].settings.clone();
        let file = self.folder.join(file_name(self.turn, &settings, &plan.outline, probe));
        plan.outline.cell = Some(CellOutline {
            experiment: self.experiment.name.clone(),
            settings,
            repeat,
            run_index: self.turn,
            seed: self.seed,
            purpose: probe,
        });
        self.turn += 1;
        let manner = MannerFlags {
            out: Some(file.display().to_string()),
            command: Some(self.again.with(level.map(|level| level.word()))),
            ..self.manner.clone()
        };
        let measured = load::measure(plan, &manner, Some(self.shared))?;
        let digest = digest_with(&measured.record, &measured.summary);
        let is_spoilt = !is_valid(&digest) && !self.shared.interrupts.happened();
        self.runs.push(Run { path: measured.run_file, digest });
        if is_spoilt {
            // The search would request it again and again.
            let hint = "see the cautions above; to resume with this run, rerun the same command";
            return Err(Failure::machine(
                format!("the run `{}` is incomplete", file.display()),
                Some(hint.into()),
            ));
        }
        Ok(())
    }
}

/// Returns the number after all existing run files, including unreadable ones.
fn next_turn(folder: &Path) -> u32 {
    let number = |entry: std::io::Result<std::fs::DirEntry>| {
        let name = entry.ok()?.file_name().into_string().ok()?;
        // `0007-node.plim`, or `0007.plim` if the experiment has one cell.
        name.split(['-', '.']).next()?.parse::<u32>().ok()
    };
    let numbers = std::fs::read_dir(folder).into_iter().flatten().filter_map(number);
    numbers.max().map_or(0, |last| last.saturating_add(1))
}

/// Returns a name such as `0007-node-users-10.plim`, which sorts by time and describes the run.
fn file_name(turn: u32, settings: &[Setting], outline: &Outline, probe: Option<Purpose>) -> String {
    let mut words = vec![format!("{turn:04}")];
    words.extend(settings.iter().map(|s| match s.parameter.as_str() {
        "variant" => s.value.clone(),
        axis => format!("{axis}-{}", s.value),
    }));
    if let Some(purpose) = probe {
        words.push(format!("{purpose:?}").to_lowercase());
        words.push(format!("{:.0}", outline.load.profile().peak()));
    }
    let safe = |c: char| if c.is_ascii_alphanumeric() || ".-".contains(c) { c } else { '_' };
    let name: String = words.join("-").chars().map(safe).take(100).collect();
    format!("{name}.plim")
}

/// Returns a hash (FNV-1a) that is equal for equal drafts, including bodies and scripts, and from which nothing can
/// be read back.
fn fingerprint(located: &Located) -> String {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    // The question (search or study) does not change the runs.
    let draft = Draft { question: None, ..located.draft.clone() };
    format!("{:016x}", format!("{draft:?}").bytes().fold(0xcbf2_9ce4_8422_2325, step))
}
