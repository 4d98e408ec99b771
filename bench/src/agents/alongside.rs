//! An agent alongside its load generator: what it costs, and whether sends are later with it. Both are on core 0; the
//! coordinator, the NATS server, and the target are on core 1, as if on other machines.

use super::super::child::{Owned, pinned};
use super::super::maths;
use super::super::options::Options;
use super::super::report::Report;
use super::super::target::{RawServer, process_cpu_s};
use super::super::{Context, own};
use super::Setting;
use super::lead::{Lead, Led};
use super::nats::Nats;
use chore::Outcome;
use std::time::Duration;

const RATE_PER_S: u32 = 2_000;
const SECS: u32 = 10;
const ROUNDS: usize = 7;

/// One load: sends off their instant, and the agent's share of a core without its load generator.
struct Round {
    late_us: [f64; 2],
    agent_percent: f64,
}

fn late_us(led: &Led) -> Result<[f64; 2], String> {
    let at = |place| own::number(&led.said, place).map(|ns| ns / 1e3);
    Ok([at("/client/schedule_lag/p50_ns")?, at("/client/schedule_lag/p99_ns")?])
}

fn words(server: &RawServer, secs: u32) -> Vec<String> {
    let words = [&server.url("/"), "-r", &RATE_PER_S.to_string(), "-d", &format!("{secs}s"), "-t1"];
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn alone(context: &Context, setting: &Setting<'_>, server: &RawServer, secs: u32) -> Result<Round, String> {
    let lead = Lead::start(context, pinned(context, 0, setting.own), &words(server, secs))?;
    Ok(Round { late_us: late_us(&lead.end(secs)?)?, agent_percent: 0.0 })
}

fn with_agent(
    context: &Context,
    setting: &Setting<'_>,
    nats: &Nats,
    agent: &Owned,
    server: &RawServer,
    secs: u32,
) -> Result<Round, String> {
    let more = ["--agents", "1", "--nats", &nats.url].map(str::to_owned);
    let words = [words(server, secs), more.to_vec()].concat();
    let before_s = process_cpu_s(agent.0.id());
    let lead = Lead::start(context, pinned(context, 1, setting.own), &words)?;
    let led = lead.end(secs)?;
    let spent_s = process_cpu_s(agent.0.id()) - before_s;
    Ok(Round { late_us: late_us(&led)?, agent_percent: 100.0 * spent_s / f64::from(secs) })
}

pub fn run(context: &Context, setting: &Setting<'_>, options: &Options, report: &mut Report) -> Outcome {
    let secs = if context.smoke { 2 } else { SECS };
    let rounds = options.rounds.min(ROUNDS);
    let server = RawServer::start(context, false)?;
    let nats = Nats::start(context, setting, true)?;
    let agents = nats.agents(context, setting.own, 1, Some(0))?;
    let agent = agents.first().ok_or("there is no agent")?;
    let mut text = format!(
        "{rounds} rounds of {secs} s at {RATE_PER_S} arrivals/s. CPU of the agent's process from the order to the end, \
         without its load generator.\n\n\
         | late p50 / p99 us, alone | late p50 / p99 us, with an agent | agent, % of a core |\n|---|---|---|\n"
    );
    let (mut more, mut percents): ([Vec<f64>; 2], Vec<f64>) = Default::default();
    let mut both: [[Vec<f64>; 2]; 2] = Default::default();
    for number in 1..=rounds {
        let mut pair = [None, None];
        // The order changes from round to round.
        for which in [number % 2, (number + 1) % 2] {
            pair[which] = Some(match which {
                0 => alone(context, setting, &server, secs)?,
                _ => with_agent(context, setting, &nats, agent, &server, secs)?,
            });
            std::thread::sleep(Duration::from_millis(200));
        }
        let [Some(alone), Some(with)] = pair else { return Err("a round is missing".into()) };
        println!(
            "round {number:2}  alone {:.2} / {:.1} us, with an agent {:.2} / {:.1} us, agent {:.2}%",
            alone.late_us[0], alone.late_us[1], with.late_us[0], with.late_us[1], with.agent_percent
        );
        text.push_str(&format!(
            "| {:.2} / {:.1} | {:.2} / {:.1} | {:.2} |\n",
            alone.late_us[0], alone.late_us[1], with.late_us[0], with.late_us[1], with.agent_percent
        ));
        for (at, name) in ["late p50", "late p99"].into_iter().enumerate() {
            report.raw("agents", number, "alone", name, alone.late_us[at], "us");
            report.raw("agents", number, "with an agent", name, with.late_us[at], "us");
            more[at].push(with.late_us[at] - alone.late_us[at]);
            both[0][at].push(alone.late_us[at]);
            both[1][at].push(with.late_us[at]);
        }
        report.raw("agents", number, "agent", "cpu", with.agent_percent, "%");
        percents.push(with.agent_percent);
    }
    let middle = |of: usize, at: usize| maths::median(&both[of][at]).unwrap_or(f64::NAN);
    text.push_str(&format!(
        "\nMedians: alone p50 {:.2} us, p99 {:.1} us; with an agent p50 {:.2} us, p99 {:.1} us.\n",
        middle(0, 0),
        middle(0, 1),
        middle(1, 0),
        middle(1, 1)
    ));
    report.measure("agents.agent_percent", maths::median(&percents));
    report.measure("agents.later_p50_us", maths::median(&more[0]));
    report.measure("agents.later_p99_us", maths::median(&more[1]));
    let commands = [
        format!("plimsoll URL -r {RATE_PER_S} -d {secs}s -t1 --json"),
        format!("plimsoll URL -r {RATE_PER_S} -d {secs}s -t1 --json --agents 1 --nats URL"),
    ];
    report.section("agents", "an agent alongside its load generator", &commands, &text);
    Ok(())
}
