//! Methods of the objects that scripts know.

use super::Language;
use super::run::Context;
use super::value::{Object, Value};
use crate::log::Level;
use crate::sample::{DataType, Sample};
use std::borrow::Cow;
use std::rc::Rc;

/// Calls a method of an object.
///
/// # Errors
/// Returns why the method cannot be called so.
pub fn call(
    context: &mut Context<'_, '_>,
    output: &mut Option<Rc<str>>,
    object: &Object,
    name: &str,
    arguments: &[Value],
    language: Language,
) -> Result<Value, String> {
    let shown = |number: usize| arguments.get(number).map(|one| one.to_text(language)).unwrap_or_default();
    let found = |value: Option<&str>| value.map_or(Value::Null, Value::text);
    let unknown = || Err(format!("this object has no method `{name}`"));
    match object {
        Object::Vars => match name {
            "get" | "getObject" => Ok(found(context.scope.vars.get(&shown(0)))),
            "put" | "putObject" => {
                context.scope.vars.set(&shown(0), &shown(1));
                Ok(Value::Null)
            }
            "remove" => {
                context.scope.vars.remove(&shown(0));
                Ok(Value::Null)
            }
            "containsKey" => Ok(Value::Bool(context.scope.vars.get(&shown(0)).is_some())),
            "getIteration" => Ok(Value::Int(context.scope.thread.iteration as i64)),
            _ => unknown(),
        },
        Object::Props => match name {
            "get" | "getProperty" | "getOrDefault" => {
                let value = context.scope.run.property(&shown(0));
                Ok(value.map_or_else(
                    || arguments.get(1).cloned().unwrap_or(Value::Null),
                    |value| Value::text(&value),
                ))
            }
            "put" | "setProperty" => {
                context.scope.run.set_property(&shown(0), &shown(1));
                Ok(Value::Null)
            }
            "remove" => {
                context.scope.run.remove_property(&shown(0));
                Ok(Value::Null)
            }
            "containsKey" => Ok(Value::Bool(context.scope.run.property(&shown(0)).is_some())),
            _ => unknown(),
        },
        Object::Log => {
            let level = match name {
                "info" => Level::Info,
                "warn" => Level::Warning,
                "error" => Level::Error,
                "isDebugEnabled" => return Ok(Value::Bool(false)),
                "debug" | "trace" => Level::Debug,
                _ => return unknown(),
            };
            let mut text = shown(0);
            for value in arguments.iter().skip(1) {
                match text.find("{}") {
                    Some(at) => text.replace_range(at..at + 2, &value.to_text(language)),
                    None => break,
                }
            }
            context.scope.run.log.write(level, &text);
            Ok(Value::Null)
        }
        Object::Context => match name {
            "getThreadNum" => Ok(Value::Int(i64::from(context.scope.thread.number) - 1)),
            "getVariables" => Ok(Value::Object(Object::Vars)),
            "getProperties" => Ok(Value::Object(Object::Props)),
            "getThreadGroup" => Ok(Value::Object(Object::Group)),
            "getThread" => Ok(Value::Object(Object::Thread)),
            "getCurrentSampler" => Ok(Value::Object(Object::Sampler)),
            "getPreviousResult" => Ok(Value::Object(Object::Sample)),
            "setStartNextThreadLoop" => {
                context.scope.wish.restarts = true;
                Ok(Value::Null)
            }
            _ => unknown(),
        },
        Object::Thread if matches!(name, "getName" | "getThreadName") => {
            Ok(Value::text(&context.scope.thread.name))
        }
        Object::Group if name == "getName" => {
            Ok(Value::text(context.scope.run.group_title(context.scope.thread.group)))
        }
        Object::Sampler if name == "getName" => Ok(Value::text(context.scope.sampler)),
        Object::Sample => match context.sample.as_deref_mut() {
            Some(sample) => changed(sample, name, arguments, language).map_or_else(|| read(sample, name), Ok),
            None => match context.scope.previous {
                Some(sample) => read(sample, name),
                None => Err(format!("cannot call `{name}`: there is no sample yet")),
            },
        },
        Object::Assertion => match name {
            "setFailure" | "setError" => {
                context.failure.0 = arguments.first().is_some_and(Value::is_true);
                Ok(Value::Null)
            }
            "setFailureMessage" => {
                context.failure.1 = shown(0);
                Ok(Value::Null)
            }
            "isFailure" => Ok(Value::Bool(context.failure.0)),
            "getFailureMessage" => Ok(Value::text(&context.failure.1)),
            _ => unknown(),
        },
        Object::Out if matches!(name, "println" | "print") => {
            context.scope.run.log.write(Level::Info, &shown(0));
            Ok(Value::Null)
        }
        Object::Interpreter if name == "setOut" => {
            if let Some(Value::Object(Object::Writer(file))) = arguments.first() {
                *output = Some(Rc::clone(file));
            }
            Ok(Value::Null)
        }
        Object::Random => {
            let limit = arguments.first().and_then(Value::integer);
            Ok(match name {
                "nextInt" | "nextLong" => match (limit, arguments.get(1).and_then(Value::integer)) {
                    (Some(least), Some(most)) => {
                        Value::Int(context.scope.between(least, most.saturating_sub(1)))
                    }
                    (Some(limit), None) if limit > 0 => Value::Int(context.scope.between(0, limit - 1)),
                    (Some(_), None) => return Err("bound must be positive".to_owned()),
                    _ => Value::Int(context.scope.between(i64::from(i32::MIN), i64::from(i32::MAX))),
                },
                "nextDouble" => Value::Number(context.scope.fraction()),
                "nextBoolean" => Value::Bool(context.scope.between(0, 1) == 1),
                _ => return unknown(),
            })
        }
        Object::JsonSlurper if matches!(name, "parseText" | "parse") => {
            let text = shown(0);
            let json: serde_json::Value =
                serde_json::from_str(&text).map_err(|error| format!("the text is not JSON: {error}"))?;
            Ok(Value::Json(Rc::new(json)))
        }
        Object::Date(ms) if matches!(name, "getTime" | "getTimeInMillis" | "toEpochMilli") => {
            Ok(Value::Int(*ms))
        }
        Object::Date(ms) if matches!(name, "format" | "toString") => {
            let pattern = if name == "format" { shown(0) } else { "EEE MMM dd HH:mm:ss z yyyy".to_owned() };
            Ok(Value::text(&dated(context, &pattern, *ms)))
        }
        Object::DateFormat(pattern) => match name {
            "format" => {
                let ms = match arguments.first() {
                    Some(Value::Object(Object::Date(ms))) => *ms,
                    other => other.and_then(Value::integer).unwrap_or_else(|| context.scope.unix_ms()),
                };
                Ok(Value::text(&dated(context, pattern, ms)))
            }
            "parse" => {
                let zone = &context.scope.run.zone;
                let now = crate::date::at(context.scope.at.unix_ns, zone);
                let date = crate::date::read(pattern, &shown(0), zone, &now);
                let date = date.ok_or_else(|| format!("Unparseable date: \"{}\"", shown(0)))?;
                Ok(Value::Object(Object::Date(date.timestamp().as_millisecond())))
            }
            _ => unknown(),
        },
        Object::File(path) => match name {
            "exists" => Ok(Value::Bool(context.scope.run.files.exists(path))),
            "getText" => Ok(Value::text(&context.scope.run.files.read(path)?)),
            "append" | "write" => {
                if name == "write" {
                    context.scope.run.files.truncate(path)?;
                }
                context.scope.run.files.append(path, &shown(0))?;
                Ok(Value::Object(object.clone()))
            }
            "getPath" | "getAbsolutePath" | "toString" => Ok(Value::text(path)),
            "getName" => Ok(Value::text(path.rsplit('/').next().unwrap_or_default())),
            "length" | "size" => Ok(Value::Int(context.scope.run.files.read(path)?.len() as i64)),
            _ => unknown(),
        },
        Object::Writer(path) => {
            let text = match name {
                "write" | "append" | "print" => shown(0),
                "println" => shown(0) + "\n",
                "newLine" => "\n".to_owned(),
                "flush" | "close" => {
                    context.scope.run.files.flush(path)?;
                    return Ok(Value::Null);
                }
                _ => return unknown(),
            };
            context.scope.run.files.append(path, &text)?;
            Ok(Value::Object(object.clone()))
        }
        _ => unknown(),
    }
}

