//! Tables of a page. The script sorts, filters, and copies them, so each number carries its raw value.

use crate::table::{Emphasis, Mark, Row};
use crate::web::bits::{At, status};
use crate::web::piece::{meter, prose};
use crate::{Cell, On, Table, Tone, Value};
use maud::{Markup, PreEscaped, html};

/// Number of rows above which readers search instead of scanning.
const FILTERED: usize = 12;

/// Returns the table. Its id gets the prefix `table-`; the caption is for screen readers.
pub fn markup(table: &Table, at: &At) -> Markup {
    let columns: Vec<usize> =
        (0..table.columns.len()).filter(|at| table.columns[*at].on.has(On::HTML)).collect();
    let rows: Vec<&Row> = table.rows.iter().filter(|row| row.on.has(On::HTML)).collect();
    html! { @if !rows.is_empty() {
        div.wide role="group" tabindex="0" aria-label=(table.caption) {
            table.data #{ "table-" (at.id(&table.id)) } data-sortable[rows.len() > 1]
                data-filterable[rows.len() > FILTERED]
            {
                caption { (table.caption) }
                thead { tr { @for column in columns.iter().map(|at| &table.columns[*at]) {
                    th scope="col" data-kind=(if column.is_number { "number" } else { "text" }) { (column.head) }
                } } }
                tbody { @for row in rows { (line(row, table, &columns)) } }
            }
        }
    } }
}

fn line(row: &Row, table: &Table, columns: &[usize]) -> Markup {
    let place = row.place.as_ref();
    let class = match row.mark {
        Some(Mark::Bad) => Some("bad"),
        Some(Mark::Part) => Some("part"),
        Some(Mark::Faint) | None => None,
    };
    let cells = columns.iter().filter_map(|at| Some((row.cells.get(*at)?, &table.columns[*at])));
    html! {
        tr id=[place.map(|p| &p.id)]
            class=[class]
            data-depth=[place.map(|p| p.depth)]
            data-parent=[place.and_then(|p| p.parent.as_ref())]
        {
            @for (number, (cell, column)) in cells.enumerate() {
                @let raw = cell.value.raw();
                // A value is a number for the style sheet; for an unknown one, the class says so.
                @let class = (column.is_number && raw.is_none()).then_some("n");
                @if number == 0 { th class=[class] scope="row" data-v=[raw] { (content(cell)) } }
                @else { td class=[class] data-v=[raw] { (content(cell)) } }
            }
        }
    }
}

fn content(cell: &Cell) -> Markup {
    let text = cell.value.text();
    let shown = match (&cell.emphasis, &cell.value) {
        (Some(Emphasis::Status(tone)), _) => status(*tone, &text),
        (Some(Emphasis::Marked(tone)), _) => html! { mark class=(tone.class()) { (text) } },
        (Some(Emphasis::Bad), _) => html! { span.bad { (text) } },
        (Some(Emphasis::Signed(_)), _) => html! { (text) },
        (_, Value::Prose(text)) => prose(text),
        (_, Value::Links(all)) => links(all),
        (_, Value::Bar(share)) => meter(*share),
        // The picture is SVG whose texts are already escaped.
        (_, Value::Drawn(svg)) => PreEscaped(svg.clone()),
        (_, Value::Code(text)) if cell.href.is_none() => html! { code { (text) } },
        _ => html! { (text) },
    };
    html! {
        @match &cell.href {
            Some(href) => a href=(href) { (shown) },
            None => (shown),
        }
        @for (tone, aside) in &cell.asides { small class=[(*tone == Tone::Doubt).then_some("low")] { (prose(aside)) } }
    }
}

fn links(all: &[(String, Option<String>, String)]) -> Markup {
    html! { span.row { @for (at, (text, href, about)) in all.iter().enumerate() {
        @if at > 0 { " " }
        @match href {
            Some(href) => a href=(href) title=(about) { (text) },
            None => span title=(about) { (text) },
        }
    } } }
}
