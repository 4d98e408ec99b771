//! The system under test: known facts, results of monitors, and conclusions from their metrics. The terminal has a line
//! or two for each monitor, Markdown one table of all metrics, and a page one table for each monitor.

use crate::document::{
    Block, Cell, Column, Fact, Folded, Inner, List, Mark, On, Role, Section, Table, Tone, Value, sentence,
};
use crate::format::{chosen_s, counted};
use crate::watched::{FULL, entries, environment, findings, is_watched};
use crate::words;
use plimsoll_analysis::summary::{MetricRow, MonitorRow, Summary};
use plimsoll_plan::phrase::watched as describe;

/// Maximum number of open rows of one monitor on a page; a machine with many disks has hundreds.
const OPEN: usize = 12;

/// For a page.
pub fn section(s: &Summary) -> Section {
    let section = |blocks| Section::new("system", "System under test", blocks);
    if !is_watched(s) {
        return section(Vec::new());
    }
    let found = findings(s);
    let mut blocks = Vec::new();
    if !found.is_empty() {
        blocks.push(list(found));
        if s.monitors.iter().any(|monitor| monitor.rows.iter().any(|row| row.p99_correlation.is_some())) {
            let said = "Correlation is not causation: both may have a common cause.";
            blocks.push(sentence(Role::Faint, said));
        }
    }
    blocks.push(Block::Charts(vec!["monitors-".into()]));
    let of = |of: String| if of.is_empty() { "from the file".into() } else { of };
    let told: Vec<Fact> =
        environment(s).into_iter().map(|(whose, text)| Fact::of(of(whose), Value::Text(text))).collect();
    if !told.is_empty() {
        blocks.extend([Block::Heading("Environment".into()), Block::Facts(told)]);
    }
    blocks.extend(s.monitors.iter().enumerate().flat_map(|(at, monitor)| one(s, at, monitor)));
    blocks.extend(s.time_range.as_ref().map(|window| sentence(Role::Faint, &window.sentence)));
    section(blocks)
}

fn one(s: &Summary, at: usize, monitor: &MonitorRow) -> Vec<Block> {
    let host = s.generators.get(monitor.generator as usize).filter(|_| s.generators.len() > 1);
    let of = words::watches(&monitor.name, &monitor.kind, &monitor.target);
    // Data of a coordinator are in the record of an agent, which did not see them.
    let place = host.map_or("", |row| match (&row.agent, &monitor.agent) {
        (Some(_), None) => "coordinator",
        _ => &row.host,
    });
    let said = [of.as_str(), place];
    let said: Vec<&str> = said.into_iter().filter(|part| !part.is_empty()).collect();
    let said = if said.is_empty() { String::new() } else { format!(" ({})", said.join(", ")) };
    let caption = format!("Metrics of the monitor {}", monitor.name);
    let figures = table(format!("monitor-{at}"), caption, [monitor].into_iter());
    let figures = match monitor.rows.len() {
        0 => sentence(Role::Plain, format!("no data: {}", why(monitor))),
        1..=OPEN => figures,
        n => {
            let title = format!("{n} metrics");
            Block::Folded(Folded { title, inner: Inner::Blocks(vec![figures]) })
        }
    };
    let first = monitor.first_missed_sample.as_ref();
    let first = first.map(|gap| format!(", the first at {}: {}", chosen_s(gap.at_s), gap.reason));
    let missing =
        format!("{} missing{}", counted(monitor.missed_samples, "sample"), first.unwrap_or_default());
    let is_missing = monitor.missed_samples > 0 && !monitor.rows.is_empty();
    let missing = is_missing.then(|| sentence(Role::Faint, missing));
    let heading = Block::Heading(format!("{}{said}", monitor.name));
    [heading, figures].into_iter().chain(missing).collect()
}

