//! Values of JavaScript, and what is thrown.

use crate::arguments::Arguments;
use crate::realm::Realm;
use rquickjs_sys as qjs;
use std::mem::ManuallyDrop;

/// A property name, looked up once. It lives as long as its runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Atom {
    pub(crate) raw: qjs::JSAtom,
    /// The runtime that knows it.
    pub(crate) runtime: u32,
}

/// A value, counted as one reference.
pub struct Value {
    raw: qjs::JSValue,
    realm: Realm,
}

/// The type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Undefined,
    Null,
    Bool,
    Number,
    BigInt,
    String,
    Symbol,
    Object,
    /// Internal to QuickJS, such as compiled code.
    Other,
}

/// Why a call did not return.
pub enum Thrown {
    /// JavaScript, or a native function, has thrown a value.
    Value(Value),
    /// The fiber is to end. JavaScript cannot catch it.
    Cancelled,
    /// The budget of the runtime is used up, or a native function ends the calls in progress. JavaScript cannot catch
    /// it. The error has the stack of the place, if there is one.
    Interrupted(Option<Value>),
    /// The call would have to wait, but is not on a fiber.
    Outside,
}

impl Clone for Value {
    fn clone(&self) -> Self {
        // SAFETY: The value is alive, and its context is held by the realm.
        Value { raw: unsafe { qjs::JS_DupValue(self.realm.raw(), self.raw) }, realm: self.realm.clone() }
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        // SAFETY: This is one of its references, which is not used afterwards.
        unsafe { qjs::JS_FreeValue(self.realm.raw(), self.raw) };
    }
}

impl std::fmt::Debug for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.kind())
    }
}

impl std::fmt::Debug for Thrown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Thrown::Value(value) => write!(f, "Value({})", value.describe()),
            Thrown::Cancelled => f.write_str("Cancelled"),
            Thrown::Interrupted(_) => f.write_str("Interrupted"),
            Thrown::Outside => f.write_str("Outside"),
        }
    }
}

impl Thrown {
    /// Returns what was thrown as a value; `undefined` if it is none.
    pub(crate) fn into_value(self, realm: &Realm) -> Value {
        match self {
            Thrown::Value(value) => value,
            _ => realm.undefined(),
        }
    }
}

impl Value {
    /// Takes over one reference.
    ///
    /// # Safety
    /// `raw` must be a live value of the realm's runtime, and the caller must not free it.
    pub(crate) unsafe fn from_raw(raw: qjs::JSValue, realm: &Realm) -> Value {
        Value { raw, realm: realm.clone() }
    }

    pub(crate) fn raw(&self) -> qjs::JSValue {
        self.raw
    }

    /// Gives the reference away.
    pub(crate) fn into_raw(self) -> qjs::JSValue {
        let this = ManuallyDrop::new(self);
        // SAFETY: The realm is moved out of a value that is not dropped.
        drop(unsafe { std::ptr::read(&raw const this.realm) });
        this.raw
    }

    pub fn realm(&self) -> &Realm {
        &self.realm
    }

    /// Returns an atom for use with this value.
    pub(crate) fn own(&self, name: Atom) -> qjs::JSAtom {
        assert!(name.runtime == self.realm.runtime().0.id, "an atom was used in another runtime");
        name.raw
    }

    pub(crate) fn context(&self) -> *mut qjs::JSContext {
        self.realm.raw()
    }

    pub fn kind(&self) -> Kind {
        kind_of(self.raw)
    }

    pub fn is_undefined(&self) -> bool {
        self.kind() == Kind::Undefined
    }

    /// Returns whether it is `null` or `undefined`.
    pub fn is_nullish(&self) -> bool {
        matches!(self.kind(), Kind::Undefined | Kind::Null)
    }

    pub fn is_object(&self) -> bool {
        self.kind() == Kind::Object
    }

    pub fn is_function(&self) -> bool {
        // SAFETY: Only reads the value.
        unsafe { qjs::JS_IsFunction(self.context(), self.raw) }
    }

