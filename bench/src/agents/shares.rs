//! Ten agents on this machine against one process with as many workers: the same users, the same target, both cores for
//! everything.

use super::super::Context;
use super::super::maths;
use super::super::options::Options;
use super::super::report::Report;
use super::super::target::{RawServer, Target};
use super::Setting;
use super::lead::Lead;
use super::nats::Nats;
use chore::Outcome;
use std::process::Command;

const AGENTS: u32 = 10;
const USERS: u32 = 100;
const SECS: u32 = 5;
const ROUNDS: usize = 7;

pub fn run(context: &Context, setting: &Setting<'_>, options: &Options, report: &mut Report) -> Outcome {
    let secs = if context.smoke { 1 } else { SECS };
    let rounds = options.rounds.min(ROUNDS);
    let server = RawServer::start(context, false)?;
    let nats = Nats::start(context, setting, false)?;
    let agents = nats.agents(context, setting.own, AGENTS, None)?;
    let url = server.url("/");
    let load = |workers: u32| {
        let (users, workers, secs) = (format!("-c{USERS}"), format!("-t{workers}"), format!("-d{secs}s"));
        [url.clone(), users, workers, secs].to_vec()
    };
    let served = |words: Vec<String>| -> Result<f64, String> {
        let before = server.counters()?.served;
        Lead::start(context, Command::new(setting.own), &words)?.end(secs)?;
        Ok(server.counters()?.served.saturating_sub(before) as f64)
    };
    let by_agents = ["--agents", &AGENTS.to_string(), "--nats", &nats.url].map(str::to_owned);
    let mut text = format!(
        "{rounds} rounds of {secs} s, {USERS} users; requests as the server counts them.\n\n\
         | {AGENTS} agents with a worker each | one process, {AGENTS} workers | ratio | one process, 2 workers |\n\
         |---|---|---|---|\n"
    );
    let mut ratios = Vec::new();
    for number in 1..=rounds {
        let mut counts = [0.0; 3];
        let mut order = [0, 1, 2];
        if number % 2 == 0 {
            order.reverse();
        }
        for which in order {
            counts[which] = served(match which {
                0 => [load(1), by_agents.to_vec()].concat(),
                1 => load(AGENTS),
                _ => load(2),
            })?;
        }
        let [agents, one, two] = counts;
        let ratio = agents / one;
        println!("round {number:2}  agents {agents}, one process {one} ({ratio:.3}), with 2 workers {two}");
        text.push_str(&format!("| {agents} | {one} | {ratio:.3} | {two} |\n"));
        for (name, count) in [("ten agents", agents), ("one process", one), ("one process, 2 workers", two)] {
            report.raw("agents", number, name, "requests", count, "1");
        }
        ratios.push(ratio);
    }
    drop(agents);
    report.measure("agents.share_ratio", maths::median(&ratios));
    let commands = [
        format!("plimsoll URL -c{USERS} -t1 -d{secs}s --agents {AGENTS} --nats URL --json"),
        format!("plimsoll URL -c{USERS} -t{AGENTS} -d{secs}s --json"),
    ];
    report.section("agents", "ten agents on one machine", &commands, &text);
    Ok(())
}
