//! `k6/execution`.

use super::Row;
use crate::host::Host;
use plimsoll_quickjs::{Call, Thrown, Value};
use std::sync::atomic::Ordering;

pub(super) const ROWS: &[Row] = &[
    ("execution", 2, execution),
    ("tag", 1, tag),
    ("setTag", 2, set_tag),
    ("tagNames", 0, tag_names),
    ("metadata", 1, metadata),
    ("abort", 1, abort),
    ("failTest", 1, fail_test),
    ("options", 0, options),
];

fn execution(call: &Call<'_>) -> Result<Value, Thrown> {
    let (host, realm) = (Host::of(call)?, call.realm());
    let (of, name) = (call.argument(0).to_text()?, call.argument(1).to_text()?);
    let at = host.at.get();
    if host.is_init.get() {
        return Err(
            realm.error("Error", &format!("exec.{of}.{name} is not known in the init part of a script"))
        );
    }
    if of == "instance" {
        return Ok(match name.as_str() {
            "currentTestRunDuration" => realm.number(at.run_ns as f64 / 1e6),
            "vusActive" if host.vu.borrow().as_ref().is_some_and(|vu| vu.number == 0) => realm.number(0.0),
            "vusActive" | "vusInitialized" => realm.number(host.shared.users() as f64),
            "iterationsCompleted" => realm.number(host.shared.completed.load(Ordering::Relaxed) as f64),
            _ => realm.number(0.0),
        });
    }
    let vu = host.vu(realm, &format!("exec.{of}.{name}"))?;
    let scenario = host.shared.settings.scenarios.get(vu.scenario);
    if of == "scenario" && scenario.is_none() {
        return Err(realm.error("Error", "setup() and teardown() belong to no scenario"));
    }
    Ok(match name.as_str() {
        "name" => realm.text(scenario.map_or("", |one| &one.name)),
        "executor" => realm.text(scenario.map_or("", |one| &one.executor)),
        "startTime" => {
            let start_ns = scenario.map_or(0, |one| one.start_ns);
            let begin_ms = (at.unix_ns.saturating_sub(at.run_ns)) as f64 / 1e6;
            realm.number(begin_ms + start_ns as f64 / 1e6)
        }
        "progress" => {
            let (start_ns, duration_ns) = scenario.map_or((0, 0), |one| (one.start_ns, one.duration_ns));
            let passed = at.run_ns.saturating_sub(start_ns) as f64;
            realm.number(if duration_ns == 0 { 0.0 } else { (passed / duration_ns as f64).min(1.0) })
        }
        "iterationInTest" => realm.number(vu.iteration_in_test.get() as f64),
        "iterationInScenario" => realm.number(vu.iterations.get().saturating_sub(1) as f64),
        // The number of this instance is that of the test, because there is one instance.
        "iterationInInstance" if of == "scenario" => realm.number(vu.iteration_in_test.get() as f64),
        "iterationInInstance" => realm.number(vu.iterations.get().saturating_sub(1) as f64),
        "idInInstance" | "idInTest" => realm.number(vu.number as f64),
        _ => realm.undefined(),
    })
}

fn tag(call: &Call<'_>) -> Result<Value, Thrown> {
    let (host, realm) = (Host::of(call)?, call.realm());
    let vu = host.vu(realm, "exec.vu.tags")?;
    let name = call.argument(0).to_text()?;
    let tags = vu.tags.borrow();
    let found = tags.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone());
    let scenario = host.shared.settings.scenarios.get(vu.scenario);
    Ok(match (found, name.as_str()) {
        (Some(value), _) => realm.text(&value),
        (None, "scenario") => realm.text(scenario.map_or("default", |one| &one.name)),
        (None, "group") => realm.text(&vu.group()),
        (None, _) => {
            let own = scenario.iter().flat_map(|one| &one.tags).chain(&host.shared.settings.tags);
            let found = own.into_iter().find(|(known, _)| *known == name);
            found.map_or_else(|| realm.undefined(), |(_, value)| realm.text(value))
        }
    })
}

fn set_tag(call: &Call<'_>) -> Result<Value, Thrown> {
    let (host, realm) = (Host::of(call)?, call.realm());
    let vu = host.vu(realm, "exec.vu.tags")?;
    let (name, value) = (call.argument(0).to_text()?, call.argument(1));
    if value.is_object() || value.kind() == plimsoll_quickjs::Kind::Null {
        return Err(
            realm.error("TypeError", &format!("the tag `{name}` must be a text, a number, or a boolean"))
        );
    }
    vu.scope.set(None);
    let mut tags = vu.tags.borrow_mut();
    tags.retain(|(known, _)| *known != name);
    if !value.is_undefined() {
        tags.push((name, value.to_text()?));
    }
    Ok(realm.bool(true))
}

fn tag_names(call: &Call<'_>) -> Result<Value, Thrown> {
    let (host, realm) = (Host::of(call)?, call.realm());
    let vu = host.vu(realm, "exec.vu.tags")?;
    let mut all = vec!["group".to_owned()];
    let mut add = |name: &str| {
        if !all.iter().any(|known| known == name) {
            all.push(name.to_owned());
        }
    };
    if let Some(scenario) = host.shared.settings.scenarios.get(vu.scenario) {
        add("scenario");
        scenario.tags.iter().for_each(|(name, _)| add(name));
    }
    host.shared.settings.tags.iter().for_each(|(name, _)| add(name));
    vu.tags.borrow().iter().for_each(|(name, _)| add(name));
    let names = realm.array();
    for (at, name) in (0..).zip(&all) {
        names.set_index(at, realm.text(name))?;
    }
    Ok(names)
}

/// Returns the object with the metadata of a user; with an argument, sets it.
fn metadata(call: &Call<'_>) -> Result<Value, Thrown> {
    let (host, realm) = (Host::of(call)?, call.realm());
    let vu = host.vu(realm, "exec.vu.metrics.metadata")?;
    if call.count() > 0 {
        vu.metadata.replace(Some(call.argument(0)));
    }
    Ok(vu.metadata.borrow().clone().unwrap_or_else(|| realm.undefined()))
}

/// Ends the test: the iteration throws, and no other begins.
fn abort(call: &Call<'_>) -> Result<Value, Thrown> {
    let host = Host::of(call)?;
    let message = call.argument(0).to_text()?;
    host.shared.abort(&message);
    // The script cannot catch it.
    Err(Thrown::Interrupted(None))
}

/// Makes the test fail at its end; the iteration continues.
fn fail_test(call: &Call<'_>) -> Result<Value, Thrown> {
    let host = Host::of(call)?;
    host.shared.fail(&call.argument(0).to_text()?);
    Ok(call.realm().undefined())
}

fn options(call: &Call<'_>) -> Result<Value, Thrown> {
    let host = Host::of(call)?;
    if host.is_init.get() {
        return Err(call
            .realm()
            .error("Error", "exec.test.options is not known in the init part of a script"));
    }
    Ok(call.realm().text(&host.shared.settings.options_json))
}
