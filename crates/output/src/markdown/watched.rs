//! The system under test for READMEs and pull requests: all numbers in one table.

use super::{Table, escape, prose};
use crate::format::{NONE, chosen_s, ratio};
use crate::watched::{environment, findings, is_watched};
use plimsoll_analysis::summary::Summary;
use plimsoll_plan::phrase::watched as shown;

pub fn watched(s: &Summary, out: &mut String) {
    if !is_watched(s) {
        return;
    }
    let heads = ["monitor", "part", "number", "mean", "peak", "at", "limit", "peak of limit"];
    let mut table = Table::new("System under test", &heads);
    for monitor in &s.monitors {
        for row in &monitor.rows {
            table.row([
                escape(&monitor.name),
                escape(&row.part),
                escape(&row.metric.replace('_', " ")),
                shown(row.mean, row.unit),
                shown(row.max, row.unit),
                chosen_s((row.max_at_s * 10.0).round() / 10.0),
                row.limit.map_or_else(String::new, |limit| shown(limit, row.unit)),
                row.usage_peak.map_or_else(String::new, ratio),
            ]);
        }
        if monitor.rows.is_empty() {
            let why = monitor.first_lapse.as_ref().map_or("no sample", |lapse| lapse.why.as_str());
            let none = || NONE.to_owned();
            let nothing = format!("nothing: {}", prose(why));
            let rest = String::new;
            table.row([escape(&monitor.name), rest(), nothing, none(), none(), rest(), rest(), rest()]);
        }
    }
    if s.monitors.is_empty() {
        out.push_str("\n### System under test\n");
    } else {
        table.write(out);
    }
    out.push('\n');
    for text in findings(s) {
        out.push_str(&format!("- {}\n", prose(&text)));
    }
    for (of, text) in environment(s) {
        let of = if of.is_empty() { "environment".to_owned() } else { of };
        out.push_str(&format!("- {}: {}\n", escape(&of), prose(&text)));
    }
    if let Some(window) = &s.raw_window {
        out.push_str(&format!("- {}\n", escape(&window.sentence)));
    }
}
