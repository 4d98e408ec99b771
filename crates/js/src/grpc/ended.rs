//! The end of a call: its status, its message as JSON, and its metadata.

use super::call::PendingCall;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use plimsoll_plan::Fault;
use plimsoll_plan::grpc::{MessageForm, Protocol, Status, Types};
use plimsoll_plan::head::Head;
use plimsoll_plan::program::Reply;
use plimsoll_script::call::{Broken, End, Gzip, Reader, Style, Unread, any_details, binary, end_of};
use plimsoll_wire::grpc::{Message, decode_text, next_message};

/// Largest message as JSON, in bytes.
const JSON_BYTES_MAX: usize = 256 << 20;

/// Fields that belong to the protocol: grpc-go keeps them from programs.
const RESERVED: [&str; 6] =
    ["grpc-status", "grpc-message", "grpc-encoding", "grpc-message-type", "grpc-timeout", "te"];

/// A call that has ended.
#[derive(Debug)]
pub struct Called {
    pub status: Status,
    /// The message as JSON; `None`: it is discarded.
    pub message: Option<String>,
    /// The text of the status; of a status other than OK.
    pub text: String,
    /// The details of the status, a JSON array.
    pub details: String,
    /// Names in lower case, with their values in the order of the response.
    pub headers: Vec<(String, String)>,
    pub trailers: Vec<(String, String)>,
    /// The messages, if their bytes are kept.
    pub bytes: Vec<Vec<u8>>,
    /// What it counts as, if it has failed.
    pub fault: Option<Fault>,
}

impl PendingCall {
    /// Returns the end of a call that was not sent.
    pub fn unsent(&self, text: String) -> Called {
        failed(self, Status::ResourceExhausted, text, Some(Fault::InvalidRequest))
    }
}

fn failed(pending: &PendingCall, status: Status, text: String, fault: Option<Fault>) -> Called {
    Called {
        status,
        message: empty(pending),
        text,
        details: "[]".to_owned(),
        headers: Vec::new(),
        trailers: Vec::new(),
        bytes: Vec::new(),
        fault,
    }
}

/// Returns the message of a call without one: all fields have their defaults.
fn empty(pending: &PendingCall) -> Option<String> {
    read(pending, b"").unwrap_or_default()
}

/// Reads a message; nothing if it is discarded.
fn read(pending: &PendingCall, bytes: &[u8]) -> Result<Option<String>, Unread> {
    if pending.discards_message || pending.keeps_bytes {
        return Ok(None);
    }
    let mut json = Vec::new();
    let of = (&*pending.schemas.types, pending.response);
    Reader::default().read_as(Style::Canonical, of, bytes, JSON_BYTES_MAX, &mut json)?;
    Ok(Some(String::from_utf8_lossy(&json).into_owned()))
}

/// Decompresses and reads a message of a response.
///
/// # Errors
/// Returns what it counts as, the status that clients report, and why.
pub fn read_message(
    pending: &PendingCall,
    message: Message<'_>,
    is_gzip: bool,
) -> Result<Option<String>, (Fault, Status, String)> {
    let limit = pending.receive_bytes_max;
    let too_long = |bytes: u64| {
        let text = format!("the message has {bytes} bytes, and `maxReceiveSize` is {limit}");
        (Fault::ClientLimit, Status::ResourceExhausted, text)
    };
    let mut gzip = Gzip::default();
    let bytes = match message.is_compressed {
        false => message.bytes,
        true if !is_gzip => {
            let text = "the message is compressed in an unknown way".to_owned();
            return Err((Fault::DecodeFailed, Status::Internal, text));
        }
        true => gzip.decode(message.bytes, limit as usize).map_err(|why| match why {
            Broken::Invalid => {
                let text = "the message cannot be decompressed".to_owned();
                (Fault::DecodeFailed, Status::Internal, text)
            }
            Broken::TooLong => too_long(limit + 1),
        })?,
    };
    if bytes.len() as u64 > limit {
        return Err(too_long(bytes.len() as u64));
    }
    read(pending, bytes).map_err(|why| match why {
        Unread::Invalid => {
            let text = Fault::GrpcInvalidMessage.sentence().to_owned();
            (Fault::GrpcInvalidMessage, Status::Internal, text)
        }
        Unread::TooLong => too_long(limit + 1),
    })
}

