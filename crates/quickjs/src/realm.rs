//! A realm: a global object with the built-in objects of JavaScript. Several realms may share a runtime.

use crate::call::{Native, trampoline};
use crate::runtime::Runtime;
use crate::value::{Atom, Thrown, Value};
use rquickjs_sys as qjs;
use std::ffi::CString;
use std::ptr::NonNull;
use std::rc::Rc;

/// A realm. Its clones are the same one.
#[derive(Clone)]
pub struct Realm(Rc<Inner>);

struct Inner {
    raw: NonNull<qjs::JSContext>,
    runtime: Runtime,
}

impl Drop for Inner {
    fn drop(&mut self) {
        // SAFETY: No value of the realm is left, because values hold it. JavaScript may still refer to the context: its
        // functions hold references, and the opaque pointer tells `Realm::of` to make a new realm.
        unsafe {
            qjs::JS_SetContextOpaque(self.raw.as_ptr(), std::ptr::null_mut());
            self.runtime.retire(self.raw);
        }
    }
}

impl Realm {
    /// Returns a new realm with all built-in objects; `None` if memory has run out.
    pub fn new(runtime: &Runtime) -> Option<Realm> {
        runtime.enter();
        // SAFETY: The runtime is alive, and the realm holds it.
        let raw = NonNull::new(unsafe { qjs::JS_NewContext(runtime.0.raw.as_ptr()) })?;
        let inner = Rc::new(Inner { raw, runtime: runtime.clone() });
        Some(Realm::known(inner))
    }

    /// Lets the context find its realm.
    fn known(inner: Rc<Inner>) -> Realm {
        // SAFETY: The pointer is removed before the realm is freed.
        unsafe { qjs::JS_SetContextOpaque(inner.raw.as_ptr(), Rc::as_ptr(&inner).cast_mut().cast()) };
        Realm(inner)
    }

    /// Returns the realm of a call, which may have been dropped while functions of it are still in use.
    ///
    /// # Safety
    /// `context` must be live, and of a runtime of this crate.
    pub(crate) unsafe fn of(context: *mut qjs::JSContext) -> Realm {
        // SAFETY: The opaque pointer is null or that of a live realm; counting up makes the new `Rc` one more owner.
        unsafe {
            let inner = qjs::JS_GetContextOpaque(context).cast::<Inner>();
            if inner.is_null() {
                let runtime = Runtime::of(qjs::JS_GetRuntime(context));
                let raw = NonNull::new_unchecked(qjs::JS_DupContext(context));
                return Realm::known(Rc::new(Inner { raw, runtime }));
            }
            Rc::increment_strong_count(inner);
            Realm(Rc::from_raw(inner))
        }
    }

    /// Stops at a value of another runtime, whose memory is not of this one.
    ///
    /// # Panics
    /// Panics if the value is of another runtime.
    pub(crate) fn demand_own(&self, value: &Value) {
        let is_own = Rc::ptr_eq(&self.0, &value.realm().0)
            || Rc::ptr_eq(&self.runtime().0, &value.realm().runtime().0);
        assert!(is_own, "a value was used in another runtime");
    }

    pub(crate) fn raw(&self) -> *mut qjs::JSContext {
        self.0.raw.as_ptr()
    }

    pub fn runtime(&self) -> &Runtime {
        &self.0.runtime
    }

    /// Prepares a call into JavaScript.
    pub(crate) fn enter(&self) {
        self.0.runtime.enter();
    }

    /// Takes a result, or what was thrown instead.
    ///
    /// # Safety
    /// `raw` must be a new reference to a value of this realm's runtime, or the mark of an exception.
    pub(crate) unsafe fn checked(&self, raw: qjs::JSValue) -> Result<Value, Thrown> {
        // SAFETY: As the caller guarantees.
        unsafe { if qjs::JS_IsException(raw) { Err(self.thrown()) } else { Ok(Value::from_raw(raw, self)) } }
    }

    /// Returns what was thrown, after a call has reported it.
    pub(crate) fn thrown(&self) -> Thrown {
        // SAFETY: The exception is a new reference.
        unsafe {
            let raw = qjs::JS_GetException(self.raw());
            let is_uncatchable = qjs::JS_IsUncatchableError(raw);
            let value = Value::from_raw(raw, self);
            match is_uncatchable {
                true if self.runtime().is_cancelled() => Thrown::Cancelled,
                true => Thrown::Interrupted(Some(value)),
                false => Thrown::Value(value),
            }
        }
    }

