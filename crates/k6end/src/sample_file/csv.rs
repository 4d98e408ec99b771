//! Lines of CSV (RFC 4180 section 2, with line feeds only).

use super::target::TimeFormat;
use super::time;
use plimsoll_k6::settings::{SYSTEM_TAGS, Settings};
use std::fmt::Write as _;

/// System tags without a column.
const OF_METADATA: [&str; 2] = ["iter", "vu"];

pub(super) struct Csv {
    times: TimeFormat,
    /// System tags of the script, sorted.
    columns: Vec<&'static str>,
    /// Other system tags, which no column has.
    left_out: Vec<&'static str>,
}

impl Csv {
    pub(super) fn new(settings: &Settings, times: TimeFormat) -> Csv {
        let all = SYSTEM_TAGS.iter().map(|(name, _)| *name).filter(|name| !OF_METADATA.contains(name));
        let (mut columns, left_out): (Vec<_>, Vec<_>) = all.partition(|name| settings.has_system_tag(name));
        columns.sort_unstable();
        Csv { times, columns, left_out }
    }

    pub(super) fn header(&self) -> String {
        let mut names = vec!["metric_name", "timestamp", "metric_value"];
        names.extend(&self.columns);
        names.extend(["extra_tags", "metadata"]);
        names.join(",") + "\n"
    }

    pub(super) fn lines(
        &self,
        unix_ns: u64,
        values: &[(&str, f64)],
        tags: &[(&str, &str)],
        out: &mut String,
    ) {
        let mut rest = String::new();
        for column in &self.columns {
            rest.push(',');
            let value = tags.iter().find(|(name, _)| name == column).map_or("", |(_, value)| value);
            field(value, &mut rest);
        }
        let is_extra = |name: &str| !self.columns.contains(&name) && !self.left_out.contains(&name);
        let mut extra: Vec<String> = tags
            .iter()
            .filter(|(name, _)| is_extra(name))
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        extra.sort_unstable();
        rest.push(',');
        field(&extra.join("&"), &mut rest);
        // No sample has metadata.
        rest.push(',');
        let time = time::text(unix_ns, self.times);
        for (name, value) in values {
            // Writing to a text cannot fail.
            let _ = writeln!(out, "{name},{time},{value:.6}{rest}");
        }
    }
}

fn field(text: &str, out: &mut String) {
    if text.contains([',', '"', '\r', '\n']) || text.starts_with(' ') {
        out.push('"');
        out.push_str(&text.replace('"', "\"\""));
        out.push('"');
    } else {
        out.push_str(text);
    }
}
