//! WebSockets: how they opened and closed, whether every message was received, and how long responses took.

use super::cells::Cells;
use super::facts::{Facts, Series, ratio};
use super::times::{Belief, times};
use crate::summary::{Times, WebSocketRow};
use plimsoll_plan::metric::{SeriesSum, StreamHist, StreamSum, WebSocketHist, WebSocketSum};
use plimsoll_stats::Hist;
use std::collections::BTreeMap;

/// Returns a row for each request that opened a WebSocket, or tried to.
pub(super) fn websockets(facts: &Facts) -> Vec<WebSocketRow> {
    let is_used = |one: &&Series| one.request.is_websocket && one.tally.sum(SeriesSum::Sent) > 0;
    facts.series.iter().filter(is_used).map(|one| row(one, facts)).collect()
}

fn row(one: &Series, facts: &Facts) -> WebSocketRow {
    let of = |id: usize| one.tally.sums.get(id).copied().unwrap_or(0);
    let sum = |id: StreamSum| of(id.id());
    let own = |id: WebSocketSum| of(id.id());
    let empty = Hist::on_demand();
    // Nothing cuts these off: a socket is accounted for when it closes, and at the end of the run.
    let spread = |id: usize| -> Times {
        times(one.tally.hists.get(id).unwrap_or(&empty), &Hist::on_demand(), Belief::LikeTheOthers)
    };
    let (expected, lost) = (sum(StreamSum::EventsExpected), sum(StreamSum::EventsLost));
    let (sent, received) = (own(WebSocketSum::MessagesSent), sum(StreamSum::Events));
    let codes = WebSocketSum::CLOSE_CODES.iter().filter(|(_, cell)| own(*cell) > 0);
    let per_s = |n: u64| ratio(n as f64, facts.measured_s());
    WebSocketRow {
        name: one.request.name.clone(),
        scenario: one.request.scenario.clone(),
        opened: sum(StreamSum::Streams),
        open_at_end: sum(StreamSum::OpenAtEnd),
        closed_by_server: sum(StreamSum::ClosedByServer),
        closed_by_client: sum(StreamSum::ClosedByClient),
        failures: of(SeriesSum::Failed.id()),
        close_codes: codes.map(|(code, cell)| ((*code).to_owned(), own(*cell))).collect::<BTreeMap<_, _>>(),
        messages_sent: sent,
        messages_sent_per_s: per_s(sent),
        messages_received: received,
        messages_received_per_s: per_s(received),
        messages_expected: expected,
        messages_lost: lost,
        message_loss_ratio: (expected > 0).then(|| lost as f64 / expected as f64),
        messages_duplicated: sum(StreamSum::EventsDuplicated),
        messages_out_of_order: sum(StreamSum::EventsOutOfOrder),
        messages_unnumbered: sum(StreamSum::EventsUnnumbered),
        messages_unanswered: own(WebSocketSum::MessagesUnanswered),
        responses_unmatched: own(WebSocketSum::ResponsesUnmatched),
        pings_sent: own(WebSocketSum::PingsSent),
        pings_received: own(WebSocketSum::PingsReceived),
        pongs_received: own(WebSocketSum::PongsReceived),
        handshake: spread(StreamHist::StreamHead.id()),
        round_trip: spread(WebSocketHist::RoundTrip.id()),
        ping: spread(WebSocketHist::PingRoundTrip.id()),
        gap: spread(StreamHist::EventGap.id()),
        age: spread(StreamHist::EventAge.id()),
        duration: spread(StreamHist::StreamLife.id()),
    }
}
