//! `plimsoll check` and `schema`: the validation and the schema of experiment files.

use super::{jmeter, load, run, script};
use crate::exit::{Exit, Failure};
use crate::flags::verbs::Check;
use crate::say;
use plimsoll_control::place;
use plimsoll_front::Study;
use plimsoll_plan::Plan;
use plimsoll_plan::link::TlsFiles;
use plimsoll_plan::phrase::counted;
use std::fmt::Write;

/// `plimsoll check FILE`: does everything that `run` does before the first packet.
pub fn command(check: &Check) -> Result<Exit, Failure> {
    if let Some(file) = check.file.as_deref().filter(|file| jmeter::is_plan(file)) {
        return jmeter::check(file, &check.flags, &check.plan);
    }
    jmeter::refuse_flags(check.file.as_deref().unwrap_or_default(), &check.plan)?;
    if let Some(file) = check.file.as_deref().filter(|file| script::is_script(file)) {
        return script::check(file, &check.flags);
    }
    let parts = run::plans_of("check", check.file.as_deref(), &check.flags, &check.parts)?;
    let file = check.file.as_deref().unwrap_or_default();
    for plan in parts.iter().flat_map(|(_, plans)| plans) {
        // The script compiler validates patterns, paths, and output files.
        if let Some(behavior) = load::behavior(plan).map_err(Failure::of)? {
            behavior.check_data()?;
        }
        for origin in plan.outline.all_origins().iter() {
            let files = TlsFiles { key_log: None, ..plan.tls_files.clone() };
            place::tls(origin, &files, plan.outline.link.http)?;
        }
    }
    let mut text = String::new();
    let has_parts = parts.iter().any(|(part, _)| part.name.is_some());
    if has_parts && !check.show {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{file}: valid; {}", counted(parts.len() as u64, "part"));
    }
    for (at, (part, plans)) in parts.iter().enumerate() {
        let name = part.name.as_deref().unwrap_or_default();
        if check.show {
            if has_parts {
                let _ = writeln!(text, "{}part {name}\n", if at == 0 { "" } else { "\n" });
            }
            text.push_str(&describe(&part.study, plans));
            continue;
        }
        let head = if has_parts { format!("  {name}: ") } else { format!("{file}: valid; ") };
        let _ = writeln!(text, "{head}{}", size(&part.study, plans));
    }
    say::result(&text)?;
    Ok(Exit::Pass)
}

fn describe(study: &Study, plans: &[Plan]) -> String {
    match plans {
        [plan] if run::is_single(study) => plimsoll_front::show(plan),
        _ => {
            let settings = study.cells.iter().map(|cell| cell.settings.as_slice());
            plimsoll_front::show_study(&study.experiment, &settings.zip(plans).collect::<Vec<_>>())
        }
    }
}

/// `2 requests, 6 cells, 18 runs`
fn size(study: &Study, plans: &[Plan]) -> String {
    let requests = plans.first().map_or(0, |plan| plan.outline.requests.len());
    let requests = counted(requests as u64, "request");
    let cells = plans.len() as u64;
    let repeat = u64::from(study.experiment.repeat.max(1));
    match (&study.experiment.find, cells * repeat) {
        (Some(_), _) => format!("{requests}, a search in {}", counted(cells, "cell")),
        (None, 1) => requests,
        (None, runs) => format!("{requests}, {}, {}", counted(cells, "cell"), counted(runs, "run")),
    }
}

/// `plimsoll schema`.
pub fn schema() -> Result<Exit, Failure> {
    say::result(&format!("{:#}\n", plimsoll_front::schema()))?;
    Ok(Exit::Pass)
}