    /// Runs a script as global code; returns the value of its last expression.
    ///
    /// # Errors
    /// Returns a `SyntaxError`, or what the script has thrown.
    pub fn eval(&self, source: &str, name: &str) -> Result<Value, Thrown> {
        let (Ok(text), Ok(name)) = (CString::new(source), CString::new(name)) else {
            return Err(self.error("SyntaxError", "the source contains a null character"));
        };
        self.enter();
        // SAFETY: Both texts end in a null, which the length does not count, as QuickJS requires.
        unsafe {
            let flags = (qjs::JS_EVAL_TYPE_GLOBAL) as i32;
            let raw = qjs::JS_Eval(self.raw(), text.as_ptr(), source.len() as _, name.as_ptr(), flags);
            self.checked(raw)
        }
    }

    pub fn global(&self) -> Value {
        // SAFETY: Returns a new reference.
        unsafe { Value::from_raw(qjs::JS_GetGlobalObject(self.raw()), self) }
    }

    /// Looks up a property name. Atoms are never freed: look up names of a program, not data.
    pub fn atom(&self, name: &str) -> Atom {
        // SAFETY: QuickJS copies the text.
        let raw = unsafe { qjs::JS_NewAtomLen(self.raw(), name.as_ptr().cast(), name.len() as _) };
        if raw == qjs::JS_ATOM_NULL {
            // Memory has run out. The null atom is the name of no property.
            drop(self.thrown());
        }
        Atom { raw, runtime: self.runtime().0.id }
    }

    /// Looks up a property name for one call.
    ///
    /// # Errors
    /// Returns what the call returns, or that memory has run out.
    pub(crate) fn with_atom<R>(
        &self,
        name: &str,
        call: impl FnOnce(Atom) -> Result<R, Thrown>,
    ) -> Result<R, Thrown> {
        // SAFETY: QuickJS copies the text, and the reference is freed after its use.
        unsafe {
            let raw = qjs::JS_NewAtomLen(self.raw(), name.as_ptr().cast(), name.len() as _);
            if raw == qjs::JS_ATOM_NULL {
                return Err(self.thrown());
            }
            let result = call(Atom { raw, runtime: self.runtime().0.id });
            qjs::JS_FreeAtom(self.raw(), raw);
            result
        }
    }

    pub fn undefined(&self) -> Value {
        self.plain(qjs::JS_UNDEFINED)
    }

    pub fn null(&self) -> Value {
        self.plain(qjs::JS_NULL)
    }

    pub fn bool(&self, value: bool) -> Value {
        self.plain(if value { qjs::JS_TRUE } else { qjs::JS_FALSE })
    }

    pub fn number(&self, value: f64) -> Value {
        self.plain(qjs::JS_NewFloat64(value))
    }

    /// A value without references.
    fn plain(&self, raw: qjs::JSValue) -> Value {
        // SAFETY: Such a value is not counted.
        unsafe { Value::from_raw(raw, self) }
    }

    /// Returns a string; `undefined` if memory has run out.
    pub fn text(&self, text: &str) -> Value {
        // SAFETY: QuickJS copies the text.
        let raw = unsafe { qjs::JS_NewStringLen(self.raw(), text.as_ptr().cast(), text.len() as _) };
        // SAFETY: The result is a new reference, or an exception.
        unsafe { self.checked(raw) }.unwrap_or_else(|_| self.undefined())
    }

    /// Returns a string whose characters are the bytes (Latin-1).
    pub fn latin1(&self, bytes: &[u8]) -> Value {
        let units: Vec<u16> = bytes.iter().map(|byte| u16::from(*byte)).collect();
        self.utf16(&units)
    }

    pub fn utf16(&self, units: &[u16]) -> Value {
        // SAFETY: QuickJS copies the text; the result is a new reference, or an exception.
        unsafe {
            let raw = qjs::JS_NewStringUTF16(self.raw(), units.as_ptr(), units.len() as _);
            self.checked(raw).unwrap_or_else(|_| self.undefined())
        }
    }

    pub fn object(&self) -> Value {
        // SAFETY: The result is a new reference, or an exception.
        unsafe { self.checked(qjs::JS_NewObject(self.raw())) }.unwrap_or_else(|_| self.undefined())
    }

