//! A fiber: JavaScript, and what it calls, on its own stack, which can wait in the middle of a native call.

use crate::runtime::{Frames, Runtime};
use crate::stack::{self, FiberStack, StackPool};
use crate::value::Thrown;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::cell::Cell;
use std::ffi::c_void;
use std::io;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{null, null_mut};
use std::rc::Rc;

/// Whether a fiber has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// It waits in a native call.
    Waiting,
    Ended,
}

/// State that a native call reaches through its runtime while the fiber runs.
pub(crate) struct FiberState {
    yielder: Cell<*const Yielder<(), ()>>,
    /// Lowest address that JavaScript may use.
    floor: usize,
    bounds: (usize, usize),
    pub(crate) is_cancelled: Cell<bool>,
    has_panicked: Cell<bool>,
}

/// A fiber. It stays on its thread.
pub struct Fiber {
    coroutine: ManuallyDrop<Coroutine<(), (), (), FiberStack>>,
    state: Rc<FiberState>,
    runtime: Runtime,
}

impl Fiber {
    /// Returns a fiber that will run `body` in a runtime. Values that it captures must be of this runtime.
    ///
    /// # Errors
    /// Returns the error of the system if there is no memory for a stack.
    pub fn new(pool: &StackPool, runtime: &Runtime, body: impl FnOnce() + 'static) -> io::Result<Fiber> {
        let stack = pool.take()?;
        let state = Rc::new(FiberState {
            yielder: Cell::new(null()),
            floor: stack.floor(),
            bounds: stack.bounds(),
            is_cancelled: Cell::new(false),
            has_panicked: Cell::new(false),
        });
        let (own, of) = (Rc::clone(&state), runtime.clone());
        let coroutine = Coroutine::with_stack(stack, move |yielder: &Yielder<(), ()>, ()| {
            own.yielder.set(yielder);
            of.set_floor(own.floor);
            // A panic must not unwind off the end of the stack.
            if catch_unwind(AssertUnwindSafe(body)).is_err() {
                own.has_panicked.set(true);
            }
        });
        Ok(Fiber { coroutine: ManuallyDrop::new(coroutine), state, runtime: runtime.clone() })
    }

    /// Runs the fiber until it waits or ends. Call it outside of JavaScript of its runtime.
    ///
    /// # Panics
    /// Panics if its body has panicked, if JavaScript of this runtime is running, or if the fiber is the second one in
    /// a runtime whose frames cannot be switched ([`crate::is_sound`]).
    pub fn resume(&mut self) -> Progress {
        if self.has_ended() {
            return Progress::Ended;
        }
        assert!(self.is_outside(), "a fiber was resumed while JavaScript of its runtime was running");
        let is_second = !self.coroutine.started() && self.runtime.0.fibers.get() > 0;
        assert!(
            !is_second || self.runtime.0.frames != Frames::Single,
            "this runtime can have only one fiber"
        );
        let progress = self.run();
        assert!(!self.state.has_panicked.get(), "code of a fiber panicked");
        progress
    }

    /// Returns whether its body has returned, or will never start.
    pub fn has_ended(&self) -> bool {
        self.coroutine.done() || (self.state.is_cancelled.get() && !self.coroutine.started())
    }

    /// Ends the fiber: the call in which it waits throws an error that JavaScript cannot catch, so that everything on
    /// its stack is freed. Call it outside of JavaScript of its runtime.
    ///
    /// # Panics
    /// As [`Fiber::resume`].
    pub fn cancel(&mut self) {
        self.state.is_cancelled.set(true);
        self.resume();
    }

    /// Returns whether no JavaScript of the runtime is in progress on the stack that runs.
    fn is_outside(&self) -> bool {
        let runtime = &self.runtime.0;
        runtime.current.get().is_null() && runtime.calls.get() == 0 && !runtime.is_finalizing.get()
    }

