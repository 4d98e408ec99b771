//! The table of keys: name, example, meaning, and what each does to the settings.

use crate::draw::Distribution;
use crate::fault::Fault;
use crate::http2;
use crate::kept::Keep;
use crate::pause::Pause;
use crate::pressed::Encoding;
use crate::settings::{Behaviour, Framing, Overflow, Service, SettingError};
use crate::units::{duration_ns, probability, size_bytes, switch, whole};

/// Which of the three doors a key passes, and what it does there.
pub(crate) enum Door {
    /// All of them.
    Request(fn(&mut Behaviour, &str) -> Result<(), SettingError>),
    /// Not the query of a request.
    Server(fn(&mut Service, &str) -> Result<(), SettingError>),
}

/// One thing that can be commanded.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) example: &'static str,
    pub(crate) meaning: &'static str,
    pub(crate) door: Door,
}

impl Row {
    /// True when the key may stand in the query of an ordinary request.
    pub(crate) fn per_request(&self) -> bool {
        matches!(self.door, Door::Request(_))
    }
}

const fn request(
    name: &'static str,
    example: &'static str,
    meaning: &'static str,
    apply: fn(&mut Behaviour, &str) -> Result<(), SettingError>,
) -> Row {
    Row { name, example, meaning, door: Door::Request(apply) }
}

const fn server(
    name: &'static str,
    example: &'static str,
    meaning: &'static str,
    apply: fn(&mut Service, &str) -> Result<(), SettingError>,
) -> Row {
    Row { name, example, meaning, door: Door::Server(apply) }
}

