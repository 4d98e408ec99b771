//! The stacks of fibers: many of one size, in few mappings, each with a guard page.
//!
//! A mapping per stack would end at some 32,000 of them (`vm.max_map_count`). Pages that a fiber has not touched cost
//! nothing, so stacks are large enough for deep recursion.

use corosensei::stack::{Stack, StackPointer};
use std::cell::{Cell, RefCell};
use std::hint::black_box;
use std::io;
use std::mem::MaybeUninit;
use std::num::NonZeroUsize;
use std::ptr::null_mut;
use std::rc::Rc;

/// Size of one stack with its guard page.
pub(crate) const STACK_BYTES: usize = if cfg!(feature = "sanitizer") { 4 << 20 } else { 512 << 10 };
/// The part at the end that native code may use after JavaScript has been refused more.
pub(crate) const RESERVE_BYTES: usize = if cfg!(feature = "sanitizer") { 512 << 10 } else { 64 << 10 };
/// Stacks of one mapping.
const PER_SLAB: usize = 64;
/// `MADV_GUARD_INSTALL` (Linux 6.13): a guard page without its own mapping.
const MADV_GUARD_INSTALL: i32 = 102;

/// Stack that JavaScript may use at most on the thread itself, below the first call.
const THREAD_BYTES: usize = 4 * 1024 * 1024;

thread_local! {
    /// The lowest address that JavaScript may use on the stack that runs; 0 if it is the thread's own, and unknown.
    static FLOOR: Cell<usize> = const { Cell::new(0) };
}

/// Returns the lowest address that JavaScript may use on the stack that runs.
pub(crate) fn floor() -> usize {
    match FLOOR.get() {
        0 => {
            let floor = thread_floor();
            FLOOR.set(floor);
            floor
        }
        floor => floor,
    }
}

/// Sets the floor of the stack that is about to run; returns the one before.
pub(crate) fn swap_floor(floor: usize) -> usize {
    FLOOR.replace(floor)
}

/// Returns the floor of the thread's own stack, on which this call must be.
#[inline(never)]
fn thread_floor() -> usize {
    let marker = black_box(0u8);
    let here = &raw const marker as usize;
    let (mut low, mut size, mut guard) = (null_mut(), 0, 0);
    let mut attributes = MaybeUninit::uninit();
    // SAFETY: The first call fills the attributes, which are read only if it succeeds, and destroyed once.
    unsafe {
        if libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) == 0 {
            let has_bounds = libc::pthread_attr_getstack(attributes.as_ptr(), &raw mut low, &raw mut size)
                == 0
                && libc::pthread_attr_getguardsize(attributes.as_ptr(), &raw mut guard) == 0;
            libc::pthread_attr_destroy(attributes.as_mut_ptr());
            if has_bounds {
                return (low as usize + guard + RESERVE_BYTES).max(here.saturating_sub(THREAD_BYTES));
            }
        }
    }
    // The smallest stack that programs give to a thread.
    here.saturating_sub(RESERVE_BYTES)
}

/// A supply of stacks for the fibers of one thread.
#[derive(Clone, Default)]
pub struct StackPool(Rc<RefCell<Pool>>);

#[derive(Default)]
struct Pool {
    /// Lowest addresses of unused stacks.
    free: Vec<usize>,
    slabs: Vec<usize>,
    page_bytes: usize,
}

impl Drop for Pool {
    fn drop(&mut self) {
        // A stack in use holds the pool, so all stacks are unused now.
        for slab in &self.slabs {
            // SAFETY: The mapping was made by `grow` with this size, and no stack of it is in use.
            unsafe { libc::munmap(*slab as *mut _, STACK_BYTES * PER_SLAB) };
        }
    }
}

impl StackPool {
    /// Returns an empty pool.
    pub fn new() -> Self {
        Self::default()
    }

    /// # Errors
    /// Returns the error of the system if it has no address space left.
    pub(crate) fn take(&self) -> io::Result<FiberStack> {
        let mut pool = self.0.borrow_mut();
        if pool.free.is_empty() {
            pool.grow()?;
        }
        let limit = pool.free.pop().ok_or_else(|| io::Error::from(io::ErrorKind::OutOfMemory))?;
        let page_bytes = pool.page_bytes;
        drop(pool);
        Ok(FiberStack { limit, page_bytes, pool: self.clone() })
    }
}

impl Pool {
    fn grow(&mut self) -> io::Result<()> {
        // SAFETY: An anonymous mapping at an address that the kernel chooses affects nothing else, and `sysconf` only
        // reads.
        let slab = unsafe {
            self.page_bytes = usize::try_from(libc::sysconf(libc::_SC_PAGESIZE)).unwrap_or(4096);
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK;
            let access = libc::PROT_READ | libc::PROT_WRITE;
            libc::mmap(null_mut(), STACK_BYTES * PER_SLAB, access, flags, -1, 0)
        };
        if slab == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let slab = slab as usize;
        for limit in (0..PER_SLAB).map(|at| slab + at * STACK_BYTES) {
            // SAFETY: The page is the lowest one of a stack in the mapping above, which nothing uses yet.
            let is_guarded = unsafe {
                libc::madvise(limit as *mut _, self.page_bytes, MADV_GUARD_INSTALL) == 0
                    || libc::mprotect(limit as *mut _, self.page_bytes, libc::PROT_NONE) == 0
            };
            if !is_guarded {
                let error = io::Error::last_os_error();
                // SAFETY: The mapping was made above, and nothing uses it.
                unsafe { libc::munmap(slab as *mut _, STACK_BYTES * PER_SLAB) };
                return Err(error);
            }
        }
        // The highest first, so that stacks are used from the lowest address on.
        self.free.extend((0..PER_SLAB).rev().map(|at| slab + at * STACK_BYTES));
        self.slabs.push(slab);
        Ok(())
    }
}

/// The stack of one fiber.
pub(crate) struct FiberStack {
    /// Lowest address, that of the guard page.
    limit: usize,
    page_bytes: usize,
    pool: StackPool,
}

impl FiberStack {
    /// Returns the lowest address that JavaScript may use.
    pub(crate) fn floor(&self) -> usize {
        self.limit + self.page_bytes + RESERVE_BYTES
    }

    pub(crate) fn bounds(&self) -> (usize, usize) {
        (self.limit, self.limit + STACK_BYTES)
    }
}

impl Drop for FiberStack {
    fn drop(&mut self) {
        self.pool.0.borrow_mut().free.push(self.limit);
    }
}

// SAFETY: The lowest page is a guard page, and the rest is far larger than the minimum. Both addresses are multiples of
// the page size, as the mapping is.
unsafe impl Stack for FiberStack {
    fn base(&self) -> StackPointer {
        NonZeroUsize::MIN.saturating_add(self.limit + STACK_BYTES - 1)
    }

    fn limit(&self) -> StackPointer {
        NonZeroUsize::MIN.saturating_add(self.limit - 1)
    }
}
