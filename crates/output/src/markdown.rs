//! The report for READMEs and pull requests: the same figures in the same order, as CommonMark with tables.

mod script;
mod watched;

use crate::format::{
    NONE, at_least, bounds, bytes, chosen_s, count, duration_ns, maybe_f64_ns, maybe_ns, quantile,
    quantile_name, rate_per_s, ratio,
};
use crate::next::hints;
use crate::trust;
use crate::words::{self, Shown};
use plimsoll_analysis::summary::{Caution, SeriesRow, Summary, Times, Weight};
use plimsoll_chart::Chart;
use plimsoll_plan::phrase::is_harmful;

/// The report. What came from outside is escaped, so that a name can neither break a table nor become a link or a
/// tag.
pub fn to_string(s: &Summary) -> String {
    let mut out = format!("## {}: {}\n\n", words::outcome(s.verdict.result), prose(words::sentence(s)));
    let setting = words::setting(s);
    out.push_str(&format!("`{}` ({})\n", code(&s.name), escape(&setting.join(", "))));
    next(s, &mut out);
    cautions(s, &mut out);
    thresholds(s, &mut out);
    generator(s, &mut out);
    figures(s, &mut out);
    times(s, &mut out);
    bands(s, &mut out);
    script::checks(s, &mut out);
    script::samples(s, &mut out);
    script::parts(s, &mut out);
    requests(s, &mut out);
    script::streams(s, &mut out);
    origins(s, &mut out);
    watched::watched(s, &mut out);
    out.push_str(&format!("\n<sub>plimsoll {}</sub>\n", escape(&s.tool_version)));
    out
}

/// Pictures that lie beside the report, each with the path of its file: what they show is their text for those who do
/// not see them.
pub fn pictures(all: &[(&Chart, String)]) -> String {
    let mut out = String::from("\n### Pictures\n");
    for (chart, path) in all {
        let about = if chart.subtitle.is_empty() { "" } else { ": " };
        let about = escape(&format!("{}{about}{}", chart.title, chart.subtitle));
        // Between angle brackets blanks and parentheses mean nothing; brackets of its own would.
        let path = path.replace('\\', "/").replace('<', "%3C").replace('>', "%3E");
        let path: String = path.chars().map(|c| if is_harmful(c) { ' ' } else { c }).collect();
        let path = if path.contains([' ', '(', ')']) { format!("<{path}>") } else { path };
        out.push_str(&format!("\n![{about}]({path})\n"));
    }
    if all.is_empty() { String::new() } else { out }
}

/// Why the verdict is so and what to do, as on the page and in the terminal.
fn next(s: &Summary, out: &mut String) {
    let mut last = None;
    for hint in hints(s, None) {
        if last.replace(hint.is_next) != Some(hint.is_next) {
            out.push_str(if hint.is_next { "\n**Next**\n\n" } else { "\n**Why**\n\n" });
        }
        out.push_str(&format!("- {}\n", prose(&hint.text)));
    }
}

/// Before any figure, as in the terminal: doubts first.
fn cautions(s: &Summary, out: &mut String) {
    let mut sorted: Vec<&Caution> = s.cautions.iter().collect();
    sorted.sort_by_key(|c| c.weight);
    if !sorted.is_empty() {
        out.push_str("\n### Cautions\n\n");
    }
    for c in sorted {
        let (weight, title) = (words::weight(c.weight), escape(&c.title));
        out.push_str(&format!("- **{title}** ({weight}, `{}`): {}", code(c.code), prose(&c.evidence)));
        out.push_str(&if c.advice.is_empty() {
            "\n".into()
        } else {
            format!(". *Advice:* {}\n", prose(&c.advice))
        });
    }
}

