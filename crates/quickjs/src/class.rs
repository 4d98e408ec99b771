//! Objects of JavaScript that hold a value of Rust.

use crate::realm::Realm;
use crate::runtime::{Inner, Runtime};
use crate::value::Value;
use rquickjs_sys as qjs;
use std::any::TypeId;
use std::ffi::CString;
use std::marker::PhantomData;

/// A class of objects that each hold a `T`. `T` must hold no [`Value`]s that refer back to its object: the garbage
/// collector does not look into it, so that both would never be freed. To drop it must not run JavaScript.
pub struct Class<T> {
    id: qjs::JSClassID,
    marker: PhantomData<T>,
}

/// What an object holds. Two runtimes may give the same number to classes of different types, so the type is checked.
#[repr(C)]
struct Content<T> {
    type_id: TypeId,
    value: T,
}

impl<T> Clone for Class<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Class<T> {}

impl<T: 'static> Class<T> {
    /// Registers a class; `None` if memory has run out.
    pub fn new(runtime: &Runtime, name: &str) -> Option<Class<T>> {
        let name = CString::new(name).ok()?;
        let definition = qjs::JSClassDef {
            class_name: name.as_ptr(),
            finalizer: Some(finalize::<T>),
            gc_mark: None,
            call: None,
            exotic: std::ptr::null_mut(),
        };
        let mut id: qjs::JSClassID = 0;
        // SAFETY: QuickJS copies the definition and the name.
        let status = unsafe {
            qjs::JS_NewClassID(runtime.0.raw.as_ptr(), &raw mut id);
            qjs::JS_NewClass(runtime.0.raw.as_ptr(), id, &raw const definition)
        };
        (status >= 0).then_some(Class { id, marker: PhantomData })
    }

    /// Sets the prototype of the class in a realm.
    pub fn set_prototype(self, realm: &Realm, prototype: Value) {
        realm.demand_own(&prototype);
        // SAFETY: The call takes over the reference.
        unsafe { qjs::JS_SetClassProto(realm.raw(), self.id, prototype.into_raw()) };
    }

    /// Returns a new object of the class; `undefined` if memory has run out.
    pub fn object(self, realm: &Realm, content: T) -> Value {
        // SAFETY: The object is new; its finalizer frees the content once, with the type that it has here.
        unsafe {
            let raw = qjs::JS_NewObjectClass(realm.raw(), self.id);
            match realm.checked(raw) {
                Ok(object) => {
                    let content = Content { type_id: TypeId::of::<T>(), value: content };
                    qjs::JS_SetOpaque(object.raw(), Box::into_raw(Box::new(content)).cast());
                    object
                }
                Err(_) => realm.undefined(),
            }
        }
    }

    /// Returns the content of an object of this class; `None` for any other value.
    pub fn get(self, object: &Value) -> Option<&T> {
        // SAFETY: An object of a class of this crate holds a `Content` or nothing, which lives as long as the object;
        // nothing hands out a mutable reference to it. Its first field is the type of the rest.
        unsafe {
            let content = qjs::JS_GetOpaque(object.raw(), self.id).cast::<Content<T>>();
            if content.is_null() || (&raw const (*content).type_id).read() != TypeId::of::<T>() {
                return None;
            }
            Some(&(*content).value)
        }
    }
}

/// Frees the content of an object.
///
/// # Safety
/// Called by QuickJS for an object of a class that was registered with the same `T`.
unsafe extern "C" fn finalize<T: 'static>(runtime: *mut qjs::JSRuntime, object: qjs::JSValue) {
    let mut id: qjs::JSClassID = 0;
    // SAFETY: The content was put there by `Class::object`, and is freed only here.
    unsafe {
        let content = qjs::JS_GetAnyOpaque(object, &raw mut id).cast::<Content<T>>();
        if !content.is_null() {
            let content = Box::from_raw(content);
            let runtime = &*qjs::JS_GetRuntimeOpaque(runtime).cast::<Inner>().cast_const();
            match runtime.is_collecting.get() {
                true => runtime.dropped.borrow_mut().push(content),
                false => runtime.finalizing(|| drop(content)),
            }
        }
    }
}
