//! The steps from visitors to a load, one under the other, so that a reader can check each.

use crate::line::{Line, wrap, write_all};
use crate::style::{Look, TextStyle};
use crate::terminal::table::{Align, Table};
use plimsoll_plan::phrase::trimmed_value;
use plimsoll_plan::sizing::Sizing;

/// One line per step: what it is, its value, and how it follows from the others.
pub fn terminal(sizing: &Sizing, look: &Look) -> String {
    let mut table = Table::new(&[Align::Left, Align::Right, Align::Left, Align::Left]);
    for line in &sizing.lines {
        table.row(vec![
            Line::new().text(line.name),
            Line::of(TextStyle::Strong, &trimmed_value(line.value)),
            Line::of(TextStyle::Dim, line.unit),
            Line::of(TextStyle::Dim, &format!("= {}", line.formula)),
        ]);
    }
    let mut lines = table.lines(look.columns(), look);
    for text in &sizing.assumptions {
        let texts = wrap(text, look.columns().saturating_sub(9));
        for (at, text) in texts.iter().enumerate() {
            lines.push(Line::of(TextStyle::Dim, if at == 0 { "assumed  " } else { "         " }).text(text));
        }
    }
    write_all(&lines, look)
}
