//! A line of what something says of itself: sign, label, bar, facts.

use super::{ink_of_tone, sign};
use crate::document::{Tone, Vital};
use crate::line::{Line, flow};
use crate::style::{Look, TextStyle};
use crate::terminal::chart::bar;

const LABEL: usize = 12;
const BAR: usize = 8;

pub fn lines(one: &Vital, columns: usize, look: &Look) -> Vec<Line> {
    let ink = ink_of_tone(one.tone);
    let label = if one.tone == Tone::Pass { TextStyle::Plain } else { ink };
    let label = Line::of(label, &one.label).cut(LABEL, look).pad(LABEL);
    let mut front = Line::of(ink, sign(one.tone, look)).text(" ").line(label).text(" ");
    let indent = front.width();
    let mut facts: Vec<Line> = one.facts.iter().map(|fact| Line::new().text(fact)).collect();
    let room = columns.saturating_sub(indent);
    // A bar is welcome as long as it does not push figures onto a second line.
    let fits = |facts: &[Line]| flow(facts.to_vec(), room.saturating_sub(BAR + 1), look).len() == 1;
    if let (Some(share), true) = (one.bar, fits(&facts))
        && let Some(first) = facts.first_mut()
    {
        *first = bar(share, BAR, TextStyle::Accent, look).text(" ").line(std::mem::take(first));
    }
    flow(facts, room, look)
        .into_iter()
        .map(|line| std::mem::take(&mut front).pad(indent).line(line))
        .collect()
}