    /// Returns whether it is an `async` function.
    pub fn is_async_function(&self) -> bool {
        // SAFETY: Only reads the value.
        unsafe { qjs::JS_IsAsyncFunction(self.raw) }
    }

    pub fn is_array(&self) -> bool {
        // SAFETY: Only reads the value.
        unsafe { qjs::JS_IsArray(self.raw) }
    }

    pub fn is_error(&self) -> bool {
        // SAFETY: Only reads the value.
        unsafe { qjs::JS_IsError(self.raw) }
    }

    pub fn is_date(&self) -> bool {
        // SAFETY: Only reads the value.
        unsafe { qjs::JS_IsDate(self.raw) }
    }

    pub fn is_promise(&self) -> bool {
        // SAFETY: Only reads the value.
        unsafe { qjs::JS_IsPromise(self.raw) }
    }

    pub fn is_regexp(&self) -> bool {
        // SAFETY: Only reads the value.
        unsafe { qjs::JS_IsRegExp(self.raw) }
    }

    /// Returns whether both are the same by `===`.
    pub fn is_same(&self, other: &Value) -> bool {
        // SAFETY: Both are alive, and of one runtime.
        unsafe { qjs::JS_IsStrictEqual(self.context(), self.raw, other.raw) }
    }

    /// Returns whether it counts as true.
    pub fn truth(&self) -> bool {
        // SAFETY: The conversion calls no JavaScript.
        unsafe { qjs::JS_ToBool(self.context(), self.raw) > 0 }
    }

    /// Returns the number if it is one; nothing is converted.
    pub fn as_number(&self) -> Option<f64> {
        // SAFETY: The tag says which field of the union is set.
        unsafe {
            match self.raw.tag as i32 {
                qjs::JS_TAG_INT => Some(f64::from(self.raw.u.int32)),
                qjs::JS_TAG_FLOAT64 => Some(self.raw.u.float64),
                _ => None,
            }
        }
    }

    /// Converts it to a number as JavaScript does.
    ///
    /// # Errors
    /// Returns what a conversion function has thrown.
    pub fn to_number(&self) -> Result<f64, Thrown> {
        if let Some(number) = self.as_number() {
            return Ok(number);
        }
        let mut number = 0.0;
        self.realm.enter();
        // SAFETY: `number` outlives the call.
        let status = unsafe { qjs::JS_ToFloat64(self.context(), &raw mut number, self.raw) };
        if status < 0 { Err(self.realm.thrown()) } else { Ok(number) }
    }

    /// Converts it to text as JavaScript does; unpaired surrogates are replaced.
    ///
    /// # Errors
    /// Returns what a conversion function has thrown, or that a symbol has no text.
    pub fn to_text(&self) -> Result<String, Thrown> {
        self.with_text(|text| text.to_owned())
    }

    /// Passes its text to a function, without a copy where QuickJS has it as UTF-8.
    ///
    /// # Errors
    /// Returns what a conversion function has thrown, or that a symbol has no text.
    pub fn with_text<R>(&self, read: impl FnOnce(&str) -> R) -> Result<R, Thrown> {
        let mut length: qjs::size_t = 0;
        self.realm.enter();
        // SAFETY: The text lives until it is freed below, and nothing changes it.
        unsafe {
            let text = qjs::JS_ToCStringLen2(self.context(), &raw mut length, self.raw, false);
            if text.is_null() {
                return Err(self.realm.thrown());
            }
            let bytes = std::slice::from_raw_parts(text.cast::<u8>(), length as usize);
            let result = match std::str::from_utf8(bytes) {
                Ok(text) => read(text),
                Err(_) => read(&String::from_utf8_lossy(bytes)),
            };
            qjs::JS_FreeCString(self.context(), text);
            Ok(result)
        }
    }

