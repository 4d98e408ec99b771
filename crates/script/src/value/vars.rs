//! One user's variables, by slot. There may be tens of thousands of users, so an unused slot costs no heap at all and
//! a used one keeps its buffer from iteration to iteration.

use plimsoll_plan::value::VarId;

/// The variables of one user.
#[derive(Debug, Default)]
pub struct Vars {
    slots: Box<[Slot]>,
}

#[derive(Debug, Default)]
struct Slot {
    bytes: Vec<u8>,
    set: bool,
}

impl Vars {
    /// Room for the variables 0 to `count` - 1, none of them set.
    pub fn new(count: usize) -> Vars {
        Vars { slots: (0..count).map(|_| Slot::default()).collect() }
    }

    /// `None`: not set since the last [`Vars::clear_all`]. An empty value is a value.
    pub fn get(&self, id: VarId) -> Option<&[u8]> {
        self.slots.get(usize::from(id)).filter(|slot| slot.set).map(|slot| &slot.bytes[..])
    }

    /// Replaces the value. A slot that was not made room for is a mistake of the caller: it is grown, so that the
    /// value is never lost.
    pub fn set(&mut self, id: VarId, value: &[u8]) {
        let at = usize::from(id);
        if at >= self.slots.len() {
            let mut slots = std::mem::take(&mut self.slots).into_vec();
            slots.resize_with(at + 1, Slot::default);
            self.slots = slots.into();
        }
        let slot = &mut self.slots[at];
        slot.bytes.clear();
        slot.bytes.extend_from_slice(value);
        slot.set = true;
    }

    /// Forgets every value and keeps the buffers.
    pub fn clear_all(&mut self) {
        self.slots.iter_mut().for_each(|slot| slot.set = false);
    }
}
