//! How WebSockets opened and closed, what was said over them, and their times.

use super::printable_ns;
use super::times::named_times;
use crate::document::{Block, Fact, On, Role, Section, rest, sentence, telling, worst};
use crate::words;
use plimsoll_analysis::summary::{Summary, Times, WebSocketRow};

/// The words for what the rows are.
struct Names {
    title: &'static str,
    all: &'static str,
    one: &'static str,
}

impl Names {
    fn of(s: &Summary) -> Names {
        let has = |is_grpc| s.plan.requests.iter().any(|one| one.is_websocket && one.is_grpc == is_grpc);
        match (has(true), has(false)) {
            (true, false) => Names { title: "gRPC streams", all: "streams", one: "gRPC stream" },
            (true, true) => Names { title: "WebSockets and gRPC streams", all: "streams", one: "stream" },
            (false, _) => Names { title: "WebSockets", all: "sockets", one: "WebSocket" },
        }
    }
}

pub fn section(s: &Summary) -> Section {
    let names = Names::of(s);
    let mut blocks = Vec::new();
    // What a user waits for is the response to a message.
    let (q, by) =
        telling(&s.websockets.iter().collect::<Vec<_>>(), |row, q| printable_ns(&row.round_trip, q));
    let (brief, left_out) = worst(&s.websockets, |row| (row.failures, printable_ns(&row.round_trip, q)));
    for (at, row) in s.websockets.iter().enumerate() {
        let is_brief = brief.iter().any(|shown| std::ptr::eq(*shown, row));
        let on = if is_brief { On::ALL } else { On::FULL };
        blocks.extend(socket(at, row, &names).into_iter().map(|block| block.only(on)));
    }
    blocks.extend(rest(left_out, by).map(|text| sentence(Role::Soft, text).only(On::TERMINAL)));
    if !s.websockets.is_empty() {
        let said = format!(
            "Round trip: from sending a message to receiving its response. Ping: from sending a ping to \
             receiving its pong. Gap: the time between two received \
             messages of a {}. Age: from the timestamp of a message to its arrival, by both clocks.",
            names.all.trim_end_matches('s')
        );
        blocks.push(sentence(Role::Faint, said).only(On::HTML));
    }
    Section::new("websockets", names.title, blocks)
        .aside("round trip: message to its response; gap: time between received messages")
        .indented()
}

fn socket(at: usize, row: &WebSocketRow, names: &Names) -> Vec<Block> {
    // What a handshake is to a WebSocket, the head of the response is to a call.
    let named = |name| if name == "handshake" && names.all == "streams" { "head" } else { name };
    let times: Vec<(&str, &Times)> =
        words::websocket_times(row).map(|(name, times)| (named(name), times)).collect();
    let title = format!("Times of the {} {}", names.one, row.name);
    let table = named_times(format!("websocket-{at}"), title, &times);
    let facts = vec![
        Fact::new(names.all, words::socket_ends(row).join(", ")),
        Fact::new("messages", words::messages(row).join("; ")),
    ];
    vec![Block::Heading(row.name.clone()), Block::Facts(facts), Block::Table(table)]
}