    fn run(&mut self) -> Progress {
        let runtime = &self.runtime.0;
        if !self.coroutine.started() {
            runtime.fibers.set(runtime.fibers.get() + 1);
        }
        runtime.current.set(Rc::as_ptr(&self.state));
        let outer = stack::swap_floor(self.state.floor);
        let result = self.coroutine.resume(());
        stack::swap_floor(outer);
        runtime.current.set(null());
        match result {
            CoroutineResult::Yield(()) => Progress::Waiting,
            CoroutineResult::Return(()) => {
                runtime.fibers.set(runtime.fibers.get() - 1);
                Progress::Ended
            }
        }
    }
}

impl Drop for Fiber {
    /// Cancels the fiber. If JavaScript of its runtime is running, that is impossible, and its memory is never freed.
    fn drop(&mut self) {
        let is_waiting = self.coroutine.started() && !self.coroutine.done();
        if is_waiting && self.is_outside() {
            self.state.is_cancelled.set(true);
            self.run();
        }
        if self.coroutine.started() && !self.coroutine.done() {
            // Its stack has frames of C, which cannot be unwound: it stays as it is, and so does its runtime.
            self.runtime.0.is_abandoned.set(true);
            return;
        }
        // SAFETY: Dropped once, here, and its stack holds nothing that is in use.
        unsafe { ManuallyDrop::drop(&mut self.coroutine) };
    }
}

impl Runtime {
    /// Waits until the fiber is resumed, in a native call or outside of JavaScript. Jobs in the queue wait with it.
    ///
    /// # Errors
    /// Returns [`Thrown::Cancelled`] if the fiber is to end, and [`Thrown::Outside`] on no fiber of this runtime.
    ///
    /// Stops the process if the frame of the call is not on the fiber's stack: memory would be corrupted.
    pub fn wait(&self) -> Result<(), Thrown> {
        let current = self.0.current.get();
        if current.is_null() || self.0.is_finalizing.get() {
            return Err(Thrown::Outside);
        }
        // SAFETY: The fiber whose state this is runs this call, so that it lives; its yielder lives on its stack.
        let (state, yielder) = unsafe { (&*current, &*(*current).yielder.get()) };
        if stack::floor() != state.floor {
            return Err(Thrown::Outside);
        }
        if state.is_cancelled.get() {
            return Err(Thrown::Cancelled);
        }
        let word = self.frame_word();
        let mut frame: *mut c_void = null_mut();
        if let Some(word) = word {
            // SAFETY: The word belongs to the live runtime. Other fibers and the thread itself start from null, so that
            // no backtrace of theirs follows a frame of this one.
            unsafe {
                frame = word.read();
                // Outside of JavaScript, a fiber has no frame.
                demand(frame.is_null() || (state.bounds.0..state.bounds.1).contains(&(frame as usize)));
                word.write(null_mut());
            }
        }
        let calls = self.0.calls.replace(0);
        let jobs = self.take_ring();
        let rejections = self.0.rejections.put_aside();
        yielder.suspend(());
        self.0.rejections.bring_back(rejections);
        if let Some(jobs) = jobs {
            self.put_ring(jobs);
        }
        self.0.calls.set(calls);
        if let Some(word) = word {
            // SAFETY: As above; the frame is still on this stack, because this call has not returned.
            unsafe {
                demand(word.read().is_null());
                word.write(frame);
            }
        }
        self.set_floor(state.floor);
        if state.is_cancelled.get() { Err(Thrown::Cancelled) } else { Ok(()) }
    }

    /// Returns whether the call is on a fiber, so that it may wait.
    pub fn is_on_fiber(&self) -> bool {
        !self.0.current.get().is_null()
    }
}

/// Stops the process if the frames of calls are mixed up. A panic must not do it: that of a native function becomes an
/// error of JavaScript.
extern "C" fn demand(is_sound: bool) {
    assert!(is_sound, "the frame of a JavaScript call is not on its stack");
}
