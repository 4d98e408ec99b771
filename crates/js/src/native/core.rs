//! What every script has: modules, `sleep`, `__ENV`, `__VU`, `__ITER`, random numbers.

use super::{Row, lend};
use crate::host::Host;
use crate::http::url;
use crate::modules;
use plimsoll_bundle::{Format, Target};
use plimsoll_quickjs::{Call, Realm, Thrown, Value};

/// Hidden property of the global object of a realm that users share: objects of environment variables, by scenario.
const SHARED_ENVS: &str = "__plimsoll_envs";

pub(super) const ROWS: &[Row] = &[
    ("nothing", 0, nothing),
    ("entry", 0, entry),
    ("evaluating", 1, evaluating),
    ("factory", 1, factory),
    ("builtin", 2, builtin),
    ("imported", 2, imported),
    ("isCommon", 1, is_common),
    ("isListed", 1, is_listed),
    ("moduleUrl", 1, module_url),
    ("resolve", 2, resolve),
    ("isAsync", 1, is_async),
    ("sleep", 1, sleep),
    ("random", 0, random),
    ("randomSeed", 1, random_seed),
    ("env", 0, env),
    ("vuNumber", 0, vu_number),
    ("iteration", 0, iteration),
    ("now", 0, now),
    ("runTime", 0, run_time),
];

pub(super) fn nothing(call: &Call<'_>) -> Result<Value, Thrown> {
    Ok(call.realm().undefined())
}

pub(super) fn install(realm: &Realm) -> Result<(), Thrown> {
    let global = realm.global();
    // The name of the global object in older scripts.
    global.define("global", global.clone(), true, false)?;
    global.define_getter("__ENV", realm.function("__ENV", 0, env))?;
    global.define_getter("__VU", realm.function("__VU", 0, vu_number))?;
    global.define_getter("__ITER", realm.function("__ITER", 0, iteration))?;
    global.get_str("Math")?.define("random", realm.function("random", 0, random), true, false)
}

/// Returns an argument as an index.
pub(super) fn index(call: &Call<'_>, at: usize) -> usize {
    call.argument(at).as_number().map_or(usize::MAX, |number| number as usize)
}

fn entry(call: &Call<'_>) -> Result<Value, Thrown> {
    let host = Host::of(call)?;
    Ok(call.realm().number(host.shared.script.bundle.entry as f64))
}

/// Sets the module whose top level runs; returns the previous one, or -1.
fn evaluating(call: &Call<'_>) -> Result<Value, Thrown> {
    let host = Host::of(call)?;
    let module = call.argument(0).as_number().filter(|number| *number >= 0.0);
    let outer = host.evaluating.replace(module.map(|number| number as usize));
    Ok(call.realm().number(outer.map_or(-1.0, |outer| outer as f64)))
}

/// Compiles a module.
fn factory(call: &Call<'_>) -> Result<Value, Thrown> {
    let host = Host::of(call)?;
    match host.shared.script.bundle.modules.get(index(call, 0)) {
        Some(module) => call.realm().eval(&module.factory, &module.name),
        None => Err(call.realm().error("InternalError", "unknown module")),
    }
}

fn builtin(call: &Call<'_>) -> Result<Value, Thrown> {
    let name = call.argument(0).to_text()?;
    match modules::text(&name) {
        Some(text) => {
            lend(call.realm(), &call.argument(1), text)?;
            call.realm().eval(text, &name)
        }
        None => Err(call.realm().error("Error", &format!("unknown module `{name}`"))),
    }
}

/// Returns what import `k` of module `i` is: a number of a module, a name, or an object with JSON.
fn imported(call: &Call<'_>) -> Result<Value, Thrown> {
    let (host, realm) = (Host::of(call)?, call.realm());
    let module = host.shared.script.bundle.modules.get(index(call, 0));
    let import = module.and_then(|module| module.imports.get(index(call, 1)));
    match import.map(|import| &import.target) {
        Some(Target::Module(number)) => Ok(realm.number(*number as f64)),
        Some(Target::Builtin(name)) => Ok(realm.text(name)),
        Some(Target::Json(number)) => {
            let object = realm.object();
            let json = host.shared.script.bundle.json.get(*number);
            let (text, name) = json.map_or(("null", "import.json"), |json| (&json.text, &json.name));
            object.set_str("json", realm.parse_json(text, name)?)?;
            Ok(object)
        }
        Some(Target::Unavailable(why)) => Err(realm.error("Error", why)),
        None => {
            Err(realm.error("Error", "unknown module: only modules that are named by a text can be imported"))
        }
    }
}

/// Returns whether the script may list the members of a built-in module, as in `Object.keys(http)`.
fn is_listed(call: &Call<'_>) -> Result<Value, Thrown> {
    let (host, name) = (Host::of(call)?, call.argument(0).to_text()?);
    let of_script = &host.shared.script.bundle.usage.builtins;
    let is_listed = of_script.iter().any(|one| one.name == name && one.computed.is_some());
    Ok(call.realm().bool(is_listed))
}

