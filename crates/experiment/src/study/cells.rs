//! Groups runs into cells, excludes invalid ones, and builds the row of each cell.

use super::{
    CellRow, CellThreshold, Estimate, ExcludedRun, Finding, LittleRow, StudyAsked, clusters, laws, pool,
    settings_text, watched,
};
use plimsoll_analysis::digest::{Digest, Level};
use plimsoll_analysis::ratio;
use plimsoll_plan::experiment::{Setting, number};
use plimsoll_plan::phrase::{chosen_ns, chosen_s, count, counted, duration_ns, ratio as percent};

/// The parameters with different values, in order.
pub(super) struct Axes {
    pub all: Vec<AxisInfo>,
}

pub(super) struct AxisInfo {
    pub name: String,
    /// Text and, if it is numeric, number, in order.
    pub values: Vec<(String, Option<f64>)>,
}

impl AxisInfo {
    /// Whether the values can be the x axis of a curve: at least two, and all numeric.
    pub fn is_numeric(&self) -> bool {
        self.values.len() > 1 && self.values.iter().all(|(_, n)| n.is_some())
    }

    fn place(&self, value: &str) -> usize {
        self.values.iter().position(|(text, _)| text == value).unwrap_or(usize::MAX)
    }
}

impl Axes {
    pub fn names(&self) -> Vec<String> {
        self.all.iter().map(|axis| axis.name.clone()).collect()
    }

    pub fn number(&self, row: &CellRow, axis: &str) -> Option<f64> {
        row.setting(axis).and_then(number)
    }
}

/// Returns one row per cell, sorted by the parameters: names in order of appearance, numbers by size.
pub(super) fn table(digests: &[Digest], asked: &StudyAsked) -> (Axes, Vec<CellRow>) {
    let settings = settings(digests);
    let axes = axes(&settings);
    let mut cells: Vec<(Vec<Setting>, Vec<&Digest>)> = Vec::new();
    for (own, digest) in settings.into_iter().zip(digests) {
        match cells.iter_mut().find(|(settings, _)| *settings == own) {
            Some((_, runs)) => runs.push(digest),
            None => cells.push((own, vec![digest])),
        }
    }
    let place = |own: &[Setting]| -> Vec<usize> {
        let value =
            |axis: &AxisInfo| own.iter().find(|s| s.parameter == axis.name).map(|s| axis.place(&s.value));
        axes.all.iter().map(|axis| value(axis).unwrap_or(usize::MAX)).collect()
    };
    cells.sort_by_key(|(own, _)| place(own));
    let table = cells.into_iter().map(|(own, runs)| row(own, &runs, asked)).collect();
    (axes, table)
}

/// Returns the settings of each run. Runs outside of an experiment differ in their level, and in target and name if
/// there are several.
fn settings(digests: &[Digest]) -> Vec<Vec<Setting>> {
    let differs = |of: fn(&Digest) -> &str| digests.iter().any(|d| of(d) != of(&digests[0]));
    let named = |axis: &str, value: &str| Setting { parameter: axis.into(), value: value.into() };
    let (names, targets) = (differs(|d| &d.name), differs(|d| &d.target));
    let level = |digest: &Digest| match digest.level {
        Level::Users(n) => named("users", &n.to_string()),
        Level::Rate(n) => named("rate", &n.to_string()),
    };
    let free = |digest: &Digest| {
        let mut own = Vec::new();
        if names {
            own.push(named("run", &digest.name));
        }
        if targets {
            own.push(named("target", &digest.target));
        }
        own.push(level(digest));
        own
    };
    let of = |digest: &Digest| match &digest.cell {
        // The runs of a search have the settings of their cell, and their own levels.
        Some(cell) if !cell.settings.is_empty() && cell.purpose.is_some() => {
            cell.settings.iter().cloned().chain([level(digest)]).collect()
        }
        Some(cell) if !cell.settings.is_empty() => cell.settings.clone(),
        _ => free(digest),
    };
    digests.iter().map(of).collect()
}

