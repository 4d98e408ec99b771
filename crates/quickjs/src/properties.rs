//! The properties of an object: names that are compared as numbers, and values.

use crate::value::{Atom, Thrown, Value};
use rquickjs_sys as qjs;

impl Value {
    /// Returns the enumerable properties that it has itself, in their order, without symbols.
    ///
    /// # Errors
    /// Returns what a proxy has thrown.
    pub fn properties(&self) -> Result<Properties<'_>, Thrown> {
        let mut table = std::ptr::null_mut();
        let mut count = 0u32;
        let flags = (qjs::JS_GPN_STRING_MASK | qjs::JS_GPN_ENUM_ONLY) as i32;
        self.realm().enter();
        // SAFETY: The call sets both, or fails.
        let status = unsafe {
            qjs::JS_GetOwnPropertyNames(self.context(), &raw mut table, &raw mut count, self.raw(), flags)
        };
        if status < 0 { Err(self.realm().thrown()) } else { Ok(Properties { of: self, table, count }) }
    }
}

/// Names of an object's properties, which live as long as this table. Its properties may change in the meantime.
pub struct Properties<'a> {
    of: &'a Value,
    table: *mut qjs::JSPropertyEnum,
    count: u32,
}

impl Properties<'_> {
    pub fn count(&self) -> usize {
        self.count as usize
    }

    fn raw(&self, at: usize) -> qjs::JSAtom {
        assert!(at < self.count(), "a property beyond the last one");
        // SAFETY: The table has `count` entries.
        unsafe { (*self.table.add(at)).atom }
    }

    /// Returns the number of a name, the same for the same name as long as it is kept ([`Properties::keep`]).
    ///
    /// # Panics
    /// Panics if there are fewer.
    pub fn number(&self, at: usize) -> u32 {
        self.raw(at)
    }

    /// Returns whether a name is this one.
    ///
    /// # Panics
    /// Panics if there are fewer.
    pub fn is(&self, at: usize, name: Atom) -> bool {
        self.raw(at) == self.of.own(name)
    }

    /// Lets a name live as long as the runtime.
    ///
    /// # Panics
    /// Panics if there are fewer.
    pub fn keep(&self, at: usize) -> Atom {
        let raw = self.raw(at);
        // SAFETY: The atom is alive, and gets one more reference, which is never freed.
        Atom {
            raw: unsafe { qjs::JS_DupAtom(self.of.context(), raw) },
            runtime: self.of.realm().runtime().0.id,
        }
    }

    /// Returns the value of a property, as it is now.
    ///
    /// # Errors
    /// Returns what a getter has thrown.
    ///
    /// # Panics
    /// Panics if there are fewer.
    pub fn value(&self, at: usize) -> Result<Value, Thrown> {
        let raw = self.raw(at);
        self.of.realm().enter();
        // SAFETY: The object and the atom are alive; the result is checked.
        unsafe { self.of.realm().checked(qjs::JS_GetProperty(self.of.context(), self.of.raw(), raw)) }
    }

    /// Returns a name as text.
    ///
    /// # Errors
    /// Returns that memory has run out.
    ///
    /// # Panics
    /// Panics if there are fewer.
    pub fn name(&self, at: usize) -> Result<String, Thrown> {
        let raw = self.raw(at);
        // SAFETY: The atom is alive; the result is a new reference, or an exception.
        unsafe { self.of.realm().checked(qjs::JS_AtomToString(self.of.context(), raw))?.to_text() }
    }
}

impl Drop for Properties<'_> {
    fn drop(&mut self) {
        // SAFETY: The table was made by the runtime of the value, and is freed once.
        unsafe { qjs::JS_FreePropertyEnum(self.of.context(), self.table, self.count) };
    }
}
