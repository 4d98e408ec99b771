//! `plimsoll demo`: loads a small service of known capacity that stalls periodically in three ways, to show newcomers
//! what a closed model hides and what an overload looks like. Takes about half a minute.

mod service;
mod story;

use super::load::{self, Measured, Shared};
use crate::exit::{Exit, Failure};
use crate::flags::draft;
use crate::flags::load::MannerFlags;
use crate::flags::verbs::Demo;
use crate::{home, say, wall};
use plimsoll_engine::machine;
use plimsoll_output::terminal;
use plimsoll_plan::seal::{Machine, seal};
use plimsoll_plan::threshold;
use plimsoll_plan::unit::SECOND_NS;
use plimsoll_plan::{Plan, Problem};
use service::Service;
use std::path::PathBuf;
use story::{PARTS, Part};

pub fn command(flags: &Demo) -> Result<Exit, Failure> {
    let folder = match &flags.out {
        Some(folder) => PathBuf::from(folder),
        None => home::state_folder()?,
    };
    std::fs::create_dir_all(&folder).map_err(|e| {
        Failure::machine(format!("cannot create directory `{}`: {e}", folder.display()), None)
    })?;
    let look = say::look_of_results(flags.no_color);
    let service = Service::start()?;
    // Created after the service starts, because a child inherits the blocked signals.
    let shared = Shared::new(true)?;
    say::result(&story::opening(service.address, &look))?;

    let mut done = Vec::new();
    for (number, part) in (1..).zip(&PARTS) {
        say::result(&story::before(part, &look))?;
        service.pause_soon()?;
        let manner = manner(part, flags, &folder)?;
        let measured = load::measure(plan(number, part, &service)?, &manner, Some(&shared))?;
        say::result(&story::after(part, &measured.summary, &look))?;
        done.push((part, measured));
        if shared.interrupts.happened() {
            break;
        }
    }
    say::result(&story::side_by_side(&done))?;
    if let Some((part, measured)) = done.iter().find(|(part, _)| part.shown_in_full) {
        let path = measured.run_file.display().to_string();
        say::result(&story::before_report(part))?;
        say::result(&terminal::summary(&measured.summary, &look, load::detail(flags.full), Some(&path)))?;
    }
    say::result(&story::closing(&done))?;
    // The demo succeeded even though the service fails two of three loads, which is the point.
    Ok(Exit::Pass)
}

fn plan(number: u32, part: &Part, service: &Service) -> Result<Plan, Failure> {
    let mut draft = draft::of_url(&format!("http://{}/", service.address))?;
    draft.name = Some(format!("demo, part {number}"));
    draft.requests[0].name = "GET /".into();
    draft.load.users = part.users;
    draft.load.rate_per_s = part.rate_per_s;
    draft.load.duration_ns = Some(part.seconds * SECOND_NS);
    let thresholds = part.thresholds.iter().map(|text| threshold::parse(text)).collect::<Result<_, _>>();
    draft.thresholds = thresholds.map_err(|problem: Problem| Failure::machine(problem, None))?;
    let machine = Machine { cpus: machine::cpus(), seed: u64::from_le_bytes(wall::random()?) };
    seal(draft, machine).map_err(Failure::Text)
}

fn manner(part: &Part, flags: &Demo, folder: &std::path::Path) -> Result<MannerFlags, Failure> {
    let name = home::name(&format!("demo-{}", part.name), wall::now_unix_ns())?;
    Ok(MannerFlags {
        out: Some(folder.join(name).display().to_string()),
        no_color: flags.no_color,
        ..MannerFlags::default()
    })
}

/// A part with its result, for the story.
type Done<'a> = (&'a Part, Measured);
