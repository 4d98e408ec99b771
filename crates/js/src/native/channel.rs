//! WebSockets and streams of events: the functions below `k6/ws`, `k6/websockets`, and `k6/x/sse`.

use super::Row;
use super::core::index;
use crate::channel::{Channel, Kind, News, Opening};
use crate::host::Host;
use crate::http::canonical;
use crate::http::params::{Params, wrong};
use crate::vu::Vu;
use plimsoll_plan::head::Head;
use plimsoll_plan::program::MessageKind;
use plimsoll_plan::stream::{Place, Stream};
use plimsoll_quickjs::{Call, Realm, Thrown, Value};
use plimsoll_script::watch::Ledger;
use plimsoll_wire::ws::{CONTROL_BYTES_MAX, close};

pub(super) const ROWS: &[Row] = &[
    ("socketOpen", 4, socket_open),
    ("eventsOpen", 2, events_open),
    ("channelNext", 1, next),
    ("channelResponse", 1, response),
    ("channelRelease", 1, release),
    ("channelTimer", 2, timer),
    ("channelClose", 3, close_channel),
    ("socketSend", 2, send),
    ("socketPing", 1, ping),
];

/// Opens a WebSocket: URL, subprotocols, parameters, and the function that the event loop calls with what arrives.
fn socket_open(call: &Call<'_>) -> Result<Value, Thrown> {
    let (host, realm) = (Host::of(call)?, call.realm());
    let vu = host.vu(realm, "a WebSocket")?;
    let params = call.argument(2);
    let mut opening = Opening::new(call.argument(0).to_text()?, Params::read(&params)?, &vu);
    opening.offers_deflate = match opening.params.compression.as_slice() {
        [] => false,
        [one] if one.is_empty() => false,
        [one] if one == "deflate" => true,
        all => {
            return Err(wrong(
                &params,
                &format!("unsupported compression `{}`: use `deflate`", all.join(", ")),
            ));
        }
    };
    let protocols = call.argument(1);
    if protocols.is_array() {
        for at in 0..protocols.length()? {
            opening.protocols.push(protocols.get_index(at)?.to_text()?);
        }
    } else if !protocols.is_nullish() {
        opening.protocols.push(protocols.to_text()?);
    }
    // Many scripts offer subprotocols as a header.
    opening.params.headers.retain(|(name, value)| {
        let is_offer = name.eq_ignore_ascii_case("Sec-WebSocket-Protocol");
        if is_offer {
            let all = value.split(',').map(|one| one.trim().to_owned());
            opening.protocols.extend(all.filter(|one| !one.is_empty()));
        }
        !is_offer
    });
    let sink = call.argument(3);
    open(call, host, &vu, Kind::Socket, opening, Stream::default(), sink.is_function().then_some(sink))
}

/// Opens a stream of events: URL and parameters.
fn events_open(call: &Call<'_>) -> Result<Value, Thrown> {
    let (host, realm) = (Host::of(call)?, call.realm());
    let vu = host.vu(realm, "sse.open()")?;
    let params = call.argument(1);
    let mut opening = Opening::new(call.argument(0).to_text()?, Params::read(&params)?, &vu);
    opening.redirects_left = opening.params.redirects.unwrap_or(host.shared.settings.max_redirects);
    let mut stream = Stream::default();
    if params.is_object() {
        let method = params.get_str("method")?;
        if !method.is_nullish() {
            opening.method = method.to_text()?.to_ascii_uppercase();
        }
        let body = params.get_str("body")?;
        if !body.is_nullish() {
            opening.body = Some(match body.bytes() {
                Some(bytes) => bytes,
                None => body.to_text()?.into_bytes(),
            });
        }
        let sequence = params.get_str("sequence")?;
        if !sequence.is_nullish() {
            stream.sequence = Some(match sequence.to_text()? {
                text if text == "id" => Place::Id,
                path => Place::Json(path),
            });
        }
    }
    open(call, host, &vu, Kind::Events, opening, stream, None)
}

fn open(
    call: &Call<'_>,
    host: &Host,
    vu: &Vu,
    kind: Kind,
    opening: Opening,
    stream: Stream,
    sink: Option<Value>,
) -> Result<Value, Thrown> {
    let realm = call.realm();
    opening.parsed(kind).map_err(|why| realm.error("TypeError", &why))?;
    let ledger = Ledger::compile(&stream).map_err(|why| realm.error("TypeError", &why))?;
    let number = vu.channel_number();
    let mut channel = Channel::new(number, kind, opening, ledger, sink);
    channel.start(host, vu);
    vu.channels.borrow_mut().push(channel);
    Ok(realm.number(f64::from(number)))
}

/// Returns the user, and the number of the channel that the first argument names.
macro_rules! channel_of {
    ($call:ident, $host:ident, $vu:ident, $number:ident) => {
        let $host = Host::of($call)?;
        let $vu = $host.vu($call.realm(), "a channel")?;
        let $number = index($call, 0) as u32;
    };
}

/// Waits for what arrives on a channel; returns it as an array, or `undefined` after its end.
fn next(call: &Call<'_>) -> Result<Value, Thrown> {
    channel_of!(call, host, vu, number);
    loop {
        match vu.with_channel(number, Channel::pop) {
            Some(Some(news)) => {
                let all = call.realm().array();
                for (at, value) in (0..).zip(values(call.realm(), news)) {
                    all.set_index(at, value)?;
                }
                return Ok(all);
            }
            None => return Ok(call.realm().undefined()),
            Some(None) if vu.with_channel(number, |channel| channel.has_ended()) == Some(true) => {
                return Ok(call.realm().undefined());
            }
            Some(None) => {}
        }
        vu.awaited_channel.set(Some(number));
        let waited = call.wait();
        vu.awaited_channel.set(None);
        waited?;
    }
}

