//! `plimsoll agents doctor`: the checks of `plimsoll doctor` on the machines of all agents, with their clocks and
//! versions.

use super::{connected, random_name, roll_call};
use crate::commands::doctor;
use crate::exit::{Exit, Failure};
use crate::flags::agents::AccessFlags;
use crate::say;
use plimsoll_cluster::bus::{Bus, Heard};
use plimsoll_cluster::message::{self, Beat, Check, CheckUp, Checked, Identity, Rating};
use plimsoll_cluster::roster::Roster;
use plimsoll_cluster::subject;
use plimsoll_engine::clock::now_ns;
use plimsoll_engine::machine;
use plimsoll_output::doctor::{DoctorRow, State, render};
use plimsoll_output::format;
use plimsoll_plan::phrase::counted;
use std::collections::BTreeMap;
use std::sync::mpsc::Receiver;
use std::time::Duration;

/// Wait for the answers of all agents, ns.
const ANSWERS_NS: u64 = 5_000_000_000;
/// The same for a list, which only shows the clocks.
const CLOCKS_NS: u64 = 1_500_000_000;
/// Time between two looks at the clock.
const LOOK: Duration = Duration::from_millis(20);
/// Bound of the clocks above which starts may differ visibly: the default of `--max-skew`, ns.
const BOUND_NS: u64 = 5_000_000;

/// Returns what an agent answers to a check-up.
pub fn checked(
    id: String,
    identity: Identity,
    allow: &[String],
    coordinator_key: Option<String>,
    clock: Option<message::ClockOffset>,
) -> Checked {
    let check = |row: DoctorRow| Check {
        name: row.name,
        value: row.value,
        rating: match row.state {
            State::Good => Rating::Good,
            State::Notice => Rating::Notice,
            State::Bad => Rating::Bad,
        },
        advice: row.advice,
    };
    Checked {
        id,
        identity,
        boot_id: machine::boot_id(),
        clock,
        allow: allow.to_vec(),
        coordinator_key,
        checks: doctor::rows_of_this_machine().into_iter().map(check).collect(),
    }
}

/// One agent, with its answer if there is one.
struct AgentReport {
    beat: Beat,
    answer: Option<Checked>,
}

/// `plimsoll agents doctor`.
///
/// # Errors
/// Returns an error if the server cannot be reached.
pub fn command(access: &AccessFlags, json: bool, no_color: bool) -> Result<Exit, Failure> {
    let (bus, heard) = connected(access, "doctor")?;
    let roster = roll_call::all(&bus, &heard)?;
    let reports = ask_all(&bus, &heard, &roster, ANSWERS_NS)?;
    bus.close();
    let mut all: Vec<AgentReport> = reports.into_values().collect();
    all.sort_by(|a, b| a.beat.identity.name.cmp(&b.beat.identity.name));
    let rows: Vec<Vec<DoctorRow>> = all.iter().map(|one| rows(one, &all)).collect();
    let text = match json {
        true => {
            let agents: Vec<_> = all.iter().zip(&rows).map(|(one, rows)| document(one, rows)).collect();
            format!("{}\n", serde_json::json!({ "server": bus.server_version(), "agents": agents }))
        }
        false => render_all(&all, &rows, bus.server_version().unwrap_or_default(), no_color),
    };
    say::result(&text)?;
    Ok(Exit::Pass)
}

/// Returns the bounds of the clocks of agents by their instances, ns; without those that do not answer soon.
///
/// # Errors
/// Returns an error if there is no random name for the question.
pub fn clock_bounds(
    bus: &Bus,
    heard: &Receiver<Heard>,
    roster: &Roster,
) -> Result<BTreeMap<String, u64>, Failure> {
    let reports = ask_all(bus, heard, roster, CLOCKS_NS)?;
    let bound = |(instance, report): (String, AgentReport)| Some((instance, report.answer?.clock?.bound_ns));
    Ok(reports.into_iter().filter_map(bound).collect())
}

/// Asks all agents, and waits until each has answered, or for `wait_ns`.
fn ask_all(
    bus: &Bus,
    heard: &Receiver<Heard>,
    roster: &Roster,
    wait_ns: u64,
) -> Result<BTreeMap<String, AgentReport>, Failure> {
    let report =
        |beat: &Beat| (beat.identity.instance.clone(), AgentReport { beat: beat.clone(), answer: None });
    let mut reports: BTreeMap<String, AgentReport> = roster.all().into_iter().map(report).collect();
    let id = random_name()?;
    let clock = subject::clock(&id);
    bus.subscribe(&clock);
    bus.subscribe(subject::CHECKED);
    bus.publish(subject::CHECK_UP.into(), message::encode(&CheckUp { id: id.clone() }));
    let until_ns = now_ns() + wait_ns;
    while now_ns() < until_ns && reports.values().any(|one| one.answer.is_none()) {
        let Ok(Heard::Message(message)) = heard.recv_timeout(LOOK) else { continue };
        if message.subject == clock {
            if let Some(reply) = message.reply {
                bus.publish(reply, now_ns().to_le_bytes().to_vec());
            }
        } else if let Ok(answer) = message::decode::<Checked>(&message.payload)
            && answer.id == id
            && let Some(report) = reports.get_mut(&answer.identity.instance)
        {
            report.answer = Some(answer);
        }
    }
    Ok(reports)
}