/// Every key there is.
pub(crate) const KEYS: [Row; 46] = [
    request("delay", "5ms", "time until an answer begins, also a distribution", |to, text| {
        Distribution::parse(text).map(|value| to.delay = value)
    }),
    request("status", "404", "status of an answer", |to, text| {
        whole(text, 100, 999).map(|value| to.status = value as u16)
    }),
    request("error_rate", "0.1", "share of answers that carry `error_status` instead", |to, text| {
        probability(text).map(|value| to.error_rate = value)
    }),
    request("error_status", "500", "the status of those", |to, text| {
        whole(text, 100, 999).map(|value| to.error_status = value as u16)
    }),
    request("body", "683481", "bytes of body", |to, text| {
        size_bytes(text).map(|value| to.body_bytes = value)
    }),
    request("text", "hello", "this text as the body instead; empty: not", |to, text| {
        to.text = (!text.is_empty()).then(|| text.into());
        Ok(())
    }),
    request("content_type", "text/csv", "the Content-Type; empty: the usual one", |to, text| {
        visible("a content type", text)?;
        to.content_type = (!text.is_empty()).then(|| text.into());
        Ok(())
    }),
    request("encoding", "gzip", "the body compressed: gzip, deflate, br, zstd or none", |to, text| {
        Encoding::parse(text).map(|value| to.encoding = value)
    }),
    request(
        "header",
        "X-Shard:7",
        "a header line more, name:value; may be repeated; empty: none",
        |to, text| {
            if text.is_empty() {
                to.lines.clear();
                return Ok(());
            }
            let (name, value) = text.split_once(':').unwrap_or((text, ""));
            let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
            if name.len() == text.len() || name.is_empty() || !name.bytes().all(token) {
                return Err(format!("`{text}` is no header; write name:value"));
            }
            add_line(to, name, value.trim())
        },
    ),
    request("set_cookie", "a=1; Path=/", "a Set-Cookie line more; may be repeated", |to, text| {
        add_line(to, "Set-Cookie", text)
    }),
    request("location", "/x", "a Location line; empty: none", |to, text| {
        visible("a location", text)?;
        to.location = (!text.is_empty()).then(|| text.into());
        Ok(())
    }),
    request("etag", "v1", "an ETag, and 304 to an If-None-Match that names it; empty: none", |to, text| {
        visible("an entity tag", text)?;
        if text.contains('"') {
            return Err(format!("`{text}` stands without its quotes here"));
        }
        to.etag = (!text.is_empty()).then(|| text.into());
        Ok(())
    }),
    request("framing", "chunked", "how the end of the body is told: length, chunked or close", |to, text| {
        to.framing = match text {
            "length" => Framing::Length,
            "chunked" => Framing::Chunked,
            "close" => Framing::Close,
            _ => return Err(format!("`{text}` is no framing; write length, chunked or close")),
        };
        Ok(())
    }),
    request("chunk", "4096", "bytes in a chunk (1 to 1m)", |to, text| match size_bytes(text)? {
        bytes @ 1..=0x10_0000 => {
            to.chunk_bytes = bytes;
            Ok(())
        }
        _ => Err(format!("`{text}` is no size for a chunk; write 1 to 1m")),
    }),
    request("trailers", "1", "a trailer after the last chunk", |to, text| {
        switch(text).map(|value| to.trailers = value)
    }),
    request("head_bytes", "32k", "pads the head to this size with X-Pad (at most 16m)", |to, text| {
        match size_bytes(text)? {
            bytes @ 0..=0x100_0000 => {
                to.head_bytes = bytes;
                Ok(())
            }
            _ => Err(format!("`{text}` is too long for a head; write at most 16m")),
        }
    }),
    request("informational", "2", "so many 103 and 100 in turn before the answer", |to, text| {
        whole(text, 0, 1000).map(|value| to.informational = value)
    }),
    request("reason", "Fine", "the reason phrase", |to, text| {
        visible("a reason phrase", text)?;
        to.reason = Some(text.into());
        Ok(())
    }),
    request("http", "1.0", "version of the answer: 1.0 or 1.1", |to, text| {
        to.http10 = match text {
            "1.0" => true,
            "1.1" => false,
            _ => return Err(format!("`{text}` is no version; write 1.0 or 1.1")),
        };
        Ok(())
    }),
    request("close", "1", "`Connection: close`, and close after the answer", |to, text| {
        switch(text).map(|value| to.close = value)
    }),
    request("fault", "reset_before", "a fault from the list below, or none", |to, text| {
        to.fault = if text == "none" { None } else { Some(Fault::parse(text)?) };
        Ok(())
    }),
    request(
        "fault_rate",
        "0.01",
        "share of requests that suffer it (1 unless named with the fault)",
        |to, text| probability(text).map(|value| to.fault_rate = value),
    ),
    request("drip_every", "100ms", "time between two bytes of a dripping answer", |to, text| {
        duration_ns(text).map(|value| to.drip_every_ns = value)
    }),
    server("workers", "4", "requests in service at once; 0: no such limit", |to, text| {
        whole(text, 0, 1_000_000).map(|value| to.workers = value)
    }),
    server("service", "2ms", "time a worker needs for one, also a distribution", |to, text| {
        Distribution::parse(text).map(|value| to.service = value)
    }),
    server("queue", "100", "places to wait for a worker", |to, text| {
        whole(text, 0, 100_000_000).map(|value| to.queue = value)
    }),
    server("overflow", "reset", "what happens beyond them: 503, reset or close", |to, text| {
        to.overflow = match text {
            "503" => Overflow::Status503,
            "reset" => Overflow::Reset,
            "close" => Overflow::Close,
            _ => return Err(format!("`{text}` is no overflow; write 503, reset or close")),
        };
        Ok(())
    }),
    server("pause", "1s/10s", "nothing is answered in the first 1 s of every 10 s; off", |to, text| {
        to.pause = if text == "off" { None } else { Some(Pause::parse(text)?) };
        Ok(())
    }),
    server("pause_at", "3s", "the first pause begins so long after the command", |to, text| {
        duration_ns(text).map(|value| to.pause_at_ns = value)
    }),
    server(
        "keep_alive_requests",
        "100",
        "closes a connection with its 100th answer; 0: never",
        |to, text| whole(text, 0, u64::from(u32::MAX)).map(|value| to.keep_alive_requests = value),
    ),
    server("idle_close", "5s", "closes a connection idle for so long; 0: never", |to, text| {
        duration_ns(text).map(|value| to.idle_close_ns = value)
    }),
    server("max_connections", "256", "resets connections beyond; 0: no limit", |to, text| {
        whole(text, 0, 100_000_000).map(|value| to.max_connections = value)
    }),
    server("accept_none_beyond", "1", "leaves those in the backlog instead", |to, text| {
        switch(text).map(|value| to.accept_none_beyond = value)
    }),
    server("backlog", "4096", "length of the listen queue, from the next `listen=on`", |to, text| {
        whole(text, 0, 1_000_000).map(|value| to.backlog = value)
    }),
    server("listen", "off", "closes the listener, or opens it again on the same port", |to, text| {
        switch(text).map(|value| to.listen = value)
    }),
    server(
        "keep_requests",
        "last:100",
        "keeps that many requests whole, the last or the first; 0: none",
        |to, text| Keep::parse(text).map(|value| to.keep = value),
    ),
    server("seed", "7", "begins all random streams anew", |to, text| {
        whole(text, 0, u64::MAX).map(|value| to.seed = value)
    }),
    request("reset_code", "CANCEL", "HTTP/2: error code of the RST_STREAM of a fault", |to, text| {
        http2::code(text).map(|value| to.reset_code = value)
    }),
    server("http2", "1", "accepts HTTP/2 with prior knowledge on the same port", |to, text| {
        switch(text).map(|value| to.http2.enabled = value)
    }),
    server("max_streams", "100", "HTTP/2: streams that a connection may have open, or none", |to, text| {
        http2::max_streams(text).map(|value| to.http2.max_streams = value)
    }),
    server("initial_window", "1m", "HTTP/2: window of a new stream for bodies of requests", |to, text| {
        size_within(text, 0, http2::MOST_WINDOW).map(|value| to.http2.initial_window = value)
    }),
    server("connection_window", "1m", "HTTP/2: the same for all streams of a connection", |to, text| {
        let window = size_within(text, http2::LEAST_CONNECTION_WINDOW, http2::MOST_WINDOW);
        window.map(|value| to.http2.connection_window = value)
    }),
    server("max_frame", "16k", "HTTP/2: the largest frame that a client may send", |to, text| {
        let frame = size_within(text, http2::LEAST_FRAME, http2::MOST_FRAME);
        frame.map(|value| to.http2.max_frame = value)
    }),
    server(
        "goaway_after",
        "100",
        "HTTP/2: GOAWAY with the 100th request of a connection; 0: never",
        |to, text| whole(text, 0, u64::MAX).map(|value| to.http2.goaway_after = value),
    ),
    server("goaway_code", "NO_ERROR", "HTTP/2: the error code in that GOAWAY", |to, text| {
        http2::code(text).map(|value| to.http2.goaway_code = value)
    }),
    server(
        "writes",
        "single",
        "HTTP/2: a write for each response, or one for several: batched",
        |to, text| {
            to.http2.writes = match text {
                "single" => http2::Writes::Single,
                "batched" => http2::Writes::Batched,
                _ => return Err(format!("unknown mode `{text}`; expected single or batched")),
            };
            Ok(())
        },
    ),
];

fn size_within(text: &str, least: u64, most: u64) -> Result<u32, SettingError> {
    match size_bytes(text)? {
        // proof: no limit of HTTP/2 exceeds 31 bits.
        size if (least..=most).contains(&size) => Ok(size as u32),
        _ => Err(format!("invalid size `{text}`: expected {least} to {most} bytes")),
    }
}

/// A line break inside a value would begin another header, or the body.
fn visible(what: &str, text: &str) -> Result<(), SettingError> {
    match text.bytes().any(|byte| (byte < b' ' && byte != b'\t') || byte == 0x7f) {
        true => Err(format!("{what} has no control characters")),
        false => Ok(()),
    }
}

fn add_line(to: &mut Behaviour, name: &str, value: &str) -> Result<(), SettingError> {
    visible("a header", value)?;
    to.lines.push_str(&format!("{name}: {value}\r\n"));
    Ok(())
}
