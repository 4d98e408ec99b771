//! Arguments of a call into JavaScript, as QuickJS takes them.

use crate::realm::Realm;
use crate::value::Value;
use rquickjs_sys as qjs;

/// Arguments of a call, most of which have few.
pub(crate) enum Arguments {
    Few([qjs::JSValue; 8], usize),
    Many(Vec<qjs::JSValue>),
}

impl Arguments {
    /// # Panics
    /// Panics if a value is of another runtime.
    pub(crate) fn new(realm: &Realm, values: &[&Value]) -> Arguments {
        values.iter().for_each(|value| realm.demand_own(value));
        let mut few = [qjs::JS_UNDEFINED; 8];
        if values.len() > few.len() {
            return Arguments::Many(values.iter().map(|value| value.raw()).collect());
        }
        few.iter_mut().zip(values).for_each(|(slot, value)| *slot = value.raw());
        Arguments::Few(few, values.len())
    }

    pub(crate) fn len(&self) -> i32 {
        match self {
            Arguments::Few(_, length) => *length as i32,
            Arguments::Many(values) => values.len() as i32,
        }
    }

    pub(crate) fn as_mut_ptr(&mut self) -> *mut qjs::JSValue {
        match self {
            Arguments::Few(values, _) => values.as_mut_ptr(),
            Arguments::Many(values) => values.as_mut_ptr(),
        }
    }
}
