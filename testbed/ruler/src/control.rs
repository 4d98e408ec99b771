//! The endpoints below `/_test-server/`, which change the settings and read the record.

use crate::analysis::{grid, quantile};
use crate::fault::FAULTS;
use crate::json::quoted;
use crate::outgoing::push_text;
use crate::record::{ENTRY_BYTES, Recorder};
use crate::settings::{Settings, query_parts};
use crate::station::Station;
use crate::units::percent_decoded;
use std::fmt::Write;

/// Requests to paths with this prefix are not counted.
pub(crate) const PREFIX: &[u8] = b"/_test-server/";

/// The state that the endpoints read.
pub(crate) struct View<'a> {
    pub(crate) recorder: &'a Recorder,
    pub(crate) station: &'a Station,
    pub(crate) settings: &'a Settings,
    pub(crate) open: u64,
    pub(crate) streams_open: u64,
}

/// The action for a request below `/_test-server/`.
pub(crate) enum Wanted {
    /// Send this: media type, further header lines, body.
    Show(&'static str, String, Vec<u8>),
    /// Apply these settings; the names are the keys in the request.
    Change(Box<Settings>, Vec<String>),
    Clear,
    ClearKept,
}

/// Parses the target, which starts with `/_test-server/`. An error is a sentence for a 400.
pub(crate) fn understand(target: &[u8], view: &View<'_>) -> Result<Wanted, String> {
    let rest = target.get(PREFIX.len()..).unwrap_or_default();
    let at = rest.iter().position(|&byte| byte == b'?').unwrap_or(rest.len());
    let mut pairs = Vec::new();
    for (name, value) in query_parts(rest.get(at + 1..).unwrap_or_default()) {
        pairs.push((percent_decoded(name)?, percent_decoded(value)?));
    }
    let takes = |known: &[&str]| match pairs.iter().find(|pair| !known.contains(&pair.0.as_str())) {
        Some(pair) if known.is_empty() => Err(format!("unknown parameter `{}`: expected none", pair.0)),
        Some(pair) => Err(format!("unknown parameter `{}`: expected {}", pair.0, known.join(", "))),
        None => Ok(()),
    };
    let parameter = |name: &str| pairs.iter().find(|pair| pair.0 == name).map(|pair| pair.1.as_str());
    match &rest[..at] {
        b"set" => {
            if pairs.is_empty() {
                return Err("`/_test-server/set` requires at least one key=value".into());
            }
            let settings = Box::new(view.settings.changed(&pairs)?);
            Ok(Wanted::Change(settings, pairs.into_iter().map(|pair| pair.0).collect()))
        }
        b"clear" => takes(&[]).map(|()| Wanted::Clear),
        b"counters" => takes(&[]).map(|()| json(counters(view))),
        b"log" => {
            takes(&["from", "count"])?;
            let number = |name| match parameter(name) {
                Some(text) => crate::units::whole(text, 0, 1 << 40).map(Some),
                None => Ok(None),
            };
            log(view.recorder, number("from")?.unwrap_or(0), number("count")?.unwrap_or(1 << 40))
        }
        b"quantiles" => {
            takes(&["q"])?;
            quantiles(view.recorder, parameter("q").unwrap_or("0.5,0.9,0.99")).map(json)
        }
        b"arrivals" => {
            takes(&["rate"])?;
            let text = parameter("rate")
                .ok_or("`/_test-server/arrivals` requires a rate, for example ?rate=1000")?;
            match text.parse::<f64>() {
                Ok(rate_per_s) if rate_per_s > 0.0 && rate_per_s < 1e9 => {
                    Ok(json(arrivals(view.recorder, rate_per_s)))
                }
                _ => Err(format!("invalid rate `{text}`: expected a number of arrivals per second")),
            }
        }
        b"requests" => {
            takes(&["clear"])?;
            match parameter("clear") {
                None => Ok(json(view.recorder.kept.json())),
                Some("") => Ok(Wanted::ClearKept),
                Some(value) => Err(format!("unexpected value `{value}`: `clear` takes none")),
            }
        }
        b"last_request" => {
            takes(&[])?;
            let cut = if view.recorder.last_request_is_cut { "X-Ruler-Cut: 1\r\n" } else { "" };
            let bytes = view.recorder.last_request.clone();
            Ok(Wanted::Show("application/octet-stream", cut.into(), bytes))
        }
        other => Err(format!(
            "unknown endpoint `/_test-server/{}`: expected set, counters, log, quantiles, arrivals, requests, \
             last_request, or clear",
            String::from_utf8_lossy(other)
        )),
    }
}

fn json(text: String) -> Wanted {
    Wanted::Show("application/json", String::new(), text.into_bytes())
}

fn counters(view: &View<'_>) -> String {
    let (recorder, station) = (view.recorder, view.station);
    let counters = &recorder.counters;
    let mut text = String::from("{");
    for (name, value) in [
        ("requests", counters.requests),
        ("responses", counters.responses),
        ("abandoned", counters.abandoned),
        ("malformed", counters.malformed),
        ("accepted", counters.accepted),
        ("open", view.open),
        ("over_limit", counters.over_limit),
        ("accept_errors", counters.accept_errors),
        ("closed_by_peer", counters.closed_by_peer),
        ("closed_by_server", counters.closed_by_server),
        ("resets_received", counters.resets_received),
        ("bytes_in", counters.bytes_in),
        ("continues_sent", counters.continues_sent),
        ("expectations_refused", counters.expectations_refused),
        ("queue", station.waiting()),
        ("queue_max", station.longest()),
        ("in_service", station.in_service()),
        ("overflowed", counters.overflowed),
        ("streams_open", view.streams_open),
        ("streams_opened", counters.streams_opened),
        ("streams_ended", counters.streams_ended),
        ("streams_closed_by_peer", counters.streams_closed_by_peer),
        ("streams_closed_by_server", counters.streams_closed_by_server),
        ("events_sent", counters.events_sent),
        ("events_skipped", counters.events_skipped),
        ("websockets_opened", counters.websockets.opened),
        ("websockets_closed_by_peer", counters.websockets.closed_by_peer),
        ("websockets_closed_by_server", counters.websockets.closed_by_server),
        ("websockets_cut", counters.websockets.cut),
        ("messages_received", counters.websockets.received),
        ("messages_sent", counters.websockets.sent),
        ("websocket_pings_received", counters.websockets.pings_received),
        ("websocket_pongs_received", counters.websockets.pongs_received),
        ("websocket_frames_malformed", counters.websockets.malformed),
        ("tokens_issued", counters.pages.tokens_issued),
        ("secure_accepted", counters.pages.secure_accepted),
        ("secure_rejected", counters.pages.secure_rejected),
        ("carts_opened", counters.pages.carts_opened),
        ("requests_kept", recorder.kept.len()),
        ("requests_discarded", recorder.kept.discarded),
        ("log_records", recorder.log.len() as u64),
        ("log_dropped", recorder.log_dropped),
    ] {
        // Writing to a String cannot fail, here and below.
        let _ = write!(text, "\"{name}\":{value},");
    }
    counters.http2.push_json(&mut text);
    let statuses = recorder.by_status.iter().enumerate().filter(|row| *row.1 > 0);
    object(&mut text, "by_status", statuses.map(|(status, &count)| (status.to_string(), count)));
    let codes = counters.websockets.codes.iter().map(|(code, &count)| (code.to_string(), count));
    object(&mut text, "websocket_close_codes", codes);
    let faults = FAULTS.iter().zip(counters.by_fault).filter(|row| row.1 > 0);
    object(&mut text, "by_fault", faults.map(|(row, count)| (row.0.to_owned(), count)));
    let mut paths: Vec<_> = recorder.by_path.iter().map(|(path, &count)| (path.as_ref(), count)).collect();
    paths.sort_unstable();
    let paths = paths.into_iter().map(|(path, count)| (String::from_utf8_lossy(path).into_owned(), count));
    object(&mut text, "by_path", paths);
    let _ = write!(text, "\"other_paths\":{}}}", recorder.other_paths);
    text
}

fn object(text: &mut String, name: &str, members: impl Iterator<Item = (String, u64)>) {
    let members: Vec<String> = members.map(|(key, count)| format!("{}:{count}", quoted(&key))).collect();
    let _ = write!(text, "\"{name}\":{{{}}},", members.join(","));
}

fn log(recorder: &Recorder, from: u64, count: u64) -> Result<Wanted, String> {
    let length = recorder.log.len();
    let from = usize::try_from(from).unwrap_or(length).min(length);
    let count = usize::try_from(count).unwrap_or(length).min(length - from);
    let mut bytes = Vec::with_capacity(count * ENTRY_BYTES);
    for entry in &recorder.log[from..from + count] {
        bytes.extend_from_slice(&entry.bytes());
    }
    let mut head = Vec::new();
    push_text(
        &mut head,
        format_args!("X-Ruler-Records: {length}\r\nX-Ruler-Dropped: {}\r\n", recorder.log_dropped),
    );
    Ok(Wanted::Show("application/octet-stream", String::from_utf8_lossy(&head).into_owned(), bytes))
}

fn quantiles(recorder: &Recorder, wanted: &str) -> Result<String, String> {
    let mut points = Vec::new();
    for text in wanted.split(',') {
        points.push((text, crate::units::probability(text)?));
    }
    let finished = recorder.log.iter().filter(|entry| entry.last_byte_written_ns > 0);
    let mut in_server: Vec<u64> =
        (finished.clone()).map(|entry| entry.last_byte_written_ns.saturating_sub(entry.arrive_ns)).collect();
    let mut commanded: Vec<u64> = finished.clone().map(|entry| entry.commanded_ns).collect();
    // The ruler's own delay: the difference between the actual and the configured time.
    let mut late: Vec<u64> = finished
        .map(|entry| (entry.last_byte_written_ns - entry.arrive_ns).saturating_sub(entry.commanded_ns))
        .collect();
    let mut text = format!("{{\"count\":{},\"log_dropped\":{}", in_server.len(), recorder.log_dropped);
    for (name, values) in
        [("in_server_ns", &mut in_server), ("commanded_ns", &mut commanded), ("late_ns", &mut late)]
    {
        values.sort_unstable();
        let _ = write!(text, ",\"{name}\":{{");
        for (label, q) in &points {
            let _ = write!(text, "\"{label}\":{},", quantile(values, *q).unwrap_or(0));
        }
        let sum: u128 = values.iter().map(|&value| u128::from(value)).sum();
        let mean = sum / values.len().max(1) as u128;
        let _ = write!(text, "\"mean\":{mean},\"max\":{}}}", values.last().copied().unwrap_or(0));
    }
    text.push('}');
    Ok(text)
}

fn arrivals(recorder: &Recorder, rate_per_s: f64) -> String {
    let stamps: Vec<u64> = recorder.log.iter().map(|entry| entry.arrive_ns).collect();
    let grid = grid(&stamps, rate_per_s);
    let first = stamps.iter().min().copied().unwrap_or(0);
    let last = stamps.iter().max().copied().unwrap_or(0);
    let mut text = format!(
        "{{\"count\":{},\"first_ns\":{first},\"last_ns\":{last},\"log_dropped\":{}",
        stamps.len(),
        recorder.log_dropped
    );
    for (name, values) in [("gap", &grid.gaps_ns), ("off_grid", &grid.off_ns)] {
        for (label, q) in [("p50", 0.5), ("p99", 0.99), ("max", 1.0)] {
            let value_us = quantile(values, q).unwrap_or(0) as f64 / 1e3;
            let _ = write!(text, ",\"{name}_{label}_us\":{value_us}");
        }
    }
    text.push('}');
    text
}
