//! Native functions: Rust that JavaScript calls.

use crate::Kind;
use crate::realm::Realm;
use crate::runtime::{Inner, Runtime};
use crate::value::{Thrown, Value, kind_of};
use rquickjs_sys as qjs;
use std::cell::Cell;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A function that JavaScript can call.
pub type Native = fn(&Call<'_>) -> Result<Value, Thrown>;

/// One call of a native function.
pub struct Call<'a> {
    realm: Realm,
    this: qjs::JSValue,
    arguments: &'a [qjs::JSValue],
}

impl Call<'_> {
    pub fn realm(&self) -> &Realm {
        &self.realm
    }

    /// Returns the state of the runtime's native functions.
    pub fn host<T: 'static>(&self) -> Option<&T> {
        self.realm.runtime().host()
    }

    /// Returns the number of arguments.
    pub fn count(&self) -> usize {
        self.arguments.len()
    }

    /// Returns an argument; `undefined` if there are fewer.
    pub fn argument(&self, at: usize) -> Value {
        match self.arguments.get(at) {
            // SAFETY: Arguments are alive during the call; the value gets its own reference.
            Some(raw) => unsafe { Value::from_raw(qjs::JS_DupValue(self.realm.raw(), *raw), &self.realm) },
            None => self.realm.undefined(),
        }
    }

    /// Returns the type of an argument.
    pub fn kind(&self, at: usize) -> Kind {
        self.arguments.get(at).map_or(Kind::Undefined, |raw| kind_of(*raw))
    }

    /// Returns `this`.
    pub fn this(&self) -> Value {
        // SAFETY: As in `argument`.
        unsafe { Value::from_raw(qjs::JS_DupValue(self.realm.raw(), self.this), &self.realm) }
    }

    /// Waits until the fiber is resumed.
    ///
    /// Hold no borrow of the host's state across this call: other fibers run in the meantime.
    ///
    /// # Errors
    /// Returns [`Thrown::Cancelled`] if the fiber is to end, which the caller must pass on, and [`Thrown::Outside`]
    /// outside of a fiber.
    pub fn wait(&self) -> Result<(), Thrown> {
        self.realm.runtime().wait()
    }
}

impl Runtime {
    /// Returns whether the fiber that runs is to end.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }
}

impl Inner {
    /// Returns whether JavaScript has run for too long: loops that build the stacks of errors take a thousand times as
    /// long as others.
    fn is_late(&self) -> bool {
        let now_ns = cpu_ns();
        if self.began_ns.get() == 0 {
            self.began_ns.set(now_ns);
        }
        now_ns.saturating_sub(self.began_ns.get()) > self.budget_ns.get()
    }

    fn is_cancelled(&self) -> bool {
        // SAFETY: The pointer is null, or of the fiber that runs, which lives.
        unsafe { self.current.get().as_ref() }.is_some_and(|state| state.is_cancelled.get())
    }
}

/// Calls a native function for QuickJS.
///
/// # Safety
/// Called by QuickJS, with arguments that are alive during the call.
pub(crate) unsafe extern "C" fn trampoline(
    context: *mut qjs::JSContext,
    this: qjs::JSValue,
    count: i32,
    arguments: *mut qjs::JSValue,
    magic: i32,
) -> qjs::JSValue {
    // SAFETY: The context is of a runtime of this crate, because only those have this function.
    let realm = unsafe { Realm::of(context) };
    let count = usize::try_from(count).unwrap_or(0);
    // SAFETY: QuickJS passes `count` arguments; without any, the pointer may be null.
    let arguments = match count {
        0 => &[][..],
        _ => unsafe { std::slice::from_raw_parts(arguments, count) },
    };
    let call = Call { realm, this, arguments };
    let runtime = call.realm.runtime();
    let native = usize::try_from(magic).ok().and_then(|at| runtime.0.natives.get(at));
    runtime.0.calls.set(runtime.0.calls.get() + 1);
    let result = match native {
        // A cancelled fiber ends even if its JavaScript or a native function has dropped the error.
        Some(_) if runtime.is_cancelled() => Err(Thrown::Cancelled),
        // A panic must not unwind through frames of C.
        Some(native) => {
            catch_unwind(AssertUnwindSafe(|| native(&call).inspect(|value| call.realm.demand_own(value))))
                .unwrap_or_else(|_| Err(call.realm.error("InternalError", "a native function panicked")))
        }
        None => Err(call.realm.error("InternalError", "unknown native function")),
    };
    let result = match result {
        Ok(value) if !runtime.is_cancelled() => value.into_raw(),
        Ok(_) => throw(&call.realm, Thrown::Cancelled),
        Err(thrown) => throw(&call.realm, thrown),
    };
    runtime.0.calls.set(runtime.0.calls.get() - 1);
    result
}

/// Marks an error as thrown.
fn throw(realm: &Realm, thrown: Thrown) -> qjs::JSValue {
    let (value, is_catchable) = match thrown {
        Thrown::Value(value) => (value, true),
        Thrown::Outside => {
            let error = realm.error("Error", "this call cannot wait here: it is not part of an iteration");
            (error.into_value(realm), true)
        }
        Thrown::Interrupted(Some(error)) => (error, false),
        // Made by QuickJS itself: a script may have replaced the global classes of errors.
        Thrown::Cancelled | Thrown::Interrupted(None) => match realm.plain_error() {
            Ok(value) => (value, false),
            // Memory has run out; the next call or loop of a cancelled fiber throws again.
            Err(thrown) => (thrown.into_value(realm), true),
        },
    };
    // SAFETY: The mark is set on a live error of this realm; `JS_Throw` takes over the reference.
    unsafe {
        if !is_catchable {
            qjs::JS_SetUncatchableError(realm.raw(), value.raw());
        }
        qjs::JS_Throw(realm.raw(), value.into_raw())
    }
}

/// Returns the CPU time of the thread, ns.
fn cpu_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: The structure is valid for writes, and the clock exists on every Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Interrupts a cancelled fiber, and counts down the budget of the runtime.
///
/// # Safety
/// Called by QuickJS with the runtime's own state.
pub(crate) unsafe extern "C" fn interrupt(_runtime: *mut qjs::JSRuntime, opaque: *mut c_void) -> i32 {
    // SAFETY: The state lives as long as the runtime.
    let inner = unsafe { &*opaque.cast::<Inner>() };
    let budget: &Cell<u64> = &inner.budget;
    match budget.get() {
        _ if inner.is_cancelled() => 1,
        0 => 1,
        left => {
            budget.set(left - 1);
            i32::from(inner.is_late())
        }
    }
}
