//! Schemas that a server describes itself (`connect()` with `reflect`). They are asked for once for all users of an
//! address, because each user would ask for the same.

use super::call::{PendingCall, push, series, system_tags};
use super::connection::Connection;
use super::params::CallParams;
use super::schema::SchemaSource;
use crate::host::Host;
use crate::http::url;
use crate::vu::{Arrived, Vu};
use plimsoll_plan::grpc::{Method, Schemas, Status};
use plimsoll_plan::series::label;
use plimsoll_quickjs::{Call, Thrown};
use plimsoll_wire::grpc::frame;
use plimsoll_wire::grpc::reflection::{Failed, Question, Reflection, Response};
use std::convert::Infallible;
use std::sync::Arc;

/// Largest description of a service, in bytes.
const BYTES_MAX: u64 = 64 << 20;

/// Returns the number of the schemas of a server in this runtime.
///
/// # Errors
/// Returns an error with the reason, or if the fiber is to end.
pub fn reflect(
    call: &Call<'_>,
    host: &Host,
    vu: &Vu,
    connection: &Connection,
    metadata: Vec<(String, String)>,
) -> Result<usize, Thrown> {
    let key = format!("reflection of {}", url::origin(&connection.target));
    let failed = |why: &str| {
        let text = format!("reflection of `{}`: {why}", connection.target.authority());
        call.realm().error("Error", &text)
    };
    if let Some(number) = host.known_schemas(&key) {
        return Ok(number);
    }
    let params = CallParams { metadata, ..CallParams::default() };
    let mut reflection = Reflection::default();
    let mut question = reflection.begin();
    loop {
        let step = ask(host, vu, connection, &params, &question).map_err(|why| failed(&why))?;
        let Arrived::Called(called) = host.wait(call, vu, step)? else {
            return Err(failed("a call without an end"));
        };
        let response = match called.status {
            Status::Ok => Response::Messages(&called.bytes),
            Status::Unimplemented => Response::Unimplemented,
            other => return Err(failed(&format!("{}: {}", other.name(), called.text))),
        };
        match reflection.answered(response) {
            Ok(Ok(next)) => question = next,
            Ok(Err(reflected)) => {
                let source = SchemaSource::Set(&reflected.set);
                return host.schemas_of(key, || Ok(source)).map_err(|why| failed(&why));
            }
            Err(Failed::NotOffered) => {
                let why = "the server does not offer it (UNIMPLEMENTED): load the schemas from files";
                return Err(failed(why));
            }
            Err(Failed::Other(why)) => return Err(failed(&why)),
        }
    }
}

/// Sends the questions of a call together; returns its step.
fn ask(
    host: &Host,
    vu: &Vu,
    connection: &Connection,
    params: &CallParams,
    question: &Question,
) -> Result<u32, String> {
    let mut body = Vec::new();
    for message in &question.messages {
        let Ok(()) = frame(false, &mut body, |out| {
            out.extend_from_slice(message);
            Ok::<(), Infallible>(())
        });
    }
    let method = Method {
        package: String::new(),
        service: String::new(),
        name: "ServerReflectionInfo".to_owned(),
        path: question.path.clone(),
        request: 0,
        response: 0,
        has_request_stream: true,
        has_response_stream: true,
    };
    let series = series(host, vu, connection, &method, params, label::UNARY)?;
    let pending = PendingCall {
        schemas: Arc::new(Schemas::default()),
        response: 0,
        discards_message: false,
        receive_bytes_max: BYTES_MAX,
        keeps_bytes: true,
        tags: Vec::new(),
        system: system_tags(connection, &method, params),
    };
    Ok(push(host, vu, connection, params, series, (&question.path, &body), pending))
}
