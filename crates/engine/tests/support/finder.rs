//! A finder of origins in virtual time.

use plimsoll_engine::Place;
use plimsoll_engine::driver::sim::Network;
use plimsoll_engine::origins::{FoundOrigin, Reached};
use plimsoll_plan::origin::Origin;
use plimsoll_plan::program::{OriginQuery, Unreachable};
use plimsoll_plan::{Fault, Target, origin};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

/// The hosts that it was asked for.
pub type AskedOrigins = Rc<RefCell<Vec<String>>>;

/// Answers all requests after the same time. A host that is not listed gets no answer.
pub struct SimFinder {
    hosts: Vec<(&'static str, Result<SocketAddr, Fault>)>,
    after_ns: u64,
    asked: AskedOrigins,
    due: VecDeque<(u64, OriginQuery)>,
    first: usize,
    found: Vec<Arc<FoundOrigin>>,
    /// Whether the origins choose HTTP/2.
    pub is_http2: bool,
}

impl SimFinder {
    /// `first` is the number of origins of the plan.
    pub fn new(
        first: usize,
        after_ns: u64,
        hosts: &[(&'static str, Result<SocketAddr, Fault>)],
    ) -> (SimFinder, AskedOrigins) {
        let (asked, due, found) = (AskedOrigins::default(), VecDeque::new(), vec![]);
        let kept = Rc::clone(&asked);
        (SimFinder { hosts: hosts.to_vec(), after_ns, asked, due, first, found, is_http2: false }, kept)
    }

    /// Finds an origin as if another worker had asked for it.
    pub fn find(&mut self, host: &str, port: u16) -> Result<u16, Unreachable> {
        self.find_query(&Target { host: host.into(), port, tls: false }.into())
    }

    fn find_query(&mut self, query: &OriginQuery) -> Result<u16, Unreachable> {
        let (target, host) = (&query.target, query.target.host.as_str());
        let known = self.hosts.iter().find(|(known, _)| *known == host).expect("a known host");
        match known.1 {
            Ok(address) => {
                let number = (self.first + self.found.len()) as u16;
                let origin =
                    Origin { is_http2: self.is_http2 || query.requires_http2, ..origin::found(target, None) };
                let place = Place::new(vec![address], None);
                self.found.push(Arc::new(FoundOrigin { number, query: query.clone(), origin, place }));
                Ok(number)
            }
            Err(fault) => Err(Unreachable { fault, sentence: format!("`{host}` is not there").into() }),
        }
    }

    pub fn reach(&mut self, query: &OriginQuery, network: &Network) -> bool {
        let target = &query.target;
        self.asked.borrow_mut().push(target.host.clone());
        let due_ns = network.now_ns() + self.after_ns;
        if self.hosts.iter().any(|(known, _)| *known == target.host) {
            network.wake_at(due_ns);
            self.due.push_back((due_ns, query.clone()));
        }
        true
    }

    pub fn answers(&mut self, now_ns: u64) -> Vec<Reached> {
        let mut all = vec![];
        while self.due.front().is_some_and(|(due_ns, _)| *due_ns <= now_ns) {
            let (_, query) = self.due.pop_front().expect("one is due");
            let result = self.find_query(&query);
            all.push(Reached { query, result });
        }
        all
    }

    pub fn found(&self, from: usize) -> Vec<Arc<FoundOrigin>> {
        self.found.iter().filter(|one| usize::from(one.number) >= from).cloned().collect()
    }
}