fn thresholds(s: &Summary, out: &mut String) {
    if s.thresholds.is_empty() {
        return;
    }
    let mut table = Table::new("Thresholds", &["threshold", "observed", "margin", "met"]);
    for t in &s.thresholds {
        let few = if t.too_few_samples { " (too few samples)" } else { "" };
        let met = match words::standing(t) {
            "yes" => "yes".to_owned(),
            other => format!("**{other}**"),
        };
        let bounds = words::bounds(t);
        let bounds = if bounds.is_empty() { bounds } else { format!(", {bounds}") };
        let window = words::window(t);
        let window = if window.is_empty() { window } else { format!(", {window}") };
        let observed = words::observed(t) + &bounds + &window + few;
        table.row([format!("`{}`", code(&t.text)), escape(&observed), words::margin(t), met]);
    }
    table.write(out);
}

/// The trust box. Words instead of coloured signs: pages show neither colour nor a fixed width.
fn generator(s: &Summary, out: &mut String) {
    let mut table = Table::new("The load generator", &["", "", ""]);
    for row in trust::rows(s) {
        let sign = match row.weight {
            None => "ok",
            Some(Weight::Note) => "note",
            Some(Weight::Warning) => "**!**",
            Some(Weight::Inconclusive) => "**x**",
        };
        let facts: Vec<String> = row.facts.iter().map(|f| escape(f)).collect();
        table.row([sign.into(), escape(&row.label), facts.join("; ")]);
    }
    table.write(out);
}

fn figures(s: &Summary, out: &mut String) {
    let t = &s.totals;
    let mut table = Table::new("Figures", &["", ""]);
    table.row(["requests".into(), format!("{} in {}", count(t.requests), chosen_s(t.measured_s))]);
    table.row(["rate".into(), rate_per_s(s.achieved.rate_per_s)]);
    let lost = words::iterations_lost(s);
    if !lost.is_empty() {
        let all = format!("{} finished, {}", count(t.iterations), lost.join(", "));
        table.row(["iterations".into(), all]);
    }
    table.row(["errors".into(), format!("{} ({})", count(t.errors), ratio(t.error_ratio))]);
    for row in s.errors.iter().filter(|row| row.count > 0) {
        let what = format!("{} {}, {}", count(row.count), words::side(row.side), escape(row.sentence));
        table.row([format!("`{}`", code(row.class)), what]);
    }
    if !s.statuses.is_empty() {
        let all: Vec<String> =
            s.statuses.iter().map(|(status, n)| format!("{status}: {}", count(*n))).collect();
        table.row(["statuses".into(), escape(&all.join(", "))]);
    }
    let traffic =
        format!("{} in, {} out, {} of bodies", bytes(t.bytes_in), bytes(t.bytes_out), bytes(t.body_bytes));
    table.row(["bytes".into(), traffic]);
    table.write(out);
}

fn times(s: &Summary, out: &mut String) {
    let (response, service) = (&s.response_time, &s.service_time);
    let mut table = Table::new("Times", &["", "response time", "95 % interval", "service time"]);
    table.row(["min".into(), maybe_ns(response.min_ns), String::new(), maybe_ns(service.min_ns)]);
    for p in &response.percentiles {
        let (value, interval) = cell(response, p.q);
        table.row([quantile_name(p.q), value, interval, cell(service, p.q).0]);
    }
    table.row(["max".into(), escape(&words::max(response)), String::new(), escape(&words::max(service))]);
    table.row(["mean".into(), escape(&words::mean(response)), String::new(), escape(&words::mean(service))]);
    table.row([
        "sd".into(),
        maybe_f64_ns(response.std_dev_ns),
        String::new(),
        maybe_f64_ns(service.std_dev_ns),
    ]);
    table.row(["samples".into(), count(response.count), String::new(), count(service.count)]);
    if response.censored + service.censored > 0 {
        table.row(["cut off".into(), count(response.censored), String::new(), count(service.censored)]);
    }
    table.write(out);
}

