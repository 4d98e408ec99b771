//! `open` and `http2-open`: arrivals at a rate. They are compared with the ideal grid of 1/rate, as the server sees
//! them, and with each arrival's intended start, in plimsoll's own record; and with the machine's own lateness in the
//! same round.

use super::options::Options;
use super::report::Report;
use super::target::{RawServer, remove_run_files};
use super::tools::{OWN, Roster, Tool, Values, targets_file};
use super::{CONNECTIONS, Context, RATE_PER_S, child, floor, maths, own};
use chore::Outcome;
use serde_json::Value;
use std::collections::BTreeMap;

/// The server's view of one run.
#[derive(Debug)]
struct Grid {
    rate_per_s: f64,
    gap_us: [f64; 3],
    /// Distance from the best-fitting ideal grid: p50, p99, max.
    off_us: [f64; 3],
}

/// Column names and values of one run; the table has medians over the rounds.
type Row = Vec<(&'static str, f64, &'static str)>;

/// Where plimsoll's JSON report contains its schedule lag, the number of sent requests, and the number of unsent ones.
const LATE_P50_NS: &str = "/client/schedule_lag/p50_ns";
const LATE_P99_NS: &str = "/client/schedule_lag/p99_ns";
const SENT: &str = "/totals/requests_sent";
const NEVER_STARTED: &str = "/totals/arrivals_not_started";

/// What carries the arrivals.
struct Setting {
    bench: &'static str,
    what: &'static str,
    connections: u32,
    streams: u32,
    rate_per_s: u32,
    /// Columns of plimsoll's row, and the measures of goals that they are.
    measures: &'static [(&'static str, &'static str)],
}

pub fn run(context: &Context, roster: &Roster, options: &Options, report: &mut Report) -> Outcome {
    let setting = Setting {
        bench: "open",
        what: "10,000 arrivals per second over 100 connections",
        connections: CONNECTIONS,
        streams: 1,
        rate_per_s: RATE_PER_S,
        measures: &[
            ("own p50", "open.own_p50_us"),
            ("off the grid p50", "open.grid_p50_us"),
            ("unaccounted", "open.unaccounted"),
            ("own p99 over floor", "open.own_p99_over_floor_us"),
        ],
    };
    all(&setting, roster.open(), context, roster, options, report)
}

/// The same over the streams of a few connections of HTTP/2.
pub fn http2(context: &Context, roster: &Roster, options: &Options, report: &mut Report) -> Outcome {
    let setting = Setting {
        bench: "http2-open",
        what: "10,000 arrivals per second over 10 connections of HTTP/2 with 10 streams each",
        connections: 10,
        streams: 10,
        rate_per_s: RATE_PER_S,
        measures: &[
            ("own p50", "http2-open.own_p50_us"),
            ("unaccounted", "http2-open.unaccounted"),
            ("own p99 over floor", "http2-open.own_p99_over_floor_us"),
        ],
    };
    all(&setting, roster.http2_open(), context, roster, options, report)
}

/// Arrivals that a script serves.
pub fn script(context: &Context, roster: &Roster, options: &Options, report: &mut Report) -> Outcome {
    let setting = Setting {
        bench: "script-open",
        what: "5,000 arrivals per second that a script serves, 100 users",
        connections: CONNECTIONS,
        streams: 1,
        rate_per_s: 5_000,
        measures: &[
            ("own p50", "script-open.own_p50_us"),
            ("own p99 over floor", "script-open.own_p99_over_floor_us"),
            ("unaccounted", "script-open.unaccounted"),
        ],
    };
    all(&setting, roster.script_open(), context, roster, options, report)
}

fn all(
    setting: &Setting,
    mut tools: Vec<Tool>,
    context: &Context,
    roster: &Roster,
    options: &Options,
    report: &mut Report,
) -> Outcome {
    let server = RawServer::start(context, true)?;
    let url = server.url("/");
    std::fs::write(targets_file(&context.folder), format!("GET {url}\n"))
        .map_err(|e| format!("cannot write: {e}"))?;
    let (secs, folder) = (options.open_secs, &context.folder);
    let (connections, streams) = (setting.connections, setting.streams);
    let values = Values { url: &url, connections, streams, secs, rate_per_s: setting.rate_per_s, folder };
    let mut rows: BTreeMap<&'static str, Vec<Row>> = BTreeMap::new();
    for round in 1..=options.rounds {
        tools.reverse();
        let floor = floor::measure(context, secs.min(2))?;
        let row = vec![
            ("late p50", floor.p50_us, "us"),
            ("late p99", floor.p99_us, "us"),
            ("late max", floor.max_us, "us"),
            ("stolen", floor.stolen_percent, "%"),
        ];
        keep(setting.bench, "(machine floor)", round, row, &mut rows, report);
        let mut kept = Vec::new();
        for tool in tools {
            match one(setting.bench, &server, &tool, &values, context, roster) {
                Ok(mut row) => {
                    if let Some(own_p99) = cell(&row, "own p99") {
                        row.push(("own p99 over floor", own_p99 - floor.p99_us, "us"));
                    }
                    keep(setting.bench, tool.name, round, row, &mut rows, report);
                    kept.push(tool);
                }
                Err(sentence) if !tool.own() && !context.smoke => report.note(&sentence),
                Err(sentence) => return Err(sentence),
            }
        }
        tools = kept;
    }
    tables(setting, &rows, &tools, options, report);
    for &(column, key) in setting.measures {
        report.measure(key, rows.get(OWN).and_then(|rounds| middle(rounds, column)));
    }
    Ok(())
}