fn axes(settings: &[Vec<Setting>]) -> Axes {
    let mut all: Vec<AxisInfo> = Vec::new();
    for setting in settings.iter().flatten() {
        let at = all.iter().position(|axis| axis.name == setting.parameter).unwrap_or_else(|| {
            all.push(AxisInfo { name: setting.parameter.clone(), values: Vec::new() });
            all.len() - 1
        });
        if !all[at].values.iter().any(|(text, _)| *text == setting.value) {
            all[at].values.push((setting.value.clone(), number(&setting.value)));
        }
    }
    for axis in all.iter_mut().filter(|axis| axis.is_numeric()) {
        axis.values.sort_by(|a, b| a.1.unwrap_or(0.0).total_cmp(&b.1.unwrap_or(0.0)));
    }
    Axes { all }
}

/// Returns why a run is not valid.
fn flaw(digest: &Digest, min_duration_ns: u64) -> Option<String> {
    let least_s = min_duration_ns as f64 / 1e9;
    if !digest.complete {
        return Some("the record is incomplete".into());
    }
    if digest.is_doubtful() {
        let why =
            digest.cautions.iter().find(|c| c.severity == plimsoll_analysis::summary::Severity::Inconclusive);
        return Some(why.map_or("inconclusive".into(), |c| format!("inconclusive: {}", c.title())));
    }
    // Allow for a run that ends slightly early.
    (digest.measured_s < least_s * 0.99)
        .then(|| format!("measured for {}, requested {}", chosen_s(digest.measured_s), chosen_s(least_s)))
}

fn row(settings: Vec<Setting>, runs: &[&Digest], asked: &StudyAsked) -> CellRow {
    let mut left_out = Vec::new();
    let mut good = Vec::new();
    for run in runs {
        match flaw(run, asked.min_duration_ns) {
            None => good.push(*run),
            Some(why) => {
                let repeat = run.cell.as_ref().map_or(0, |cell| cell.repeat);
                left_out.push(ExcludedRun { name: run.name.clone(), repeat, reason: why });
            }
        }
    }
    let valid = !good.is_empty();
    let used = if valid { good } else { runs.to_vec() };
    let pooled = pool::pooled(&used, asked.seed);
    let [rate_per_s, error_ratio, mean_ns, p50_ns, p90_ns, p95_ns, p99_ns] = pooled.figures;
    let n = used.len() as f64;
    let mean = |of: &dyn Fn(&Digest) -> f64| used.iter().map(|d| of(d)).sum::<f64>() / n;
    let mean_of = |of: &dyn Fn(&Digest) -> Option<f64>| {
        let known: Vec<f64> = used.iter().filter_map(|d| of(d)).filter(|v| v.is_finite()).collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
    };
    let level = used.iter().map(|d| d.level.value()).fold(0.0, f64::max);
    let floor_ns = used.iter().filter_map(|d| d.rtt_min_ns).min();
    CellRow {
        settings,
        level,
        is_users: used.iter().any(|d| matches!(d.level, Level::Users(_))),
        repeats: used.len(),
        excluded_runs: left_out,
        is_valid: valid,
        basis: pooled.basis,
        measured_s: used.iter().map(|d| d.measured_s).sum(),
        requests: used.iter().fold(0, |sum, d| sum.saturating_add(d.requests)),
        errors: used.iter().fold(0, |sum, d| sum.saturating_add(d.errors)),
        offered_rate_per_s: mean_of(&|d| d.offered_rate_per_s),
        iterations_per_s: mean(&|d| d.iterations_per_s),
        rate_per_s,
        error_ratio: with_rule_of_three(error_ratio, &used),
        mean_ns,
        p50_ns,
        p90_ns,
        p95_ns,
        p99_ns,
        in_flight: mean(&|d| d.in_flight_mean),
        bytes_in_per_s: mean(&|d| d.bytes_in_per_s),
        rtt_min_ns: floor_ns,
        service_p50_ns: mean_of(&|d| d.service_time.p50_ns.map(|ns| ns as f64)).map(|ns| ns as u64),
        first_byte_mean_ns: mean_of(&|d| d.first_byte_mean_ns),
        body_mean_ns: mean_of(&|d| d.body_mean_ns),
        little: little(&used),
        clusters: clusters::clusters(&pooled.response, floor_ns.unwrap_or(0)),
        monitor_metrics: watched::pooled(&used),
        bottleneck: watched::limiting(&used),
        thresholds: thresholds(&used),
    }
}

