//! The details of a status (`google.rpc.Status`), for failure examples.

use super::json::Reader;
use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use plimsoll_plan::grpc::Types;
use plimsoll_wire::proto::{Value, take_field};

/// Largest details as JSON, in bytes; an example shows less.
const BYTES_MAX: usize = 4096;

/// Returns the bytes of binary metadata, which may have padding; `None` if they are not Base64.
pub fn binary(coded: &[u8]) -> Option<Vec<u8>> {
    let config = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    GeneralPurpose::new(&STANDARD, config).decode(coded).ok()
}

/// Returns the details: the name of each, and its content if the schema has the type.
pub fn details(types: &Types, coded: &[u8]) -> String {
    let Some(status) = binary(coded) else { return String::new() };
    let mut all = Vec::new();
    for (url, value) in any_details(&status) {
        let name = url.rsplit('/').next().unwrap_or_default().to_owned();
        let mut json = Vec::new();
        let known = types.by_name.get(&name);
        let read = known.map(|of| Reader::default().read(types, *of, value, BYTES_MAX, &mut json));
        match read {
            Some(Ok(())) => all.push(format!("{name} {}", String::from_utf8_lossy(&json))),
            Some(Err(_)) | None => all.push(name),
        }
    }
    all.join(", ")
}

/// Returns type and content of each detail.
pub fn any_details(status: &[u8]) -> impl Iterator<Item = (String, &[u8])> {
    fields(status, 3).map(|any| {
        let url = String::from_utf8_lossy(fields(any, 1).next().unwrap_or_default()).into_owned();
        (url, fields(any, 2).next().unwrap_or_default())
    })
}

/// Returns the values of a field that are bytes, up to the first damage.
fn fields(message: &[u8], wanted: u32) -> impl Iterator<Item = &[u8]> {
    let mut rest = message;
    let all = std::iter::from_fn(move || take_field(&mut rest).ok().flatten());
    all.filter_map(move |(number, value)| match value {
        Value::Bytes(bytes) if number == wanted => Some(bytes),
        _ => None,
    })
}
