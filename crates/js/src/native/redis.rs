//! `k6/experimental/redis`: the functions below `Client`.

use super::Row;
use crate::host::Host;
use crate::http::send::blocked_by;
use crate::http::url;
use crate::vu::Awaited;
use plimsoll_plan::link::{ClientFiles, TlsFiles};
use plimsoll_plan::redis::{RedisClient, RedisCommand};
use plimsoll_plan::value::Secret;
use plimsoll_quickjs::{Call, Realm, Thrown, Value};
use plimsoll_wire::redis::{Reply, write_command};
use std::sync::{Arc, OnceLock};

pub(super) const ROWS: &[Row] = &[("redisClient", 1, client), ("redisSend", 2, send)];

/// The message of a reply without a value, as in k6.
const NIL: &str = "redis: nil";

/// Creates a client from its settings, with times in ms; `undefined` means no limit.
fn client(call: &Call<'_>) -> Result<Value, Thrown> {
    let (host, realm) = (Host::of(call)?, call.realm());
    let given = call.argument(0);
    let text = |name: &str| -> Result<Option<String>, Thrown> {
        let value = given.get_str(name)?;
        if value.is_nullish() { Ok(None) } else { value.to_text().map(Some) }
    };
    let time_ns = |name: &str| -> Result<u64, Thrown> {
        let value = given.get_str(name)?;
        Ok(if value.is_nullish() { u64::MAX } else { (value.to_number()? * 1e6) as u64 })
    };
    let (address, database) = (text("address")?.unwrap_or_default(), given.get_str("database")?.to_number()?);
    let scheme = if given.get_str("tls")?.truth() { "https" } else { "http" };
    let target = url::parse(&format!("{scheme}://{address}/"))
        .map_err(|why| {
            realm.error("Error", &format!("invalid address `{address}` of a Redis server: {why}"))
        })?
        .target;
    let client = RedisClient {
        target,
        tls_files: tls_files(&given)?,
        user: text("user")?,
        password: text("password")?.map(|password| Secret::new(&password)),
        name: text("name")?,
        database: database as u32,
        connect_timeout_ns: time_ns("connectTimeout")?,
        reply_timeout_ns: time_ns("replyTimeout")?,
        connections_max: given.get_str("connections")?.to_number()? as usize,
        pool_timeout_ns: time_ns("poolTimeout")?,
        idle_timeout_ns: time_ns("idleTimeout")?,
        lifetime_ns: time_ns("lifetime")?,
        retries: given.get_str("retries")?.to_number()? as u32,
        backoff_ns: (time_ns("minBackoff")?, time_ns("maxBackoff")?),
        pool: OnceLock::new(),
    };
    Ok(host.redis_clients.object(realm, Arc::new(client)))
}

fn tls_files(given: &Value) -> Result<Option<Arc<TlsFiles>>, Thrown> {
    let (authorities, certificate) = (given.get_str("authorities")?, given.get_str("certificate")?);
    let mut files = TlsFiles::default();
    if authorities.is_array() {
        for at in 0..authorities.length()? {
            files.ca.push(authorities.get_index(at)?.to_text()?.into_bytes());
        }
    }
    if !certificate.is_nullish() {
        let key = given.get_str("key")?.to_text()?.into_bytes();
        files.clients.push(ClientFiles { certificate: certificate.to_text()?.into_bytes(), key });
    }
    Ok((files != TlsFiles::default()).then(|| Arc::new(files)))
}

/// Sends a command: a client, and words as texts; returns a promise of its reply.
fn send(call: &Call<'_>) -> Result<Value, Thrown> {
    let (host, realm) = (Host::of(call)?, call.realm());
    let vu = host.vu(realm, "a Redis command")?;
    let value = call.argument(0);
    let Some(client) = host.redis_clients.get(&value) else {
        return Err(realm.error("TypeError", "a Redis command requires a Client"));
    };
    let failed = |why: &str| {
        let authority = client.target.authority();
        realm.error("Error", &format!("connect to Redis at `{authority}`: {why}"))
    };
    let settings = &host.shared.settings;
    if let Some(pattern) = blocked_by(&settings.blocked_hosts, &client.target.host) {
        return Err(failed(&format!("the host is blocked by `{pattern}` in `blockHostnames`")));
    }
    let target = settings.mapped(&client.target).map_err(|why| failed(&why))?;
    let words = call.argument(1);
    let mut all = Vec::new();
    for at in 0..words.length()? {
        all.push(words.get_index(at)?.to_text()?);
    }
    let mut bytes = Vec::new();
    write_command(&all, &mut bytes);
    let command =
        Arc::new(RedisCommand { client: Arc::clone(client), target, bytes, reply: OnceLock::new() });
    let id = vu.step();
    host.out.borrow_mut().reach(id, Arc::clone(&command));
    let (promise, resolve, reject) = realm.promise()?;
    vu.promise(id, resolve, reject, Awaited::Redis(command));
    Ok(promise)
}

/// Returns the value of a reply, or why there is none.
///
/// # Errors
/// Returns an error of JavaScript if memory has run out.
pub fn reply(
    realm: &Realm,
    command: &RedisCommand,
    reached: Result<(), String>,
) -> Result<Result<Value, String>, Thrown> {
    let bytes = match (reached, command.reply.get()) {
        (Err(why), _) => return Ok(Err(why)),
        (Ok(()), Some(Err(why))) => return Ok(Err(why.clone())),
        (Ok(()), None) => return Ok(Err("the command got no reply".to_owned())),
        (Ok(()), Some(Ok(bytes))) => bytes,
    };
    match Reply::parse(bytes) {
        Err(invalid) => Ok(Err(invalid.to_string())),
        Ok(Reply::Nil) => Ok(Err(NIL.to_owned())),
        Ok(Reply::Error(message)) => Ok(Err(String::from_utf8_lossy(&message).into_owned())),
        Ok(reply) => value(realm, &reply).map(Ok),
    }
}

fn value(realm: &Realm, reply: &Reply) -> Result<Value, Thrown> {
    Ok(match reply {
        Reply::Nil => realm.null(),
        Reply::Text(bytes) | Reply::Error(bytes) => realm.text(&String::from_utf8_lossy(bytes)),
        Reply::Integer(number) => realm.number(*number as f64),
        Reply::Array(all) => {
            let array = realm.array();
            for (at, one) in (0..).zip(all) {
                array.set_index(at, value(realm, one)?)?;
            }
            array
        }
    })
}