/// In the order of the runs.
fn thresholds(runs: &[&Digest]) -> Vec<CellThreshold> {
    let mut out: Vec<CellThreshold> = Vec::new();
    for judged in runs.iter().flat_map(|run| &run.thresholds) {
        let missed = usize::from(judged.is_missed());
        match out.iter_mut().find(|known| known.text == judged.text) {
            Some(known) => (known.runs, known.missed_runs) = (known.runs + 1, known.missed_runs + missed),
            None => out.push(CellThreshold {
                text: judged.text.clone(),
                is_default: judged.is_default,
                runs: 1,
                missed_runs: missed,
            }),
        }
    }
    out
}

/// Zero errors among n requests do not prove that there are none: the upper bound is 3 / n (Hanley & Lippman-Hand
/// 1983).
fn with_rule_of_three(errors: Estimate, runs: &[&Digest]) -> Estimate {
    let n: f64 = runs.iter().map(|d| d.requests as f64).sum();
    let high =
        errors.high.map(|high| if errors.value == Some(0.0) { ratio(3.0, n).clamp(high, 1.0) } else { high });
    Estimate { high, ..errors }
}

fn little(runs: &[&Digest]) -> LittleRow {
    let parts: Vec<LittleRow> = runs.iter().map(|d| laws::little(d)).collect();
    let mean = |of: fn(&LittleRow) -> f64| parts.iter().map(of).sum::<f64>() / parts.len() as f64;
    LittleRow {
        in_flight_mean: mean(|p| p.in_flight_mean),
        in_flight_computed: mean(|p| p.in_flight_computed),
        missing_ratio: mean(|p| p.missing_ratio),
        missing_per_request_ns: mean(|p| p.missing_per_request_ns),
        is_unexplained: parts.iter().any(|p| p.is_unexplained),
    }
}

pub(super) fn findings(table: &[CellRow], out: &mut Vec<Finding>) {
    let left: Vec<String> = table
        .iter()
        .flat_map(|row| {
            row.excluded_runs.iter().map(|run| format!("{}: {}", settings_text(&row.settings), run.reason))
        })
        .collect();
    if let Some(first) = left.first() {
        let of =
            |row: &CellRow| if row.is_valid { row.repeats + row.excluded_runs.len() } else { row.repeats };
        let runs: usize = table.iter().map(of).sum();
        let gone = table.iter().filter(|row| !row.is_valid).count();
        out.push(Finding {
            code: "runs_left_out",
            sentence: format!(
                "{} of {} excluded{}",
                count(left.len() as u64),
                counted(runs as u64, "run"),
                match gone {
                    0 => String::new(),
                    1 => "; 1 combination has no valid run".into(),
                    n => format!("; {} combinations have no valid run", count(n as u64)),
                }
            ),
            evidence: if left.len() > 1 {
                format!("{first}; and {} more", left.len() - 1)
            } else {
                first.clone()
            },
            advice: "check the cautions of these runs with `plimsoll report`, then rerun them".into(),
        });
    }
    let late: Vec<&CellRow> = table.iter().filter(|row| !row.clusters.is_empty()).collect();
    if let Some(row) = late.iter().max_by_key(|row| row.clusters.iter().map(|c| c.count).max()) {
        let named: Vec<String> = row
            .clusters
            .iter()
            .map(|c| format!("{} at {} to {}", count(c.count), duration_ns(c.from_ns), duration_ns(c.to_ns)))
            .collect();
        let sure = row.clusters.len() > 1;
        out.push(Finding {
            code: "retransmission_clusters",
            sentence: format!(
                "response times cluster at {}: {} delayed {} of the requests by {}{}",
                if sure { "retransmission timeouts" } else { "a retransmission timeout" },
                row.clusters[0].delay.cause(),
                percent(row.clusters.iter().map(|c| c.ratio).sum()),
                chosen_ns(row.clusters[0].delay_ns),
                if sure { " or more" } else { "" }
            ),
            evidence: format!("{}: {}", settings_text(&row.settings), named.join(", ")),
            advice:
                "find the packet loss or the full accept queue: count retransmits, use keep-alive, raise the \
                     listen backlog"
                    .into(),
        });
    }
}
