//! A study as a report: for each curve its table, its shape, and its fitted law; then joint results of all runs.

use super::says_nothing;
use super::{Group, doubt, errors, extent, groups, intervals, plus_minus, rate, sentences, time, watched};
use crate::document::{
    Block, Cell, Column, Course, Document, Fact, Finding, Findings, Form, Mark, On, Role, Rows,
};
use crate::document::{Section, Sentence, Table, Tone, Value, sentence};
use crate::format::{duration_f64_ns, rate_per_s, ratio};
use crate::terminal::chart::{Pool, top};
use plimsoll_experiment::study::{
    CellRow, Curve, CurvePoint, Estimate, Scaling, ScalingStep, Study, level_text, settings_text,
};

/// Widths from which a terminal has room for the mean and the intervals of p50, and for the p90.
const WITH_MEAN: usize = 80;
const WITH_MORE: usize = 104;

/// Returns the study without a page around it.
pub(super) fn report(study: &Study) -> Document {
    Document {
        tone: Tone::Note,
        name: Sentence::new(Role::Plain, ""),
        head: head(study),
        sections: curves(study).into_iter().chain([findings(study)]).collect(),
    }
}

/// Returns its subject and size.
pub(crate) fn head(study: &Study) -> Vec<Block> {
    let extent = format!("{}; {}", extent(study), intervals(study));
    vec![sentence(Role::Title, &study.name), sentence(Role::Soft, extent)]
}

/// Returns tables and shapes of each curve, and how it scales, for outputs without charts.
pub(crate) fn curves(study: &Study) -> Vec<Section> {
    let mut out: Vec<Section> = groups(study).iter().flat_map(|group| of_group(study, group)).collect();
    for (number, one) in (1..).zip(&study.scaling) {
        let blocks = vec![Block::Table(scaling(one, number))];
        let title = scaling_title(one);
        let section = Section::new("scaling", format!("Scaling over {title}"), blocks);
        out.push(section.brief(format!("scaling over {title}")).indented().on(On::TEXT));
    }
    out
}

fn of_group(study: &Study, group: &Group) -> Vec<Section> {
    let fixed = settings_text(&group.fixed);
    let title = if fixed.is_empty() { study.name.clone() } else { fixed.clone() };
    let axis = group.curve.map_or("cell", |curve| curve.parameter.as_str());
    let name = |row: &CellRow| group.name(row).to_owned();
    let is_number = group.rows.iter().all(|(name, _)| name.parse::<f64>().is_ok());
    let first = || Column { is_right: is_number, ..Column::text(axis).role(Role::Strong) };
    let rows = || group.rows.iter().map(|(_, row)| *row);
    let named = |id: &str| Table::of(id, &title, rows()).column(first(), |row| Cell::text(name(row)));
    let part =
        |blocks| Section::new("group", title.clone(), blocks).brief("").titled(On::TERMINAL).indented();
    let doubted = doubts(rows(), |row| format!("{axis} {}", name(row)));
    let cells = figures(named("group")).marked(|row| (!row.is_valid).then_some(Mark::Faint));
    let table = Section::new("group", title.clone(), vec![Block::Table(cells.done()), doubted]);
    let mut out = vec![table.brief(fixed).indented()];
    out.push(part(measured_cells(named("seen"), rows())));
    if let Some(curve) = group.curve {
        let facts = sentences(curve).into_iter().map(|(what, text)| Fact::new(what, text)).collect();
        out.push(part(vec![Block::Courses(courses(study, curve), None), Block::Facts(facts)]));
    }
    out.into_iter().map(|section| section.on(On::TEXT)).collect()
}

/// Returns the values of each combination, with pooled repeats and intervals.
pub(crate) fn figures<'a>(table: Rows<'a, CellRow>) -> Rows<'a, CellRow> {
    let mean = || WITH_MEAN..usize::MAX;
    let more = || WITH_MORE..usize::MAX;
    let describe = |of: fn(&CellRow) -> &Estimate, show: fn(&Estimate) -> String| {
        move |row: &CellRow| {
            Cell::number(show(of(row)), of(row).value.filter(|_| !of(row).has_too_few_samples))
        }
    };
    let spread = |of: fn(&CellRow) -> &Estimate| {
        move |row: &CellRow| {
            let estimate = of(row);
            let is_told = !says_nothing(estimate) && !estimate.has_too_few_samples;
            Cell::number(plus_minus(estimate, "±"), estimate.half_width_ratio().filter(|_| is_told))
        }
    };
    // A page omits a column of intervals that could not be computed.
    let has = |of: fn(&CellRow) -> &Estimate| table.any(|row| of(row).half_width_ratio().is_some());
    let is_known = [has(|row| &row.rate_per_s), has(|row| &row.p50_ns), has(|row| &row.p99_ns)];
    let width = |head: &str, is_known: bool| {
        let on = if is_known { On::ALL } else { On::TEXT };
        Column { is_right: false, ..Column::number(head).brief("").role(Role::Soft).on(on) }
    };
    let [rates, p50s, p99s] = is_known;
    table
        .column(Column::number("rate"), describe(|row| &row.rate_per_s, rate))
        .column(width("± rate", rates), spread(|row| &row.rate_per_s))
        .column(Column::number("errors").role(Role::Soft), |row| {
            Cell::number(errors(&row.error_ratio), row.error_ratio.value).bad(row.errors > 0)
        })
        .column(Column::number("mean").windows(mean()), describe(|row| &row.mean_ns, time))
        .column(Column::number("p50"), describe(|row| &row.p50_ns, time))
        .column(width("± p50", p50s).windows(mean()), spread(|row| &row.p50_ns))
        .column(Column::number("p90").windows(more()), describe(|row| &row.p90_ns, time))
        .column(Column::number("p99"), describe(|row| &row.p99_ns, time))
        .column(width("± p99", p99s), spread(|row| &row.p99_ns))
        .column(Column::number("in flight").windows(more()), |row| Value::Quantity(row.in_flight).into())
        .column(Column::number("X R").windows(more()), |row| {
            Value::Quantity(row.little.in_flight_computed).into()
        })
}

