//! What the engine reports of channels.

use super::open::{TERMS, place};
use super::{Channel, Kind, News, Phase};
use crate::host::Host;
use crate::http::send::store_cookies;
use crate::http::url;
use crate::vu::Vu;
use plimsoll_plan::Fault;
use plimsoll_plan::head::Head;
use plimsoll_plan::metric::WebSocketHist;
use plimsoll_plan::origin::OriginId;
use plimsoll_plan::program::{Count, Ended, Event, Message, MessageKind, Reply, StepId};
use plimsoll_script::watch::Watch;
use plimsoll_wire::ws::{self, close};

/// The status that opens a socket over HTTP/1.1.
const SWITCHING: u16 = 101;

/// Passes the channel of a step to a function.
fn with<R>(vu: &Vu, step: StepId, act: impl FnOnce(&mut Channel) -> R) -> Option<R> {
    vu.channels.borrow_mut().iter_mut().find(|one| one.step == step && one.phase != Phase::Ended).map(act)
}

/// Takes the answer for an origin; `None` if it is not that of a channel. Like all of these, it returns whether the
/// fiber can continue.
pub fn reached(host: &Host, vu: &Vu, id: StepId, result: &Result<OriginId, (Fault, String)>) -> Option<bool> {
    with(vu, id, |channel| match result {
        Ok(number) => {
            if let Ok(url) = channel.opening.parsed(channel.kind) {
                host.know_origin(url.target, *number);
            }
            channel.start(host, vu)
        }
        Err((fault, why)) => {
            channel.count_unreached(host, vu, *fault);
            channel.end(host, vu, why.clone(), false)
        }
    })
}

/// Takes the end of a timer; `None` if it is not that of a channel.
pub fn slept(vu: &Vu, id: StepId) -> Option<bool> {
    let mut channels = vu.channels.borrow_mut();
    let channel = channels.iter_mut().find(|one| one.timers.contains(&id))?;
    channel.timers.retain(|step| *step != id);
    Some(channel.push(vu, News::Timer(id)))
}

/// Takes the head of the response, which opens the channel or does not.
pub fn head(host: &Host, vu: &Vu, id: StepId, status: u16, head: Head<'_>) -> bool {
    with(vu, id, |channel| {
        if channel.phase != Phase::Opening {
            // It was closed before it could be canceled.
            host.out.borrow_mut().cancel(id);
            return false;
        }
        let is_http2 = head.is_http2();
        channel.status = status;
        channel.head = head.text().to_vec();
        if let Ok(url) = channel.opening.parsed(channel.kind) {
            let lower = url.target.host.to_ascii_lowercase();
            store_cookies(&mut channel.opening.jar.borrow_mut(), place(host, &url, &lower), head);
        }
        let refused = match channel.kind {
            Kind::Socket if is_http2 && (200..300).contains(&status) => {
                // What opens a socket over HTTP/2 (RFC 8441 section 5) has the meaning of 101 over HTTP/1.1.
                channel.status = SWITCHING;
                channel.check(head, true)
            }
            Kind::Socket if status == SWITCHING && !is_http2 => channel.check(head, false),
            Kind::Events if (200..300).contains(&status) => None,
            Kind::Events if channel.redirects(status, head) => {
                channel.is_redirect = true;
                return false;
            }
            Kind::Socket => {
                Some((Fault::Status, format!("the server did not open a WebSocket: status {status}")))
            }
            Kind::Events => {
                Some((Fault::Status, format!("the server did not open a stream: status {status}")))
            }
        };
        if let Some((fault, why)) = refused {
            (channel.phase, channel.fault, channel.error) = (Phase::Closing, Some(fault), why);
            host.out.borrow_mut().cancel(id);
            return false;
        }
        channel.phase = Phase::Open;
        channel.watch = Some(Watch::new(host.at.get().run_ns));
        channel.push(vu, News::Open)
    })
    .unwrap_or(false)
}

