//! Promises that were rejected while nothing handled them.

use crate::realm::Realm;
use crate::runtime::{Inner, Runtime};
use crate::value::Value;
use rquickjs_sys as qjs;
use std::cell::RefCell;
use std::ffi::c_void;

/// The list of a runtime. It holds its own references: a `Value` would hold the runtime.
#[derive(Default)]
pub(crate) struct Rejections(RefCell<Vec<Raw>>);

/// The list of a fiber that waits.
pub(crate) struct Aside(Vec<Raw>);

struct Raw {
    promise: qjs::JSValue,
    reason: qjs::JSValue,
}

/// A rejected promise that nothing has handled.
#[derive(Debug, Clone)]
pub struct Rejection {
    pub promise: Value,
    /// What it was rejected with.
    pub reason: Value,
}

impl Runtime {
    /// Starts to list rejected promises that nothing handles. Take them with [`Realm::take_rejections`] whenever no job
    /// waits: until then, the list keeps them alive.
    pub fn track_rejections(&self) {
        let opaque = std::rc::Rc::as_ptr(&self.0).cast_mut().cast();
        // SAFETY: The tracker gets the state of the runtime, which lives as long as it.
        unsafe { qjs::JS_SetHostPromiseRejectionTracker(self.0.raw.as_ptr(), Some(track), opaque) };
    }
}

impl Realm {
    /// Takes the rejected promises of the runtime that nothing has handled since, in the order of their rejection.
    pub fn take_rejections(&self) -> Vec<Rejection> {
        let raw = self.runtime().0.rejections.0.take();
        // SAFETY: The list gives its references away.
        let value = |raw| unsafe { Value::from_raw(raw, self) };
        raw.into_iter()
            .map(|one| Rejection { promise: value(one.promise), reason: value(one.reason) })
            .collect()
    }
}

impl Rejections {
    /// Takes the list away while another fiber runs: what a fiber has not handled yet, it may still handle.
    pub(crate) fn put_aside(&self) -> Aside {
        Aside(self.0.take())
    }

    pub(crate) fn bring_back(&self, mut aside: Aside) {
        if !aside.0.is_empty() {
            let mut list = self.0.borrow_mut();
            aside.0.append(&mut list);
            *list = aside.0;
        }
    }

    /// Frees all values.
    ///
    /// # Safety
    /// `runtime` must be the live runtime of this list.
    pub(crate) unsafe fn free(&self, runtime: *mut qjs::JSRuntime) {
        for raw in self.0.take() {
            // SAFETY: The references are those of `track`.
            unsafe {
                qjs::JS_FreeValueRT(runtime, raw.promise);
                qjs::JS_FreeValueRT(runtime, raw.reason);
            }
        }
    }
}

/// Adds a promise that was rejected, or removes one that is handled after all.
///
/// # Safety
/// Called by QuickJS with live values and the runtime's own state.
unsafe extern "C" fn track(
    context: *mut qjs::JSContext,
    promise: qjs::JSValue,
    reason: qjs::JSValue,
    is_handled: bool,
    opaque: *mut c_void,
) {
    // SAFETY: The state lives as long as the runtime. A promise is an object, whose identity is its address. Values are
    // freed when the list is not borrowed, because that may run code.
    unsafe {
        let list = &(*opaque.cast::<Inner>()).rejections.0;
        if !is_handled {
            let (promise, reason) = (qjs::JS_DupValue(context, promise), qjs::JS_DupValue(context, reason));
            list.borrow_mut().push(Raw { promise, reason });
            return;
        }
        let at = list.borrow().iter().rposition(|one| one.promise.u.ptr == promise.u.ptr);
        if let Some(at) = at {
            let raw = list.borrow_mut().remove(at);
            qjs::JS_FreeValue(context, raw.promise);
            qjs::JS_FreeValue(context, raw.reason);
        }
    }
}
