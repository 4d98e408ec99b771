//! A line of what something says of itself: sign, label, facts.

use super::{ink_of_tone, sign};
use crate::line::{Line, flow};
use crate::style::{Look, TextStyle};
use crate::{Tone, Vital};

const LABEL: usize = 14;

pub fn lines(one: &Vital, columns: usize, look: &Look) -> Vec<Line> {
    let ink = ink_of_tone(one.tone);
    let label = if one.tone == Tone::Pass { TextStyle::Plain } else { ink };
    let label = Line::of(label, &one.label).cut(LABEL, look).pad(LABEL);
    let mut front = Line::of(ink, sign(one.tone, look)).text(" ").line(label).text(" ");
    let indent = front.width();
    let facts: Vec<Line> = one.facts.iter().map(|fact| Line::new().text(fact)).collect();
    let room = columns.saturating_sub(indent);
    flow(facts, room, look)
        .into_iter()
        .map(|line| std::mem::take(&mut front).pad(indent).line(line))
        .collect()
}
