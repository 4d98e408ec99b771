//! Results of monitors, in the words that the terminal and Markdown share: the important metrics of a monitor, and the
//! conclusions from them.

use plimsoll_analysis::summary::{MetricRow, MonitorRow, SlopeVerdict, Summary};
use plimsoll_plan::phrase::{ratio, watched};

/// A metric of a monitor as text.
pub(crate) struct Entry {
    pub text: String,
    /// It was saturated.
    pub is_full: bool,
}

/// The most important metrics in order; the others are in the JSON document.
const FIRST: [&str; 25] = [
    "cpu",
    "busiest_thread",
    "cpu_main_thread",
    "eventloop_lag_p99",
    "eventloop_lag",
    "throttled",
    "rss",
    "memory_used",
    "memory",
    "heap_used",
    "heap_alloc",
    "fds",
    "connections",
    "clients",
    "active",
    "waiting",
    "locks_waiting",
    "requests",
    "request_time_p99",
    "upstream_response_time_p99",
    "run_queue",
    "goroutines",
    "tcp_listen_overflows",
    "tcp_retransmits",
    "tcp_time_wait",
];
/// Maximum number of metrics of a monitor without well-known names.
const UNNAMED: usize = 4;
/// Maximum number of metrics of a monitor with these names.
const MOST: usize = 7;
/// Saturated for this share of the seconds.
pub(crate) const FULL: f64 = 0.5;
/// Maximum number of findings of one kind; the JSON document has the others.
const TOLD: usize = 5;

/// Returns the important metrics of a monitor: saturated ones, and well-known ones.
pub(crate) fn entries(monitor: &MonitorRow) -> Vec<Entry> {
    let place = |row: &MetricRow| FIRST.iter().position(|name| row.metric.starts_with(name));
    let is_full = |row: &MetricRow| row.at_limit_ratio.is_some_and(|share| share >= FULL);
    let is_whole = |row: &&&MetricRow| row.part.is_empty();
    let mut rows: Vec<&MetricRow> = monitor.rows.iter().filter(|row| place(row).is_some()).collect();
    let wholes = rows.iter().filter(is_whole).count();
    if wholes > 0 {
        rows.retain(|row| row.part.is_empty());
    }
    // Exact names come before longer ones, such as `cpu` before `cpu_user`.
    rows.sort_by_key(|row| (place(row), row.metric.len()));
    rows.dedup_by_key(|row| (place(row), row.part.clone()));
    // A metric that was always 0 is omitted.
    rows.retain(|row| row.max != 0.0 || ["cpu", "rss"].contains(&row.metric.as_str()));
    rows.truncate(MOST);
    if rows.is_empty() {
        rows = monitor.rows.iter().take(UNNAMED).collect();
    }
    let has_whole = |row: &MetricRow| {
        rows.iter().any(|r| r.part.is_empty() && r.metric == row.metric) && !row.part.is_empty()
    };
    let full: Vec<&MetricRow> = monitor.rows.iter().filter(|row| is_full(row) && !has_whole(row)).collect();
    for row in full {
        if !rows.iter().any(|known| std::ptr::eq(*known, row)) {
            rows.push(row);
        }
    }
    rows.into_iter().map(|row| Entry { text: entry(row), is_full: is_full(row) }).collect()
}

/// Returns `cpu 0.950 cores, peak 1.40 cores (70%)`.
fn entry(row: &MetricRow) -> String {
    let part = if row.part.is_empty() { String::new() } else { format!("{} ", row.part) };
    let usage = row.usage_peak_ratio.map_or_else(String::new, |usage| format!(" ({})", ratio(usage)));
    let peak =
        if row.max == row.mean { String::new() } else { format!(", peak {}", watched(row.max, row.unit)) };
    format!("{part}{} {}{peak}{usage}", row.metric.replace('_', " "), watched(row.mean, row.unit))
}

/// Returns a metric by its monitor, its part, and its name.
pub(crate) fn named(monitor: &MonitorRow, row: &MetricRow) -> String {
    let part = if row.part.is_empty() { String::new() } else { format!("{}: ", row.part) };
    format!("{}: {part}{}", monitor.name, row.metric.replace('_', " "))
}

/// Returns the conclusions: limits first, then memory, then correlations with p99.
pub(crate) fn findings(s: &Summary) -> Vec<String> {
    let mut out: Vec<String> = s
        .saturated_resources
        .iter()
        .take(TOLD)
        .map(|p| format!("saturated: {} ({})", p.resource, p.evidence.text()))
        .collect();
    if let Some(limiting) = s.bottleneck.as_ref().filter(|_| s.saturated_resources.is_empty()) {
        out.push(format!("bottleneck: {limiting}"));
    }
    let rows = || s.monitors.iter().flat_map(|monitor| monitor.rows.iter().map(move |row| (monitor, row)));
    let slopes = rows().filter_map(|(monitor, row)| Some((monitor, row, row.slope.as_ref()?)));
    let moving = slopes.filter(|(.., slope)| slope.verdict != SlopeVerdict::Level);
    out.extend(
        moving.take(TOLD).map(|(monitor, row, slope)| format!("{} {}", named(monitor, row), slope.sentence)),
    );
    let mut with: Vec<_> = rows()
        .filter_map(|(monitor, row)| Some((named(monitor, row), row.p99_correlation.as_ref()?)))
        .collect();
    with.sort_by(|a, b| b.1.rho.abs().total_cmp(&a.1.rho.abs()));
    out.extend(with.into_iter().map(|(name, with)| format!("{name} {}", with.sentence)));
    out
}

/// Returns the known facts about the system: first those of the file, such as `server: Node 20; cpus: 2`, then those of
/// each monitor.
pub(crate) fn environment(s: &Summary) -> Vec<(String, String)> {
    let mut out: Vec<(String, Vec<String>)> = Vec::new();
    for row in &s.system_under_test {
        let of = row.monitor.clone().unwrap_or_default();
        let text = format!("{}: {}", row.name, row.value);
        match out.iter_mut().find(|(known, _)| *known == of) {
            // Several machines report the same fact once.
            Some((_, texts)) if texts.contains(&text) => {}
            Some((_, texts)) => texts.push(text),
            None => out.push((of, vec![text])),
        }
    }
    out.into_iter().map(|(of, texts)| (of, texts.join("; "))).collect()
}

/// Returns whether there is anything to show.
pub(crate) fn is_watched(s: &Summary) -> bool {
    !s.monitors.is_empty() || !s.system_under_test.is_empty()
}