fn is_common(call: &Call<'_>) -> Result<Value, Thrown> {
    let host = Host::of(call)?;
    let module = host.shared.script.bundle.modules.get(index(call, 0));
    Ok(call.realm().bool(module.is_some_and(|module| module.format == Format::CommonJs)))
}

fn module_url(call: &Call<'_>) -> Result<Value, Thrown> {
    let host = Host::of(call)?;
    let module = host.shared.script.bundle.modules.get(index(call, 0));
    let path = module.map(|module| std::path::absolute(&module.path).unwrap_or_else(|_| module.path.clone()));
    let path = path.map(|path| path.display().to_string()).unwrap_or_default();
    Ok(call.realm().text(&format!("file://{path}")))
}

fn resolve(call: &Call<'_>) -> Result<Value, Thrown> {
    let base = module_url(call)?.to_text()?;
    let reference = call.argument(1).to_text()?;
    Ok(call.realm().text(&url::join(&base, &reference)))
}

fn is_async(call: &Call<'_>) -> Result<Value, Thrown> {
    Ok(call.realm().bool(call.argument(0).is_async_function()))
}

fn sleep(call: &Call<'_>) -> Result<Value, Thrown> {
    let host = Host::of(call)?;
    let vu = host.vu(call.realm(), "sleep()")?;
    let seconds = call.argument(0).to_number()?;
    if seconds > 0.0 {
        let id = vu.step();
        host.out.borrow_mut().sleep(id, (seconds * 1e9) as u64);
        host.wait(call, &vu, id)?;
    }
    Ok(call.realm().undefined())
}

fn random(call: &Call<'_>) -> Result<Value, Thrown> {
    let host = Host::of(call)?;
    let vu = host.vu.borrow().clone();
    let number = match vu {
        Some(vu) => vu.random(),
        // In the init part, all users get the same numbers.
        None => host.init_random(),
    };
    Ok(call.realm().number(number))
}

fn random_seed(call: &Call<'_>) -> Result<Value, Thrown> {
    let host = Host::of(call)?;
    let seed = call.argument(0).to_number()? as i64 as u64;
    match &*host.vu.borrow() {
        Some(vu) => vu.random.set(seed),
        None => host.seed.set(seed),
    }
    Ok(call.realm().undefined())
}

fn env(call: &Call<'_>) -> Result<Value, Thrown> {
    let (host, realm) = (Host::of(call)?, call.realm());
    // The init part does not belong to a scenario.
    let vu = host.vu.borrow().clone().filter(|_| !host.is_init.get());
    let Some(vu) = vu else { return new_env(host, realm, None) };
    if let Some(env) = vu.env.borrow().clone() {
        return Ok(env);
    }
    // A script whose users share a realm does not change it: `bundle` looks at each use.
    let shared = realm.global().get_str(SHARED_ENVS)?;
    let at = u32::try_from(vu.scenario).unwrap_or(u32::MAX);
    let known = if shared.is_array() { shared.get_index(at)? } else { realm.undefined() };
    let env = if known.is_nullish() { new_env(host, realm, Some(vu.scenario))? } else { known };
    if shared.is_array() {
        shared.set_index(at, env.clone())?;
    }
    vu.env.replace(Some(env.clone()));
    Ok(env)
}

/// Returns an object with the environment variables of a scenario.
fn new_env(host: &Host, realm: &Realm, scenario: Option<usize>) -> Result<Value, Thrown> {
    let object = realm.object();
    let settings = &host.shared.settings;
    let scenario = scenario.and_then(|at| settings.scenarios.get(at));
    for (name, value) in settings.env.iter().chain(scenario.iter().flat_map(|one| &one.env)) {
        object.set_str(name, realm.text(value))?;
    }
    Ok(object)
}

/// Lets the users of a realm share the objects of environment variables.
///
/// # Errors
/// Returns an error if memory has run out.
pub fn share_envs(realm: &Realm) -> Result<(), Thrown> {
    realm.global().define(SHARED_ENVS, realm.array(), false, false)
}

fn vu_number(call: &Call<'_>) -> Result<Value, Thrown> {
    let host = Host::of(call)?;
    let number = host.vu.borrow().as_ref().map_or(0, |vu| vu.number);
    Ok(call.realm().number(number as f64))
}

fn iteration(call: &Call<'_>) -> Result<Value, Thrown> {
    let host = Host::of(call)?;
    let number = host.vu.borrow().as_ref().map_or(0, |vu| vu.iterations.get().saturating_sub(1));
    Ok(call.realm().number(number as f64))
}

/// Time since 1970, ms.
fn now(call: &Call<'_>) -> Result<Value, Thrown> {
    let host = Host::of(call)?;
    Ok(call.realm().number(host.unix_ms()))
}

/// Time since the run began, ms.
fn run_time(call: &Call<'_>) -> Result<Value, Thrown> {
    let host = Host::of(call)?;
    Ok(call.realm().number(host.at.get().run_ns as f64 / 1e6))
}
