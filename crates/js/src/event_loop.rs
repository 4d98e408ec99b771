//! The event loop of an iteration: promises, timers, and asynchronous requests, until nothing is left to do.

use crate::host::Host;
use crate::http::send::{Started, settle_promise};
use crate::native::{channel, grpc, redis};
use crate::vu::{Arrived, Awaited, Vu};
use plimsoll_quickjs::{Realm, Thrown, Value};
use std::rc::Rc;

/// Runs what an iteration has started; returns its result, which may be that of a promise.
///
/// # Errors
/// Returns what a callback has thrown, or with what the promise was rejected.
pub fn complete(host: &Host, vu: &Rc<Vu>, result: Value) -> Result<Value, Thrown> {
    let realm = vu.realm.clone();
    loop {
        while realm.run_job()? {}
        uncaught(&realm, &result)?;
        if !vu.has_asynchronous() {
            break;
        }
        // While a callback blocked, more may have arrived.
        if vu.arrived.borrow().is_empty() {
            vu.awaits_any.set(true);
            let waited = realm.runtime().wait();
            vu.awaits_any.set(false);
            waited?;
        }
        let arrived: Vec<_> = vu.arrived.borrow_mut().drain(..).collect();
        for (id, result) in arrived {
            deliver(host, vu, id, result)?;
            while realm.run_job()? {}
        }
    }
    if !result.is_promise() {
        return Ok(result);
    }
    match result.settled() {
        Some(Ok(value)) => Ok(value),
        Some(Err(reason)) => Err(Thrown::Value(reason)),
        None => {
            Err(realm.error("Error", "a promise was never settled: nothing is left that could settle it"))
        }
    }
}

/// Returns an error if a promise was rejected that nothing handles, and that is not the result of the iteration.
///
/// # Errors
/// Returns with what it was rejected.
pub fn uncaught(realm: &Realm, result: &Value) -> Result<(), Thrown> {
    for rejection in realm.take_rejections() {
        if !rejection.promise.is_same(result) {
            return Err(Thrown::Value(rejection.reason));
        }
    }
    Ok(())
}

/// Runs the callback of a timer or of a channel, or settles the promise of a request.
fn deliver(host: &Host, vu: &Rc<Vu>, id: u32, result: Arrived) -> Result<(), Thrown> {
    let realm = &vu.realm;
    match result {
        Arrived::Slept => {
            let Some(timer) = vu.take_timer(id) else { return Ok(()) };
            let (callback, arguments) = (timer.callback.clone(), timer.arguments.clone());
            if let Some(every_ns) = timer.every_ns {
                let step = vu.step();
                host.out.borrow_mut().sleep(step, every_ns);
                vu.timers.borrow_mut().push(crate::vu::Timer { step, ..timer });
            }
            let arguments: Vec<&Value> = arguments.iter().collect();
            callback.call(&realm.undefined(), &arguments)?;
        }
        Arrived::News(number) if vu.with_stream(number, |_| ()).is_some() => grpc::deliver(vu, number)?,
        Arrived::News(number) => channel::deliver(host, vu, number)?,
        Arrived::Called(called) => {
            let Some(promise) = vu.take_promise(id) else { return Ok(()) };
            let response = grpc::object(realm, host, *called)?;
            promise.resolve.call(&realm.undefined(), &[&response])?;
        }
        arrived @ (Arrived::Response(_) | Arrived::Reached(_)) => {
            let Some(mut promise) = vu.take_promise(id) else { return Ok(()) };
            let flow = match &mut promise.awaited {
                Awaited::Request(flow) => flow,
                Awaited::Redis(command) => {
                    let reached = match arrived {
                        Arrived::Reached(Err((_, why))) => Err(why),
                        _ => Ok(()),
                    };
                    match redis::reply(realm, command, reached)? {
                        Ok(value) => promise.resolve.call(&realm.undefined(), &[&value])?,
                        Err(why) => promise.reject.call(&realm.undefined(), &[&realm.text(&why)])?,
                    };
                    return Ok(());
                }
                Awaited::Call => return Ok(()),
            };
            let done = match flow.arrived(host, vu, arrived) {
                Some(response) => Some(response),
                None => match flow.start(host, vu) {
                    Started::Waiting(next) => {
                        promise.step = next;
                        vu.promises.borrow_mut().push(promise);
                        return Ok(());
                    }
                    Started::Failed(response) => Some(response),
                },
            };
            if let Some(response) = done {
                settle_promise(realm, host, response, (&promise.resolve, &promise.reject))?;
            }
        }
    }
    Ok(())
}
