//! A QuickJS runtime: one heap, one garbage collector, one queue of jobs.

use crate::call::{Native, interrupt};
use crate::fiber::FiberState;
use crate::jobs::Ring;
use crate::probe;
use crate::rejections::Rejections;
use crate::stack;
use rquickjs_sys as qjs;
use std::any::Any;
use std::cell::{Cell, OnceCell, RefCell};
use std::ffi::c_void;
use std::hint::black_box;
use std::ptr::{NonNull, null};
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};

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
    /// CPU time of the thread after which JavaScript is interrupted, ns.
    pub(crate) budget_ns: Cell<u64>,
    /// CPU time of the thread when the handler was first called since the budget was set; 0: not yet.
    pub(crate) began_ns: Cell<u64>,
    /// A fiber was left in the middle of a call, so that its values cannot be freed.
    pub(crate) is_abandoned: Cell<bool>,
    /// Differs from that of every other runtime of the process: an atom of one means nothing in another.
    pub(crate) id: u32,
    pub(crate) frames: Frames,
    /// Native calls in progress on the stack that runs.
    pub(crate) calls: Cell<u32>,
    /// Fibers that have started and not ended.
    pub(crate) fibers: Cell<u32>,
    /// The content of an object is being dropped, so that no JavaScript may run.
    pub(crate) is_finalizing: Cell<bool>,
    pub(crate) is_collecting: Cell<bool>,
    /// Contents of objects that a collection has freed. Dropping them in the middle of it could free more objects.
    pub(crate) dropped: RefCell<Vec<Box<dyn Any>>>,
    /// The lowest address that JavaScript may use, as QuickJS knows it.
    floor: Cell<usize>,
    /// Contexts without a realm that waiting jobs still refer to.
    retired: RefCell<Vec<NonNull<qjs::JSContext>>>,
    pub(crate) rejections: Rejections,
    /// How many times jobs were taken and not brought back.
    pub(crate) taken: Cell<usize>,
    /// Jobs that never run.
    pub(crate) dropped_jobs: RefCell<Vec<Ring>>,
}

