//! Finds the word of a QuickJS runtime that points to the frame of the call in progress.
//!
//! A fiber that is suspended leaves its frame there, and a backtrace of another fiber would follow it into a stack that
//! has changed since. So each suspension saves and restores this word. The header hides its place, which differs with
//! version, options, and machine; this test finds it once, by what only this word does: it is null outside of calls,
//! points to the stack inside of them, and deeper with every call. If not exactly one word does, fibers must not share
//! a runtime.

use rquickjs_sys as qjs;
use std::ffi::c_void;
use std::hint::black_box;
use std::sync::OnceLock;

/// Calls of the test function inside each other.
const DEPTHS: usize = 4;

/// What the test has found so far.
struct Search {
    runtime: *const usize,
    /// A place on the stack above all frames of the test.
    above: usize,
    /// Words that can still be the one: index, and its value in the call before.
    candidates: Vec<(usize, usize)>,
    calls: usize,
    is_consistent: bool,
}

/// Returns the offset of the word in a runtime, bytes; `None` if the test has not found exactly one.
pub fn frame_offset() -> Option<usize> {
    static OFFSET: OnceLock<Option<usize>> = OnceLock::new();
    *OFFSET.get_or_init(|| search(|_| true))
}

/// Returns whether several fibers may have calls in progress in one runtime.
pub fn is_sound() -> bool {
    frame_offset().is_some()
}

/// Returns the offset of the word if it is one of the offsets that `is_possible` accepts.
#[inline(never)]
fn search(is_possible: impl Fn(usize) -> bool) -> Option<usize> {
    let marker = black_box(0u8);
    let above = &raw const marker as usize;
    // SAFETY: The runtime and its context are created, used, and freed here, on one thread. `malloc_usable_size` gets a
    // pointer from the default allocator of QuickJS, which is `calloc`, so that all its words are initialized.
    unsafe {
        let runtime = qjs::JS_NewRuntime();
        if runtime.is_null() {
            return None;
        }
        let context = qjs::JS_NewContext(runtime);
        let words = libc::malloc_usable_size(runtime.cast()) / size_of::<usize>();
        let base: *const usize = runtime.cast::<usize>().cast_const();
        let candidates =
            (0..words).filter(|at| is_possible(at * size_of::<usize>()) && base.add(*at).read() == 0);
        let candidates = candidates.map(|at| (at, above)).collect();
        let mut search = Search { runtime: base, above, candidates, calls: 0, is_consistent: true };
        qjs::JS_SetRuntimeOpaque(runtime, (&raw mut search).cast());
        let found = if context.is_null() { None } else { run(context, &mut search) };
        if !context.is_null() {
            qjs::JS_FreeContext(context);
        }
        qjs::JS_FreeRuntime(runtime);
        found
    }
}

/// # Safety
/// `context` must be of the runtime that `search` describes, whose opaque pointer is `search`.
unsafe fn run(context: *mut qjs::JSContext, search: &mut Search) -> Option<usize> {
    const SOURCE: &std::ffi::CStr =
        c"(probe) => { const f = (n) => { probe(); if (n > 1) f(n - 1); }; f(4); }";
    // SAFETY: All values belong to this context and are freed once.
    unsafe {
        let function =
            qjs::JS_Eval(context, SOURCE.as_ptr(), SOURCE.to_bytes().len() as _, c"probe".as_ptr(), 0);
        let native = qjs::JS_NewCFunction2(context, Some(step), c"probe".as_ptr(), 0, 0, 0);
        let mut arguments = [native];
        let result = qjs::JS_Call(context, function, qjs::JS_UNDEFINED, 1, arguments.as_mut_ptr());
        let has_failed = qjs::JS_IsException(result);
        qjs::JS_FreeValue(context, result);
        qjs::JS_FreeValue(context, native);
        qjs::JS_FreeValue(context, function);
        // Outside of calls, it is null again.
        search.candidates.retain(|(at, _)| search.runtime.add(*at).read() == 0);
        match search.candidates[..] {
            [(at, _)] if !has_failed && search.calls == DEPTHS && search.is_consistent => {
                Some(at * size_of::<usize>())
            }
            _ => None,
        }
    }
}

/// The native of the test: keeps the words that point to this call's frame.
///
/// # Safety
/// Called by QuickJS with a context whose runtime has a [`Search`] as its opaque pointer.
unsafe extern "C" fn step(
    context: *mut qjs::JSContext,
    _this: qjs::JSValue,
    _count: i32,
    _arguments: *mut qjs::JSValue,
) -> qjs::JSValue {
    let marker = black_box(0u8);
    let here = &raw const marker as usize;
    // SAFETY: See above; the test does not use the search while JavaScript runs. A candidate is dereferenced only if it
    // points into the part of this thread's stack that the test uses.
    unsafe {
        let search = &mut *qjs::JS_GetRuntimeOpaque(qjs::JS_GetRuntime(context)).cast::<Search>();
        let (runtime, above) = (search.runtime, search.above);
        let is_frame = |word: usize, before: usize| {
            word > here && word < above && word < before && word.is_multiple_of(align_of::<usize>())
        };
        search.candidates = search
            .candidates
            .iter()
            .map(|(at, before)| (*at, *before, runtime.add(*at).read()))
            .filter(|(_, before, word)| is_frame(*word, *before))
            .map(|(at, _, word)| (at, word))
            .collect();
        search.calls += 1;
        if let [(_, frame)] = search.candidates[..] {
            // This call, the calls of `f`, and the arrow function that calls it.
            search.is_consistent &= chain(frame, above) == Some(search.calls + 2);
        }
    }
    qjs::JS_UNDEFINED
}

/// Returns the number of frames from this one outward; `None` if one is not on this part of the stack.
///
/// # Safety
/// `frame` must point to initialized memory of at least two words on this thread's stack, below `above`.
unsafe fn chain(frame: usize, above: usize) -> Option<usize> {
    let (mut at, mut count) = (frame as *const *const c_void, 0);
    while !at.is_null() {
        if (at as usize) >= above || count > DEPTHS + 2 {
            return None;
        }
        count += 1;
        // SAFETY: `prev_frame` is the first word of a frame, and frames of this test are on this stack.
        let previous: *const *const c_void = unsafe { at.read() }.cast();
        if !previous.is_null() && previous <= at {
            return None;
        }
        at = previous;
    }
    Some(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_every_offset_but_one() {
        let right = frame_offset().expect("an offset");
        assert_eq!(search(|at| at == right), Some(right));
        assert_eq!(search(|at| at != right), None);
        for wrong in (0..4096).step_by(size_of::<usize>()).filter(|at| *at != right) {
            assert_eq!(search(|at| at == wrong), None, "{wrong}");
        }
    }
}