fn dated(context: &Context<'_, '_>, pattern: &str, ms: i64) -> String {
    let ns = u64::try_from(ms).unwrap_or_default().saturating_mul(1_000_000);
    let mut out = String::new();
    crate::date::write(pattern, &crate::date::at(ns, &context.scope.run.zone), &mut out);
    out
}

/// Calls a method that changes a sample; `None` if it is none.
fn changed(sample: &mut Sample, name: &str, arguments: &[Value], language: Language) -> Option<Value> {
    let first = arguments.first().cloned().unwrap_or(Value::Null);
    let text = first.to_text(language);
    match name {
        "setSuccessful" => sample.is_success = first.is_true(),
        "setResponseCode" => sample.code = Cow::Owned(text),
        "setResponseMessage" => sample.message = Cow::Owned(text),
        "setSampleLabel" => sample.label = text.into(),
        "setResponseOK" => {
            (sample.code, sample.message, sample.is_success) =
                (Cow::Borrowed("200"), Cow::Borrowed("OK"), true);
        }
        "setResponseData" => {
            sample.body = match first {
                Value::Bytes(bytes) => bytes.to_vec(),
                _ => text.into_bytes(),
            };
        }
        "setSamplerData" => sample.request_body = text.into_bytes(),
        "setDataType" => sample.data_type = if text == "bin" { DataType::Binary } else { DataType::Text },
        "setStopThread" => sample.stops_thread = first.is_true(),
        "setStopTest" => sample.stops_test = first.is_true(),
        "setStopTestNow" => sample.stops_now = first.is_true(),
        "setIgnore" => sample.is_ignored = true,
        _ => return None,
    }
    Some(Value::Null)
}