/// Passes what has arrived to the sink of a channel.
///
/// # Errors
/// Returns what the sink has thrown.
pub fn deliver(host: &Host, vu: &Vu, number: u32) -> Result<(), Thrown> {
    let taken = vu.with_channel(number, |channel| (channel.pop(), channel.sink.clone(), channel.has_ended()));
    let Some((Some(news), Some(sink), _)) = taken else { return Ok(()) };
    let is_last = matches!(news, News::End(_));
    let values = values(&vu.realm, news);
    let arguments: Vec<&Value> = values.iter().collect();
    if is_last {
        vu.release_channel(host, number);
    }
    sink.call(&vu.realm.undefined(), &arguments).map(drop)
}

/// Returns what has arrived as its type and what belongs to it.
fn values(realm: &Realm, news: News) -> Vec<Value> {
    let kind = |name: &str| realm.text(name);
    match news {
        News::Open => vec![kind("open")],
        News::Text(text) => vec![kind("text"), realm.text(&text)],
        News::Binary(bytes) => vec![kind("binary"), realm.buffer(&bytes)],
        News::Ping => vec![kind("ping")],
        News::Pong => vec![kind("pong")],
        News::Event { id, name, data } => {
            vec![kind("event"), realm.text(&id), realm.text(&name), realm.text(&data)]
        }
        News::Timer(step) => vec![kind("timer"), realm.number(f64::from(step))],
        News::End(end) => vec![
            kind("end"),
            realm.text(&end.error),
            realm.number(f64::from(end.code)),
            realm.text(&end.reason),
            realm.bool(end.was_clean),
        ],
    }
}

/// Returns the response that has opened a channel, or has not.
fn response(call: &Call<'_>) -> Result<Value, Thrown> {
    channel_of!(call, host, vu, number);
    let realm = call.realm();
    let (response, headers) = (realm.object(), realm.object());
    let Some((url, status, head, error)) = vu.with_channel(number, |channel| {
        (channel.opening.url.clone(), channel.status, channel.head.clone(), channel.error.clone())
    }) else {
        return Ok(realm.undefined());
    };
    let text = String::from_utf8_lossy(Head::new(&head).text()).into_owned();
    let lines = text.split("\r\n").skip(1).take_while(|line| !line.is_empty());
    for (name, value) in lines.filter_map(|line| line.split_once(':')) {
        let (name, value) = (canonical(name), value.trim());
        let known = headers.get_str(&name)?.as_text();
        let value = known.map_or_else(|| value.to_owned(), |known| format!("{known}, {value}"));
        headers.set_str(&name, realm.text(&value))?;
    }
    response.set_str("url", realm.text(&url))?;
    response.set_str("status", realm.number(f64::from(status)))?;
    response.set_str("headers", headers)?;
    response.set_str("body", realm.text(""))?;
    response.set_str("error", realm.text(&error))?;
    response.set_str("throws", realm.bool(host.shared.settings.throws))?;
    Ok(response)
}

/// Leaves a channel: it is closed, and nothing that arrives on it is taken.
fn release(call: &Call<'_>) -> Result<Value, Thrown> {
    channel_of!(call, host, vu, number);
    vu.release_channel(host, number);
    Ok(call.realm().undefined())
}

/// Begins a timer of a channel, in milliseconds; returns its number.
fn timer(call: &Call<'_>) -> Result<Value, Thrown> {
    channel_of!(call, host, vu, number);
    let ms = call.argument(1).to_number()?;
    if ms.is_nan() || ms <= 0.0 {
        return Err(call.realm().error("TypeError", "a timer of a socket requires a time above 0 ms"));
    }
    let step = vu.with_channel(number, |channel| match channel.has_ended() {
        true => None,
        false => Some(channel.timer(host, &vu, (ms * 1e6) as u64)),
    });
    Ok(step.flatten().map_or_else(|| call.realm().undefined(), |step| call.realm().number(f64::from(step))))
}

/// Closes a channel; a WebSocket with a code and a reason.
fn close_channel(call: &Call<'_>) -> Result<Value, Thrown> {
    channel_of!(call, host, vu, number);
    let (realm, code, reason) = (call.realm(), call.argument(1), call.argument(2));
    let code = if code.is_nullish() { f64::from(close::NORMAL) } else { code.to_number()? };
    if !(0.0..=65_535.0).contains(&code) || !close::is_sendable(code as u16) {
        return Err(realm.error("RangeError", &format!("a close frame must not contain the code {code}")));
    }
    let reason = if reason.is_nullish() { String::new() } else { reason.to_text()? };
    if reason.len() > CONTROL_BYTES_MAX - 2 {
        return Err(
            realm.error("SyntaxError", "the reason of a close frame must not have more than 123 bytes")
        );
    }
    vu.with_channel(number, |channel| channel.close(host, &vu, code as u16, &reason));
    Ok(realm.undefined())
}

/// Sends a text or bytes; returns whether the socket is open.
fn send(call: &Call<'_>) -> Result<Value, Thrown> {
    channel_of!(call, host, vu, number);
    let data = call.argument(1);
    let sent = match data.bytes() {
        Some(bytes) => vu.with_channel(number, |channel| channel.send(host, MessageKind::Binary, &bytes)),
        None => {
            let text = data.to_text()?;
            vu.with_channel(number, |channel| channel.send(host, MessageKind::Text, text.as_bytes()))
        }
    };
    Ok(call.realm().bool(sent == Some(true)))
}

fn ping(call: &Call<'_>) -> Result<Value, Thrown> {
    channel_of!(call, host, vu, number);
    let sent = vu.with_channel(number, |channel| channel.ping(host));
    Ok(call.realm().bool(sent == Some(true)))
}
