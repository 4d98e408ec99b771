//! What was measured: totals, errors, statuses, bytes.

use crate::document::{Block, Cell, Column, Fact, On, Role, Section, Table, Tone, Value};
use crate::format::{NONE, bytes, bytes_per_s, chosen_s, count, rate_per_s, ratio};
use crate::words;
use plimsoll_analysis::summary::{ErrorRow, Summary};

/// For the text outputs: a page has them at its head and in its sections.
pub fn section(s: &Summary) -> Section {
    let t = &s.totals;
    let requests = [
        rate_per_s(s.achieved.rate_per_s),
        format!("{} requests in {}", count(t.requests), chosen_s(t.measured_s)),
    ];
    let iterations = (t.iterations != t.requests).then(|| format!("{} iterations", count(t.iterations)));
    let redirects = (t.redirects > 0).then(|| format!("{} followed a redirect", count(t.redirects)));
    let lost = words::iterations_lost(s);
    let requests = requests.into_iter().chain(iterations).chain(lost).chain(redirects).collect();
    let errors = if t.errors > 0 { format!(" ({})", ratio(t.error_ratio)) } else { String::new() };
    let errors = vec![format!("{}{errors}", count(t.errors))];
    let tone = if t.errors > 0 { Tone::Fail } else { Tone::Note };
    let mut sorted: Vec<&ErrorRow> = s.errors.iter().filter(|row| row.count > 0).collect();
    sorted.sort_by(|a, b| b.count.cmp(&a.count).then(a.class.cmp(b.class)));
    let statuses: Vec<String> =
        s.status_codes.iter().map(|(status, n)| format!("{status} × {}", count(*n))).collect();
    let per_s = |n: u64| if t.measured_s > 0.0 { bytes_per_s(n as f64 / t.measured_s) } else { NONE.into() };
    let traffic = vec![
        format!("in {} ({})", bytes(t.bytes_in), per_s(t.bytes_in)),
        format!("bodies {}", bytes(t.body_bytes)),
        format!("out {} ({})", bytes(t.bytes_out), per_s(t.bytes_out)),
    ];
    let fact = |label, facts| Fact::of(label, Value::Facts(facts));
    let told = (!statuses.is_empty()).then(|| fact("statuses", statuses));
    let blocks = vec![
        Block::Facts(vec![fact("requests", requests).led(Tone::Note), fact("errors", errors).led(tone)]),
        Block::Table(Table { indent: 10, ..classes(sorted) }),
        Block::Facts(told.into_iter().chain([fact("bytes", traffic)]).collect()),
    ];
    let aside = if t.warmup_s > 0.0 { "the warm-up left out" } else { "" };
    Section::new("figures", "Figures", blocks).brief("figures").aside(aside).indented().on(On::TEXT)
}

/// What failed how often, and what it means.
pub fn classes<'a>(failed: impl IntoIterator<Item = &'a ErrorRow>) -> Table {
    Table::of("errors", "Failures by class", failed)
        .column(Column::number("").on(On::TERMINAL), |row| Cell::errors(row.count))
        .column(Column::text("class").brief(""), |row| Value::Code(row.class.into()).into())
        .column(Column::text("side").brief("").role(Role::Soft), |row| Cell::text(words::side(row.side)))
        .column(Column::number("count").on(On::FULL), |row| Cell::count(row.count))
        .column(Column::text("meaning").brief("").role(Role::Soft).wrapped(), |row| Cell::text(row.sentence))
        .done()
}
