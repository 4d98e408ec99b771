//! Natives and helpers that several subjects use.

use plimsoll_quickjs::{Call, Fiber, Native, Realm, Runtime, StackPool, Thrown, Value};
use std::cell::RefCell;
use std::rc::Rc;

pub static NATIVES: &[Native] = &[wait, again, drop_error, panic_after, collect, run_task, realm_name];

/// Waits, and returns its argument.
pub fn wait(call: &Call<'_>) -> Result<Value, Thrown> {
    call.wait()?;
    Ok(call.argument(0))
}

/// Calls its argument, which gets no more stack by that.
fn again(call: &Call<'_>) -> Result<Value, Thrown> {
    call.argument(0).call(&call.this(), &[&call.argument(1)])
}

/// Waits, and drops the error that it must pass on.
fn drop_error(call: &Call<'_>) -> Result<Value, Thrown> {
    let _ = call.wait();
    Ok(call.argument(0))
}

fn panic_after(call: &Call<'_>) -> Result<Value, Thrown> {
    call.wait()?;
    panic!("on purpose");
}

fn collect(call: &Call<'_>) -> Result<Value, Thrown> {
    call.realm().runtime().collect();
    Ok(call.realm().undefined())
}

/// Returns the global `name` of the realm of the call.
fn realm_name(call: &Call<'_>) -> Result<Value, Thrown> {
    call.realm().global().get_str("name")
}

/// Runs what [`set_task`] has set, once.
fn run_task(call: &Call<'_>) -> Result<Value, Thrown> {
    let task = call.host::<Tasks>().and_then(|tasks| tasks.0.take());
    if let Some(task) = task {
        task();
    }
    Ok(call.realm().undefined())
}

#[derive(Default)]
struct Tasks(RefCell<Option<Box<dyn FnOnce()>>>);

/// Sets what the next call of `run_task` does.
pub fn set_task(realm: &Realm, task: impl FnOnce() + 'static) {
    realm.runtime().host::<Tasks>().expect("the host").0.replace(Some(Box::new(task)));
}

/// Returns a realm of a new runtime with all natives as globals.
pub fn realm() -> Realm {
    let runtime = Runtime::new(NATIVES).expect("a runtime");
    runtime.set_host(Rc::new(Tasks::default()));
    realm_of(&runtime)
}

/// Returns another realm of a runtime.
pub fn realm_of(runtime: &Runtime) -> Realm {
    let realm = Realm::new(runtime).expect("a realm");
    let natives: [(&str, Native); 7] = [
        ("wait", wait),
        ("again", again),
        ("dropError", drop_error),
        ("panicAfter", panic_after),
        ("collect", collect),
        ("runTask", run_task),
        ("realmName", realm_name),
    ];
    for (name, native) in natives {
        realm.global().set_str(name, realm.function(name, 0, native)).expect("a global");
    }
    realm
}

/// The result of a fiber, once it has ended.
pub type Answer = Rc<RefCell<Option<String>>>;

/// Starts a fiber that evaluates a script, and keeps its result as text.
pub fn fiber(pool: &StackPool, realm: &Realm, source: &str) -> (Fiber, Answer) {
    let result = Rc::new(RefCell::new(None));
    let (own, of, source) = (Rc::clone(&result), realm.clone(), source.to_owned());
    let body = move || {
        let text = text_of(&of, &source);
        own.replace(Some(text));
    };
    (Fiber::new(pool, realm.runtime(), body).expect("a stack"), result)
}

/// Evaluates a script; returns its result, or what it has thrown.
pub fn text_of(realm: &Realm, source: &str) -> String {
    match realm.eval(source, "test.js") {
        Ok(value) => value.describe(),
        Err(thrown) => format!("{thrown:?}"),
    }
}
