//! The machines of a merged run alongside each other: their share, their start, and whether one differs.

use crate::document::{Block, Cell, Column, List, On, Role, Section, Table, Tone, Value, sentence};
use crate::format::{chosen_s, quantile_name, quantity};
use crate::words;
use plimsoll_analysis::summary::{GeneratorRow, Summary};
use plimsoll_plan::phrase::duration_ns;

/// A p99 this many times that of the others is mentioned.
const DIFFERS: f64 = 1.5;

/// Shows their percentiles next to the merged ones, which come from merged histograms and not from these.
pub fn section(s: &Summary) -> Section {
    let section = |blocks| Section::new("machines", "Load generators", blocks).indented();
    if s.generators.len() < 2 {
        return section(Vec::new());
    }
    let first_ns = s.generators.iter().map(|origin| origin.started_unix_ns).min().unwrap_or_default();
    let rate = |per_s: Option<f64>| per_s.map_or(Value::Missing, Value::Rate).into();
    let host = |row: &GeneratorRow| {
        Cell::text(row.name()).tail(Tone::Doubt, if row.is_complete { "" } else { "(incomplete)" })
    };
    let later = |row: &GeneratorRow| Value::Nanoseconds((row.started_unix_ns - first_ns) as f64).into();
    let table = Table::of("machines", "Load generators", &s.generators)
        .column(Column::text("load generator").brief(""), host)
        .column(Column::text("share").role(Role::Soft), |row| Cell::text(&row.share))
        .column(Column::number("requests").on(On::TEXT), |row| Cell::count(row.requests))
        .column(Column::number("rate"), |row| rate(Some(row.rate_per_s)))
        .column(Column::number("offered").on(On::HTML), |row| rate(row.offered_rate_per_s))
        .column(Column::number("errors"), |row| Cell::errors(row.errors))
        .column(Column::number("p50"), |row| Cell::quantile(row.quantile(0.5)))
        .column(Column::number("p99"), |row| Cell::quantile(row.quantile(0.99)))
        .column(Column::number("max"), |row| Cell::quantile(row.longest()))
        .column(Column::number("schedule lag p99").brief("lag p99"), |row| {
            Cell::quantile(row.schedule_lag.quantile(0.99))
        })
        .column(Column::number("schedule lag max").on(On::HTML), |row| {
            Cell::nanoseconds(row.schedule_lag.max_ns)
        })
        .column(Column::number("requests").on(On::HTML), |row| Cell::count(row.requests))
        .column(Column::number("started later by").on(On::HTML), later)
        .column(Column::number("duration").on(On::HTML), |row| {
            Cell::number(chosen_s(row.elapsed_s), Some(row.elapsed_s))
        })
        .column(Column::text("remark").on(On::HTML), |row| Cell::text(remark(s, row)))
        .worst_first(|row| row.errors, |row, q| if q < 0.9 { row.p50_ns } else { row.p99_ns });
    let by_label = Table::of("labels", "Load generators by label", &s.labels)
        .column(Column::text("label"), |row| Cell::text(format!("{}={}", row.label, row.value)))
        .column(Column::number("agents"), |row| Cell::count(row.agents))
        .column(Column::number("requests"), |row| Cell::count(row.requests))
        .column(Column::number("rate"), |row| rate(Some(row.rate_per_s)))
        .column(Column::number("errors"), |row| Cell::errors(row.errors))
        .column(Column::number("p50"), |row| Cell::quantile(row.quantile(0.5)))
        .column(Column::number("p99"), |row| Cell::quantile(row.quantile(0.99)))
        .column(Column::number("max"), |row| Cell::quantile(row.longest()));
    let lead = "The results on this page include all of them. Percentiles come from merged histograms, not from \
                these rows.";
    let mut blocks = vec![sentence(Role::Lead, lead).only(On::HTML), Block::Table(table.done())];
    if !s.labels.is_empty() {
        blocks.push(Block::Table(by_label.done()));
    }
    let said = words::outlier_notes(s);
    blocks.extend(said.iter().map(|said| sentence(Role::Plain, said).only(On::DRAWN)));
    let list = List { items: said, brief: usize::MAX, most: usize::MAX };
    blocks.push(Block::List(list).only(On::MARKDOWN));
    if s.generators.iter().any(|row| row.divergence.is_some()) {
        blocks.extend(generator_rows(s).into_iter().map(|block| block.only(On::HTML)));
    }
    section(blocks).aside("the results above include all of them")
}

/// Returns how a machine differs: it was truncated, or its times differ from those of the others. With too little data
/// for the test, its p99 is far above that of the fastest other machine.
fn remark(s: &Summary, row: &GeneratorRow) -> String {
    let mut words = Vec::new();
    if !row.is_complete {
        words.push("incomplete record".to_owned());
    }
    if let Some(agent) = row.agent.as_ref().filter(|agent| agent.start_delay_ns > agent.clock_bound_ns) {
        words.push(format!("began {} after the common start", duration_ns(agent.start_delay_ns)));
    }
    if let Some(apart) = &row.divergence {
        words.extend(Some(apart.sentence.clone()).filter(|said| !said.is_empty()));
        if apart.ratios.iter().any(|ratio| ratio.q == 0.99) {
            return words.join(", ");
        }
    }
    let others = s.generators.iter().filter(|other| !std::ptr::eq(*other, row));
    let least = others.filter_map(|other| other.p99_ns).min();
    if let (Some(own), Some(least)) = (row.p99_ns, least.filter(|ns| *ns > 0)) {
        let times = own as f64 / least as f64;
        if times >= DIFFERS {
            words.push(format!("p99 is {} times that of another", quantity(times)));
        }
    }
    words.join(", ")
}

/// The test with its numbers.
fn generator_rows(s: &Summary) -> Vec<Block> {
    let ratios: Vec<_> = s
        .generators
        .iter()
        .flat_map(|row| row.divergence.iter().flat_map(move |a| a.ratios.iter().map(move |r| (row, r))))
        .collect();
    let table = Table::of("machines-apart", "Times of each load generator compared with the others", &ratios)
        .column(Column::text("load generator"), |(row, _)| Cell::text(row.name()))
        .column(Column::text("response time"), |(_, r)| Cell::text(quantile_name(r.q)))
        .column(Column::number("ratio to the others"), |(_, r)| Value::Quantity(r.ratio).into())
        .column(Column::number("at least"), |(_, r)| Value::Quantity(r.low).into())
        .column(Column::number("at most"), |(_, r)| Value::Quantity(r.high).into())
        .column(Column::number("periods compared"), |(_, r)| Cell::count(r.windows));
    let lead = "Simultaneous periods are compared in pairs (t-test of the logarithms, 95% interval for all rows \
                together). A load generator differs if the interval excludes 1 and the difference is at least 5%.";
    vec![
        Block::Heading("Comparison of load generators".into()),
        sentence(Role::Lead, lead),
        Block::Table(table.done()),
    ]
}
