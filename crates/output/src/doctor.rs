//! The findings of `doctor` about this machine, and their fixes.

use crate::format::counted;
use crate::line::{Line, width, wrap, write_all};
use crate::style::{Look, TextStyle};

/// The severity of a finding for generating load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Good,
    Notice,
    Bad,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DoctorRow {
    pub name: String,
    pub value: String,
    pub state: State,
    /// How to fix it, or why it matters.
    pub advice: Option<String>,
}

/// Returns all rows in order, and one line that counts them.
pub fn render(rows: &[DoctorRow], look: &Look) -> String {
    const NAME_MAX: usize = 28;
    let columns = look.columns();
    let names = rows.iter().map(|row| width(&row.name)).max().unwrap_or(0).min(NAME_MAX);
    let mut lines = Vec::new();
    for row in rows {
        let (sign, ink) = sign(row.state, look);
        let label = Line::new().text(&row.name).cut(names, look).pad(names);
        let front = Line::of(ink, sign).text(" ").line(label).text("  ");
        let indent = front.width();
        let room = columns.saturating_sub(indent);
        for (at, value) in wrap(&row.value, room).iter().enumerate() {
            let front = if at == 0 { front.clone() } else { Line::new().pad(indent) };
            lines.push(front.text(value));
        }
        let arrow = look.signs().arrow;
        let hang = width(arrow);
        for (at, text) in row.advice.iter().flat_map(|a| wrap(a, room - hang)).enumerate() {
            let mark = if at == 0 { arrow } else { &" ".repeat(hang) };
            lines.push(Line::new().pad(indent).ink(TextStyle::Accent, mark).ink(TextStyle::Dim, &text));
        }
    }
    lines.push(Line::new());
    lines.push(closing(rows));
    write_all(&lines, look)
}

fn sign(state: State, look: &Look) -> (&'static str, TextStyle) {
    let signs = look.signs();
    match state {
        State::Good => (signs.ok, TextStyle::Good),
        State::Notice => (signs.warn, TextStyle::Warn),
        State::Bad => (signs.bad, TextStyle::Bad),
    }
}

fn closing(rows: &[DoctorRow]) -> Line {
    let of = |state| rows.iter().filter(|row| row.state == state).count();
    match (of(State::Bad), of(State::Notice)) {
        (0, 0) => Line::of(TextStyle::Good, "this machine is ready to generate load"),
        (0, n) => Line::of(TextStyle::Warn, &format!("ready, with {}", counted(n as u64, "note"))),
        (b, 0) => {
            Line::of(TextStyle::Bad, &format!("{} to fix before large tests", counted(b as u64, "problem")))
        }
        (b, n) => Line::of(
            TextStyle::Bad,
            &format!(
                "{} to fix before large tests, {}",
                counted(b as u64, "problem"),
                counted(n as u64, "note")
            ),
        ),
    }
}
