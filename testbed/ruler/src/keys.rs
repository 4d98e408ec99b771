//! The table of keys: name, example, meaning, and the change that each makes to the settings.

use crate::draw::Distribution;
use crate::fault::Fault;
use crate::http2;
use crate::kept::Keep;
use crate::pause::Pause;
use crate::pressed::Encoding;
use crate::settings::{Behavior, Framing, OnExpect, Overflow, Service, SettingError};
use crate::units::{duration_ns, probability, size_bytes, switch, whole};

/// Where a key is accepted, and the change that it makes.
pub(crate) enum Door {
    /// Flags, `/_test-server/set`, and the query of any request.
    Request(fn(&mut Behavior, &str) -> Result<(), SettingError>),
    /// Flags and `/_test-server/set`.
    Server(fn(&mut Service, &str) -> Result<(), SettingError>),
}

/// One key.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) example: &'static str,
    pub(crate) meaning: &'static str,
    pub(crate) door: Door,
}

impl Row {
    /// Returns true if the query of an ordinary request may contain the key.
    pub(crate) fn per_request(&self) -> bool {
        matches!(self.door, Door::Request(_))
    }
}

const fn request(
    name: &'static str,
    example: &'static str,
    meaning: &'static str,
    apply: fn(&mut Behavior, &str) -> Result<(), SettingError>,
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

/// All keys, in the order of the help.
pub(crate) const KEYS: [Row; 47] = [
    request("delay", "5ms", "Time until the response starts, or a distribution", |to, text| {
        Distribution::parse(text).map(|value| to.delay = value)
    }),
    request("status", "404", "Status of the response", |to, text| {
        whole(text, 100, 999).map(|value| to.status = value as u16)
    }),
    request("error_rate", "0.1", "Share of responses with `error_status` instead", |to, text| {
        probability(text).map(|value| to.error_rate = value)
    }),
    request("error_status", "500", "Status of these responses", |to, text| {
        whole(text, 100, 999).map(|value| to.error_status = value as u16)
    }),
    request("body", "683481", "Bytes of the body", |to, text| {
        size_bytes(text).map(|value| to.body_bytes = value)
    }),
    request("text", "hello", "Text of the body instead of the pattern; empty: none", |to, text| {
        to.text = (!text.is_empty()).then(|| text.into());
        Ok(())
    }),
    request("content_type", "text/csv", "Content-Type; empty: the default", |to, text| {
        visible("content type", text)?;
        to.content_type = (!text.is_empty()).then(|| text.into());
        Ok(())
    }),
    request("encoding", "gzip", "Compression of the body: gzip, deflate, br, zstd, or none", |to, text| {
        Encoding::parse(text).map(|value| to.encoding = value)
    }),
    request(
        "header",
        "X-Shard:7",
        "Additional header line, name:value [repeatable]; empty: none",
        |to, text| {
            if text.is_empty() {
                to.lines.clear();
                return Ok(());
            }
            let (name, value) = text.split_once(':').unwrap_or((text, ""));
            let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
            if name.len() == text.len() || name.is_empty() || !name.bytes().all(token) {
                return Err(format!("invalid header `{text}`: expected name:value"));
            }
            add_line(to, name, value.trim())
        },
    ),
    request("set_cookie", "a=1; Path=/", "Additional Set-Cookie line [repeatable]", |to, text| {
        add_line(to, "Set-Cookie", text)
    }),
    request("location", "/x", "Location line; empty: none", |to, text| {
        visible("location", text)?;
        to.location = (!text.is_empty()).then(|| text.into());
        Ok(())
    }),
    request("etag", "v1", "ETag, and 304 for an If-None-Match that names it; empty: none", |to, text| {
        visible("entity tag", text)?;
        if text.contains('"') {
            return Err(format!("invalid entity tag `{text}`: expected it without quotes"));
        }
        to.etag = (!text.is_empty()).then(|| text.into());
        Ok(())
    }),
    request("framing", "chunked", "Framing of the body: length, chunked, or close", |to, text| {
        to.framing = match text {
            "length" => Framing::Length,
            "chunked" => Framing::Chunked,
            "close" => Framing::Close,
            _ => return Err(format!("unknown framing `{text}`: expected length, chunked, or close")),
        };
        Ok(())
    }),
    request("chunk", "4096", "Bytes in a chunk, 1 to 1m", |to, text| match size_bytes(text)? {
        bytes @ 1..=0x10_0000 => {
            to.chunk_bytes = bytes;
            Ok(())
        }
        _ => Err(format!("invalid size of a chunk `{text}`: expected 1 to 1m")),
    }),
    request("trailers", "1", "Trailer after the last chunk", |to, text| {
        switch(text).map(|value| to.trailers = value)
    }),
    request("head_bytes", "32k", "Size of the head, padded with X-Pad, at most 16m", |to, text| {
        match size_bytes(text)? {
            bytes @ 0..=0x100_0000 => {
                to.head_bytes = bytes;
                Ok(())
            }
            _ => Err(format!("invalid size of the head `{text}`: expected at most 16m")),
        }
    }),
    request(
        "informational",
        "2",
        "Informational responses before it, alternately 103 and 100",
        |to, text| whole(text, 0, 1000).map(|value| to.informational = value),
    ),
    request("reason", "Fine", "Reason phrase", |to, text| {
        visible("reason phrase", text)?;
        to.reason = Some(text.into());
        Ok(())
    }),
    request("http", "1.0", "Version of the response: 1.0 or 1.1", |to, text| {
        to.http10 = match text {
            "1.0" => true,
            "1.1" => false,
            _ => return Err(format!("unknown version `{text}`: expected 1.0 or 1.1")),
        };
        Ok(())
    }),
    request("close", "1", "Send `Connection: close`, and close after the response", |to, text| {
        switch(text).map(|value| to.close = value)
    }),
    request("fault", "reset_before", "Fault from the list below, or none", |to, text| {
        to.fault = if text == "none" { None } else { Some(Fault::parse(text)?) };
        Ok(())
    }),
    request(
        "fault_rate",
        "0.01",
        "Share of requests with the fault; without it, `fault` means 1",
        |to, text| probability(text).map(|value| to.fault_rate = value),
    ),
    request("drip_every", "100ms", "Time between two bytes of a dripping response", |to, text| {
        duration_ns(text).map(|value| to.drip_every_ns = value)
    }),
    server("workers", "4", "Maximum number of requests in service; 0: no limit", |to, text| {
        whole(text, 0, 1_000_000).map(|value| to.workers = value)
    }),
    server("service", "2ms", "Service time of a worker, or a distribution", |to, text| {
        Distribution::parse(text).map(|value| to.service = value)
    }),
    server("queue", "100", "Places in the queue for a worker", |to, text| {
        whole(text, 0, 100_000_000).map(|value| to.queue = value)
    }),
    server("overflow", "reset", "Response if the queue is full: 503, reset, or close", |to, text| {
        to.overflow = match text {
            "503" => Overflow::Status503,
            "reset" => Overflow::Reset,
            "close" => Overflow::Close,
            _ => return Err(format!("unknown overflow `{text}`: expected 503, reset, or close")),
        };
        Ok(())
    }),
    server("pause", "1s/10s", "No responses in the first 1 s of every 10 s; `off` ends it", |to, text| {
        to.pause = if text == "off" { None } else { Some(Pause::parse(text)?) };
        Ok(())
    }),
    server("pause_at", "3s", "Time from the start or the command to the first pause", |to, text| {
        duration_ns(text).map(|value| to.pause_at_ns = value)
    }),
    server(
        "keep_alive_requests",
        "100",
        "Close a connection with its N-th response; 0: never",
        |to, text| whole(text, 0, u64::from(u32::MAX)).map(|value| to.keep_alive_requests = value),
    ),
    server("idle_close", "5s", "Close a connection after this idle time; 0: never", |to, text| {
        duration_ns(text).map(|value| to.idle_close_ns = value)
    }),
    server("max_connections", "256", "Reset connections above this number; 0: no limit", |to, text| {
        whole(text, 0, 100_000_000).map(|value| to.max_connections = value)
    }),
    server("leave_in_backlog", "1", "Leave these connections in the backlog instead", |to, text| {
        switch(text).map(|value| to.leave_in_backlog = value)
    }),
    server("backlog", "4096", "Length of the listen queue, from the next `listen=on`", |to, text| {
        whole(text, 0, 1_000_000).map(|value| to.backlog = value)
    }),
    server("listen", "off", "Close the listener, or with `on` reopen it on the same port", |to, text| {
        switch(text).map(|value| to.listen = value)
    }),
    server(
        "keep_requests",
        "last:100",
        "Keep this many complete requests, the last or the first; 0: none",
        |to, text| Keep::parse(text).map(|value| to.keep = value),
    ),
    server("seed", "7", "Restart all random sequences from this seed", |to, text| {
        whole(text, 0, u64::MAX).map(|value| to.seed = value)
    }),
    request(
        "on_expect",
        "refuse",
        "Expect: 100-continue gets: continue, ignore, or refuse (417)",
        |to, text| {
            to.on_expect = match text {
                "continue" => OnExpect::Continue,
                "ignore" => OnExpect::Ignore,
                "refuse" => OnExpect::Refuse,
                _ => return Err(format!("unknown response `{text}`: expected continue, ignore, or refuse")),
            };
            Ok(())
        },
    ),
    request("reset_code", "CANCEL", "HTTP/2: error code of the RST_STREAM of a fault", |to, text| {
        http2::code(text).map(|value| to.reset_code = value)
    }),
    server("http2", "1", "Accept HTTP/2 with prior knowledge on the same port", |to, text| {
        switch(text).map(|value| to.http2.enabled = value)
    }),
    server("max_streams", "100", "HTTP/2: limit of open streams per connection, or none", |to, text| {
        http2::max_streams(text).map(|value| to.http2.max_streams = value)
    }),
    server(
        "initial_window",
        "1m",
        "HTTP/2: initial window of a stream for the request's body",
        |to, text| size_within(text, 0, http2::MOST_WINDOW).map(|value| to.http2.initial_window = value),
    ),
    server(
        "connection_window",
        "1m",
        "HTTP/2: window of a connection for all its request bodies",
        |to, text| {
            let window = size_within(text, http2::LEAST_CONNECTION_WINDOW, http2::MOST_WINDOW);
            window.map(|value| to.http2.connection_window = value)
        },
    ),
    server("max_frame", "16k", "HTTP/2: maximum size of a frame from the client", |to, text| {
        let frame = size_within(text, http2::LEAST_FRAME, http2::MOST_FRAME);
        frame.map(|value| to.http2.max_frame = value)
    }),
    server(
        "goaway_after",
        "100",
        "HTTP/2: GOAWAY with the 100th request of a connection; 0: never",
        |to, text| whole(text, 0, u64::MAX).map(|value| to.http2.goaway_after = value),
    ),
    server("goaway_code", "NO_ERROR", "HTTP/2: error code of that GOAWAY", |to, text| {
        http2::code(text).map(|value| to.http2.goaway_code = value)
    }),
    server("writes", "single", "HTTP/2: one write per response, or batched", |to, text| {
        to.http2.writes = match text {
            "single" => http2::Writes::Single,
            "batched" => http2::Writes::Batched,
            _ => return Err(format!("unknown mode `{text}`: expected single or batched")),
        };
        Ok(())
    }),
];

fn size_within(text: &str, least: u64, most: u64) -> Result<u32, SettingError> {
    match size_bytes(text)? {
        // proof: no limit of HTTP/2 exceeds 31 bits.
        size if (least..=most).contains(&size) => Ok(size as u32),
        _ => Err(format!("invalid size `{text}`: expected {least} to {most} bytes")),
    }
}

/// Rejects control characters: a line break inside a value would start another header, or the body.
fn visible(what: &str, text: &str) -> Result<(), SettingError> {
    match text.bytes().any(|byte| (byte < b' ' && byte != b'\t') || byte == 0x7f) {
        true => Err(format!("invalid {what}: control characters are not allowed")),
        false => Ok(()),
    }
}

fn add_line(to: &mut Behavior, name: &str, value: &str) -> Result<(), SettingError> {
    visible("header", value)?;
    to.lines.push_str(&format!("{name}: {value}\r\n"));
    Ok(())
}