/// Returns why rows are not measurements, or what was left out of them.
pub(crate) fn doubts<'a>(
    rows: impl Iterator<Item = &'a CellRow>,
    name: impl Fn(&CellRow) -> String,
) -> Block {
    let of = rows.filter(|row| !row.excluded_runs.is_empty());
    let all = of.map(|row| Finding::new(Tone::Doubt, name(row), doubt(row))).collect();
    Block::Findings(Findings { form: Form::Named, all })
}

/// Returns peaks of monitored metrics by combination, and the saturated resources.
pub(crate) fn measured_cells<'a>(
    table: Rows<'a, CellRow>,
    rows: impl Iterator<Item = &'a CellRow>,
) -> Vec<Block> {
    let columns = watched::columns(rows);
    if columns.is_empty() {
        return Vec::new();
    }
    let mut table = table;
    for column in &columns {
        table = table.column(Column::number(column.as_str()), |row| {
            Cell::number(watched::cell(row, column), watched::peak(row, column))
        });
    }
    let limit = Column::text("saturated").role(Role::Soft);
    vec![Block::Table(table.column(limit, |row| Cell::text(watched::limiting(row))).done())]
}

/// Returns p99 if it has enough samples to be drawn.
fn p99(study: &Study, point: &CurvePoint) -> Option<f64> {
    let has_few = study.table.get(point.row).is_some_and(|row| row.p99_ns.has_too_few_samples);
    point.p99_ns.filter(|_| !has_few)
}

/// Returns rate and p99 over the levels, with one or a few letters for each level, all curves on one scale.
fn courses(study: &Study, curve: &Curve) -> Vec<Course> {
    if curve.points.len() < 3 {
        return Vec::new();
    }
    let rates = |curve: &Curve| curve.points.iter().map(|p| Some(p.rate_per_s)).collect::<Vec<_>>();
    let times = |curve: &Curve| curve.points.iter().map(|p| p99(study, p)).collect::<Vec<_>>();
    let top_rate = top(&study.curves.iter().flat_map(rates).collect::<Vec<_>>());
    let top_time = top(&study.curves.iter().flat_map(times).collect::<Vec<_>>());
    let course = |label: &str, tone, values, top, scale| Course {
        label: label.into(),
        tone: Some(tone),
        values,
        pool: Pool::Highest,
        top,
        scale: format!("0 to {scale}"),
    };
    vec![
        course("rate", Tone::Note, rates(curve), top_rate, rate_per_s(top_rate)),
        course("p99", Tone::Doubt, times(curve), top_time, duration_f64_ns(top_time)),
    ]
}

/// Returns the law of a curve, for a page; with its settings above if there are several.
pub(crate) fn describe(curve: &Curve) -> Vec<Block> {
    let title = settings_text(&curve.settings);
    let mut facts: Vec<Fact> =
        sentences(curve).into_iter().map(|(what, text)| Fact::new(what, text)).collect();
    facts.extend(curve.bottleneck.as_ref().map(|limiting| Fact::new("saturated", limiting.to_string())));
    let heading = (!title.is_empty()).then_some(Block::Heading(title));
    heading.into_iter().chain([Block::Facts(facts)]).collect()
}

fn scaling_title(scaling: &Scaling) -> String {
    let fixed = settings_text(&scaling.settings);
    if fixed.is_empty() { scaling.parameter.clone() } else { format!("{}, {fixed}", scaling.parameter) }
}

pub(crate) fn scaling(scaling: &Scaling, number: usize) -> Table {
    let interval = |step: &ScalingStep| {
        let interval = step.low.zip(step.high).map(|(l, h)| format!("{} to {}", ratio(l), ratio(h)));
        Cell::text(interval.unwrap_or_default())
    };
    let caption = format!("Scaling over {}", scaling_title(scaling));
    Table::of(format!("scaling-{number}"), caption, &scaling.steps)
        .column(Column::number(scaling.parameter.as_str()).role(Role::Strong), |step| {
            Cell::number(level_text(step.parameter_value), Some(step.parameter_value))
        })
        .column(Column::number("rate"), |step| Value::Rate(step.rate_per_s).into())
        .column(Column::number("speed-up"), |step| Value::Quantity(step.speedup).into())
        .column(Column::number("efficiency"), |step| Value::Share(step.efficiency).into())
        .column(Column::text("95% interval").role(Role::Soft), interval)
        .done()
}

/// Returns the joint results of several runs.
pub(crate) fn findings(study: &Study) -> Section {
    let finding = |one: &plimsoll_experiment::study::Finding| Finding {
        code: one.code.into(),
        evidence: vec![one.evidence.clone()],
        advice: one.advice.clone(),
        ..Finding::new(Tone::Doubt, "", &one.sentence)
    };
    let all = study.findings.iter().map(finding).collect();
    let blocks = vec![Block::Findings(Findings { form: Form::Doubt, all })];
    Section::new("findings", "Findings", blocks).brief("findings").indented()
}
