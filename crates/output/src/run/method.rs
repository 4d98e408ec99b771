//! The method of measurement, on a page: the plan, the machines, the seed, the record, and how to repeat it.

use super::repeat;
use crate::document::{
    Block, Cell, Column, Fact, Folded, Inner, Role, Room, Section, Table, Value, sentence,
};
use crate::format::{bytes, chosen_ns, chosen_s, count, counted, quantity};
use crate::words;
use plimsoll_analysis::summary::{SCHEMA_VERSION, Summary};
use plimsoll_plan::Outline;
use plimsoll_plan::load::{Load, Stage};
use plimsoll_plan::origin::Origin;
use plimsoll_plan::route::Route;
use plimsoll_plan::watch::MonitorOutline;
use plimsoll_record::event::Environment;

/// Above this length, the plan is only in the JSON document, which keeps the page small.
const PLAN_BYTES: usize = 16_000;
/// Recorded arrivals have one stage per second.
const STAGES: usize = 40;

/// Maximum number of seconds in the document of a page. Those of an hour would be more than half of the file, and the
/// charts contain them in visible rows.
const SECONDS: usize = 900;

/// Returns whether a page contains the whole document.
pub fn has_course(s: &Summary) -> bool {
    s.timeline.len() <= SECONDS
}

pub fn section(s: &Summary, run_file: Option<&str>) -> Section {
    let heading = |text: &str| Block::Heading(text.into());
    let both = vec![vec![heading("Plan"), plan(s)], vec![heading("Record"), record(s)]];
    let mut blocks = vec![Block::Pair(Room::Narrow, both)];
    if !s.workloads.is_empty() {
        blocks.extend([heading("Load models"), workloads(s)]);
    }
    if (1..=STAGES).contains(&s.plan.load.profile().stages.len()) {
        blocks.extend([heading("Stages"), stages_of(&s.plan)]);
    }
    blocks.push(heading("Load generator"));
    for (at, environment) in s.environments.iter().enumerate() {
        blocks.extend((at > 0).then(|| heading(&environment.host)));
        blocks.push(machine(environment));
    }
    if s.environments.is_empty() {
        blocks.push(sentence(Role::Plain, "Nothing was recorded about it."));
    }
    blocks.push(heading("Repeat this test"));
    blocks.extend(again(s, run_file));
    blocks.extend(whole(s));
    Section::new("method", "Method", blocks)
}

/// The complete plan as plimsoll understood it.
fn whole(s: &Summary) -> Option<Block> {
    // Data that cannot be written as JSON has already failed the page.
    let text = serde_json::to_string_pretty(&s.plan).unwrap_or_default();
    let title = "Complete plan".into();
    let is_short = (1..=PLAN_BYTES).contains(&text.len());
    is_short.then_some(Block::Folded(Folded { title, inner: Inner::Source(text) }))
}

fn plan(s: &Summary) -> Block {
    let p = &s.plan;
    let mut rows: Vec<(String, String)> = vec![
        ("name".into(), p.name.clone()),
        ("target".into(), p.target.clone()),
        (if p.has_target() { "other origins" } else { "origins" }.into(), origins(p)),
        ("load".into(), words::load(p)),
    ];
    if let Some(cell) = &p.cell {
        let settings: Vec<String> =
            cell.settings.iter().map(|set| format!("{}={}", set.parameter, set.value)).collect();
        rows.push(("experiment".into(), format!("{}: {}", cell.experiment, settings.join(", "))));
    }
    let most = match &p.load {
        Load::Closed { .. } => counted(u64::from(p.connections), "connection"),
        Load::Open { .. } => format!("at most {}", counted(u64::from(p.connections), "connection")),
    };
    rows.push(("connections".into(), format!("{most}, {}", reuse(p))));
    rows.extend(route(&p.link.route).map(|text| ("route".to_owned(), text)));
    let mut stop: Vec<String> =
        p.stop.duration_ns.map(|ns| format!("after {}", chosen_ns(ns))).into_iter().collect();
    stop.extend(p.stop.requests.map(|n| format!("after {}", counted(n, "request"))));
    rows.push(("end".into(), stop.join(", or ")));
    if p.warmup_ns > 0 {
        rows.push(("warm-up".into(), format!("{}, excluded from results", chosen_ns(p.warmup_ns))));
    }
    rows.push(("timeout".into(), format!("{} from the send", chosen_ns(p.timeout_ns))));
    rows.push(("workers".into(), count(u64::from(p.workers))));
    if p.share.of > 1 {
        rows.push(("shard".into(), format!("{} of {}", p.share.part, p.share.of)));
    }
    // Digits only, because it is meant for typing.
    rows.push(("seed".into(), p.seed.to_string()));
    if let Some(scale) = p.scale {
        rows.push(("time scale".into(), format!("× {}", quantity(scale))));
    }
    rows.push(("requests".into(), requests(p)));
    if !p.monitors.is_empty() {
        let one = |w: &MonitorOutline| match words::watches(&w.name, &w.kind, &w.target) {
            said if said.is_empty() => w.name.clone(),
            said => format!("{} ({said})", w.name),
        };
        let all: Vec<String> = p.monitors.iter().map(one).collect();
        rows.push(("monitors".into(), all.join(", ")));
    }
    definitions(rows)
}

