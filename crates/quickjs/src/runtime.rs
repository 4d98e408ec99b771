//! A QuickJS runtime: one heap, one garbage collector, one queue of jobs.

use crate::call::{Native, interrupt};
use crate::fiber::FiberState;
use crate::probe;
use crate::stack::RESERVE_BYTES;
use rquickjs_sys as qjs;
use std::any::Any;
use std::cell::{Cell, OnceCell};
use std::ffi::c_void;
use std::hint::black_box;
use std::ptr::{NonNull, null};
use std::rc::Rc;

/// Stack that JavaScript may use on the thread itself, outside of fibers.
const THREAD_STACK_BYTES: usize = 512 * 1024;

/// A runtime. Its clones are the same one; it stays on its thread.
#[derive(Clone)]
pub struct Runtime(pub(crate) Rc<Inner>);

pub(crate) struct Inner {
    pub(crate) raw: NonNull<qjs::JSRuntime>,
    pub(crate) natives: &'static [Native],
    host: OnceCell<Rc<dyn Any>>,
    /// The fiber that runs; null on the stack of the thread.
    pub(crate) current: Cell<*const FiberState>,
    /// Calls of the interrupt handler left before JavaScript is interrupted.
    pub(crate) budget: Cell<u64>,
    /// A fiber was left in the middle of a call, so that its values cannot be freed.
    pub(crate) is_abandoned: Cell<bool>,
}

/// Memory that a runtime uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MemoryUse {
    /// Allocated bytes.
    pub bytes: u64,
    /// Objects.
    pub objects: u64,
}

impl Runtime {
    /// Returns a new runtime whose native functions are those of a table.
    ///
    /// Garbage is collected only by [`Runtime::collect`]: a collection in the middle of a call would be a delay that
    /// nobody counts. Returns `None` if memory has run out.
    pub fn new(natives: &'static [Native]) -> Option<Runtime> {
        // SAFETY: Creates a runtime; every call with it happens on this thread, because `Inner` is not `Send`.
        let raw = NonNull::new(unsafe { qjs::JS_NewRuntime() })?;
        let inner = Rc::new(Inner {
            raw,
            natives,
            host: OnceCell::new(),
            current: Cell::new(null()),
            budget: Cell::new(u64::MAX),
            is_abandoned: Cell::new(false),
        });
        // SAFETY: The runtime lives as long as `inner`, and its opaque pointer is only read while it lives.
        unsafe {
            qjs::JS_SetRuntimeOpaque(raw.as_ptr(), Rc::as_ptr(&inner).cast_mut().cast());
            qjs::JS_SetInterruptHandler(raw.as_ptr(), Some(interrupt), Rc::as_ptr(&inner).cast_mut().cast());
            qjs::JS_SetGCThreshold(raw.as_ptr(), qjs::size_t::MAX);
        }
        Some(Runtime(inner))
    }

    /// Sets the state that native functions share; only the first call has an effect.
    pub fn set_host(&self, host: Rc<dyn Any>) {
        let _ = self.0.host.set(host);
    }

    /// Returns the state of native functions; `None` if it has another type, or is not set.
    pub fn host<T: 'static>(&self) -> Option<&T> {
        self.0.host.get()?.downcast_ref()
    }

    /// Limits how long JavaScript runs until the next call of this function: after `loops` times some 10,000 loops or
    /// calls, it is interrupted by an error that it cannot catch.
    pub fn set_budget(&self, loops: u64) {
        self.0.budget.set(loops);
    }

    /// Collects garbage: objects that only refer to each other.
    pub fn collect(&self) {
        // SAFETY: Values on suspended stacks hold references, which the collector respects.
        unsafe { qjs::JS_RunGC(self.0.raw.as_ptr()) };
    }

    /// Returns the memory in use; it takes time in proportion to the number of objects.
    pub fn memory(&self) -> MemoryUse {
        let mut usage = std::mem::MaybeUninit::<qjs::JSMemoryUsage>::zeroed();
        // SAFETY: The function fills the structure, which consists of integers only.
        let usage = unsafe {
            qjs::JS_ComputeMemoryUsage(self.0.raw.as_ptr(), usage.as_mut_ptr());
            usage.assume_init()
        };
        let number = |value: i64| u64::try_from(value).unwrap_or(0);
        MemoryUse { bytes: number(usage.malloc_size), objects: number(usage.obj_count) }
    }

    /// Returns whether callbacks of promises are waiting to run.
    pub fn has_jobs(&self) -> bool {
        // SAFETY: Only reads the runtime.
        unsafe { qjs::JS_IsJobPending(self.0.raw.as_ptr()) }
    }

    /// Lets JavaScript use the stack of the thread again, below the caller.
    pub(crate) fn use_thread_stack(&self) {
        self.limit_stack(THREAD_STACK_BYTES);
    }

    /// Lets JavaScript use a fiber's stack down to `floor`.
    pub(crate) fn use_fiber_stack(&self, floor: usize) {
        let marker = black_box(0u8);
        let here = &raw const marker as usize;
        self.limit_stack(here.saturating_sub(floor).max(1));
    }

    fn limit_stack(&self, bytes: usize) {
        // SAFETY: Both functions only set numbers; the first one reads the stack pointer of this call.
        unsafe {
            qjs::JS_UpdateStackTop(self.0.raw.as_ptr());
            qjs::JS_SetMaxStackSize(self.0.raw.as_ptr(), bytes as _);
        }
        const { assert!(RESERVE_BYTES < THREAD_STACK_BYTES) };
    }

    /// Returns the word with the frame of the call in progress; `None` if fibers cannot share a runtime.
    pub(crate) fn frame_word(&self) -> Option<*mut *mut c_void> {
        // SAFETY: `probe` has found the offset in the memory of a runtime of the same version.
        probe::frame_offset().map(|offset| unsafe { self.0.raw.as_ptr().cast::<u8>().add(offset).cast() })
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if self.is_abandoned.get() {
            return;
        }
        // SAFETY: No context is left, because contexts hold the runtime, and no fiber is suspended.
        unsafe { qjs::JS_FreeRuntime(self.raw.as_ptr()) };
    }
}
