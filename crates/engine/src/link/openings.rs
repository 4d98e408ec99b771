//! Timers of links. A link has one only while TCP and TLS are set up, and all have the same length, so links are due in
//! the order in which they were opened: a queue of their numbers is enough.

use std::collections::VecDeque;

/// The links that are opening, in the order of their deadlines. A link that has opened or closed stays in the queue
/// until it is first.
#[derive(Debug)]
pub(crate) struct Openings {
    links: VecDeque<u32>,
}

impl Openings {
    /// Returns an empty queue with room for `links`; unused memory is never touched.
    pub fn new(links: usize) -> Openings {
        Openings { links: VecDeque::with_capacity(links) }
    }

    /// Adds a link that was just opened.
    pub fn add(&mut self, link: u32) {
        self.links.push_back(link);
    }

    /// Returns the link that is due next, and drops those that are no longer opening. `since_ns` returns when a link
    /// was opened, or `None` if it is not opening.
    #[inline]
    pub fn next(&mut self, since_ns: impl Fn(u32) -> Option<u64>) -> Option<u32> {
        loop {
            let first = *self.links.front()?;
            let Some(first_ns) = since_ns(first) else {
                self.links.pop_front();
                continue;
            };
            let Some(second) = self.links.get(1).copied() else { return Some(first) };
            match since_ns(second) {
                // The first link has failed and was opened again, which added it once more, further back.
                Some(second_ns) if second_ns < first_ns => {
                    self.links.pop_front();
                }
                Some(_) => return Some(first),
                None => {
                    self.links.swap(0, 1);
                    self.links.pop_front();
                }
            }
        }
    }

    /// Removes the link that is due next.
    pub fn take(&mut self) -> Option<u32> {
        self.links.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::Openings;

    /// Adds links that were opened at these times, and returns the queue.
    fn queue(links: &[u32]) -> Openings {
        let mut openings = Openings::new(2);
        links.iter().for_each(|link| openings.add(*link));
        openings
    }

    #[test]
    fn links_are_due_in_the_order_in_which_they_were_opened() {
        let mut openings = queue(&[7, 5, 9]);
        let all = |link| Some([(7, 1), (5, 2), (9, 3)].iter().find(|(id, _)| *id == link).unwrap().1);
        assert_eq!(openings.next(all), Some(7));
        assert_eq!(openings.next(|link| all(link).filter(|_| link != 7)), Some(5), "one that has opened");
        assert_eq!(openings.take(), Some(5));
        assert_eq!(openings.next(all), Some(9));
        assert_eq!(openings.next(|_| None), None);
        assert_eq!(openings.take(), None);
    }

    #[test]
    fn a_link_that_was_opened_again_is_due_after_those_opened_before() {
        // Link 7 failed at once and was opened again after links 5 and 9.
        let mut openings = queue(&[7, 5, 9, 7]);
        let times =
            |link| [(7, 40), (5, 20), (9, 30)].into_iter().find(|(id, _)| *id == link).map(|(_, ns)| ns);
        assert_eq!(openings.next(times), Some(5));
        assert_eq!(openings.take(), Some(5));
        assert_eq!(openings.next(times), Some(9));
        assert_eq!(openings.next(|link| times(link).filter(|_| link == 7)), Some(7));
    }

    #[test]
    fn open_links_between_two_that_are_opening_hide_neither() {
        let mut openings = queue(&[7, 5, 9, 7]);
        let times = |link| [(7, 40), (9, 30)].into_iter().find(|(id, _)| *id == link).map(|(_, ns)| ns);
        assert_eq!(openings.next(times), Some(9), "5 is open, and 7 was opened again");
    }
}
