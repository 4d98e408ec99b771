//! The queue of jobs of a runtime: callbacks of promises that wait to run. Fibers share it, but a callback belongs to
//! the fiber whose code has caused it: another one must not run it. So a suspension takes the queue away, and a
//! resumption brings it back.
//!
//! The queue is a ring of nodes, each with a pointer to the one before and to the one after. Its head, two words, is in
//! the runtime, and the header hides its place. As for the frame ([`crate::probe`]), a test at the first use finds the
//! one pair of words that behaves like it. If not exactly one does, asynchronous fibers must not share a runtime.

use crate::runtime::{Inner, Runtime};
use rquickjs_sys as qjs;
use std::cell::Cell;
use std::rc::Rc;
use std::sync::OnceLock;

/// Pointers to the node before and to the node after: those of the head are to the last and to the first node.
const BEFORE: usize = 0;
const AFTER: usize = 1;

/// A node or the head.
type Node = *mut usize;

/// Jobs that were taken from a runtime. If they are dropped, they never run.
pub struct Jobs {
    /// `None` after they were brought back.
    ring: Option<Ring>,
    of: Rc<Inner>,
}

/// First and last node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ring {
    first: Node,
    last: Node,
}

/// Returns whether fibers of one runtime may wait while jobs of theirs are in its queue.
pub fn has_own_jobs() -> bool {
    queue_offset().is_some()
}

/// Returns the offset of the head in a runtime, bytes; `None` if the test has not found exactly one.
pub fn queue_offset() -> Option<usize> {
    static OFFSET: OnceLock<Option<usize>> = OnceLock::new();
    *OFFSET.get_or_init(|| search(|_| true))
}

impl Runtime {
    /// Takes the jobs that wait; `None` if there are none, or if the place of the queue is unknown.
    pub fn take_jobs(&self) -> Option<Jobs> {
        self.take_ring().map(|ring| Jobs { ring: Some(ring), of: Rc::clone(&self.0) })
    }

    /// Brings jobs back, before those that wait by now.
    ///
    /// # Panics
    /// Panics if they are of another runtime.
    pub fn put_jobs(&self, mut jobs: Jobs) {
        assert!(Rc::ptr_eq(&self.0, &jobs.of), "jobs of another runtime");
        if let Some(ring) = jobs.ring.take() {
            self.put_ring(ring);
        }
    }

    pub(crate) fn take_ring(&self) -> Option<Ring> {
        if !self.has_jobs() {
            return None;
        }
        let head = self.0.queue_head()?;
        self.0.taken.set(self.0.taken.get() + 1);
        // SAFETY: The head is that of the live runtime and not empty.
        Some(unsafe { take(head) })
    }

    pub(crate) fn put_ring(&self, ring: Ring) {
        let Some(head) = self.0.queue_head() else { return };
        self.0.taken.set(self.0.taken.get() - 1);
        // SAFETY: The nodes were taken from this live runtime, which frees none that is not in its queue.
        unsafe { put(head, ring) };
    }
}

impl Inner {
    fn queue_head(&self) -> Option<Node> {
        // SAFETY: The test has found the offset in the memory of a runtime of the same version.
        queue_offset().map(|offset| unsafe { self.raw.as_ptr().cast::<u8>().add(offset).cast() })
    }

    /// Brings dropped jobs back, so that the runtime frees them with itself.
    ///
    /// # Safety
    /// The runtime must be live, and never run JavaScript again.
    pub(crate) unsafe fn bring_back_dropped(&self) {
        let Some(head) = self.queue_head() else { return };
        for ring in self.dropped_jobs.take() {
            // SAFETY: As in `put_ring`.
            unsafe { put(head, ring) };
        }
    }
}

impl Drop for Jobs {
    fn drop(&mut self) {
        if let Some(ring) = self.ring.take() {
            // Only the runtime can free a job, and only when it ends.
            self.of.dropped_jobs.borrow_mut().push(ring);
            self.of.taken.set(self.of.taken.get() - 1);
        }
    }
}

impl std::fmt::Debug for Jobs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Jobs").finish_non_exhaustive()
    }
}

/// Takes all nodes. Their outer pointers still point to the head.
///
/// # Safety
/// `head` must be the head of a live ring with at least one node.
unsafe fn take(head: Node) -> Ring {
    // SAFETY: Only the two words of the head are read and written.
    unsafe {
        let ring = Ring { first: head.add(AFTER).read() as Node, last: head.add(BEFORE).read() as Node };
        head.add(AFTER).write(head as usize);
        head.add(BEFORE).write(head as usize);
        ring
    }
}

