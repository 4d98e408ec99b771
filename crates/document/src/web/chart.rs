//! A chart on a page: its picture, and below it tables with the same content for readers who do not see it.

use crate::web::piece::prose;
use maud::{Markup, PreEscaped, html};
use plimsoll_chart::brief::rounded;
use plimsoll_chart::{Chart, Skin, Table, cleaned, draw, tables};

/// Returns a chart. The script finds it by `data-chart` and its values in the page's data, and draws into `.plot`.
pub fn figure(chart: &Chart) -> Markup {
    html! {
        figure.chart #{ "chart-" (chart.id) } data-chart=(chart.id) {
            figcaption {
                b { (cleaned(&chart.title)) }
                @if !chart.subtitle.is_empty() { " " span.sub { (prose(&cleaned(&chart.subtitle))) } }
                @if !chart.help.is_empty() { p.help { (prose(&chart.help)) } }
            }
            // The picture is SVG whose texts are already escaped.
            div.plot { (PreEscaped(draw(chart, Skin::Page))) }
            details.values {
                summary { "Table" }
                @for (at, one) in tables(chart).iter().enumerate() { (table(chart, at, one)) }
            }
        }
    }
}

fn table(chart: &Chart, at: usize, table: &Table) -> Markup {
    html! {
        table.data #{ "table-" (chart.id) "-" (at + 1) } data-sortable {
            caption { (cleaned(&chart.title)) @if !table.note.is_empty() { "; " (table.note) } }
            thead { tr { @for (column, head) in table.heads.iter().enumerate() {
                th scope="col" data-kind=[kind(table, column)] { (cleaned(head)) }
            } } }
            tbody { @for row in &table.rows { tr { @for cell in row {
                td data-v=[cell.value.map(rounded)] { (cleaned(&cell.text)) }
            } } } }
        }
    }
}

fn kind(table: &Table, column: usize) -> Option<&'static str> {
    let is_number = table.rows.iter().any(|row| row.get(column).is_some_and(|cell| cell.value.is_some()));
    Some(if is_number { "number" } else { "text" })
}
