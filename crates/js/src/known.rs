//! Series that users have measured in before, found by numbers instead of names and labels: most iterations measure in
//! the same series, and to build and hash their labels would cost more than the rest of a check.

use crate::host::Host;
use crate::vu::Vu;
use plimsoll_plan::program::RequestId;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::BuildHasher;

/// Series kept at once. A script whose names or tags are data has more, and then each of them is looked up by name.
const MOST: usize = 1 << 14;

/// What measures in a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum What {
    /// A check, by the number of its name in the runtime.
    Check(u32),
    /// A metric of the script, by its number.
    Metric(u32),
    IterationDuration,
}

/// The parts of a request that decide its series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RequestKey<'a> {
    pub scope: u32,
    pub origin: u16,
    pub method: &'a str,
    pub name: &'a str,
}

/// The series of one worker.
#[derive(Debug, Default)]
pub struct Known {
    /// Groups and tags of users, as one text, and their numbers.
    scopes: FxHashMap<String, u32>,
    last_scope: u32,
    measured: FxHashMap<(u32, What), RequestId>,
    requests: FxHashMap<u64, Request>,
}

#[derive(Debug)]
struct Request {
    scope: u32,
    origin: u16,
    method: String,
    name: String,
    series: RequestId,
}

impl Known {
    fn scope(&mut self, text: String) -> u32 {
        if self.scopes.len() >= MOST {
            self.scopes.clear();
        }
        let next = self.last_scope + 1;
        let number = *self.scopes.entry(text).or_insert(next);
        self.last_scope = self.last_scope.max(number);
        number
    }

    pub fn measured(&self, scope: u32, what: What) -> Option<RequestId> {
        self.measured.get(&(scope, what)).copied()
    }

    pub fn keep_measured(&mut self, scope: u32, what: What, series: RequestId) {
        if self.measured.len() >= MOST {
            self.measured.clear();
        }
        self.measured.insert((scope, what), series);
    }

    pub fn request(&self, key: RequestKey<'_>) -> Option<RequestId> {
        let known = self.requests.get(&FxBuildHasher.hash_one(key))?;
        let same =
            RequestKey { scope: known.scope, origin: known.origin, method: &known.method, name: &known.name };
        (same == key).then_some(known.series)
    }

    pub fn keep_request(&mut self, key: RequestKey<'_>, series: RequestId) {
        if self.requests.len() >= MOST {
            self.requests.clear();
        }
        let RequestKey { scope, origin, method, name } = key;
        let (method, name) = (method.to_owned(), name.to_owned());
        let known = Request { scope, origin, method, name, series };
        self.requests.insert(FxBuildHasher.hash_one(key), known);
    }

    /// Forgets requests: their labels change when a script reaches its second origin.
    pub fn forget_requests(&mut self) {
        self.requests.clear();
    }
}

impl Host {
    /// Returns the number of what the user's scenario, groups, and tags are now.
    pub fn scope(&self, vu: &Vu) -> u32 {
        if let Some(scope) = vu.scope.get() {
            return scope;
        }
        // Each part that a script chooses has its length in front, so that no two scopes have one text.
        let group = vu.group();
        let mut text = format!("{} {} {group}", vu.scenario, group.len());
        for (name, value) in vu.tags.borrow().iter() {
            text.push_str(&format!(" {} {name} {} {value}", name.len(), value.len()));
        }
        let scope = self.known.borrow_mut().scope(text);
        vu.scope.set(Some(scope));
        scope
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_that_differ_in_one_part_are_different_series() {
        let mut known = Known::default();
        let key = RequestKey { scope: 1, origin: 0, method: "GET", name: "a" };
        known.keep_request(key, 7);
        assert_eq!(known.request(key), Some(7));
        for other in [
            RequestKey { scope: 2, ..key },
            RequestKey { origin: 1, ..key },
            RequestKey { method: "PUT", ..key },
            RequestKey { name: "b", ..key },
        ] {
            assert_eq!(known.request(other), None);
        }
        known.forget_requests();
        assert_eq!(known.request(key), None);
    }

    #[test]
    fn scopes_never_share_a_number_even_after_too_many() {
        let mut known = Known::default();
        let first = known.scope("first".into());
        assert_eq!(known.scope("first".into()), first);
        let mut last = first;
        for at in 0..=MOST {
            let next = known.scope(at.to_string());
            assert!(next > last);
            last = next;
        }
    }
}