fn keep(
    bench: &'static str,
    tool: &'static str,
    round: usize,
    row: Row,
    rows: &mut BTreeMap<&'static str, Vec<Row>>,
    report: &mut Report,
) {
    let shown: Vec<String> =
        row.iter().map(|(name, value, unit)| format!("{name} {value:.2} {unit}")).collect();
    println!("round {round:2}  {tool:16} {}", shown.join(", "));
    for (name, value, unit) in &row {
        report.raw(bench, round, tool, name, *value, unit);
    }
    rows.entry(tool).or_default().push(row);
}

fn one(
    bench: &'static str,
    server: &RawServer,
    tool: &Tool,
    values: &Values,
    context: &Context,
    roster: &Roster,
) -> Result<Row, String> {
    let log = format!("{bench}-{}", tool.name);
    server.forget()?;
    remove_run_files(values.folder)?;
    let ended = child::run(context, &tool.program, &tool.arguments(values), &log, values.secs)?;
    let arrivals = server.arrivals()?;
    let ideal = u64::from(values.rate_per_s) * u64::from(values.secs);
    let Some(seen) = grid(&arrivals, values.rate_per_s, values.secs) else {
        let words = child::last_words(context, &log);
        return Err(format!(
            "{} sent {} of {ideal} requests in bench {bench}\n{words}",
            tool.name,
            arrivals.len()
        ));
    };
    let mut row: Row = vec![
        ("requests", arrivals.len() as f64, "1"),
        ("rate error", 100.0 * (seen.rate_per_s / f64::from(values.rate_per_s) - 1.0), "%"),
        ("gap p50", seen.gap_us[0], "us"),
        ("gap p99", seen.gap_us[1], "us"),
        ("gap max", seen.gap_us[2], "us"),
        ("off the grid p50", seen.off_us[0], "us"),
        ("off the grid p99", seen.off_us[1], "us"),
        ("off the grid max", seen.off_us[2], "us"),
        ("CPU", ended.cpu_s(), "s"),
    ];
    if let Some(program) = roster.own().filter(|_| tool.own()) {
        let said = own::report(program, values.folder)?;
        own_cells(&said, ideal, arrivals.len() as u64, &mut row)?;
    }
    Ok(row)
}

/// Lateness by its own record, and the arrivals that are lost silently: those neither sent nor reported as unsent, and
/// those reported as sent that the server never saw (or vice versa).
fn own_cells(said: &Value, ideal: u64, served: u64, row: &mut Row) -> Outcome {
    let number = |place: &str| own::number(said, place);
    row.push(("own p50", number(LATE_P50_NS)? / 1000.0, "us"));
    row.push(("own p99", number(LATE_P99_NS)? / 1000.0, "us"));
    let (sent, arrivals_not_started) = (number(SENT)?, number(NEVER_STARTED)?);
    let missing = (ideal as f64 - sent - arrivals_not_started).max(0.0);
    row.push(("unaccounted", missing + (sent - served as f64).abs(), "1"));
    Ok(())
}

/// The server's stamps compared with the grid. The first 5% (connecting) and the part after 98% of the planned time
/// are left out. The grid's origin is free, so the median deviation is subtracted. `None` if there are too few
/// stamps for a grid.
fn grid(arrivals: &[u64], rate_per_s: u32, secs: u32) -> Option<Grid> {
    let (&first, planned_ns) = (arrivals.first()?, f64::from(secs) * 1e9);
    let (low, high) = (first + (planned_ns * 0.05) as u64, first + (planned_ns * 0.98) as u64);
    let window: Vec<u64> = arrivals.iter().copied().filter(|t| (low..=high).contains(t)).collect();
    if window.len() < 100 {
        return None;
    }
    let (begin, end) = (window[0], window[window.len() - 1]);
    let step_ns = 1e9 / f64::from(rate_per_s);
    let mut gaps: Vec<f64> =
        window.windows(2).map(|pair| pair[1].saturating_sub(pair[0]) as f64 / 1e3).collect();
    let deviations: Vec<f64> = window
        .iter()
        .enumerate()
        .map(|(i, &t)| t.saturating_sub(begin) as f64 - i as f64 * step_ns)
        .collect();
    let origin = maths::median(&deviations)?;
    let mut off: Vec<f64> = deviations.iter().map(|d| (d - origin).abs() / 1e3).collect();
    gaps.sort_by(f64::total_cmp);
    off.sort_by(f64::total_cmp);
    let three = |sorted: &[f64]| {
        Some([maths::at_rank(sorted, 0.5)?, maths::at_rank(sorted, 0.99)?, maths::at_rank(sorted, 1.0)?])
    };
    let rate_per_s = (window.len() - 1) as f64 / ((end - begin) as f64 / 1e9);
    Some(Grid { rate_per_s, gap_us: three(&gaps)?, off_us: three(&off)? })
}