    /// Returns its text if it is a string; nothing is converted.
    pub fn as_text(&self) -> Option<String> {
        if self.kind() == Kind::String { self.to_text().ok() } else { None }
    }

    /// Returns the UTF-16 code units of a string.
    ///
    /// # Errors
    /// Returns what a conversion function has thrown.
    pub fn to_utf16(&self) -> Result<Vec<u16>, Thrown> {
        let mut length: qjs::size_t = 0;
        self.realm.enter();
        // SAFETY: The text lives until it is freed below, and nothing changes it.
        unsafe {
            let text = qjs::JS_ToCStringLenUTF16(self.context(), &raw mut length, self.raw);
            if text.is_null() {
                return Err(self.realm.thrown());
            }
            let units = std::slice::from_raw_parts(text, length as usize).to_vec();
            qjs::JS_FreeCStringUTF16(self.context(), text);
            Ok(units)
        }
    }

    /// Returns the bytes of an `ArrayBuffer`, a typed array, or a `DataView`; `None` for any other value, or if the
    /// buffer was detached.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        if !self.is_object() {
            return None;
        }
        let mut size: qjs::size_t = 0;
        // SAFETY: The bytes are copied before any JavaScript runs that could detach them.
        unsafe {
            if qjs::JS_IsArrayBuffer(self.raw) {
                let start = qjs::JS_GetArrayBuffer(self.context(), &raw mut size, self.raw);
                if qjs::JS_HasException(self.context()) {
                    drop(self.realm.thrown());
                    return None;
                }
                return Some(copied(start, size as usize));
            }
        }
        let is_view = self.is_view();
        if !is_view {
            return None;
        }
        let number = |name: &str| self.get_str(name).ok().and_then(|value| value.as_number()).unwrap_or(0.0);
        let (offset, length) = (number("byteOffset") as usize, number("byteLength") as usize);
        let buffer = self.get_str("buffer").ok()?.bytes()?;
        buffer.get(offset..offset.checked_add(length)?).map(<[u8]>::to_vec)
    }

    fn is_view(&self) -> bool {
        // SAFETY: Only reads the value.
        unsafe { qjs::JS_GetTypedArrayType(self.raw) >= 0 || qjs::JS_IsDataView(self.raw) }
    }

    /// Returns a property.
    ///
    /// # Errors
    /// Returns what a getter has thrown, or that `undefined` has no properties.
    pub fn get(&self, name: Atom) -> Result<Value, Thrown> {
        let name = self.own(name);
        self.realm.enter();
        // SAFETY: The value and the atom are of one runtime; the result is checked.
        unsafe { self.realm.checked(qjs::JS_GetProperty(self.context(), self.raw, name)) }
    }

    /// Returns a property by name.
    ///
    /// # Errors
    /// As [`Value::get`].
    pub fn get_str(&self, name: &str) -> Result<Value, Thrown> {
        self.realm.with_atom(name, |name| self.get(name))
    }

    /// Returns an element.
    ///
    /// # Errors
    /// As [`Value::get`].
    pub fn get_index(&self, at: u32) -> Result<Value, Thrown> {
        self.realm.enter();
        // SAFETY: As in `get`.
        unsafe { self.realm.checked(qjs::JS_GetPropertyUint32(self.context(), self.raw, at)) }
    }

    /// Sets a property.
    ///
    /// # Errors
    /// Returns what a setter has thrown, or that the object is frozen.
    pub fn set(&self, name: Atom, value: Value) -> Result<(), Thrown> {
        let name = self.own(name);
        self.realm.demand_own(&value);
        self.realm.enter();
        // SAFETY: The call takes over the reference, also if it fails.
        let status = unsafe { qjs::JS_SetProperty(self.context(), self.raw, name, value.into_raw()) };
        if status < 0 { Err(self.realm.thrown()) } else { Ok(()) }
    }

    /// Sets a property by name.
    ///
    /// # Errors
    /// As [`Value::set`].
    pub fn set_str(&self, name: &str, value: Value) -> Result<(), Thrown> {
        self.realm.with_atom(name, |name| self.set(name, value))
    }

    /// Sets an element.
    ///
    /// # Errors
    /// As [`Value::set`].
    pub fn set_index(&self, at: u32, value: Value) -> Result<(), Thrown> {
        self.realm.demand_own(&value);
        self.realm.enter();
        // SAFETY: As in `set`.
        let status = unsafe { qjs::JS_SetPropertyUint32(self.context(), self.raw, at, value.into_raw()) };
        if status < 0 { Err(self.realm.thrown()) } else { Ok(()) }
    }

    /// Defines a property that is not enumerable, or not writable, or neither.
    ///
    /// # Errors
    /// Returns that the property cannot be redefined.
    pub fn define(
        &self,
        name: &str,
        value: Value,
        is_writable: bool,
        is_enumerable: bool,
    ) -> Result<(), Thrown> {
        let mut flags = qjs::JS_PROP_CONFIGURABLE;
        flags |= if is_writable { qjs::JS_PROP_WRITABLE } else { 0 };
        flags |= if is_enumerable { qjs::JS_PROP_ENUMERABLE } else { 0 };
        self.realm.demand_own(&value);
        self.realm.enter();
        self.realm.with_atom(name, |name| {
            // SAFETY: The call takes over the reference, also if it fails.
            let status = unsafe {
                qjs::JS_DefinePropertyValue(
                    self.context(),
                    self.raw,
                    name.raw,
                    value.into_raw(),
                    flags as i32,
                )
            };
            if status < 0 { Err(self.realm.thrown()) } else { Ok(()) }
        })
    }

    /// Defines an ordinary property; no setter is called.
    ///
    /// # Errors
    /// Returns that the property cannot be redefined.
    pub fn put(&self, name: Atom, value: Value) -> Result<(), Thrown> {
        let name = self.own(name);
        self.realm.demand_own(&value);
        self.realm.enter();
        // SAFETY: The call takes over the reference, also if it fails.
        let status = unsafe {
            let flags = qjs::JS_PROP_C_W_E as i32;
            qjs::JS_DefinePropertyValue(self.context(), self.raw, name, value.into_raw(), flags)
        };
        if status < 0 { Err(self.realm.thrown()) } else { Ok(()) }
    }

    /// Defines a getter that is a native function.
    ///
    /// # Errors
    /// Returns that the property cannot be redefined.
    pub fn define_getter(&self, name: &str, getter: Value) -> Result<(), Thrown> {
        let flags = qjs::JS_PROP_CONFIGURABLE | qjs::JS_PROP_ENUMERABLE;
        self.realm.demand_own(&getter);
        self.realm.enter();
        self.realm.with_atom(name, |name| {
            // SAFETY: The call takes over the reference, also if it fails.
            let status = unsafe {
                let (getter, none) = (getter.into_raw(), qjs::JS_UNDEFINED);
                qjs::JS_DefinePropertyGetSet(self.context(), self.raw, name.raw, getter, none, flags as i32)
            };
            if status < 0 { Err(self.realm.thrown()) } else { Ok(()) }
        })
    }

    /// Returns the length of an array or a string.
    ///
    /// # Errors
    /// As [`Value::get`].
    pub fn length(&self) -> Result<u32, Thrown> {
        let length = self.get_str("length")?.to_number()?;
        Ok(length.clamp(0.0, f64::from(u32::MAX)) as u32)
    }

    /// Returns the names of the enumerable properties that it has itself, in their order, without symbols.
    ///
    /// # Errors
    /// Returns what a proxy has thrown.
    pub fn keys(&self) -> Result<Vec<String>, Thrown> {
        let properties = self.properties()?;
        (0..properties.count()).map(|at| properties.name(at)).collect()
    }

    /// Calls it as a function.
    ///
    /// # Errors
    /// Returns what it has thrown, or that it is not a function.
    pub fn call(&self, this: &Value, arguments: &[&Value]) -> Result<Value, Thrown> {
        self.realm.demand_own(this);
        self.realm.enter();
        let mut raw = Arguments::new(&self.realm, arguments);
        // SAFETY: The arguments are alive during the call, and QuickJS does not keep the array.
        unsafe {
            let result = qjs::JS_Call(self.context(), self.raw, this.raw, raw.len(), raw.as_mut_ptr());
            self.realm.checked(result)
        }
    }

    /// Calls it as a constructor.
    ///
    /// # Errors
    /// Returns what it has thrown, or that it is not a constructor.
    pub fn construct(&self, arguments: &[&Value]) -> Result<Value, Thrown> {
        self.realm.enter();
        let mut raw = Arguments::new(&self.realm, arguments);
        // SAFETY: As in `call`.
        unsafe {
            let result = qjs::JS_CallConstructor(self.context(), self.raw, raw.len(), raw.as_mut_ptr());
            self.realm.checked(result)
        }
    }

    /// Calls a method.
    ///
    /// # Errors
    /// Returns what it has thrown, or that there is no such method.
    pub fn call_method(&self, name: &str, arguments: &[&Value]) -> Result<Value, Thrown> {
        self.get_str(name)?.call(self, arguments)
    }

    /// Returns it as JSON; `None` if it has no JSON, as a function.
    ///
    /// # Errors
    /// Returns that it refers to itself, or what `toJSON` has thrown.
    pub fn to_json(&self) -> Result<Option<String>, Thrown> {
        self.realm.enter();
        // SAFETY: All values are alive; the result is checked.
        let json = unsafe {
            let none = qjs::JS_UNDEFINED;
            self.realm.checked(qjs::JS_JSONStringify(self.context(), self.raw, none, none))?
        };
        Ok(json.as_text())
    }

    /// Describes a thrown value for people: name and message of an error, otherwise its text.
    pub fn describe(&self) -> String {
        self.to_text().unwrap_or_else(|_| "a value without text".to_owned())
    }

    /// Returns the state and the value of a promise: `None` if it is pending, else the result or the reason.
    pub fn settled(&self) -> Option<Result<Value, Value>> {
        // SAFETY: Only reads the promise; the result is a new reference.
        unsafe {
            let state = qjs::JS_PromiseState(self.context(), self.raw);
            let result = || Value::from_raw(qjs::JS_PromiseResult(self.context(), self.raw), &self.realm);
            match state {
                qjs::JSPromiseStateEnum_JS_PROMISE_FULFILLED => Some(Ok(result())),
                qjs::JSPromiseStateEnum_JS_PROMISE_REJECTED => Some(Err(result())),
                _ => None,
            }
        }
    }
}

pub(crate) fn kind_of(raw: qjs::JSValue) -> Kind {
    match raw.tag as i32 {
        qjs::JS_TAG_UNDEFINED => Kind::Undefined,
        qjs::JS_TAG_NULL => Kind::Null,
        qjs::JS_TAG_BOOL => Kind::Bool,
        qjs::JS_TAG_INT | qjs::JS_TAG_FLOAT64 => Kind::Number,
        qjs::JS_TAG_BIG_INT | qjs::JS_TAG_SHORT_BIG_INT => Kind::BigInt,
        qjs::JS_TAG_STRING | qjs::JS_TAG_STRING_ROPE => Kind::String,
        qjs::JS_TAG_SYMBOL => Kind::Symbol,
        qjs::JS_TAG_OBJECT => Kind::Object,
        _ => Kind::Other,
    }
}

/// # Safety
/// `start` must be null, or begin `size` initialized bytes.
unsafe fn copied(start: *const u8, size: usize) -> Vec<u8> {
    if start.is_null() || size == 0 {
        return Vec::new();
    }
    // SAFETY: As the caller guarantees.
    unsafe { std::slice::from_raw_parts(start, size) }.to_vec()
}