/// Takes a message, or a control frame.
pub fn message(host: &Host, vu: &Vu, message: &Message<'_>) -> bool {
    with(vu, message.id, |channel| {
        let now = host.at.get();
        if let (Some(watch), Some(series)) = (&mut channel.watch, channel.series)
            && matches!(message.kind, MessageKind::Text | MessageKind::Binary)
        {
            let event = Event { id: message.id, name: b"", data: message.data, event_id: None };
            let counts = &mut host.out.borrow_mut().counts;
            watch.event(&channel.ledger, series, &event, now, &mut Vec::new(), counts);
        }
        let news = match message.kind {
            MessageKind::Text => News::Text(String::from_utf8_lossy(message.data).into_owned()),
            MessageKind::Binary => News::Binary(message.data.to_vec()),
            MessageKind::Ping => News::Ping,
            MessageKind::Pong => {
                channel.pong(host, message.data);
                News::Pong
            }
            MessageKind::Close(code) => {
                channel.received = Some((code, String::from_utf8_lossy(message.data).into_owned()));
                return false;
            }
        };
        // After its own close frame, a script sees no more messages.
        channel.phase == Phase::Open && channel.push(vu, news)
    })
    .unwrap_or(false)
}

/// Takes an event of a stream.
pub fn event(host: &Host, vu: &Vu, event: &Event<'_>) -> bool {
    with(vu, event.id, |channel| {
        if channel.phase != Phase::Open {
            return false;
        }
        if let (Some(watch), Some(series)) = (&mut channel.watch, channel.series) {
            let counts = &mut host.out.borrow_mut().counts;
            watch.event(&channel.ledger, series, event, host.at.get(), &mut Vec::new(), counts);
        }
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let id = event.event_id.map(text).unwrap_or_default();
        channel.push(vu, News::Event { id, name: text(event.name), data: text(event.data) })
    })
    .unwrap_or(false)
}

/// Takes the end of a channel; `None` if the reply is not that of one.
pub fn reply(host: &Host, vu: &Vu, reply: &Reply<'_>) -> Option<bool> {
    let (can_continue, is_forgotten) = with(vu, reply.id, |channel| {
        channel.settle(host);
        if reply.ended == Some(Ended::Stop) {
            return (false, true);
        }
        if std::mem::take(&mut channel.is_redirect)
            && reply.fault.is_none()
            && channel.phase == Phase::Opening
        {
            return (channel.follow(host, vu), false);
        }
        let fault = reply.fault.or_else(|| channel.own_fault(reply.ended));
        if let Some(fault) = fault.filter(|_| reply.fault.is_none()) {
            host.out.borrow_mut().fail(fault);
        }
        if channel.phase == Phase::Left {
            return (false, true);
        }
        if channel.status == 0 {
            channel.status = reply.status;
        }
        let error = channel.sentence(fault);
        (channel.end(host, vu, error, fault.is_none()), false)
    })?;
    if is_forgotten {
        vu.channels.borrow_mut().retain(|one| one.step != reply.id);
    }
    Some(can_continue)
}

/// Settles the accounts of channels whose iteration is interrupted: they end without a reply.
pub fn interrupted(host: &Host, vu: &Vu) {
    vu.channels.borrow_mut().drain(..).for_each(|mut channel| channel.settle(host));
}

impl Channel {
    /// Checks the handshake of a socket; returns what is wrong with it.
    fn check(&self, head: Head<'_>, is_http2: bool) -> Option<(Fault, String)> {
        let response = ws::Response {
            upgrade: head.field("upgrade"),
            connection: head.field("connection"),
            accept: head.field("sec-websocket-accept"),
            extensions: head.field("sec-websocket-extensions"),
            subprotocol: head.field("sec-websocket-protocol"),
        };
        let deflate = self.opening.offers_deflate.then_some(TERMS);
        let offer = ws::Offer { deflate, subprotocols: &self.opening.protocols };
        let checked = match is_http2 {
            true => ws::check_choice(&response, &offer),
            false => ws::check(&response, &self.opening.key, &offer),
        };
        checked.err().map(|rejected| (Fault::WebSocketHandshake, rejected.sentence().to_owned()))
    }

