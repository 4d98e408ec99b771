//! Timers of one worker: a wheel of lists threaded through flat arrays, one entry per link, exchange, or sleep.
//!
//! A response almost always cancels its request's deadline. The wheel does nothing then: the entry stays where it is,
//! and when its slot comes up, the owner checks the true deadline and reinserts the entry if it lies ahead. In the
//! steady state, a request costs no wheel operation at all. (Varghese and Lauck, "Hashed and hierarchical timing
//! wheels", 1987, scheme 6, made lazy.)

const NONE: u32 = u32::MAX;
/// Slots times slot length = the horizon, about 0.5 s; later deadlines are checked once per horizon.
const SLOTS: u64 = 512;
/// 2^20 ns = 1.05 ms: the precision of a timeout.
const SLOT_SHIFT: u32 = 20;

#[derive(Debug, Clone, Copy)]
struct Entry {
    next: u32,
    previous: u32,
    /// The list that contains it; `NOT_IN` if none does.
    slot: u16,
}

const NOT_IN: u16 = u16::MAX;

pub struct Wheel {
    heads: Box<[u32]>,
    entries: Vec<Entry>,
    /// The next slot to check.
    at: u64,
    count: usize,
    /// No entry is in a slot before this one, which saves the search in almost every event-loop iteration.
    earliest: u64,
}

impl Wheel {
    pub fn new(now_ns: u64) -> Wheel {
        let at = now_ns >> SLOT_SHIFT;
        Wheel { heads: vec![NONE; SLOTS as usize].into(), entries: Vec::new(), at, count: 0, earliest: at }
    }

    /// Reserves memory for ids below `len`, which avoids moving them later; unused memory is never touched.
    pub fn reserve(&mut self, len: usize) {
        self.entries.reserve(len);
    }

    /// Makes room for ids below `len`.
    pub fn grow(&mut self, len: usize) {
        self.entries.resize(len, Entry { next: NONE, previous: NONE, slot: NOT_IN });
    }

    /// Makes sure that `id` is checked no later than `deadline_ns` (up to one slot, or one horizon if far away).
    #[inline]
    pub fn arm(&mut self, id: u32, deadline_ns: u64) {
        let slot = (deadline_ns >> SLOT_SHIFT).clamp(self.at, self.at + SLOTS - 1);
        let entry = self.entries[id as usize];
        // The existing slot is early enough: the common case.
        if entry.slot != NOT_IN && self.slots_until(entry.slot) <= slot - self.at {
            return;
        }
        self.disarm(id);
        self.insert(id, slot);
    }

    /// Returns the number of slots from the next one to be checked to a list, around the wheel.
    fn slots_until(&self, list: u16) -> u64 {
        u64::from(list).wrapping_sub(self.at) % SLOTS
    }

    pub fn disarm(&mut self, id: u32) {
        let entry = self.entries[id as usize];
        if entry.slot == NOT_IN {
            return;
        }
        match entry.previous {
            NONE => self.heads[usize::from(entry.slot)] = entry.next,
            previous => self.entries[previous as usize].next = entry.next,
        }
        if entry.next != NONE {
            self.entries[entry.next as usize].previous = entry.previous;
        }
        self.entries[id as usize].slot = NOT_IN;
        self.count -= 1;
    }

    fn insert(&mut self, id: u32, slot: u64) {
        let list = (slot % SLOTS) as u16;
        let head = &mut self.heads[usize::from(list)];
        let next = std::mem::replace(head, id);
        if next != NONE {
            self.entries[next as usize].previous = id;
        }
        self.entries[id as usize] = Entry { next, previous: NONE, slot: list };
        self.earliest = if self.count == 0 { slot } else { self.earliest.min(slot) };
        self.count += 1;
    }

    /// Moves every entry whose slot has passed into `due`; each is then out of the wheel.
    pub fn expire(&mut self, now_ns: u64, due: &mut Vec<u32>) {
        // Slots that lie entirely in the past.
        let end = now_ns >> SLOT_SHIFT;
        if self.count == 0 {
            self.at = self.at.max(end);
            return;
        }
        // After a long stall, one pass over all slots finds everything.
        let last = end.min(self.at + SLOTS);
        while self.at < last {
            let mut id = std::mem::replace(&mut self.heads[(self.at % SLOTS) as usize], NONE);
            while id != NONE {
                let next = self.entries[id as usize].next;
                self.entries[id as usize].slot = NOT_IN;
                self.count -= 1;
                due.push(id);
                id = next;
            }
            self.at += 1;
        }
        self.at = self.at.max(end);
    }

    /// Returns the latest time for the next check; `None` if nothing is armed.
    pub fn next_ns(&mut self) -> Option<u64> {
        if self.count == 0 {
            return None;
        }
        let from = self.earliest.max(self.at);
        let slot = (from..self.at + SLOTS).find(|slot| self.heads[(slot % SLOTS) as usize] != NONE)?;
        self.earliest = slot;
        // One slot later: an entry may be due at the slot's very end.
        Some((slot + 1) << SLOT_SHIFT)
    }
}

#[cfg(test)]
mod tests;
