//! A fiber: JavaScript, and what it calls, on a stack of its own, which can wait in the middle of a native call.

use crate::runtime::Runtime;
use crate::stack::{FiberStack, StackPool};
use crate::value::Thrown;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::cell::Cell;
use std::ffi::c_void;
use std::io;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{null, null_mut};
use std::rc::Rc;

/// How often a cancelled fiber may wait again before it is abandoned.
const CANCELS: usize = 100;

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
            of.use_fiber_stack(own.floor);
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
    /// Panics if its body has panicked, if JavaScript of this runtime is running, or if a fiber waits in a runtime
    /// whose frames cannot be switched ([`crate::is_sound`]).
    pub fn resume(&mut self) -> Progress {
        if self.coroutine.done() {
            return Progress::Ended;
        }
        let current = &self.runtime.0.current;
        assert!(current.get().is_null(), "a fiber was resumed by another one of its runtime");
        current.set(Rc::as_ptr(&self.state));
        let result = self.coroutine.resume(());
        current.set(null());
        assert!(!self.state.has_panicked.get(), "code of a fiber panicked");
        match result {
            CoroutineResult::Yield(()) => Progress::Waiting,
            CoroutineResult::Return(()) => Progress::Ended,
        }
    }

    /// Returns whether its body has returned.
    pub fn has_ended(&self) -> bool {
        self.coroutine.done()
    }

    /// Ends the fiber: the call in which it waits throws an error that JavaScript cannot catch, so that everything on
    /// its stack is freed.
    pub fn cancel(&mut self) {
        self.state.is_cancelled.set(true);
        if !self.coroutine.started() {
            return;
        }
        for _ in 0..CANCELS {
            if self.resume() == Progress::Ended {
                return;
            }
        }
    }
}

impl Drop for Fiber {
    fn drop(&mut self) {
        if self.coroutine.started() && !self.coroutine.done() {
            self.cancel();
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
    /// Waits until somebody resumes the fiber, in a native call or outside of JavaScript.
    ///
    /// # Errors
    /// Returns [`Thrown::Cancelled`] if the fiber is to end, and [`Thrown::Outside`] outside of a fiber.
    ///
    /// # Panics
    /// Panics if the frame of the call is not on the fiber's stack: going on would corrupt memory.
    pub fn wait(&self) -> Result<(), Thrown> {
        let current = self.0.current.get();
        if current.is_null() {
            return Err(Thrown::Outside);
        }
        // SAFETY: The fiber whose state this is runs this call, so that it lives; its yielder lives on its stack.
        let (state, yielder) = unsafe { (&*current, &*(*current).yielder.get()) };
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
                let is_own = frame.is_null() || (state.bounds.0..state.bounds.1).contains(&(frame as usize));
                assert!(is_own, "the frame of a call is not on its stack");
                word.write(null_mut());
            }
        }
        yielder.suspend(());
        if let Some(word) = word {
            // SAFETY: As above; the frame is still on this stack, because this call has not returned.
            unsafe {
                assert!(word.read().is_null(), "another fiber has left a frame behind");
                word.write(frame);
            }
        }
        self.use_fiber_stack(state.floor);
        if state.is_cancelled.get() { Err(Thrown::Cancelled) } else { Ok(()) }
    }

    /// Returns whether the call is on a fiber, so that it may wait.
    pub fn is_on_fiber(&self) -> bool {
        !self.0.current.get().is_null()
    }
}
