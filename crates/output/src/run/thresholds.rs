//! Every threshold with its value and the distance from its limit, met or not, because a close pass matters too.

use crate::document::{Block, Cell, Column, Mark, On, Role, Section, Table, Tone, Value};
use crate::format::figure;
use crate::words;
use plimsoll_analysis::summary::{Standing, Summary, ThresholdResult};

pub fn section(s: &Summary) -> Section {
    let named = |t: &ThresholdResult| {
        let cell = Cell::from(Value::Code(t.text.clone())).signed(tone(t));
        remarks(s, t).into_iter().fold(cell, |cell, remark| cell.aside(Tone::Note, remark))
    };
    let alongside = |t: &ThresholdResult| {
        // The distance of a default from its limit matters only if it is missed.
        let is_told = !(t.is_default && t.is_met);
        let margin = Some(words::margin(t)).filter(|margin| is_told && !margin.is_empty());
        Value::Facts(margin.into_iter().chain(remarks(s, t)).collect()).into()
    };
    let met =
        |t: &ThresholdResult| Cell::status(tone(t), words::standing(t)).bold(t.standing != Standing::Met);
    let table = Table::of("thresholds", "Thresholds", &s.thresholds)
        .column(Column::text("threshold").brief(""), named)
        .column(Column::text("met").on(On::FULL), met)
        .column(Column::number("observed").brief("").role(Role::Strong), |t| {
            Cell::number(words::observed(t), t.observed)
        })
        .column(Column::number("limit").on(On::HTML), |t| {
            Cell::number(figure(t.limit, t.unit), Some(t.limit))
        })
        .column(Column::number("margin").on(On::FULL), |t| Cell::number(words::margin(t), t.margin))
        .column(Column::number("samples").on(On::HTML), |t| Cell::count(t.samples))
        .column(Column::text("").on(On::TERMINAL).role(Role::Soft), alongside)
        .column(Column::text("").on(On::MARKDOWN), |t| Value::Facts(remarks(s, t)).into())
        .marked(|t| (t.standing == Standing::Missed).then_some(Mark::Bad));
    Section::new("thresholds", "Thresholds", vec![Block::Table(table.done())]).indented()
}

/// Returns further facts about it.
fn remarks(s: &Summary, t: &ThresholdResult) -> Vec<String> {
    let few = if t.has_too_few_samples { "too few samples" } else { "" };
    let implied = if t.is_default { "default" } else { "" };
    let all = [words::bounds(t, s.totals.in_flight_at_end), words::window(t), few.into(), implied.into()];
    all.into_iter().filter(|remark| !remark.is_empty()).collect()
}

pub fn tone(judged: &ThresholdResult) -> Tone {
    match judged.standing {
        Standing::Met => Tone::Pass,
        Standing::Missed => Tone::Fail,
        Standing::Undecided => Tone::Doubt,
    }
}