/// Value and interval of a percentile, or why there is none.
fn cell(times: &Times, q: f64) -> (String, String) {
    match words::percentile(times, q) {
        Shown::Fact(p) if p.at_least => (escape(&at_least(p.value_ns)), String::new()),
        Shown::Fact(p) => {
            let bounds = bounds(p.value_ns, p.low_ns, p.high_ns).unwrap_or_default();
            (duration_ns(p.value_ns), escape(&bounds))
        }
        Shown::TooFew(has, needs) => (NONE.into(), words::too_few(has, needs)),
        Shown::Missing => (NONE.into(), String::new()),
    }
}

fn bands(s: &Summary, out: &mut String) {
    if s.bands.is_empty() {
        return;
    }
    let mut table = Table::new("Bands", &["response time", "share", "requests"]);
    let mut below = None;
    for band in &s.bands {
        table.row([escape(&words::band(band.up_to_ns, below)), ratio(band.ratio), count(band.count)]);
        below = band.up_to_ns.or(below);
    }
    if s.bands_cut_off > 0 {
        table.row(["cut off".into(), String::new(), count(s.bands_cut_off)]);
    }
    table.write(out);
}

fn requests(s: &Summary, out: &mut String) {
    if s.requests.len() < 2 {
        return;
    }
    let mut table = Table::new("Requests", &["request", "finished", "errors", "rate", "p50", "p99", "max"]);
    for row in &s.requests {
        let percentile = |row: &SeriesRow, q| cell(&row.response_time, q).0;
        table.row([
            escape(&row.name),
            count(row.requests),
            count(row.errors),
            rate_per_s(row.rate_per_s),
            percentile(row, 0.5),
            percentile(row, 0.99),
            escape(&words::max(&row.response_time)),
        ]);
    }
    table.write(out);
}

fn origins(s: &Summary, out: &mut String) {
    if s.origins.len() < 2 {
        return;
    }
    let mut table = Table::new(
        "Machines",
        &["machine", "share", "requests", "errors", "rate", "p50", "p99", "max", "lateness p99"],
    );
    for row in &s.origins {
        table.row([
            escape(&row.host) + if row.complete { "" } else { " (cut off)" },
            escape(&row.share),
            count(row.requests),
            count(row.errors),
            rate_per_s(row.rate_per_s),
            escape(&quantile(row.quantile(0.5))),
            escape(&quantile(row.quantile(0.99))),
            escape(&quantile(row.longest())),
            quantile(row.lateness.quantile(0.99)),
        ]);
    }
    table.write(out);
    for said in words::apart(s) {
        out.push_str(&format!("\n- {}", escape(&said)));
    }
    if s.origins.iter().any(|row| row.apart.is_some()) {
        out.push('\n');
    }
}

/// A table with a heading; cells are escaped already.
struct Table {
    text: String,
}

impl Table {
    fn new(title: &str, heads: &[&str]) -> Table {
        let rule = "|---".repeat(heads.len());
        Table { text: format!("\n### {title}\n\n| {} |\n{rule}|\n", heads.join(" | ")) }
    }

    fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.text.push_str(&format!("| {} |\n", cells.join(" | ")));
    }

    fn write(self, out: &mut String) {
        out.push_str(&self.text);
    }
}

/// Text that means nothing to Markdown: marks are escaped, line breaks become blanks.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '|' | '\\' | '*' | '_' | '[' | ']' | '#' | '~' => out.extend(['\\', c]),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            c if is_harmful(c) => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// A text from outside that is to be no markup.
pub fn escaped(text: &str) -> String {
    escape(text)
}

/// A sentence with commands between backticks: those stay as they are, because they are there to be copied.
pub(crate) fn prose(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    // A name with a backtick of its own leaves an odd one: then none of them means anything.
    if parts.len().is_multiple_of(2) {
        return escape(text).replace('`', "'");
    }
    let part = |(at, part): (usize, &&str)| match at % 2 {
        0 => escape(part),
        _ => format!("`{}`", code(part)),
    };
    parts.iter().enumerate().map(part).collect()
}

/// Text between backticks: nothing can be escaped there but the bar of a table, and a backtick would end it.
pub(crate) fn code(text: &str) -> String {
    text.replace('`', "'").replace('|', "\\|").replace(is_harmful, " ")
}
