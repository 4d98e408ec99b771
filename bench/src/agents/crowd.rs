//! A coordinator with a thousand agents: its CPU, the age of its live view, and how long a start takes. The agents are
//! real, but in one process, and their load generators are played.

use super::super::Context;
use super::super::child::Owned;
use super::super::maths;
use super::super::options::Options;
use super::super::report::Report;
use super::super::target::process_cpu_s;
use super::super::testserver::Ruler;
use super::lead::Lead;
use super::nats::Nats;
use super::{REQUESTS, SERIES, Setting};
use chore::Outcome;
use std::io::{BufRead, BufReader, Lines};
use std::path::PathBuf;
use std::process::{ChildStdout, Command, Stdio};
use std::time::Duration;

const AGENTS: u32 = 1_000;
const AGENTS_SMOKE: u32 = 20;
/// Length of a load, and rounds.
const SECS: u32 = 20;
const ROUNDS: usize = 3;
/// Seconds at the beginning, and at the end, in which files are created and merged.
const EDGE_S: f64 = 2.0;
/// Agents of a start, and real ones.
const STARTED: u32 = 100;

/// Played agents, which wait for a load.
struct Played {
    child: Owned,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Played {
    fn start(setting: &Setting<'_>, nats: &Nats, agents: u32, secs: u32) -> Result<Played, String> {
        let mut command = Command::new(setting.played);
        command.arg(&nats.url).args([agents, SERIES, REQUESTS, secs].map(|n| n.to_string()));
        let mut child = Owned::start(command.stdout(Stdio::piped()))?;
        let stdout = child.0.stdout.take().ok_or("the agents have no stdout")?;
        let mut played = Played { child, lines: BufReader::new(stdout).lines() };
        played.until("ready")?;
        Ok(played)
    }

    /// Waits for a line; returns its time, s since 1970.
    fn until(&mut self, what: &str) -> Result<f64, String> {
        for line in self.lines.by_ref().map_while(Result::ok) {
            if let Some(ns) = line.strip_prefix(what).and_then(|rest| rest.trim().parse::<u128>().ok()) {
                return Ok(ns as f64 / 1e9);
            }
        }
        Err(format!("the played agents ended before they were {what}"))
    }
}

/// One load.
struct Round {
    start_s: f64,
    coordinator_percent: f64,
    server_percent: f64,
    whole_cpu_s: f64,
    age_p50_s: f64,
    age_max_s: f64,
    end_s: f64,
    memory_mib: f64,
}

/// Writes the experiment: one request per series.
fn experiment(context: &Context, agents: u32, secs: u32) -> Result<PathBuf, String> {
    let file = context.folder.join("agents.yaml");
    let steps: String = (0..SERIES).map(|k| format!("    - get: /{k}\n")).collect();
    let text = format!(
        "name: bench of agents\ntarget: http://127.0.0.1:9\nscenarios:\n  s:\n{steps}\
         load: {{ rate: {}/s, duration: {secs}s }}\n",
        agents * REQUESTS
    );
    std::fs::write(&file, text).map_err(|e| format!("cannot write `{}`: {e}", file.display()))?;
    Ok(file)
}

fn words(context: &Context, nats: &Nats, agents: u32, secs: u32) -> Result<Vec<String>, String> {
    let file = experiment(context, agents, secs)?;
    let words = ["run", &file.display().to_string(), "--agents", &agents.to_string(), "--nats", &nats.url];
    let wait = ["--wait-for-agents", "60s"];
    Ok(words.into_iter().chain(wait).map(str::to_owned).collect())
}

fn round(context: &Context, setting: &Setting<'_>, agents: u32, secs: u32) -> Result<Round, String> {
    let nats = Nats::start(context, setting, false)?;
    let mut played = Played::start(setting, &nats, agents, secs)?;
    let words = words(context, &nats, agents, secs)?;
    let lead = Lead::start(context, Command::new(setting.own), &words)?;
    let began_s = lead.began_unix_s;
    let begun_s = played.until("begun")?;
    let wait =
        |s: f64| std::thread::sleep(Duration::from_secs_f64((begun_s + s - super::lead::unix_s()).max(0.0)));
    let edge_s = if context.smoke { 0.5 } else { EDGE_S };
    wait(edge_s);
    let used = || (lead.cpu_s(), process_cpu_s(nats.pid()));
    let (before, from_s) = (used(), super::lead::unix_s());
    wait(f64::from(secs) - edge_s.min(0.5));
    let (after, to_s) = (used(), super::lead::unix_s());
    let (whole_cpu_s, memory_kib) = (lead.cpu_s(), lead.memory_kib());
    let led = lead.end(secs)?;
    let end_s = super::lead::unix_s() - begun_s - f64::from(secs);
    // It ends with the last of the agents.
    played.until("released")?;
    drop(played.child);
    if led.ages_s.len() != secs as usize {
        return Err(format!("the live view showed {} of {secs} seconds", led.ages_s.len()));
    }
    Ok(Round {
        start_s: begun_s - began_s,
        coordinator_percent: 100.0 * (after.0 - before.0) / (to_s - from_s),
        server_percent: 100.0 * (after.1 - before.1) / (to_s - from_s),
        whole_cpu_s,
        age_p50_s: maths::median(&led.ages_s).unwrap_or(f64::NAN),
        age_max_s: led.ages_s.iter().copied().fold(0.0, f64::max),
        end_s,
        memory_mib: memory_kib as f64 / 1024.0,
    })
}

pub fn run(context: &Context, setting: &Setting<'_>, options: &Options, report: &mut Report) -> Outcome {
    let (agents, secs) = if context.smoke { (AGENTS_SMOKE, 3) } else { (AGENTS, SECS) };
    let rounds = options.rounds.min(ROUNDS);
    let mut text = format!(
        "{rounds} rounds of {secs} s with {agents} played agents, each with {SERIES} series x {REQUESTS} requests per \
         second. CPU of the coordinator and of the NATS server from {EDGE_S} s after the start until the end of the \
         load.\n\n\
         | coordinator, % of a core | server, % | coordinator until the end, CPU-s | age of the live view, \
         p50 / max s | start s | end s | memory MiB |\n|---|---|---|---|---|---|---|\n"
    );
    let (mut percents, mut ages) = (Vec::new(), Vec::new());
    for number in 1..=rounds {
        let one = round(context, setting, agents, secs)?;
        let row = [
            ("coordinator", one.coordinator_percent, "%"),
            ("server", one.server_percent, "%"),
            ("coordinator until the end", one.whole_cpu_s, "s"),
            ("age of the live view p50", one.age_p50_s, "s"),
            ("age of the live view max", one.age_max_s, "s"),
            ("start", one.start_s, "s"),
            ("end", one.end_s, "s"),
            ("memory", one.memory_mib, "MiB"),
        ];
        let shown: Vec<String> =
            row.iter().map(|(name, value, unit)| format!("{name} {value:.2} {unit}")).collect();
        println!("round {number:2}  {}", shown.join(", "));
        row.iter().for_each(|(name, value, unit)| report.raw("agents", number, "crowd", name, *value, unit));
        text.push_str(&format!(
            "| {:.1} | {:.1} | {:.2} | {:.2} / {:.2} | {:.2} | {:.2} | {:.0} |\n",
            one.coordinator_percent,
            one.server_percent,
            one.whole_cpu_s,
            one.age_p50_s,
            one.age_max_s,
            one.start_s,
            one.end_s,
            one.memory_mib
        ));
        percents.push(one.coordinator_percent);
        ages.push(one.age_max_s);
    }
    report.measure("agents.merge_percent", maths::median(&percents));
    report.measure("agents.view_many_s", maths::median(&ages));
    let few = few(context, setting, secs)?;
    report.raw("agents", 1, "two", "age of the live view max", few, "s");
    report.measure("agents.view_few_s", Some(few));
    text.push_str(&format!("\nWith 2 real agents, the live view was at most {few:.2} s old.\n"));
    let commands = [
        "played_agents URL AGENTS SERIES REQUESTS SECONDS".to_owned(),
        "plimsoll run agents.yaml --agents AGENTS --nats URL --json".to_owned(),
    ];
    report.section("agents", "a coordinator with many agents", &commands, &text);
    Ok(())
}

/// Returns the age of the live view with two real agents, s.
fn few(context: &Context, setting: &Setting<'_>, secs: u32) -> Result<f64, String> {
    let ruler = Ruler::start(setting.own, context)?;
    let nats = Nats::start(context, setting, false)?;
    let agents = nats.agents(context, setting.own, 2, None)?;
    let words = load(&ruler, &nats, 2, 200, secs.min(10));
    let led = Lead::start(context, Command::new(setting.own), &words)?.end(secs)?;
    drop(agents);
    match led.ages_s.is_empty() {
        true => Err("the live view showed nothing".into()),
        false => Ok(led.ages_s.iter().copied().fold(0.0, f64::max)),
    }
}

/// Returns the words of a load with a rate.
fn load(ruler: &Ruler, nats: &Nats, agents: u32, rate_per_s: u32, secs: u32) -> Vec<String> {
    let (url, rate) = (format!("http://127.0.0.1:{}/", ruler.port), rate_per_s.to_string());
    let (agents, secs) = (agents.to_string(), format!("{secs}s"));
    let words = [&url, "-r", &rate, "-d", &secs, "--agents", &agents, "--nats", &nats.url];
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// How long the start of a load on waiting agents takes: played ones, and real ones on this machine.
pub fn starts(context: &Context, setting: &Setting<'_>, options: &Options, report: &mut Report) -> Outcome {
    let (count, secs) = if context.smoke { (3, 2) } else { (STARTED, 3) };
    let rounds = options.rounds.min(ROUNDS);
    let mut text = format!(
        "{count} agents wait; time from the start of the command to the common start of their loads. Each of the real \
         ones is a process on this machine, and starts a load generator with one connection. Alone, the same load has \
         its first second without agents.\n\n| played, s | real, s | one process, s |\n|---|---|---|\n"
    );
    let mut all: [Vec<f64>; 3] = Default::default();
    for number in 1..=rounds {
        let played = round(context, setting, count, secs)?.start_s;
        let real = real_start(context, setting, count, secs)?;
        let alone = alone_start(context, setting, count, secs)?;
        println!("round {number:2}  played {played:.2} s, real {real:.2} s, one process {alone:.2} s");
        text.push_str(&format!("| {played:.2} | {real:.2} | {alone:.2} |\n"));
        for ((name, value), all) in
            [("played", played), ("real", real), ("alone", alone)].into_iter().zip(&mut all)
        {
            report.raw("agents", number, name, "start", value, "s");
            all.push(value);
        }
    }
    let [played, real, alone] = all.map(|values| maths::median(&values).unwrap_or(f64::NAN));
    report.measure("agents.start_s", Some(played - alone));
    report.measure("agents.start_real_s", Some(real - alone));
    let commands = ["plimsoll URL -r 10*AGENTS -d 3s --agents AGENTS --nats URL --json".to_owned()];
    report.section("agents", "the start of a load", &commands, &text);
    Ok(())
}

fn begun(led: &super::lead::Led, began_s: f64) -> Result<f64, String> {
    let begun = led.said.pointer("/generators/0/started_unix_ns").and_then(serde_json::Value::as_u64);
    Ok(begun.ok_or("the report has no start of the load")? as f64 / 1e9 - began_s)
}

fn real_start(context: &Context, setting: &Setting<'_>, count: u32, secs: u32) -> Result<f64, String> {
    let ruler = Ruler::start(setting.own, context)?;
    let nats = Nats::start(context, setting, false)?;
    let agents = nats.agents(context, setting.own, count, None)?;
    let words = load(&ruler, &nats, count, 10 * count, secs);
    let lead = Lead::start(context, Command::new(setting.own), &words)?;
    let began_s = lead.began_unix_s;
    let led = lead.end(secs)?;
    drop(agents);
    begun(&led, began_s)
}

fn alone_start(context: &Context, setting: &Setting<'_>, count: u32, secs: u32) -> Result<f64, String> {
    let ruler = Ruler::start(setting.own, context)?;
    let (url, rate) = (format!("http://127.0.0.1:{}/", ruler.port), (10 * count).to_string());
    let words = [&url, "-r", &rate, "-d", &format!("{secs}s")].map(str::to_owned);
    let lead = Lead::start(context, Command::new(setting.own), &words)?;
    let began_s = lead.began_unix_s;
    begun(&lead.end(secs)?, began_s)
}
