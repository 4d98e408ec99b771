//! `k6/net/grpc`: the functions below `Client`.

use super::Row;
use super::core::index;
use crate::grpc::stream::{self, Opening, StreamNews};
use crate::grpc::{CallParams, Called, ConnectParams, Connection, Started, Unary, encoded, reflect};
use crate::host::Host;
use crate::vu::{Arrived, Awaited, Vu};
use plimsoll_plan::grpc::{Method, Schemas, Status};
use plimsoll_quickjs::{Call, Realm, Thrown, Value};
use std::path::PathBuf;
use std::sync::Arc;

pub(super) const ROWS: &[Row] = &[
    ("grpcLoad", 2, load),
    ("grpcLoadSet", 1, load_set),
    ("grpcConnect", 2, connect),
    ("grpcClose", 1, close),
    ("grpcInvoke", 5, invoke),
    ("grpcInvokeAsync", 5, invoke_async),
    ("grpcHealth", 0, health),
    ("grpcStream", 5, open_stream),
    ("grpcWrite", 2, write),
    ("grpcEnd", 1, end),
];

/// Compiles `.proto` files: folders of imports, and names; returns the number of the schemas and their methods.
fn load(call: &Call<'_>) -> Result<Value, Thrown> {
    let (host, realm) = in_init(call, "load()")?;
    let texts = |value: &Value| -> Result<Vec<String>, Thrown> {
        if value.is_nullish() {
            return Ok(Vec::new());
        }
        if !value.is_array() {
            return Err(realm.error("TypeError", "load() requires an array with the folders of imports"));
        }
        (0..value.length()?).map(|at| value.get_index(at)?.to_text()).collect()
    };
    let names = texts(&call.argument(1))?;
    let mut folders = texts(&call.argument(0))?;
    if folders.is_empty() {
        folders.push(".".to_owned());
    }
    let folders: Vec<PathBuf> =
        folders.iter().map(|folder| host.path_in(host.evaluating.get(), folder)).collect();
    let number = host
        .load_schemas(&names, &folders)
        .map_err(|why| realm.error("Error", &format!("cannot load `{}`: {why}", names.join("`, `"))))?;
    described(realm, host, number)
}

/// Reads a compiled set of schemas; returns as `load` does.
fn load_set(call: &Call<'_>) -> Result<Value, Thrown> {
    let (host, realm) = in_init(call, "loadProtoset()")?;
    let name = call.argument(0).to_text()?;
    let path = host.path_in(host.evaluating.get(), &name);
    let number = host
        .load_schema_set(path)
        .map_err(|why| realm.error("Error", &format!("cannot load `{name}`: {why}")))?;
    described(realm, host, number)
}

fn in_init<'a>(call: &'a Call<'_>, what: &str) -> Result<(&'a Host, &'a Realm), Thrown> {
    let (host, realm) = (Host::of(call)?, call.realm());
    match host.is_init.get() {
        true => Ok((host, realm)),
        false => {
            Err(realm.error("Error", &format!("{what} can only be called in the init part of a script")))
        }
    }
}

fn described(realm: &Realm, host: &Host, number: usize) -> Result<Value, Thrown> {
    let schemas = host.schemas.borrow().get(number).map(Arc::clone).unwrap_or_default();
    let methods = realm.array();
    for (at, method) in (0..).zip(&schemas.methods) {
        let one = realm.object();
        one.set_str("package", realm.text(&method.package))?;
        one.set_str("service", realm.text(&method.service))?;
        one.set_str("full_method", realm.text(&method.path))?;
        methods.set_index(at, one)?;
    }
    let result = realm.object();
    result.set_str("number", realm.number(number as f64))?;
    result.set_str("methods", methods)?;
    Ok(result)
}

/// Connects to `HOST:PORT`; returns an array of the connection and, with reflection, the number of the schemas.
fn connect(call: &Call<'_>) -> Result<Value, Thrown> {
    let (host, realm) = (Host::of(call)?, call.realm());
    let vu = host.vu(realm, "connect()")?;
    let params = ConnectParams::read(&call.argument(1))?;
    let connection = Connection::open(call, host, &vu, &call.argument(0).to_text()?, &params)?;
    let result = realm.array();
    if params.reflects {
        let number = reflect(call, host, &vu, &connection, params.reflection_metadata)?;
        result.set_index(1, realm.number(number as f64))?;
    }
    result.set_index(0, host.connections.object(realm, connection))?;
    Ok(result)
}

