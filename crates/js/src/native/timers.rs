//! Timers: callbacks that the event loop of an iteration runs.

use super::Row;
use crate::host::Host;
use crate::vu::Timer;
use plimsoll_quickjs::{Call, Realm, Thrown, Value};

pub(super) const ROWS: &[Row] = &[
    ("setTimeout", 2, set_timeout),
    ("setInterval", 2, set_interval),
    ("clearTimeout", 1, clear),
    ("clearInterval", 1, clear),
];

pub(super) fn install(realm: &Realm) -> Result<(), Thrown> {
    for (name, length, native) in ROWS {
        realm.global().define(name, realm.function(name, *length, *native), true, false)?;
    }
    Ok(())
}

fn set_timeout(call: &Call<'_>) -> Result<Value, Thrown> {
    start(call, false)
}

fn set_interval(call: &Call<'_>) -> Result<Value, Thrown> {
    start(call, true)
}

fn start(call: &Call<'_>, repeats: bool) -> Result<Value, Thrown> {
    let (host, realm) = (Host::of(call)?, call.realm());
    let vu = host.vu(realm, "a timer")?;
    let callback = call.argument(0);
    if !callback.is_function() {
        return Err(realm.error("TypeError", "a timer requires a function"));
    }
    let delay = call.argument(1);
    let ms = if delay.is_nullish() { 0.0 } else { delay.to_number()? };
    // As browsers do: at least 1 ms, so that an interval of 0 does not take all the time.
    let delay_ns = (ms.max(1.0) * 1e6) as u64;
    let arguments = (2..call.count()).map(|at| call.argument(at)).collect();
    let id = vu.step();
    host.out.borrow_mut().sleep(id, delay_ns);
    let number = vu.timer_number();
    vu.timers.borrow_mut().push(Timer {
        number,
        step: id,
        callback,
        arguments,
        every_ns: repeats.then_some(delay_ns),
    });
    Ok(realm.number(f64::from(number)))
}

fn clear(call: &Call<'_>) -> Result<Value, Thrown> {
    let (host, realm) = (Host::of(call)?, call.realm());
    let vu = host.vu(realm, "a timer")?;
    let Some(number) = call.argument(0).as_number() else { return Ok(realm.undefined()) };
    let mut timers = vu.timers.borrow_mut();
    if let Some(at) = timers.iter().position(|timer| f64::from(timer.number) == number) {
        let timer = timers.remove(at);
        host.cancel(timer.step);
    }
    Ok(realm.undefined())
}
