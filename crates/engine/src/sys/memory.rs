//! An allocator with a reserve for when the system is out of memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::time::Duration;

/// Enough for the end of a run: its last intervals, its report in several formats.
const RESERVE_BYTES: usize = 33_554_432;

/// `munmap` of the reserve takes microseconds.
const GIVEN_BACK_WITHIN: Duration = Duration::from_millis(1);

static USED_UP: AtomicBool = AtomicBool::new(false);
static RESERVED: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());

/// The system's allocator with a reserve; for `#[global_allocator]`.
pub struct Reserve;

fn layout() -> Option<Layout> {
    Layout::from_size_align(RESERVE_BYTES, 4_096).ok()
}

/// Sets the reserve aside: only addresses, because the memory is never written. Call it once, before the load. Without
/// it, or without [`Reserve`] as the allocator, a failed allocation ends the process as usual.
pub fn keep_reserve() {
    let Some(layout) = layout() else { return };
    // SAFETY: the layout has a size; a failure is a null pointer, which means "no reserve".
    let reserve = unsafe { System.alloc(layout) };
    if !reserve.is_null() {
        // An earlier run of this process may have used up its reserve.
        USED_UP.store(false, Ordering::Release);
    }
    let before = RESERVED.swap(reserve, Ordering::AcqRel);
    release(before);
}

/// Returns whether an allocation has failed and the reserve was released.
pub fn is_used_up() -> bool {
    USED_UP.load(Ordering::Relaxed)
}

/// Releases the reserved memory; returns whether there was any.
fn release(reserve: *mut u8) -> bool {
    match layout() {
        Some(layout) if !reserve.is_null() => {
            // SAFETY: it came from this allocator with this layout, and the thread that swapped it out is its only
            // owner.
            unsafe { System.dealloc(reserve, layout) };
            true
        }
        _ => false,
    }
}

#[cold]
fn give_up() -> bool {
    let reserve = RESERVED.swap(std::ptr::null_mut(), Ordering::AcqRel);
    if reserve.is_null() {
        // Another thread may be in `munmap`: the allocation can succeed as soon as that returns.
        if USED_UP.load(Ordering::Acquire) {
            std::thread::sleep(GIVEN_BACK_WITHIN);
        }
    } else {
        USED_UP.store(true, Ordering::Release);
        release(reserve);
    }
    USED_UP.load(Ordering::Acquire)
}

// SAFETY: every call is passed unchanged to the system's allocator; one that fails is repeated after memory was
// released. Nothing here allocates, unwinds, or keeps a caller's pointer.
unsafe impl GlobalAlloc for Reserve {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's guarantee is passed on.
        let got = unsafe { System.alloc(layout) };
        if got.is_null() && give_up() {
            // SAFETY: as above.
            return unsafe { System.alloc(layout) };
        }
        got
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's guarantee is passed on.
        let got = unsafe { System.alloc_zeroed(layout) };
        if got.is_null() && give_up() {
            // SAFETY: as above.
            return unsafe { System.alloc_zeroed(layout) };
        }
        got
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's guarantee is passed on; after a failure `old` still belongs to the caller.
        let got = unsafe { System.realloc(old, layout, size) };
        if got.is_null() && give_up() {
            // SAFETY: as above.
            return unsafe { System.realloc(old, layout, size) };
        }
        got
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        // SAFETY: the caller's guarantee is passed on.
        unsafe { System.dealloc(old, layout) };
    }
}