fn close(call: &Call<'_>) -> Result<Value, Thrown> {
    let host = Host::of(call)?;
    if let (Some(connection), Some(vu)) = (host.connections.get(&call.argument(0)), host.vu.borrow().as_ref())
    {
        connection.close(host, vu);
    }
    Ok(call.realm().undefined())
}

/// Reads a call: the connection, the numbers of schemas, the method, the message as JSON, and the parameters.
fn prepared<'a>(call: &Call<'_>, host: &Host, connection: &'a Value) -> Result<Unary<'a>, Thrown> {
    let realm = call.realm();
    let connection = open_connection(realm, host, connection)?;
    let (schemas, method) = method_of(call, host, &call.argument(2).to_text()?)?;
    if method.has_request_stream || method.has_response_stream {
        let text = format!("`{}` is a method with streams: call it with `new grpc.Stream()`", method.path);
        return Err(realm.error("Error", &text));
    }
    let params = CallParams::read(&call.argument(4))?;
    let body = encoded(&schemas, method.request, &call.argument(3).to_text()?)
        .map_err(|why| realm.error("Error", &why))?;
    Ok(Unary { connection, schemas, method, body, params })
}

fn open_connection<'a>(realm: &Realm, host: &Host, value: &'a Value) -> Result<&'a Connection, Thrown> {
    let open = host.connections.get(value).filter(|connection| !connection.is_closed.get());
    open.ok_or_else(|| realm.error("Error", "no connection: call connect() first"))
}

/// Returns a method of the schemas that the second argument numbers; later ones have priority.
fn method_of(call: &Call<'_>, host: &Host, path: &str) -> Result<(Arc<Schemas>, Method), Thrown> {
    let numbers = call.argument(1);
    for at in (0..numbers.length()?).rev() {
        let number = numbers.get_index(at)?.as_number().unwrap_or(-1.0) as usize;
        let schemas = host.schemas.borrow().get(number).map(Arc::clone);
        if let Some(schemas) = schemas
            && let Some(method) = schemas.method(path)
        {
            let method = method.clone();
            return Ok((schemas, method));
        }
    }
    Err(call
        .realm()
        .error("Error", &format!("method `{path}` is not in the schemas that the client has loaded")))
}

fn invoke(call: &Call<'_>) -> Result<Value, Thrown> {
    let (host, realm) = (Host::of(call)?, call.realm());
    let vu = host.vu(realm, "invoke()")?;
    let connection = call.argument(0);
    let started = prepared(call, host, &connection)?.start(host, &vu);
    let called = match started.map_err(|why| realm.error("Error", &why))? {
        Started::Failed(called) => called,
        Started::Waiting(id) => match host.wait(call, &vu, id)? {
            Arrived::Called(called) => *called,
            _ => return Err(realm.error("InternalError", "a call without an end")),
        },
    };
    object(realm, host, called)
}

/// Sends a call and returns a promise of its response.
fn invoke_async(call: &Call<'_>) -> Result<Value, Thrown> {
    let (host, realm) = (Host::of(call)?, call.realm());
    let vu = host.vu(realm, "asyncInvoke()")?;
    let connection = call.argument(0);
    let (promise, resolve, reject) = realm.promise()?;
    let started = prepared(call, host, &connection)
        .and_then(|unary| unary.start(host, &vu).map_err(|why| realm.error("Error", &why)));
    match started {
        Ok(Started::Waiting(id)) => vu.promise(id, resolve, reject, Awaited::Call),
        Ok(Started::Failed(called)) => {
            resolve.call(&realm.undefined(), &[&object(realm, host, called)?])?;
        }
        Err(Thrown::Value(reason)) => drop(reject.call(&realm.undefined(), &[&reason])?),
        Err(thrown) => return Err(thrown),
    }
    Ok(promise)
}