/// For text outputs.
pub fn text(s: &Summary) -> Section {
    let mut items = Vec::new();
    for monitor in s.monitors.iter().filter(|monitor| monitor.rows.is_empty()) {
        items.push(format!("{}: no data: {}", monitor.name, why(monitor)));
    }
    items.extend(findings(s));
    let of = |of: String| if of.is_empty() { "environment".to_owned() } else { of };
    items.extend(environment(s).into_iter().map(|(whose, text)| format!("{}: {text}", of(whose))));
    let window = s.time_range.as_ref().map(|window| window.sentence.clone());
    let told = window.clone().map(|text| sentence(Role::Faint, text));
    items.extend(window);
    let all = table("monitors".into(), "Metrics of all monitors".into(), s.monitors.iter());
    let in_full = [all, list(items)];
    let on_screen = [Block::Facts(brief(s)), list(findings(s))].into_iter().chain(told);
    let blocks = in_full.into_iter().map(|block| block.only(On::MARKDOWN));
    let blocks = blocks.chain(on_screen.map(|block| block.only(On::TERMINAL))).collect();
    let section = Section::new("system", "System under test", blocks);
    section.aside("means and peaks").indented()
}

/// The important metrics of each monitor; saturated ones are marked.
fn brief(s: &Summary) -> Vec<Fact> {
    let known = environment(s);
    let of = |name: &str| known.iter().find(|(of, _)| of == name).map(|(_, text)| Fact::new("", text));
    let mut facts: Vec<Fact> = of("").into_iter().collect();
    for monitor in &s.monitors {
        let all: Vec<(Option<Tone>, String)> = match monitor.rows.is_empty() {
            true => vec![(Some(Tone::Doubt), format!("no data: {}", why(monitor)))],
            false => {
                let all = entries(monitor).into_iter();
                all.map(|entry| (entry.is_full.then_some(Tone::Doubt), entry.text)).collect()
            }
        };
        facts.push(Fact::of(monitor.name.clone(), Value::Judged(all)));
        facts.extend(of(&monitor.name));
    }
    facts
}

fn list(items: Vec<String>) -> Block {
    Block::List(List { items, brief: usize::MAX, most: usize::MAX })
}

/// A metric and its owner.
type Row<'a> = (&'a MonitorRow, &'a MetricRow);

fn table<'a>(id: String, caption: String, monitors: impl Iterator<Item = &'a MonitorRow>) -> Block {
    let rows: Vec<Row> = monitors.flat_map(|one| one.rows.iter().map(move |row| (one, row))).collect();
    let name = |(_, row): &Row| {
        let part = if row.part.is_empty() { String::new() } else { format!("{}: ", row.part) };
        Cell::text(format!("{part}{}", row.metric.replace('_', " ")))
    };
    let figure = |of: fn(&MetricRow) -> Option<f64>| {
        move |(_, row): &Row| match of(row) {
            Some(x) => Cell::number(describe(x, row.unit), Some(x)),
            None => Value::Missing.into(),
        }
    };
    let rho = |(_, row): &Row| match &row.p99_correlation {
        Some(with) => Cell::number(format!("{:.2}", with.rho), Some(with.rho)),
        None => Value::Missing.into(),
    };
    let table = Table::of(id, caption, &rows)
        .column(Column::text("monitor").on(On::MARKDOWN), |(monitor, _)| Cell::text(&monitor.name))
        .column(Column::text("metric"), name)
        .column(Column::number("mean"), figure(|row| Some(row.mean)))
        .column(Column::number("peak"), figure(|row| Some(row.max)))
        .column(Column::number("at"), |(_, row)| {
            Cell::number(chosen_s((row.max_at_s * 10.0).round() / 10.0), Some(row.max_at_s))
        })
        .column(Column::number("last").on(On::HTML), figure(|row| Some(row.last)))
        .column(Column::number("limit"), figure(|row| row.limit))
        .column(Column::number("peak of limit"), |(_, row)| {
            row.usage_peak_ratio.map_or(Value::Missing, Value::Share).into()
        })
        .column(Column::number("with p99").on(On::HTML), rho)
        // Saturated for half of the measured seconds, as in the terminal.
        .marked(|(_, row)| row.at_limit_ratio.is_some_and(|share| share >= FULL).then_some(Mark::Bad));
    Block::Table(table.done())
}

/// Returns why a monitor has no data.
fn why(monitor: &MonitorRow) -> &str {
    monitor.first_missed_sample.as_ref().map_or("no samples", |lapse| lapse.reason.as_str())
}
