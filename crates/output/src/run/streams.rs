//! How streams began and ended, what came through them, and its times.

use super::printable_ns;
use super::times::named_times;
use crate::document::{Block, Fact, On, Role, Section, rest, sentence, telling, worst};
use crate::words;
use plimsoll_analysis::summary::{StreamRow, Summary, Times};

pub fn section(s: &Summary) -> Section {
    let mut blocks = vec![Block::Charts(vec!["streams".into()])];
    // What a reader of a stream waits for is its next event.
    let (q, by) = telling(&s.streams.iter().collect::<Vec<_>>(), |row, q| printable_ns(&row.gap, q));
    let (brief, left_out) = worst(&s.streams, |row| (row.failures, printable_ns(&row.gap, q)));
    for (at, row) in s.streams.iter().enumerate() {
        let is_brief = brief.iter().any(|shown| std::ptr::eq(*shown, row));
        let on = if is_brief { On::ALL } else { On::FULL };
        blocks.extend(stream(at, row).into_iter().map(|block| block.only(on)));
    }
    blocks.extend(rest(left_out, by).map(|text| sentence(Role::Soft, text).only(On::TERMINAL)));
    if !s.streams.is_empty() {
        let said = "Gap: the time between two events of a stream. Age: from the timestamp of an event to its arrival, \
                    by both clocks.";
        blocks.push(sentence(Role::Faint, said).only(On::HTML));
    }
    let section = Section::new("streams", "Streams", blocks);
    section.aside("gap: time between events; age: timestamp to arrival, by both clocks").indented()
}

fn stream(at: usize, row: &StreamRow) -> Vec<Block> {
    let times: Vec<(&str, &Times)> = words::stream_times(row).collect();
    let table = named_times(format!("stream-{at}"), format!("Times of the stream {}", row.name), &times);
    let facts = vec![
        Fact::new("streams", words::ends(row).join(", ")),
        Fact::new("events", words::events(row).join("; ")),
    ];
    vec![Block::Heading(row.name.clone()), Block::Facts(facts), Block::Table(table)]
}