    fn redirects(&self, status: u16, head: Head<'_>) -> bool {
        let is_redirect = matches!(status, 301 | 302 | 303 | 307 | 308);
        is_redirect && self.opening.redirects_left > 0 && head.field("location").is_some()
    }

    /// Opens the stream at the address of a redirect.
    fn follow(&mut self, host: &Host, vu: &Vu) -> bool {
        let location =
            Head::new(&self.head).field("location").map(|text| String::from_utf8_lossy(text).into_owned());
        let opening = &mut self.opening;
        let from = url::parse(&opening.url).map(|url| url.target);
        opening.redirects_left -= 1;
        opening.url = url::join(&opening.url, &location.unwrap_or_default());
        // RFC 9110 section 15.4: 307 and 308 keep method and body; for others, user agents send GET.
        if !matches!(self.status, 307 | 308) {
            opening.method = "GET".to_owned();
            opening.body = None;
        }
        if from != url::parse(&opening.url).map(|url| url.target) {
            // Credentials are for the host that they were written for.
            let is_secret = |name: &str| {
                ["authorization", "cookie", "host"].iter().any(|one| one.eq_ignore_ascii_case(name))
            };
            opening.params.headers.retain(|(name, _)| !is_secret(name));
            opening.params.cookies.clear();
        }
        self.status = 0;
        self.start(host, vu)
    }

    /// Ends the wait for a pong. A server may answer only the last of several pings (RFC 6455 section 5.5.3).
    fn pong(&mut self, host: &Host, payload: &[u8]) {
        let Some(at) = self.pings.iter().position(|(sent, _)| sent == payload) else { return };
        let now_ns = host.at.get().run_ns;
        let Some(series) = self.series else { return };
        for (_, sent_ns) in self.pings.drain(..=at) {
            let took_ns = now_ns.saturating_sub(sent_ns);
            host.out.borrow_mut().count(Count::hist(series, WebSocketHist::PingRoundTrip, took_ns));
        }
    }

    /// Counts duration and number of events, and what is missing.
    fn settle(&mut self, host: &Host) {
        if let (Some(mut watch), Some(series)) = (self.watch.take(), self.series) {
            watch.end(&self.ledger, series, host.at.get(), &mut host.out.borrow_mut().counts);
        }
    }

    /// Returns the failure that the end of a channel is, if it is one and the engine does not know it.
    fn own_fault(&self, ended: Option<Ended>) -> Option<Fault> {
        if self.fault.is_some() || self.kind == Kind::Events {
            return self.fault;
        }
        let is_usual = self.received.as_ref().is_none_or(|(code, _)| close::is_usual(*code));
        (ended == Some(Ended::Server) && !is_usual && self.phase != Phase::Left)
            .then_some(Fault::WebSocketClosed)
    }

    /// Returns what went wrong; nothing if nothing did.
    fn sentence(&mut self, fault: Option<Fault>) -> String {
        let own = std::mem::take(&mut self.error);
        match (fault, self.kind) {
            _ if !own.is_empty() => own,
            (None, _) => String::new(),
            (Some(Fault::ProtocolChanged), Kind::Socket) => {
                "the server chose HTTP/2 and does not support WebSockets over it (RFC 8441): to open them over \
                 HTTP/1.1, run with `--http1.1`"
                    .to_owned()
            }
            (Some(Fault::WebSocketClosed), Kind::Socket) => {
                let (code, reason) = match &self.received {
                    Some((code, reason)) => (*code, reason.as_str()),
                    None => (close::ABNORMAL, "the connection ended"),
                };
                let name = close::name(code).unwrap_or("code of the application");
                let colon = if reason.is_empty() { "" } else { ": " };
                format!("websocket: close {code} ({name}){colon}{reason}")
            }
            (Some(fault), _) => fault.sentence().to_owned(),
        }
    }
}
