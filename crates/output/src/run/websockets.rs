//! How WebSockets opened and closed, what was said over them, and their times.

use super::printable_ns;
use super::times::named_times;
use crate::document::{Block, Fact, On, Role, Section, rest, sentence, telling, worst};
use crate::words;
use plimsoll_analysis::summary::{Summary, Times, WebSocketRow};

pub fn section(s: &Summary) -> Section {
    let mut blocks = Vec::new();
    // What a user waits for is the response to a message.
    let (q, by) =
        telling(&s.websockets.iter().collect::<Vec<_>>(), |row, q| printable_ns(&row.round_trip, q));
    let (brief, left_out) = worst(&s.websockets, |row| (row.failures, printable_ns(&row.round_trip, q)));
    for (at, row) in s.websockets.iter().enumerate() {
        let is_brief = brief.iter().any(|shown| std::ptr::eq(*shown, row));
        let on = if is_brief { On::ALL } else { On::FULL };
        blocks.extend(socket(at, row).into_iter().map(|block| block.only(on)));
    }
    blocks.extend(rest(left_out, by).map(|text| sentence(Role::Soft, text).only(On::TERMINAL)));
    if !s.websockets.is_empty() {
        let said = "Round trip: from sending a message to receiving its response. Ping: from sending a ping to \
                    receiving its pong. Gap: the time between two received \
                    messages of a socket. Age: from the timestamp of a message to its arrival, by both clocks.";
        blocks.push(sentence(Role::Faint, said).only(On::HTML));
    }
    Section::new("websockets", "WebSockets", blocks)
        .aside("round trip: message to its response; gap: time between received messages")
        .indented()
}

fn socket(at: usize, row: &WebSocketRow) -> Vec<Block> {
    let times: Vec<(&str, &Times)> = words::websocket_times(row).collect();
    let table =
        named_times(format!("websocket-{at}"), format!("Times of the WebSocket {}", row.name), &times);
    let facts = vec![
        Fact::new("sockets", words::socket_ends(row).join(", ")),
        Fact::new("messages", words::messages(row).join("; ")),
    ];
    vec![Block::Heading(row.name.clone()), Block::Facts(facts), Block::Table(table)]
}