/// Returns the addresses in addition to the target, if there is one; empty if there are none.
fn origins(p: &Outline) -> String {
    p.origins.iter().skip(usize::from(p.has_target())).map(Origin::describe).collect::<Vec<_>>().join(", ")
}

/// Returns how connections reached the service, if not directly over TCP.
fn route(route: &Route) -> Option<String> {
    let parts = [
        route.proxy.as_ref().map(|proxy| format!("through the proxy {}", proxy.url())),
        route.unix_socket.as_ref().map(|path| format!("by the Unix domain socket {path}")),
        route.interface.as_ref().map(|name| format!("from the network interface {name}")),
        route.proxy_protocol.as_ref().map(|header| match header.source_addresses.len() {
            0 => "with the PROXY protocol".to_owned(),
            n => format!("with the PROXY protocol, as {}", counted(n as u64, "client")),
        }),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn reuse(p: &Outline) -> &'static str {
    if p.keep_alive { "reused between requests" } else { "a new connection for every request" }
}

/// Returns a few names, or the number of many.
fn requests(p: &Outline) -> String {
    const NAMED: usize = 6;
    let all: Vec<_> = p.requests.iter().filter(|request| !request.is_outside_load).collect();
    if all.len() > NAMED {
        return counted(all.len() as u64, "request");
    }
    let each: Vec<String> = all
        .iter()
        .map(|request| {
            let body = match request.body_bytes {
                0 => String::new(),
                n => format!(" with {} of body", bytes(n)),
            };
            format!("{} {}{body}", request.method, request.path)
        })
        .collect();
    each.join("; ")
}

fn record(s: &Summary) -> Block {
    let t = &s.totals;
    let mut rows: Vec<(String, String)> = vec![
        ("reasons".into(), s.verdict.reasons.join(", ")),
        ("measured".into(), chosen_s(t.measured_s)),
        ("end".into(), words::stopped_by(s.stopped_by).into()),
        ("complete".into(), if s.is_complete { "yes".into() } else { "no".into() }),
        ("seconds recorded".into(), count(s.timeline.len() as u64)),
        ("requests sent".into(), count(t.requests_sent)),
        ("requests completed".into(), count(t.requests)),
        ("in flight at the end".into(), count(t.in_flight_at_end)),
        ("arrivals not started".into(), count(t.arrivals_not_started)),
        ("iterations".into(), count(t.iterations)),
        ("iterations not completed".into(), words::iterations_lost(s).join(", ")),
        ("bytes received".into(), format!("{} ({} of bodies)", bytes(t.bytes_in), bytes(t.body_bytes))),
        ("bytes sent".into(), bytes(t.bytes_out)),
    ];
    for gap in &s.gaps {
        let text = format!("{} to {}: {}", chosen_s(gap.from_s), chosen_s(gap.to_s), gap.reason);
        rows.push(("gap".into(), text));
    }
    let versions =
        format!("plimsoll {}, JSON document {SCHEMA_VERSION}, plan {}", s.tool_version, s.plan.version);
    rows.push(("versions".into(), versions));
    definitions(rows)
}

fn definitions(rows: Vec<(String, String)>) -> Block {
    let known = rows.into_iter().filter(|(_, text)| !text.is_empty());
    Block::Facts(known.map(|(name, text)| Fact::of(name, Value::Text(text))).collect())
}

fn workloads(s: &Summary) -> Block {
    let known = |n: Option<u64>| n.map_or(Value::Missing, Value::Count).into();
    let table = Table::of("workloads", "Load models", &s.workloads)
        .column(Column::text("name"), |workload| Cell::text(&workload.name))
        .column(Column::text("model"), |workload| Cell::text(workload.model))
        .column(Column::number("peak users or rate"), |workload| Value::Quantity(workload.peak).into())
        .column(Column::number("connections"), |workload| Cell::count(workload.connections))
        .column(Column::number("requests"), |workload| known(workload.requests))
        .column(Column::number("errors"), |workload| known(workload.errors))
        .column(Column::number("rate"), |workload| {
            workload.rate_per_s.map_or(Value::Missing, Value::Rate).into()
        });
    Block::Table(table.done())
}

fn stages_of(plan: &Outline) -> Block {
    let mut begin_ns = 0u64;
    let stages: Vec<(u64, &Stage)> = plan
        .load
        .profile()
        .stages
        .iter()
        .map(|stage| {
            let from_ns = begin_ns;
            begin_ns = begin_ns.saturating_add(stage.duration_ns);
            (from_ns, stage)
        })
        .collect();
    let to = match &plan.load {
        Load::Closed { .. } => "users at the end",
        Load::Open { .. } => "arrivals/s at the end",
    };
    let length = |ns: u64| Cell::number(chosen_ns(ns), Some(ns as f64));
    let table = Table::of("stages", "Load stages", &stages)
        .column(Column::number("start"), |(from_ns, _)| length(*from_ns))
        .column(Column::number("duration"), |(_, stage)| length(stage.duration_ns))
        .column(Column::number(to), |(_, stage)| Value::Quantity(stage.to).into());
    Block::Table(table.done())
}

fn machine(e: &Environment) -> Block {
    let cpus = match e.cpus_online {
        online if online > e.cpus => format!("{} of {online}, {}", e.cpus, e.cpu_model),
        _ => format!("{}, {}", e.cpus, e.cpu_model),
    };
    let rows = [
        ("host", e.host.clone()),
        ("kernel", e.kernel.clone()),
        ("CPUs", cpus),
        ("memory", bytes(e.memory_bytes)),
        ("open files", format!("{} (hard limit {})", count(e.nofile_soft), count(e.nofile_hard))),
        ("ephemeral ports", format!("{}–{}", e.port_low, e.port_high)),
        ("target addresses", e.addresses.join(", ")),
        ("first connection", chosen_ns(e.first_connect_ns)),
        ("target on the same machine", if e.is_same_machine { "yes".into() } else { "no".into() }),
    ];
    definitions(rows.map(|(name, text)| (name.to_owned(), text)).into())
}

fn again(s: &Summary, run_file: Option<&str>) -> Vec<Block> {
    let said = |text: &str| sentence(Role::Plain, text);
    let mut blocks = match repeat::command(&s.plan) {
        Some(command) => vec![said("Run the same load:"), Block::Command(command)],
        None => {
            let text = "Run the same load. Replace `FILE.yaml` with the plan of this run (the record does not \
                        contain its name), and add the same `--set` values, if any:";
            let command = format!("plimsoll run FILE.yaml --seed {}", s.plan.seed);
            vec![said(text), Block::Command(command)]
        }
    };
    let Some(file) = run_file.map(words::shell_word) else { return blocks };
    blocks.push(said("Show this report as text, or all of its data as JSON:"));
    if !has_course(s) {
        let text = format!(
            "The JSON in this page omits `timeline`, the {} seconds of the run: the charts show them in fewer rows, \
             and the command below prints all of them.",
            count(s.timeline.len() as u64)
        );
        blocks.push(sentence(Role::Faint, text));
    }
    let commands = [format!("plimsoll report {file}"), format!("plimsoll report {file} --json")];
    blocks.extend(commands.map(Block::Command));
    blocks
}
