//! The parameters of connections and calls. As in k6, an unknown one is an error.

use crate::http::params::{duration_ns, pairs, wrong};
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use plimsoll_plan::link::{ClientFiles, TlsFiles};
use plimsoll_quickjs::{Thrown, Value};
use plimsoll_wire::h1::check_header;
use std::sync::Arc;

/// Timeouts that k6 has without a parameter, ns.
const CONNECT_TIMEOUT_NS: u64 = 60_000_000_000;
const CALL_TIMEOUT_NS: u64 = 120_000_000_000;

/// Largest response without a parameter, as in grpc-go, in bytes.
const RECEIVE_BYTES_MAX: u64 = 4 << 20;

/// What a script says of a connection.
pub struct ConnectParams {
    pub is_plaintext: bool,
    pub reflects: bool,
    pub reflection_metadata: Vec<(String, String)>,
    pub timeout_ns: u64,
    pub receive_bytes_max: u64,
    pub send_bytes_max: u64,
    pub tls_files: Option<Arc<TlsFiles>>,
    pub authority: Option<String>,
}

/// What a script says of a call.
#[derive(Default)]
pub struct CallParams {
    /// Names in lower case.
    pub metadata: Vec<(String, String)>,
    pub tags: Vec<(String, String)>,
    /// The `name` tag: name of the series.
    pub name: Option<String>,
    /// ns; 0: none.
    pub timeout_ns: u64,
    pub discards_message: bool,
}

impl ConnectParams {
    /// Reads the object; `undefined` and `null` mean no parameters.
    ///
    /// # Errors
    /// Returns an error that names the parameter.
    pub fn read(value: &Value) -> Result<ConnectParams, Thrown> {
        let mut params = ConnectParams {
            is_plaintext: false,
            reflects: false,
            reflection_metadata: Vec::new(),
            timeout_ns: CONNECT_TIMEOUT_NS,
            receive_bytes_max: RECEIVE_BYTES_MAX,
            send_bytes_max: i32::MAX as u64,
            tls_files: None,
            authority: None,
        };
        for (key, of) in entries(value, "connect()")? {
            match key.as_str() {
                "plaintext" => params.is_plaintext = of.truth(),
                "reflect" => params.reflects = of.truth(),
                "reflectMetadata" => params.reflection_metadata = metadata(&of)?,
                "timeout" => params.timeout_ns = duration_ns(&of)?,
                "maxReceiveSize" => params.receive_bytes_max = size(&key, &of, params.receive_bytes_max)?,
                "maxSendSize" => params.send_bytes_max = size(&key, &of, params.send_bytes_max)?,
                "authority" => params.authority = Some(of.to_text()?),
                "tls" => params.tls_files = Some(Arc::new(tls_files(&of)?)),
                _ => return Err(wrong(&of, &format!("unknown parameter `{key}` of connect()"))),
            }
        }
        Ok(params)
    }
}

impl CallParams {
    /// Reads the object; `undefined` and `null` mean no parameters.
    ///
    /// # Errors
    /// Returns an error that names the parameter.
    pub fn read(value: &Value) -> Result<CallParams, Thrown> {
        let mut params = CallParams::default();
        for (key, of) in entries(value, "a call")? {
            match key.as_str() {
                "metadata" => params.metadata = metadata(&of)?,
                "tags" => {
                    for (name, text) in pairs(&of)? {
                        match name.as_str() {
                            "name" => params.name = Some(text),
                            _ => params.tags.push((name, text)),
                        }
                    }
                }
                "timeout" => params.timeout_ns = duration_ns(&of)?,
                "discardResponseMessage" => params.discards_message = of.truth(),
                _ => return Err(wrong(&of, &format!("unknown parameter `{key}` of a call"))),
            }
        }
        Ok(params)
    }

    /// Returns the timeout of a call with one response, ns.
    pub fn unary_timeout_ns(&self) -> u64 {
        if self.timeout_ns == 0 { CALL_TIMEOUT_NS } else { self.timeout_ns }
    }
}

/// Returns the parameters with a value.
fn entries(value: &Value, what: &str) -> Result<Vec<(String, Value)>, Thrown> {
    if value.is_nullish() {
        return Ok(Vec::new());
    }
    if !value.is_object() {
        return Err(wrong(value, &format!("the parameters of {what} must be an object")));
    }
    let mut all = Vec::new();
    let given = value.properties()?;
    for at in 0..given.count() {
        let of = given.value(at)?;
        if !of.is_nullish() {
            all.push((given.name(at)?, of));
        }
    }
    Ok(all)
}

fn size(name: &str, value: &Value, usual: u64) -> Result<u64, Thrown> {
    match value.as_number() {
        Some(0.0) => Ok(usual),
        Some(bytes) if bytes > 0.0 && bytes.fract() == 0.0 => Ok(bytes as u64),
        _ => Err(wrong(value, &format!("`{name}` must be a whole number of bytes"))),
    }
}

/// Reads metadata. Values of names that end in `-bin` are bytes, which are sent in Base64.
fn metadata(value: &Value) -> Result<Vec<(String, String)>, Thrown> {
    if !value.is_object() {
        return Err(wrong(value, "metadata must be an object"));
    }
    let mut all = Vec::new();
    for key in value.keys()? {
        let of = value.get_str(&key)?;
        let name = key.to_ascii_lowercase();
        let text = match (of.bytes(), name.ends_with("-bin")) {
            (Some(bytes), true) => STANDARD_NO_PAD.encode(bytes),
            (None, true) => return Err(wrong(value, &format!("metadata `{name}` must be binary"))),
            (Some(_), false) => return Err(wrong(value, &format!("metadata `{name}` must be a string"))),
            (None, false) => of.to_text()?,
        };
        check_header(&name, &text).map_err(|why| wrong(value, &format!("metadata: {why}")))?;
        all.push((name, text));
    }
    Ok(all)
}

fn tls_files(value: &Value) -> Result<TlsFiles, Thrown> {
    let mut files = TlsFiles::default();
    let (mut certificate, mut key) = (Vec::new(), Vec::new());
    for (name, of) in entries(value, "`tls`")? {
        match name.as_str() {
            "cert" => certificate = of.to_text()?.into_bytes(),
            "key" => key = of.to_text()?.into_bytes(),
            "cacerts" if of.is_array() => {
                for at in 0..of.length()? {
                    files.ca.push(of.get_index(at)?.to_text()?.into_bytes());
                }
            }
            "cacerts" => files.ca.push(of.to_text()?.into_bytes()),
            "password" => {
                return Err(wrong(value, "`tls.password` is not supported: decrypt the key before the test"));
            }
            _ => return Err(wrong(value, &format!("unknown parameter `{name}` of `tls`"))),
        }
    }
    if !certificate.is_empty() && !key.is_empty() {
        files.clients.push(ClientFiles { certificate, key });
    }
    Ok(files)
}
