//! The coordinator's memory over nine hours in simulated time: the state machine, the sum of all agents, and the file
//! of each part, fed with seconds of played agents.

use super::super::Context;
use super::super::report::Report;
use super::{REQUESTS, SERIES, Setting};
use chore::{Outcome, shell};
use std::process::Command;

const AGENTS: u32 = 3;
const SECONDS: u32 = 32_400;
const SECONDS_SMOKE: u32 = 90;

pub fn run(context: &Context, setting: &Setting<'_>, report: &mut Report) -> Outcome {
    let seconds = if context.smoke { SECONDS_SMOKE } else { SECONDS };
    let folder = context.folder.join("agents-hours");
    // It may not exist.
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).map_err(|e| format!("cannot make `{}`: {e}", folder.display()))?;
    let mut command = Command::new(setting.hours);
    command.args([AGENTS, SERIES, REQUESTS, seconds, 1].map(|n| n.to_string())).arg(&folder);
    let said = shell::output(&mut command)?;
    let mut text = format!(
        "{AGENTS} agents with {SERIES} series x {REQUESTS} requests, {seconds} s. The record that the coordinator \
         reads back at the end is not included: it grows with the length, as that of one process does.\n\n\
         | second | CPU per envelope, us | memory KiB |\n|---|---|---|\n"
    );
    let mut memory = Vec::new();
    for (number, line) in said.lines().skip(1).enumerate() {
        let cells: Vec<f64> = line.split(' ').filter_map(|cell| cell.parse().ok()).collect();
        let [second, us, kib] = cells[..] else { return Err(format!("an unreadable line `{line}`")) };
        text.push_str(&format!("| {second} | {us:.1} | {kib} |\n"));
        report.raw("agents", number + 1, "simulated hours", "memory", kib, "KiB");
        report.raw("agents", number + 1, "simulated hours", "cpu per envelope", us, "us");
        memory.push(kib);
    }
    let (Some(first), Some(last)) = (memory.first(), memory.last()) else {
        return Err("there were no hours".into());
    };
    report.measure("agents.memory_ratio", Some(last / first));
    let commands = [format!("simulated_hours {AGENTS} {SERIES} {REQUESTS} {seconds} 1 FOLDER")];
    report.section("agents", "memory of the coordinator", &commands, &text);
    // Only the files of this measurement.
    let _ = std::fs::remove_dir_all(&folder);
    Ok(())
}
