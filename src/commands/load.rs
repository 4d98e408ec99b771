//! One load, from the plan to the verdict: everything that can be known to be wrong is said before anything
//! is sent.

use crate::exit::{Exit, Failure};
use crate::flags::load::MannerFlags;
use crate::interrupt::Interrupts;
use crate::{home, say, wall};
use plimsoll_control::permission::{Asking, Granted, fetch_proof, permit};
use plimsoll_control::{Options, dns, environment, place};
use plimsoll_output::terminal;
use plimsoll_output::{json, style};
use plimsoll_plan::Plan;
use plimsoll_record::analysis::summarise;
use plimsoll_record::event::{Opening, Sink};
use plimsoll_record::run_file::RunFile;
use plimsoll_record::summary::{Outcome, Summary};
use std::io::{BufRead, IsTerminal};
use std::path::PathBuf;
use std::sync::Arc;

/// What a load left behind.
pub struct Measured {
    pub summary: Summary,
    pub run_file: PathBuf,
}

/// Loads, prints and judges.
pub fn command(plan: Plan, manner: &MannerFlags) -> Result<Exit, Failure> {
    let measured = measure(plan, manner, None)?;
    let summary = &measured.summary;
    if manner.json {
        say::result(&json::to_string(summary)?)?;
    } else if !manner.quiet {
        let path = measured.run_file.display().to_string();
        say::result(&terminal::summary(summary, &say::look_of_results(manner.no_color), Some(&path)))?;
    } else if summary.verdict.result != Outcome::Pass {
        say::talk(&format!("{}\n", summary.verdict.sentence));
    }
    Ok(summary.verdict.result.into())
}

/// Runs the plan and returns its summary; talks on stderr unless the manner is quiet. `interrupts` may be
/// installed already by somebody who runs several loads.
pub fn measure(
    plan: Plan,
    manner: &MannerFlags,
    interrupts: Option<&Interrupts>,
) -> Result<Measured, Failure> {
    let outline = &plan.outline;
    let target = plimsoll_plan::Target { host: outline.host.clone(), port: outline.port };
    let mut place = dns::resolve(&target)?;
    let started_unix_ns = wall::now_unix_ns();
    let mut confirm = |question: &str| confirmed(question);
    let asking = Asking {
        allow: &manner.allow,
        confirm: if can_ask() { Some(&mut confirm) } else { None },
        today: &wall::date(started_unix_ns),
        fetch: &mut |address| fetch_proof(address, &outline.target),
    };
    let granted = permit(&outline.host, &mut place, asking).map_err(Failure::Refused)?;
    if granted == Granted::Proved && !manner.quiet {
        say::talk(&format!("{} permits this load in its ownership file\n", outline.host));
    }
    let run_file = home::new_run_file(manner.out.as_deref(), &outline.host, started_unix_ns)?;
    let first_connect_ns = place::knock(&mut place, outline)?;

    let opening = Opening {
        origin: wall::hex(&wall::random::<16>()?),
        outline: outline.clone(),
        environment: environment::environment(&place, env!("CARGO_PKG_VERSION"), first_connect_ns),
        started_unix_ns,
    };
    // The limit is raised by now, and no thread runs yet.
    plimsoll_engine::machine::reserve_descriptors(u64::from(outline.connections));
    let mut writer = RunFile::create(&run_file, &opening)?;
    let installed;
    let interrupts = match interrupts {
        Some(interrupts) => interrupts,
        None => {
            installed = Interrupts::install()?;
            &installed
        }
    };
    let mut view = view(manner);
    let mut sinks: Vec<&mut dyn Sink> = vec![&mut writer];
    if let Some(view) = &mut view {
        sinks.push(view.as_mut());
    }
    let options = Options { breaker: !manner.keep_pushing };
    let steer = |helm| interrupts.steer(helm);
    let ran = plimsoll_control::run(Arc::new(plan), &place, opening, options, &mut sinks, steer);
    // Whatever the view has on the screen goes before anything else is said.
    drop(view);
    let finished = writer.finish();
    if let Err(error) = ran {
        // Where nothing happened nothing is kept; that it cannot be removed would be the smaller trouble of
        // the two.
        if matches!(error, plimsoll_control::Error::Engine(_)) {
            let _ = std::fs::remove_file(&run_file);
        }
        return Err(error.into());
    }
    if let Some(trouble) = finished.trouble {
        // The totals are whole all the same: the report is made, and the record says what is missing.
        say::failure(&trouble.into(), manner.no_color);
    }
    Ok(Measured { summary: summarise(&finished.record), run_file })
}

/// The live view: repainted on a terminal, plain lines elsewhere, nothing when quiet.
fn view(manner: &MannerFlags) -> Option<Box<dyn Sink>> {
    if manner.quiet {
        return None;
    }
    let look = say::look_of_talk(manner.no_color);
    let stderr = std::io::stderr();
    if style::can_repaint(say::variable, stderr.is_terminal()) {
        Some(Box::new(terminal::Painter::new(stderr, look, say::width_of_talk)))
    } else {
        Some(Box::new(terminal::Plain::new(stderr)))
    }
}

/// A question needs somebody who reads it and somebody who types.
fn can_ask() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Asks on stderr; no answer is an answer, too.
fn confirmed(question: &str) -> String {
    say::talk(question);
    let mut line = String::new();
    match std::io::stdin().lock().read_line(&mut line) {
        Ok(_) => line,
        Err(_) => String::new(),
    }
}
