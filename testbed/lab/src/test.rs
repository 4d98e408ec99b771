//! `lab test` starts each system on free ports, checks its contract, runs its experiment at a small scale, checks its
//! predictions, stops it, and checks that nothing is left.

use super::prediction::SMALL;
use super::run::{self, Options, Unmet};
use super::state::{self, State};
use super::{down, places, process, up};
use chore::Outcome;
use chore::{interrupt, look};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Time limit of one experiment at a small scale. CI has six minutes for all of them, so ten for one are a hang.
const WITHIN: Duration = Duration::from_secs(600);

/// A part with a prediction that did not hold is repeated once, with runs that are longer by this factor. On a busy
/// machine, the noise of one second can exceed the effect that a run of one second measures.
const LONGER: f64 = 3.0;
/// Maximum number of repeated parts. More of them mean that the machine is too busy for a result or that a prediction
/// is wrong, and the test must fail.
const MAX_REPEATS: usize = 3;

#[derive(Debug, Default, PartialEq)]
pub struct Wanted {
    /// Empty: all.
    pub names: Vec<String>,
    pub scale: f64,
    pub tool: Option<PathBuf>,
}

/// Seconds of each step of one system, in their order.
struct Times {
    name: String,
    up: f64,
    contract: f64,
    experiment: f64,
    down: f64,
}

pub fn command(wanted: &Wanted) -> Outcome {
    let names = if wanted.names.is_empty() { places::names()? } else { wanted.names.clone() };
    if names.is_empty() {
        return Err("there is nothing to test: no folder below testbed has a lab.toml".into());
    }
    let tool = run::tool(wanted.tool.as_deref())?;
    let (mut broken, mut times, mut again) = (Vec::new(), Vec::new(), Vec::new());
    for name in &names {
        println!("\n-- {name}");
        let mut spent = Times { name: name.clone(), up: 0.0, contract: 0.0, experiment: 0.0, down: 0.0 };
        let found = one(name, wanted.scale, &tool, &mut spent, &mut again);
        broken.extend(found.unwrap_or_else(|sentence| vec![sentence]).iter().map(|s| format!("{name}: {s}")));
        times.push(spent);
        interrupt::check()?;
    }
    println!("\n{}", table(&times));
    if !again.is_empty() {
        println!("repeated with longer runs: {}\n", again.join(", "));
    }
    if broken.is_empty() {
        println!(
            "all {} systems meet their contracts and predictions, and nothing is left of them",
            names.len()
        );
        return Ok(());
    }
    Err(format!("did not hold: {}\n{}", broken.len(), broken.join("\n")))
}

/// Returns what did not hold, or an error if that is unknown. In both cases the system is down afterward.
fn one(
    name: &str,
    scale: f64,
    tool: &Path,
    spent: &mut Times,
    again: &mut Vec<String>,
) -> Result<Vec<String>, String> {
    let _lock = state::lock(&places::state(name), name)?;
    if State::read(&places::state(name))?.is_some() {
        return Err(format!("is up\nhelp: run `cargo xtask lab down {name}` first"));
    }
    let base = free_base()?;
    let mut clock = Instant::now();
    // Seconds since the previous call.
    let mut lap = || std::mem::replace(&mut clock, Instant::now()).elapsed().as_secs_f64();
    let state = up::up(name, Some(base))?;
    spent.up = lap();
    // Continue after a broken contract, because the result of the experiment is still useful.
    let mut broken = run::check_contract(name, &state).unwrap_or_else(|sentence| vec![sentence]);
    spent.contract = lap();
    let options = Options { name: name.to_string(), scale, ..Options::default() };
    match interrupt::check().and_then(|()| run::measure(&options, tool, &state, WITHIN)) {
        Ok(measured) => {
            println!("\n{}", super::prediction::table(&measured.rows));
            broken.extend(measured.failed);
            broken.extend(repeat(&options, tool, &state, measured.unanswered, again));
        }
        Err(sentence) => broken.push(sentence),
    }
    spent.experiment = lap();
    // Read before it is stopped, because `down` deletes it.
    let before = State::read(&places::state(name))?;
    for died in before.iter().flat_map(|state| &state.processes).filter(|process| !process.lives()) {
        let log = state.folder.join("log").join(format!("{}.log", died.name));
        broken.push(format!(
            "process `{}` died during the test; {}",
            died.name,
            process::last_lines(&log, 15)
        ));
    }
    if let Err(sentence) = down::down(name) {
        broken.push(sentence);
    }
    if let Some(before) = before {
        broken.extend(down::find_leftovers(&before).iter().map(|what| format!("is down, but left {what}")));
    }
    spent.down = lap();
    Ok(broken)
}

/// Repeats parts with longer runs, and returns what still does not hold.
fn repeat(
    options: &Options,
    tool: &Path,
    state: &State,
    unmet: Vec<Unmet>,
    again: &mut Vec<String>,
) -> Vec<String> {
    let (unmet, missing): (Vec<Unmet>, Vec<Unmet>) = unmet.into_iter().partition(|one| one.is_measured);
    let mut parts: Vec<Option<String>> = unmet.iter().map(|one| one.part.clone()).collect();
    parts.sort();
    parts.dedup();
    let mut broken: Vec<String> = missing.into_iter().map(|one| one.sentence).collect();
    for part in parts {
        let first = unmet.iter().filter(|one| one.part == part).map(|one| one.sentence.clone());
        if again.len() >= MAX_REPEATS || interrupt::check().is_err() {
            broken.extend(first);
            continue;
        }
        let named =
            part.as_ref().map_or_else(|| options.name.clone(), |part| format!("{} {part}", options.name));
        first
            .for_each(|sentence| println!("{named}: {sentence}; repeating with runs {LONGER} times as long"));
        again.push(named);
        // Stay below `SMALL` if the first run was, because the ranges above it are narrower.
        let most = if options.scale < SMALL { SMALL * 0.99 } else { f64::INFINITY };
        // Rounded, so that a person can type it.
        let scale = ((options.scale * LONGER).min(most) * 1e6).round() / 1e6;
        let longer = Options { name: options.name.clone(), scale, part, ..Options::default() };
        match run::measure(&longer, tool, state, WITHIN) {
            Ok(measured) => {
                println!("\n{}", super::prediction::table(&measured.rows));
                broken.extend(measured.failed);
                broken.extend(measured.unanswered.into_iter().map(|one| one.sentence));
            }
            Err(sentence) => broken.push(sentence),
        }
    }
    broken
}

/// Returns a base whose hundred ports are all free, above those of the systems and below the ephemeral ports. The
/// search starts at a different base in each process, so that two tests rarely choose the same.
fn free_base() -> Result<u16, String> {
    const LOWEST: u16 = 60;
    const BASES: u16 = 260;
    let begin = (std::process::id() % u32::from(BASES)) as u16;
    let mut bases = (0..BASES).map(|n| LOWEST + (begin + n) % BASES);
    bases
        .find(|base| look::listeners(*base).is_empty())
        .ok_or_else(|| "no range of 100 free ports found".into())
}

fn table(times: &[Times]) -> String {
    let mut text = String::from(
        "| system | up | contract | experiment | down | seconds |\n|---|---:|---:|---:|---:|---:|\n",
    );
    let mut all = 0.0;
    for t in times {
        let sum = t.up + t.contract + t.experiment + t.down;
        all += sum;
        text.push_str(&format!(
            "| {} | {:.1} | {:.1} | {:.1} | {:.1} | {sum:.1} |\n",
            t.name, t.up, t.contract, t.experiment, t.down
        ));
    }
    text.push_str(&format!("\n{all:.0} s in total\n"));
    text
}
