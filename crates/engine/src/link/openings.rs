//! Timers of links. A link has one only while TCP and TLS are set up, and all have the same length, so links are due in
//! the order in which they were opened: a queue of their numbers is enough.

use std::collections::VecDeque;

/// The links that are opening, in the order of their deadlines, each with its generation: one that has opened, closed,
/// or been opened again since then stays in the queue until it is first.
#[derive(Debug)]
pub(crate) struct Openings {
    links: VecDeque<(u32, u32)>,
}

impl Openings {
    /// Returns an empty queue with room for `links`; unused memory is never touched.
    pub fn new(links: usize) -> Openings {
        Openings { links: VecDeque::with_capacity(links) }
    }

    /// Adds a link that was just opened.
    pub fn add(&mut self, link: u32, generation: u32) {
        self.links.push_back((link, generation));
    }

    /// Returns the link that is due next, and drops those that are no longer opening, as `is_opening` says of a link
    /// and its generation.
    #[inline]
    pub fn next(&mut self, is_opening: impl Fn(u32, u32) -> bool) -> Option<u32> {
        loop {
            let (link, generation) = *self.links.front()?;
            if is_opening(link, generation) {
                return Some(link);
            }
            self.links.pop_front();
        }
    }

    /// Removes the link that is due next.
    pub fn take(&mut self) -> Option<u32> {
        self.links.pop_front().map(|(link, _)| link)
    }
}

#[cfg(test)]
mod tests {
    use super::Openings;

    /// Adds links with their generations, and returns the queue.
    fn queue(links: &[(u32, u32)]) -> Openings {
        let mut openings = Openings::new(2);
        links.iter().for_each(|(link, generation)| openings.add(*link, *generation));
        openings
    }

    #[test]
    fn links_are_due_in_the_order_in_which_they_were_opened() {
        let mut openings = queue(&[(7, 0), (5, 0), (9, 0)]);
        assert_eq!(openings.next(|_, _| true), Some(7));
        assert_eq!(openings.next(|link, _| link != 7), Some(5), "one that has opened");
        assert_eq!(openings.take(), Some(5));
        assert_eq!(openings.next(|_, _| true), Some(9));
        assert_eq!(openings.next(|_, _| false), None);
        assert_eq!(openings.take(), None);
    }

    #[test]
    fn links_that_were_opened_again_are_due_after_those_opened_before() {
        // Links 7 and 5 failed at once and were opened again after link 9; so one of them cannot hide that 9 is due.
        let mut openings = queue(&[(7, 0), (5, 0), (9, 0), (7, 1), (5, 1)]);
        let is_opening = |link, generation| matches!((link, generation), (7 | 5, 1) | (9, 0));
        assert_eq!(openings.next(is_opening), Some(9));
        assert_eq!(openings.take(), Some(9));
        assert_eq!(openings.next(is_opening), Some(7));
        assert_eq!(openings.next(|link, _| link == 5), Some(5));
    }
}
