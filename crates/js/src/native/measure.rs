//! Checks, groups, and metrics.

use super::Row;
use super::core::index;
use crate::host::Host;
use crate::metrics::Labels;
use crate::vu::Vu;
use plimsoll_plan::series::Family;
use plimsoll_quickjs::{Call, Thrown, Value};

pub(super) const ROWS: &[Row] = &[
    ("check", 3, check),
    ("groupBegin", 1, group_begin),
    ("groupEnd", 1, group_end),
    ("metric", 3, metric),
    ("metricAdd", 3, metric_add),
];

/// Reads an object of tags.
fn tags(value: &Value) -> Result<Vec<(String, String)>, Thrown> {
    let mut tags = Vec::new();
    if value.is_object() {
        for name in value.keys()? {
            let text = value.get_str(&name)?.to_text()?;
            tags.push((name, text));
        }
    }
    Ok(tags)
}

/// Evaluates conditions; returns whether all hold.
fn check(call: &Call<'_>) -> Result<Value, Thrown> {
    let (host, realm) = (Host::of(call)?, call.realm());
    let vu = host.vu(realm, "check()")?;
    let (value, sets) = (call.argument(0), call.argument(1));
    if !sets.is_object() {
        return Err(realm.error("TypeError", "check() requires an object with conditions"));
    }
    let own = tags(&call.argument(2))?;
    let (nothing, mut passes) = (realm.undefined(), true);
    for name in sets.keys()? {
        if name.contains("::") {
            return Err(realm.error("Error", "the name of a check must not contain `::`"));
        }
        let condition = sets.get_str(&name)?;
        let result = match condition.is_function() {
            true if condition.is_async_function() => {
                return Err(realm.error("TypeError", "a condition of check() must not be an async function"));
            }
            true => condition.call(&nothing, &[&value]),
            false => Ok(condition),
        };
        let group = vu.group();
        let labels = host.labels(&vu, &group, &own);
        let passed = match &result {
            Ok(result) => result.truth(),
            Err(_) => false,
        };
        host.count_check(&name, &labels, passed);
        result?;
        passes &= passed;
    }
    Ok(realm.bool(passes))
}

/// Enters a group; returns the time.
fn group_begin(call: &Call<'_>) -> Result<Value, Thrown> {
    let (host, realm) = (Host::of(call)?, call.realm());
    let vu = host.vu(realm, "group()")?;
    let name = call.argument(0).to_text()?;
    if name.contains("::") {
        return Err(realm.error("Error", "the name of a group must not contain `::`"));
    }
    vu.groups.borrow_mut().push(name);
    Ok(realm.number(host.at.get().run_ns as f64))
}

fn group_end(call: &Call<'_>) -> Result<Value, Thrown> {
    let (host, realm) = (Host::of(call)?, call.realm());
    let vu = host.vu(realm, "group()")?;
    let time_ns = host.at.get().run_ns as f64 - call.argument(0).to_number()?;
    let name = vu.group();
    let labels: Labels<'_> = host.labels(&vu, "", &[]);
    host.count_group(&name, &labels, time_ns.max(0.0) as u64);
    vu.groups.borrow_mut().pop();
    Ok(realm.undefined())
}

fn metric(call: &Call<'_>) -> Result<Value, Thrown> {
    let (host, realm) = (Host::of(call)?, call.realm());
    if !host.is_init.get() {
        return Err(realm.error("Error", "metrics must be defined in the init part of a script"));
    }
    let family = match call.argument(0).to_text()?.as_str() {
        "counter" => Family::Counter,
        "gauge" => Family::Gauge,
        "rate" => Family::Rate,
        _ => Family::Trend,
    };
    let name = call.argument(1).to_text()?;
    let defined = host.metrics.borrow_mut().define(&name, family, call.argument(2).truth());
    match defined {
        Ok(number) => Ok(realm.number(number as f64)),
        Err(why) => Err(realm.error("Error", &why)),
    }
}

fn metric_add(call: &Call<'_>) -> Result<Value, Thrown> {
    let (host, realm) = (Host::of(call)?, call.realm());
    let vu = host.vu(realm, "add()")?;
    let Some(defined) = host.metrics.borrow().get(index(call, 0)).cloned() else {
        return Err(realm.error("TypeError", "add() must be called on a metric"));
    };
    let value = call.argument(1);
    let number = match value.kind() {
        _ if value.is_nullish() => f64::NAN,
        // An object without a number, or a symbol.
        _ => value.to_number().unwrap_or(f64::NAN),
    };
    let is_rate = defined.family == Family::Rate && !number.is_nan();
    let number = if is_rate { f64::from(u8::from(number != 0.0)) } else { number };
    if !number.is_finite() || (number < 0.0 && defined.family != Family::Gauge) {
        host.shared.warn_once(&format!("metric `{}`: invalid value {}", defined.name, value.describe()));
        return Ok(realm.bool(false));
    }
    let own = tags(&call.argument(2))?;
    host.add(&vu, defined.family, &defined.name, number, &own);
    Ok(realm.bool(true))
}

impl Host {
    /// Adds a value to a metric.
    pub fn add(&self, vu: &Vu, family: Family, name: &str, value: f64, own: &[(String, String)]) {
        let group = vu.group();
        let labels = self.labels(vu, &group, own);
        if let Some(series) = self.series(family, name, &labels) {
            self.out.borrow_mut().add(series, value);
        }
    }
}