    /// Returns an object with a prototype, which may be null.
    pub fn object_with(&self, prototype: &Value) -> Value {
        self.demand_own(prototype);
        // SAFETY: The result is a new reference, or an exception.
        unsafe { self.checked(qjs::JS_NewObjectProto(self.raw(), prototype.raw())) }
            .unwrap_or_else(|_| self.undefined())
    }

    pub fn array(&self) -> Value {
        // SAFETY: The result is a new reference, or an exception.
        unsafe { self.checked(qjs::JS_NewArray(self.raw())) }.unwrap_or_else(|_| self.undefined())
    }

    /// Returns an `ArrayBuffer` with a copy of the bytes.
    pub fn buffer(&self, bytes: &[u8]) -> Value {
        // SAFETY: QuickJS copies the bytes; the result is a new reference, or an exception.
        unsafe {
            let raw = qjs::JS_NewArrayBufferCopy(self.raw(), bytes.as_ptr(), bytes.len() as _);
            self.checked(raw).unwrap_or_else(|_| self.undefined())
        }
    }

    /// Parses JSON.
    ///
    /// # Errors
    /// Returns a `SyntaxError` with the place.
    pub fn parse_json(&self, text: &str, name: &str) -> Result<Value, Thrown> {
        let (Ok(bytes), Ok(name)) = (CString::new(text), CString::new(name)) else {
            return Err(self.error("SyntaxError", "the JSON contains a null character"));
        };
        self.enter();
        // SAFETY: The text ends in a null, which the length does not count, as QuickJS requires.
        unsafe {
            let raw = qjs::JS_ParseJSON(self.raw(), bytes.as_ptr(), text.len() as _, name.as_ptr());
            self.checked(raw)
        }
    }

    /// Returns an error object of a built-in class, to be thrown.
    pub fn error(&self, class: &str, message: &str) -> Thrown {
        let text = self.text(message);
        match self.global().get_str(class).and_then(|class| class.construct(&[&text])) {
            Ok(error) => Thrown::Value(error),
            Err(thrown) => thrown,
        }
    }

    /// Returns a new error without a message, made without any call of JavaScript.
    pub(crate) fn plain_error(&self) -> Result<Value, Thrown> {
        // SAFETY: The result is a new reference, or an exception.
        unsafe { self.checked(qjs::JS_NewError(self.raw())) }
    }

    /// Returns a function that calls a native of the runtime's table; `undefined` if it is not in the table.
    pub fn function(&self, name: &str, length: i32, native: Native) -> Value {
        let natives = self.runtime().0.natives;
        let found = natives.iter().position(|one| std::ptr::fn_addr_eq(*one, native));
        let (Some(magic), Ok(name)) = (found, CString::new(name)) else { return self.undefined() };
        // SAFETY: QuickJS calls a function of this kind with the number that it was made with; the result is a new
        // reference.
        unsafe {
            let plain: qjs::JSCFunction =
                std::mem::transmute::<qjs::JSCFunctionMagic, qjs::JSCFunction>(Some(trampoline));
            let kind = qjs::JSCFunctionEnum_JS_CFUNC_generic_magic;
            let raw = qjs::JS_NewCFunction2(self.raw(), plain, name.as_ptr(), length, kind, magic as i32);
            self.checked(raw).unwrap_or_else(|_| self.undefined())
        }
    }

    /// Returns a pending promise, with the functions that resolve and reject it.
    ///
    /// # Errors
    /// Returns that memory has run out.
    pub fn promise(&self) -> Result<(Value, Value, Value), Thrown> {
        let mut functions = [qjs::JS_UNDEFINED; 2];
        self.enter();
        // SAFETY: The call sets both functions, new references, if it succeeds.
        unsafe {
            let promise = self.checked(qjs::JS_NewPromiseCapability(self.raw(), functions.as_mut_ptr()))?;
            let [resolve, reject] = functions.map(|raw| Value::from_raw(raw, self));
            Ok((promise, resolve, reject))
        }
    }

    /// Runs the next waiting callback of a promise; returns whether there was one.
    ///
    /// # Errors
    /// Returns what it has thrown.
    pub fn run_job(&self) -> Result<bool, Thrown> {
        let mut context = std::ptr::null_mut();
        self.enter();
        // SAFETY: `context` outlives the call.
        let status = unsafe { qjs::JS_ExecutePendingJob(self.runtime().0.raw.as_ptr(), &raw mut context) };
        let result = match status {
            0 => Ok(false),
            n if n > 0 => Ok(true),
            _ => Err(self.thrown()),
        };
        self.runtime().free_retired();
        result
    }
}