/// Returns the number of the schemas of the health service.
fn health(call: &Call<'_>) -> Result<Value, Thrown> {
    let (host, realm) = (Host::of(call)?, call.realm());
    let number = host.health_schemas().map_err(|why| realm.error("InternalError", &why))?;
    Ok(realm.number(number as f64))
}

/// Returns a response as scripts see it.
pub fn object(realm: &Realm, host: &Host, called: Called) -> Result<Value, Thrown> {
    let response = realm.object();
    let message = match &called.message {
        Some(json) => realm.parse_json(json, "message")?,
        None => realm.null(),
    };
    response.set_str("message", message)?;
    response.set_str("error", error_of(realm, called.status, &called.text, &called.details)?)?;
    response.set_str("headers", metadata(realm, &called.headers)?)?;
    response.set_str("trailers", metadata(realm, &called.trailers)?)?;
    response.put(host.names(realm).status, realm.number(f64::from(called.status as u8)))?;
    Ok(response)
}

/// Returns the error of a status other than OK, or `null`.
fn error_of(realm: &Realm, status: Status, text: &str, details: &str) -> Result<Value, Thrown> {
    if status == Status::Ok {
        return Ok(realm.null());
    }
    let error = realm.object();
    error.set_str("code", realm.number(f64::from(status as u8)))?;
    error.set_str("message", realm.text(text))?;
    error.set_str("details", realm.parse_json(details, "details")?)?;
    Ok(error)
}

/// Returns metadata as an object with an array of values for each name.
fn metadata(realm: &Realm, fields: &[(String, String)]) -> Result<Value, Thrown> {
    let all = realm.object();
    for (name, value) in fields {
        let mut values = all.get_str(name)?;
        if !values.is_array() {
            values = realm.array();
            all.define(name, values.clone(), true, true)?;
        }
        values.set_index(values.length()?, realm.text(value))?;
    }
    Ok(all)
}

// ---- streams -----------------------------------------------------------------------------------------------------

/// Opens a call with streams: the connection, the numbers of schemas, the method, the parameters, and the function that
/// the event loop calls with what arrives; returns its number.
fn open_stream(call: &Call<'_>) -> Result<Value, Thrown> {
    let (host, realm) = (Host::of(call)?, call.realm());
    let vu = host.vu(realm, "new grpc.Stream()")?;
    let value = call.argument(0);
    let connection = open_connection(realm, host, &value)?;
    let (schemas, method) = method_of(call, host, &call.argument(2).to_text()?)?;
    let params = CallParams::read(&call.argument(3))?;
    let opening = Opening { connection, schemas, method, params, sink: call.argument(4) };
    let number = stream::open(host, &vu, opening).map_err(|why| realm.error("Error", &why))?;
    Ok(realm.number(f64::from(number)))
}

/// Sends a message, as JSON, on a stream.
fn write(call: &Call<'_>) -> Result<Value, Thrown> {
    let (host, realm) = (Host::of(call)?, call.realm());
    let vu = host.vu(realm, "write()")?;
    let json = call.argument(1).to_text()?;
    let written = vu.with_stream(index(call, 0) as u32, |stream| stream.write(host, &vu, &json));
    written.unwrap_or(Ok(())).map_err(|why| realm.error("Error", &why))?;
    Ok(realm.undefined())
}

/// Sends no more messages on a stream.
fn end(call: &Call<'_>) -> Result<Value, Thrown> {
    let (host, realm) = (Host::of(call)?, call.realm());
    let vu = host.vu(realm, "end()")?;
    vu.with_stream(index(call, 0) as u32, |stream| stream.finish(host));
    Ok(realm.undefined())
}

/// Passes what has arrived on a stream to its sink.
///
/// # Errors
/// Returns what the sink has thrown.
pub fn deliver(vu: &Vu, number: u32) -> Result<(), Thrown> {
    let Some((news, sink)) = vu.take_news(number) else { return Ok(()) };
    let realm = &vu.realm;
    let (kind, value) = match news {
        StreamNews::Data(Some(json)) => ("data", realm.parse_json(&json, "message")?),
        StreamNews::Data(None) => ("data", realm.object()),
        StreamNews::End(end) => ("end", error_of(realm, end.status, &end.text, &end.details)?),
    };
    sink.call(&realm.undefined(), &[&realm.text(kind), &value]).map(drop)
}