/// Puts nodes before those of a ring.
///
/// # Safety
/// `head` must be the head of a live ring, and `ring` live nodes that [`take`] has taken from it.
unsafe fn put(head: Node, ring: Ring) {
    // SAFETY: All words are those of the head and of live nodes. The first node still points to the head.
    unsafe {
        let next = head.add(AFTER).read() as Node;
        ring.last.add(AFTER).write(next as usize);
        next.add(BEFORE).write(ring.last as usize);
        head.add(AFTER).write(ring.first as usize);
    }
}

thread_local! {
    /// How often the job of the test has run.
    static RUNS: Cell<usize> = const { Cell::new(0) };
}

/// Returns the offset of the head if it is one of the offsets that `is_possible` accepts.
fn search(is_possible: impl Fn(usize) -> bool) -> Option<usize> {
    // SAFETY: The runtime and its context are created, used, and freed here, on one thread. `malloc_usable_size` gets a
    // pointer from the default allocator of QuickJS, which is `calloc`, so that all its words are initialized.
    unsafe {
        let runtime = qjs::JS_NewRuntime();
        if runtime.is_null() {
            return None;
        }
        let context = qjs::JS_NewContext(runtime);
        let words = libc::malloc_usable_size(runtime.cast()) / size_of::<usize>();
        let base: Node = runtime.cast();
        let heads = (0..words.saturating_sub(1)).filter(|at| is_possible(at * size_of::<usize>()));
        let heads: Vec<Node> = heads.map(|at| base.add(at)).collect();
        let found = if context.is_null() { None } else { narrow(runtime, context, heads) };
        if !context.is_null() {
            qjs::JS_FreeContext(context);
        }
        qjs::JS_FreeRuntime(runtime);
        found.map(|head| head as usize - runtime as usize)
    }
}

/// Returns the one pair of words that behaves like the head of the queue.
///
/// # Safety
/// `context` must be of `runtime`, in whose memory the pairs are.
unsafe fn narrow(
    runtime: *mut qjs::JSRuntime,
    context: *mut qjs::JSContext,
    mut heads: Vec<Node>,
) -> Option<Node> {
    // SAFETY: A pair is only read as the head of a ring if both words pointed to it while the queue was empty: then it
    // is one, whose nodes are live memory of at least two words. Each write is undone by the next one.
    unsafe {
        let words = |head: Node| (head.add(BEFORE).read(), head.add(AFTER).read());
        let is_empty = |head: &Node| words(*head) == (*head as usize, *head as usize);
        let enqueue = || qjs::JS_EnqueueJob(context, Some(count), 0, std::ptr::null_mut()) >= 0;
        let run = || {
            let mut of = std::ptr::null_mut();
            qjs::JS_ExecutePendingJob(runtime, &raw mut of) > 0
        };
        heads.retain(is_empty);
        let mut is_complete = enqueue();
        heads.retain(|head| {
            let (last, first) = words(*head);
            last == first
                && first != *head as usize
                && words(first as Node) == (*head as usize, *head as usize)
        });
        is_complete &= enqueue();
        heads.retain(|head| {
            let (last, first) = words(*head);
            last != first
                && words(first as Node) == (*head as usize, last)
                && words(last as Node) == (first, *head as usize)
        });
        let [head] = heads[..] else {
            while run() {}
            return None;
        };
        // The test of the test: what is taken does not run, and runs after it was brought back, before what came later.
        RUNS.set(0);
        let ring = take(head);
        is_complete &= !qjs::JS_IsJobPending(runtime) && !run();
        is_complete &= enqueue() && words(head) != (ring.last as usize, ring.first as usize);
        put(head, ring);
        is_complete &= words(head).1 == ring.first as usize;
        for _ in 0..3 {
            is_complete &= run();
        }
        is_complete &= RUNS.get() == 3 && !qjs::JS_IsJobPending(runtime) && is_empty(&head);
        is_complete.then_some(head)
    }
}

/// The job of the test.
///
/// # Safety
/// Called by QuickJS.
unsafe extern "C" fn count(_: *mut qjs::JSContext, _: i32, _: *mut qjs::JSValue) -> qjs::JSValue {
    RUNS.set(RUNS.get() + 1);
    qjs::JS_UNDEFINED
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_every_offset_but_one() {
        let right = queue_offset().expect("an offset");
        assert_eq!(search(|at| at == right), Some(right));
        assert_eq!(search(|at| at != right), None);
        for wrong in (0..4096).step_by(size_of::<usize>()).filter(|at| *at != right) {
            assert_eq!(search(|at| at == wrong), None, "{wrong}");
        }
    }
}