fn read(sample: &Sample, name: &str) -> Result<Value, String> {
    let number = |number: u64| Ok(Value::Int(number as i64));
    match name {
        "getResponseCode" => Ok(Value::text(&sample.code)),
        "getResponseMessage" => Ok(Value::text(&sample.message)),
        "getResponseDataAsString" => Ok(Value::text(&sample.text())),
        "getResponseData" => Ok(Value::Bytes(sample.body.as_slice().into())),
        "isSuccessful" => Ok(Value::Bool(sample.is_success)),
        "isResponseCodeOK" => Ok(Value::Bool(sample.code == "200")),
        "getTime" => number(sample.elapsed_ms),
        "getLatency" => number(sample.latency_ms),
        "getConnectTime" => number(sample.connect_ms),
        "getStartTime" | "getTimeStamp" => number(sample.begin_ms),
        "getEndTime" => number(sample.begin_ms + sample.elapsed_ms),
        "getSampleLabel" => Ok(Value::text(&sample.label)),
        "getUrlAsString" | "getURL" => Ok(Value::text(&sample.url)),
        "getResponseHeaders" => Ok(Value::text(&sample.response_headers())),
        "getRequestHeaders" => Ok(Value::text(&sample.request_headers())),
        "getBytes" | "getBytesAsLong" => number(sample.bytes),
        "getSentBytes" => number(sample.sent_bytes),
        "getBodySize" | "getBodySizeAsLong" => number(sample.bytes - sample.head_bytes.min(sample.bytes)),
        "getHeadersSize" => number(sample.head_bytes),
        "getSamplerData" => Ok(Value::text(&sample.sampler_data())),
        "getQueryString" => Ok(Value::text(&String::from_utf8_lossy(&sample.request_body))),
        "getDataType" => Ok(Value::text(sample.data_type.name())),
        _ => Err(format!("a sample has no method `{name}`")),
    }
}
