//! Timers of links. A link has one only while TCP and TLS are set up, and all have the same length, so the links are due
//! in the order in which they were opened: a queue is enough, and a link that is open costs nothing.

use std::collections::VecDeque;

/// Capacity kept while no link is opening; that of a burst is returned.
const KEPT: usize = 256;

/// The tokens of links that are opening, in the order of their deadlines. A link that has opened or closed stays in it
/// until it is next; its token tells it apart from later sockets of the same link.
#[derive(Debug, Default)]
pub(crate) struct Openings {
    tokens: VecDeque<u64>,
}

impl Openings {
    /// Adds a link that was just opened.
    pub fn add(&mut self, token: u64) {
        self.tokens.push_back(token);
    }

    /// Returns the link that is due next, after dropping those that are no longer opening.
    #[inline]
    pub fn next(&mut self, is_opening: impl Fn(u64) -> bool) -> Option<u64> {
        while let Some(token) = self.tokens.front() {
            if is_opening(*token) {
                return Some(*token);
            }
            self.tokens.pop_front();
            if self.tokens.is_empty() && self.tokens.capacity() > KEPT {
                self.tokens = VecDeque::new();
            }
        }
        None
    }

    /// Removes the link that is due next.
    pub fn take(&mut self) -> Option<u64> {
        self.tokens.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::{KEPT, Openings};

    #[test]
    fn links_are_due_in_the_order_in_which_they_were_opened() {
        let mut openings = Openings::default();
        [7, 5, 9].into_iter().for_each(|token| openings.add(token));
        assert_eq!(openings.next(|_| true), Some(7));
        assert_eq!(openings.next(|token| token != 7), Some(5), "one that has opened is skipped");
        assert_eq!(openings.take(), Some(5));
        assert_eq!(openings.next(|_| true), Some(9));
        assert_eq!(openings.next(|_| false), None);
        assert_eq!(openings.take(), None);
    }

    #[test]
    fn the_memory_of_a_burst_is_returned() {
        let mut openings = Openings::default();
        (0..10 * KEPT as u64).for_each(|token| openings.add(token));
        assert_eq!(openings.next(|_| false), None);
        assert_eq!(openings.tokens.capacity(), 0);
    }
}