/// How the fibers of a runtime keep their frames apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Frames {
    /// Each has its own value of the word at this offset, bytes.
    Switched(usize),
    /// The word is unknown: there is only one fiber at a time.
    Single,
    /// Not at all, which corrupts memory: the torture test must notice it.
    #[cfg(test)]
    Mixed,
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
    /// no metric shows. Returns `None` if memory has run out.
    pub fn new(natives: &'static [Native]) -> Option<Runtime> {
        Runtime::with_frames(natives, probe::frame_offset().map_or(Frames::Single, Frames::Switched))
    }

    pub(crate) fn with_frames(natives: &'static [Native], frames: Frames) -> Option<Runtime> {
        static RUNTIMES: AtomicU32 = AtomicU32::new(0);
        // SAFETY: Creates a runtime; every call with it happens on this thread, because `Inner` is not `Send`.
        let raw = NonNull::new(unsafe { qjs::JS_NewRuntime() })?;
        let inner = Rc::new(Inner {
            raw,
            natives,
            host: OnceCell::new(),
            current: Cell::new(null()),
            budget: Cell::new(u64::MAX),
            budget_ns: Cell::new(u64::MAX),
            began_ns: Cell::new(0),
            is_abandoned: Cell::new(false),
            id: RUNTIMES.fetch_add(1, Ordering::Relaxed),
            frames,
            calls: Cell::new(0),
            fibers: Cell::new(0),
            is_finalizing: Cell::new(false),
            is_collecting: Cell::new(false),
            dropped: RefCell::default(),
            floor: Cell::new(0),
            retired: RefCell::default(),
            rejections: Rejections::default(),
            taken: Cell::new(0),
            dropped_jobs: RefCell::default(),
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
        self.0.began_ns.set(0);
    }

    /// Also limits the CPU time until the next call of [`Runtime::set_budget`], ns, which is looked at after some
    /// 10,000 loops or calls.
    pub fn set_budget_ns(&self, ns: u64) {
        self.0.budget_ns.set(ns);
    }

    /// Collects garbage: objects that only refer to each other.
    ///
    /// # Panics
    /// Panics while the content of an object is dropped.
    pub fn collect(&self) {
        assert!(
            !self.0.is_finalizing.get(),
            "the content of an object collected garbage when it was dropped"
        );
        self.0.is_collecting.set(true);
        // SAFETY: Values on suspended stacks hold references, which the collector respects. No collection is in
        // progress: it calls only finalizers, whose contents are dropped below.
        unsafe { qjs::JS_RunGC(self.0.raw.as_ptr()) };
        self.0.is_collecting.set(false);
        self.0.finalizing(|| drop(self.0.dropped.take()));
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

    /// Limits the memory of the runtime, bytes; `None` removes the limit.
    ///
    /// An allocation beyond it throws an `InternalError`, which JavaScript can catch, into the call that needs the
    /// memory: a limit cannot tell which fiber uses most of it. If there is no memory for the error either, `null` is
    /// thrown.
    pub fn set_memory_limit(&self, bytes: Option<usize>) {
        let limit = bytes.map_or(0, |bytes| bytes.max(1) as qjs::size_t);
        // SAFETY: Only sets a number; 0 means no limit.
        unsafe { qjs::JS_SetMemoryLimit(self.0.raw.as_ptr(), limit) };
    }

    /// Lets JavaScript use the stack of the caller, down to its floor. Each entry into JavaScript needs it.
    ///
    /// # Panics
    /// Panics if JavaScript of this runtime is in progress on another stack, whose limit would be lost, or while the
    /// content of an object is dropped.
    pub(crate) fn enter(&self) {
        assert!(!self.0.is_finalizing.get(), "the content of an object ran JavaScript when it was dropped");
        let floor = stack::floor();
        if floor == self.0.floor.get() {
            return;
        }
        assert!(self.0.calls.get() == 0, "JavaScript of this runtime is in progress on another stack");
        self.set_floor(floor);
    }

    /// Lets JavaScript use the stack of the caller down to an address.
    pub(crate) fn set_floor(&self, floor: usize) {
        if self.0.floor.replace(floor) == floor {
            return;
        }
        let marker = black_box(0u8);
        let here = &raw const marker as usize;
        // SAFETY: Both functions only set numbers; the first one reads the stack pointer of this call.
        unsafe {
            qjs::JS_UpdateStackTop(self.0.raw.as_ptr());
            qjs::JS_SetMaxStackSize(self.0.raw.as_ptr(), here.saturating_sub(floor).max(1) as _);
        }
    }

    /// Returns the word with the frame of the call in progress; `None` if it is not switched.
    pub(crate) fn frame_word(&self) -> Option<*mut *mut c_void> {
        match self.0.frames {
            // SAFETY: `probe` has found the offset in the memory of a runtime of the same version.
            Frames::Switched(offset) => Some(unsafe { self.0.raw.as_ptr().cast::<u8>().add(offset).cast() }),
            _ => None,
        }
    }

    /// Frees a context without a realm. A waiting job refers to its context without a reference.
    ///
    /// # Safety
    /// `context` must be a reference to a context of this runtime, which the caller must not free.
    pub(crate) unsafe fn retire(&self, context: NonNull<qjs::JSContext>) {
        self.0.retired.borrow_mut().push(context);
        self.free_retired();
    }

    /// Frees the contexts that no job can refer to.
    pub(crate) fn free_retired(&self) {
        if self.has_jobs() || self.0.taken.get() > 0 {
            return;
        }
        for context in self.0.retired.take() {
            // SAFETY: The reference is that of `retire`.
            unsafe { qjs::JS_FreeContext(context.as_ptr()) };
        }
    }

    /// Returns the runtime of a raw one.
    ///
    /// # Safety
    /// `raw` must be a live runtime of this crate whose `Inner` is not being dropped.
    pub(crate) unsafe fn of(raw: *mut qjs::JSRuntime) -> Runtime {
        // SAFETY: The opaque pointer is that of `with_frames`; counting up makes the new `Rc` one more owner.
        unsafe {
            let inner = qjs::JS_GetRuntimeOpaque(raw).cast::<Inner>().cast_const();
            Rc::increment_strong_count(inner);
            Runtime(Rc::from_raw(inner))
        }
    }
}

impl Inner {
    /// Drops contents of objects, which must not run JavaScript.
    pub(crate) fn finalizing(&self, drop: impl FnOnce()) {
        let outer = self.is_finalizing.replace(true);
        drop();
        self.is_finalizing.set(outer);
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if self.is_abandoned.get() {
            return;
        }
        // SAFETY: No realm is left, because realms hold the runtime, and no fiber is suspended. The values and contexts
        // that are freed here are references of the runtime's own.
        unsafe {
            self.bring_back_dropped();
            self.rejections.free(self.raw.as_ptr());
            for context in self.retired.take() {
                qjs::JS_FreeContext(context.as_ptr());
            }
            qjs::JS_FreeRuntime(self.raw.as_ptr());
        }
    }
}