/// Returns the checks of one agent: what only a coordinator sees, and then those of its machine.
fn rows(one: &AgentReport, all: &[AgentReport]) -> Vec<DoctorRow> {
    let row = |name: &str, value: String, state: State, advice: Option<&str>| DoctorRow {
        name: name.into(),
        value,
        state,
        advice: advice.map(str::to_owned),
    };
    let identity = &one.beat.identity;
    let mut rows = Vec::new();
    rows.push(match identity.version == env!("CARGO_PKG_VERSION") {
        true => row("version", identity.version.clone(), State::Good, None),
        false => row(
            "version",
            format!("{}, and this program has {}", identity.version, env!("CARGO_PKG_VERSION")),
            State::Bad,
            Some("loads refuse this agent; install the same version on all machines"),
        ),
    });
    rows.push(match &one.beat.run {
        None => row("state", "free".into(), State::Good, None),
        Some(run) => {
            row("state", format!("works for run {run}"), State::Notice, Some("wait until it is free"))
        }
    });
    let Some(answer) = &one.answer else {
        let advice = "check its machine, and the permissions of the NATS server";
        rows.push(row(
            "answer",
            format!("none within {} s", ANSWERS_NS / 1_000_000_000),
            State::Bad,
            Some(advice),
        ));
        return rows;
    };
    rows.push(match answer.clock {
        Some(clock) if clock.bound_ns <= BOUND_NS => {
            let value = format!("within {}", format::duration_ns(clock.bound_ns));
            row("clock of agent", value, State::Good, None)
        }
        Some(clock) => {
            let value = format!("within {}", format::duration_ns(clock.bound_ns));
            let advice = "loads may begin apart by this; use a NATS server that is closer to the agents";
            row("clock of agent", value, State::Notice, Some(advice))
        }
        None => {
            let advice = "loads cannot begin at the same time; check the permissions of the NATS server";
            row("clock of agent", "not measured".into(), State::Bad, Some(advice))
        }
    });
    let public = if answer.allow.is_empty() { "none".to_owned() } else { answer.allow.join(", ") };
    rows.push(row("public hosts", public, State::Good, None));
    rows.push(match &answer.coordinator_key {
        Some(key) => row("orders", format!("signed with {key}"), State::Good, None),
        None => {
            let advice =
                "every client that may publish on the NATS server can start loads: --coordinator-key";
            row("orders", "of every coordinator".into(), State::Notice, Some(advice))
        }
    });
    let is_same = |other: &&AgentReport| {
        let boot_id = other.answer.as_ref().map(|answer| answer.boot_id.as_str());
        other.beat.identity.instance != identity.instance
            && !answer.boot_id.is_empty()
            && boot_id == Some(answer.boot_id.as_str())
    };
    let others: Vec<String> =
        all.iter().filter(is_same).map(|other| format!("`{}`", other.beat.identity.name)).collect();
    rows.push(match others.is_empty() {
        true => row("machine", "its own".into(), State::Good, None),
        false => row(
            "machine",
            format!("shared with {}", others.join(", ")),
            State::Notice,
            Some("agents of one machine compete for its CPUs and ports"),
        ),
    });
    rows.extend(answer.checks.iter().map(|check| {
        let state = match check.rating {
            Rating::Good => State::Good,
            Rating::Notice => State::Notice,
            Rating::Bad => State::Bad,
        };
        row(&check.name, check.value.clone(), state, check.advice.as_deref())
    }));
    rows
}

fn document(one: &AgentReport, rows: &[DoctorRow]) -> serde_json::Value {
    let identity = &one.beat.identity;
    let state = |state: State| match state {
        State::Good => "good",
        State::Notice => "notice",
        State::Bad => "bad",
    };
    let checks: Vec<_> = rows
        .iter()
        .map(|row| {
            serde_json::json!({
                "name": row.name,
                "value": row.value,
                "state": state(row.state),
                "advice": row.advice,
            })
        })
        .collect();
    serde_json::json!({
        "name": identity.name,
        "host": identity.host,
        "version": identity.version,
        "labels": identity.labels,
        "cpus": identity.cpus,
        "open_files": identity.open_files,
        "has_answered": one.answer.is_some(),
        "clock_bound_ns": one.answer.as_ref().and_then(|answer| answer.clock).map(|clock| clock.bound_ns),
        "checks": checks,
    })
}

fn render_all(all: &[AgentReport], rows: &[Vec<DoctorRow>], server: &str, no_color: bool) -> String {
    let look = say::look_of_results(no_color);
    let mut text = format!("{} connected to nats-server {server}\n", counted(all.len() as u64, "agent"));
    if all.is_empty() {
        text.push_str("Start one on each machine: plimsoll agent --nats URL\n");
    }
    for (one, rows) in all.iter().zip(rows) {
        let identity = &one.beat.identity;
        text.push_str(&format!("\nagent {} on {}\n", identity.name, identity.host));
        text.push_str(&render(rows, &look));
    }
    text
}