impl Called {
    /// Reads the end of a call.
    pub fn of(pending: &PendingCall, reply: &Reply<'_>) -> Called {
        if let Some(fault) = reply.fault {
            return failed(pending, status_of(fault), fault.sentence().to_owned(), Some(fault));
        }
        // A response without a body has its status in the head, and no other fields.
        let is_only_trailers = reply.trailers.field("grpc-status").is_none();
        let (headers, trailers) = match is_only_trailers {
            true => (Vec::new(), metadata(reply.head)),
            false => (metadata(reply.head), metadata(reply.trailers)),
        };
        let called = match end_of(reply, Protocol::Grpc) {
            Ok(end) if end.status == Status::Ok && pending.keeps_bytes => {
                Called { bytes: messages_of(reply), ..failed(pending, Status::Ok, String::new(), None) }
            }
            Ok(end) if end.status == Status::Ok => match message_of(pending, reply) {
                Ok(message) => Called { message, ..failed(pending, Status::Ok, String::new(), None) },
                Err((fault, status, text)) => failed(pending, status, text, Some(fault)),
            },
            Ok(end) => Called {
                details: details_as_json(&pending.schemas.types, end.details),
                ..failed(pending, end.status, text_of(&end), end.status.fault())
            },
            Err(Fault::Status) => {
                let status = Status::of_http(reply.status);
                let text = format!("the server responded with HTTP status {}", reply.status);
                failed(pending, status, text, Some(Fault::Status))
            }
            Err(fault) => failed(pending, Status::Unknown, fault.sentence().to_owned(), Some(fault)),
        };
        Called { headers, trailers, ..called }
    }
}

/// Returns the messages of a response up to the first damage, which their reader finds.
fn messages_of(reply: &Reply<'_>) -> Vec<Vec<u8>> {
    let mut body = reply.body;
    let all = std::iter::from_fn(|| next_message(&mut body).ok().flatten());
    all.map(|message| message.bytes.to_vec()).collect()
}

fn message_of(pending: &PendingCall, reply: &Reply<'_>) -> Result<Option<String>, (Fault, Status, String)> {
    let not_one = || {
        let text = Fault::GrpcInvalidMessage.sentence().to_owned();
        (Fault::GrpcInvalidMessage, Status::Internal, text)
    };
    if (reply.body.len() as u64) < reply.body_bytes {
        let text = format!("the response has {} bytes, more than are kept", reply.body_bytes);
        return Err((Fault::ClientLimit, Status::ResourceExhausted, text));
    }
    let mut body = reply.body;
    let message = next_message(&mut body).map_err(|_| not_one())?.filter(|_| body.is_empty());
    let is_gzip = reply.head.field("grpc-encoding") == Some(b"gzip");
    read_message(pending, message.ok_or_else(not_one)?, is_gzip)
}

/// Returns the details of a status in the JSON form of Protocol Buffers, an array.
pub fn details_as_json(types: &Types, coded: &[u8]) -> String {
    let status = binary(coded).unwrap_or_default();
    let mut all = Vec::new();
    for (url, value) in any_details(&status) {
        let known = url.rsplit('/').next().and_then(|name| types.by_name.get(name)).copied();
        let mut own = serde_json::Map::new();
        own.insert("@type".to_owned(), url.into());
        let mut json = Vec::new();
        let mut read = |of: usize| {
            let done =
                Reader::default().read_as(Style::Canonical, (types, of), value, JSON_BYTES_MAX, &mut json);
            done.ok().and_then(|()| serde_json::from_slice(&json).ok())
        };
        match known.and_then(|of| Some((types.messages.get(of)?.form, read(of)?))) {
            Some((MessageForm::Object, serde_json::Value::Object(members))) => own.extend(members),
            Some((_, content)) => drop(own.insert("value".to_owned(), content)),
            None => drop(own.insert("value".to_owned(), STANDARD.encode(value).into())),
        }
        all.push(serde_json::Value::Object(own));
    }
    serde_json::Value::Array(all).to_string()
}

/// Returns the text of a status.
pub fn text_of(end: &End<'_>) -> String {
    let mut text = Vec::new();
    decode_text(end.message, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// Returns the status that clients report for a call without one.
pub fn status_of(fault: Fault) -> Status {
    match fault {
        Fault::Timeout | Fault::ConnectTimeout | Fault::TlsTimeout => Status::DeadlineExceeded,
        Fault::ClientLimit | Fault::ClientOutOfMemory => Status::ResourceExhausted,
        Fault::MalformedResponse | Fault::UnsafeResponse => Status::Internal,
        _ => Status::Unavailable,
    }
}

/// Returns metadata: all fields but those of the protocol. Binary ones are decoded.
pub fn metadata(fields: Head<'_>) -> Vec<(String, String)> {
    let lines = fields.text().split(|byte| *byte == b'\n').skip(1).map(<[u8]>::trim_ascii_end);
    let fields = lines.take_while(|line| !line.is_empty()).filter_map(|line| {
        let colon = line.iter().position(|byte| *byte == b':').filter(|at| *at > 0)?;
        let name = String::from_utf8_lossy(&line[..colon]).to_ascii_lowercase();
        if RESERVED.contains(&name.as_str()) {
            return None;
        }
        let value = line[colon + 1..].trim_ascii();
        let value = match name.ends_with("-bin") {
            // As in k6, bytes are characters of a text.
            true => String::from_utf8_lossy(&binary(value)?).into_owned(),
            false => String::from_utf8_lossy(value).into_owned(),
        };
        Some((name, value))
    });
    fields.collect()
}
