//! Files that are read in pieces, and secrets.

use super::Row;
use super::core::index;
use crate::host::Host;
use plimsoll_quickjs::{Call, Thrown, Value};

pub(super) const ROWS: &[Row] = &[
    ("fileSize", 1, file_size),
    ("fileRead", 3, file_read),
    ("fileText", 1, file_text),
    ("secret", 2, secret),
];

/// Opens a file in the init part; returns its size. All users share its content.
fn file_size(call: &Call<'_>) -> Result<Value, Thrown> {
    let (host, realm) = (Host::of(call)?, call.realm());
    if !host.is_init.get() {
        return Err(realm.error("Error", "files can only be opened in the init part of a script"));
    }
    let bytes = content(call)?;
    Ok(realm.number(bytes.len() as f64))
}

fn content(call: &Call<'_>) -> Result<std::sync::Arc<[u8]>, Thrown> {
    let host = Host::of(call)?;
    let name = call.argument(0).to_text()?;
    let path = host.path_of(&name);
    host.file(&path).map_err(|why| call.realm().error("Error", &format!("cannot open `{name}`: {why}")))
}

/// Returns bytes of a file: from an offset, at most as many as asked for.
fn file_read(call: &Call<'_>) -> Result<Value, Thrown> {
    let bytes = content(call)?;
    let begin = index(call, 1).min(bytes.len());
    let end = begin.saturating_add(index(call, 2)).min(bytes.len());
    // proof: both are at most the length, and `begin` is not above `end`.
    Ok(call.realm().buffer(&bytes[begin..end]))
}

fn file_text(call: &Call<'_>) -> Result<Value, Thrown> {
    let bytes = content(call)?;
    Ok(call.realm().text(&String::from_utf8_lossy(&bytes)))
}

/// Returns a secret of a source; without a name, of the default source.
fn secret(call: &Call<'_>) -> Result<Value, Thrown> {
    let (host, realm) = (Host::of(call)?, call.realm());
    let secrets = &host.shared.settings.secrets;
    let wanted = call.argument(0);
    let source = match (wanted.is_nullish(), secrets.first()) {
        (false, _) => wanted.to_text()?,
        (true, Some(_)) if secrets.iter().any(|secret| secret.source == "default") => "default".to_owned(),
        (true, Some(first)) => first.source.clone(),
        (true, None) => {
            return Err(realm.error("Error", "there are no secrets: the run has no source of secrets"));
        }
    };
    let name = call.argument(1).to_text()?;
    if !secrets.iter().any(|secret| secret.source == source) {
        return Err(realm.error("Error", &format!("unknown source of secrets `{source}`")));
    }
    match secrets.iter().find(|secret| secret.source == source && secret.name == name) {
        Some(secret) => Ok(realm.text(&secret.value)),
        None => Err(realm.error("Error", &format!("unknown secret `{name}` in the source `{source}`"))),
    }
}