fn cell(row: &Row, column: &str) -> Option<f64> {
    row.iter().find(|cell| cell.0 == column).map(|cell| cell.1)
}

/// Median of a column over the rounds.
fn middle(rounds: &[Row], column: &str) -> Option<f64> {
    maths::median(&rounds.iter().filter_map(|row| cell(row, column)).collect::<Vec<_>>())
}

fn tables(
    setting: &Setting,
    rows: &BTreeMap<&'static str, Vec<Row>>,
    tools: &[Tool],
    options: &Options,
    report: &mut Report,
) {
    let ideal = setting.rate_per_s * options.open_secs;
    let mut text = format!("{} rounds x {} s, medians.\n\n", options.rounds, options.open_secs);
    text.push_str(&format!(
        "| generator | requests ({ideal}) | rate error % | gap p50 / p99 / max us | off the grid p50 / p99 / max us \
         | CPU-s | own record: late p50 / p99 us | unaccounted |\n"
    ));
    text.push_str("|---|---|---|---|---|---|---|---|\n");
    for (name, rounds) in rows.iter().filter(|(name, _)| !name.starts_with('(')) {
        let show = |column: &str, digits: usize| {
            middle(rounds, column).map_or("-".to_string(), |value| format!("{value:.digits$}"))
        };
        text.push_str(&format!(
            "| {name} | {} | {} | {} / {} / {} | {} / {} / {} | {} | {} / {} | {} |\n",
            show("requests", 0),
            show("rate error", 2),
            show("gap p50", 0),
            show("gap p99", 0),
            show("gap max", 0),
            show("off the grid p50", 0),
            show("off the grid p99", 0),
            show("off the grid max", 0),
            show("CPU", 2),
            show("own p50", 2),
            show("own p99", 1),
            show("unaccounted", 0),
        ));
    }
    if let Some(rounds) = rows.get("(machine floor)") {
        let at = |column| middle(rounds, column).unwrap_or(f64::NAN);
        text.push_str(&format!(
            "\nThe machine's own floor, other core busy: late p50 {:.2} us, p99 {:.1} us, max {:.0} us; \
             {:.2}% stolen.\n",
            at("late p50"),
            at("late p99"),
            at("late max"),
            at("stolen")
        ));
    }
    let commands: Vec<String> = tools.iter().map(Tool::describe).collect();
    report.section(setting.bench, setting.what, &commands, &text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_perfect_grid_has_no_deviation_and_a_shifted_half_has_one() {
        let perfect: Vec<u64> = (0..10_000).map(|i| 5_000_000 + i * 100_000).collect();
        let seen = grid(&perfect, 10_000, 1).unwrap();
        assert!(
            (seen.rate_per_s - 10_000.0).abs() < 0.001
                && seen.off_us == [0.0; 3]
                && seen.gap_us == [100.0; 3]
        );
        // Late by 0, 10, 20, and 30 us alternately: the best origin is in the middle, and half of them are within 5 to
        // 15 us of it.
        let uneven: Vec<u64> = (0..10_000).map(|i| 5_000_000 + i * 100_000 + (i % 4) * 10_000).collect();
        let seen = grid(&uneven, 10_000, 1).unwrap();
        assert!((5.0..=15.0).contains(&seen.off_us[0]) && seen.gap_us[2] == 110.0, "{seen:?}");
    }

    #[test]
    fn a_handful_of_arrivals_is_not_a_grid() {
        assert!(grid(&[], 10_000, 1).is_none());
        assert!(grid(&[1, 2, 3], 10_000, 1).is_none());
    }

    #[test]
    fn a_reported_unsent_arrival_is_not_lost_silently() {
        let mut row = Row::new();
        let lag = serde_json::json!({"p50_ns": 180, "p99_ns": 40_000});
        let totals = serde_json::json!({"requests_sent": 96, "arrivals_not_started": 3});
        let said = serde_json::json!({"client": {"schedule_lag": lag}, "totals": totals});
        own_cells(&said, 100, 95, &mut row).unwrap();
        assert_eq!(row, [("own p50", 0.18, "us"), ("own p99", 40.0, "us"), ("unaccounted", 2.0, "1")]);
        assert!(own_cells(&Value::Null, 100, 95, &mut row).unwrap_err().contains(LATE_P50_NS));
    }
}
