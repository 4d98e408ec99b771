//! Checks, groups, and metrics.

use super::Row;
use super::core::index;
use super::response::keep_layout;
use crate::host::Host;
use crate::known::What;
use crate::metrics::Labels;
use crate::vu::Vu;
use plimsoll_plan::program::RequestId;
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
    let conditions = sets.properties()?;
    let mut is_new = false;
    for at in 0..conditions.count() {
        let condition = conditions.value(at)?;
        let result = match condition.is_function() {
            true if condition.is_async_function() => {
                return Err(realm.error("TypeError", "a condition of check() must not be an async function"));
            }
            true => condition.call(&nothing, &[&value]),
            false => Ok(condition),
        };
        let passed = match &result {
            Ok(result) => result.truth(),
            Err(_) => false,
        };
        let what = What::Check(conditions.number(at));
        if let Some(series) = host.measured(&vu, what, &own) {
            host.count_check(series, passed);
        } else {
            let (group, name) = (vu.group(), conditions.name(at)?);
            // A name that is measured already is none of these.
            if name.contains("::") {
                return Err(realm.error("Error", "the name of a check must not contain `::`"));
            }
            let labels = host.labels(&vu, &group, &own);
            if let Some((series, is_lasting)) = host.series(Family::Check, &name, &labels) {
                if own.is_empty() && is_lasting {
                    // The number of the name must not become that of another one.
                    conditions.keep(at);
                    is_new = true;
                    host.known.borrow_mut().keep_measured(host.scope(&vu), what, series);
                }
                host.count_check(series, passed);
            }
        }
        if host.takes_samples() {
            let value = f64::from(u8::from(passed));
            host.sample(&vu, &[("checks", value)], &own, &[("check", &conditions.name(at)?)]);
        }
        result?;
        passes &= passed;
    }
    if is_new {
        let layout = realm.object();
        for at in 0..conditions.count() {
            layout.put(conditions.keep(at), realm.undefined())?;
        }
        keep_layout(realm, layout)?;
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
    vu.scope.set(None);
    Ok(realm.number(host.at.get().run_ns as f64))
}

fn group_end(call: &Call<'_>) -> Result<Value, Thrown> {
    let (host, realm) = (Host::of(call)?, call.realm());
    let vu = host.vu(realm, "group()")?;
    let time_ns = host.at.get().run_ns as f64 - call.argument(0).to_number()?;
    let name = vu.group();
    let labels: Labels<'_> = host.labels(&vu, "", &[]);
    host.count_group(&name, &labels, time_ns.max(0.0) as u64);
    host.sample(&vu, &[("group_duration", time_ns.max(0.0) / 1e6)], &[], &[]);
    vu.groups.borrow_mut().pop();
    vu.scope.set(None);
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
    let what = What::Metric(index(call, 0) as u32);
    host.add(&vu, what, (defined.family, &defined.name), number, &own);
    host.sample(&vu, &[(defined.name.as_str(), number)], &own, &[]);
    Ok(realm.bool(true))
}

impl Host {
    /// Returns a series that was measured in before with the same groups and tags; `None` with tags of one call.
    fn measured(&self, vu: &Vu, what: What, own: &[(String, String)]) -> Option<RequestId> {
        let scope = if own.is_empty() { self.scope(vu) } else { return None };
        self.known.borrow().measured(scope, what)
    }

    /// Adds a value to a metric.
    pub fn add(
        &self,
        vu: &Vu,
        what: What,
        (family, name): (Family, &str),
        value: f64,
        own: &[(String, String)],
    ) {
        if let Some(series) = self.measured(vu, what, own) {
            return self.out.borrow_mut().add(series, value);
        }
        if let Some((series, true)) = self.add_by_name(vu, (family, name), value, own)
            && own.is_empty()
        {
            self.known.borrow_mut().keep_measured(self.scope(vu), what, series);
        }
    }

    /// Adds a value to a series that is looked up by its name and tags; returns the series, and whether it is always
    /// the one of this name.
    pub fn add_by_name(
        &self,
        vu: &Vu,
        (family, name): (Family, &str),
        value: f64,
        own: &[(String, String)],
    ) -> Option<(u32, bool)> {
        let group = vu.group();
        let labels = self.labels(vu, &group, own);
        let found = self.series(family, name, &labels)?;
        self.out.borrow_mut().add(found.0, value);
        Some(found)
    }
}
