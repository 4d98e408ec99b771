//! What the threads of one worker share.

use crate::http::{LastBase, Request, Shared, Texts};
use crate::plan::{Plan, Sampler, SamplerId};
use crate::run::Run;
use crate::scope::Caches;
use crate::vars::{VarId, Vars};
use plimsoll_plan::origin::OriginId;
use plimsoll_plan::program::{Outbox, RequestId};
use plimsoll_plan::request::Target;
use plimsoll_plan::series::Family;
use plimsoll_script::ask::{Origin, Site};
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;

/// Version that requests name unless the plan sets another.
pub const USER_AGENT: &str = concat!("plimsoll/", env!("CARGO_PKG_VERSION"));

/// The plan as one worker refers to it: counting references to the plan itself would be a write that all workers share.
pub struct OwnPlan(Arc<Plan>);

impl Deref for OwnPlan {
    type Target = Plan;

    fn deref(&self) -> &Plan {
        &self.0
    }
}

/// State of a worker.
pub struct Worker {
    pub run: Arc<Run>,
    pub plan: Rc<OwnPlan>,
    pub caches: Caches,
    pub requests: Shared,
    /// By group and sampler.
    kept: Vec<Vec<Kept>>,
    /// The variable that says whether the last sample passed, and its values.
    last_ok: (Option<VarId>, [Arc<str>; 2]),
    origins: RefCell<Vec<Rc<Known>>>,
    /// Series of requests by label.
    series: RefCell<HashMap<Rc<str>, RequestId>>,
    /// The cookies of a request.
    pub cookies: RefCell<Vec<u8>>,
    /// The texts of a request.
    pub texts: RefCell<Texts>,
    /// The line of a result.
    pub line: RefCell<String>,
}

/// An origin that can be used.
pub struct Known {
    pub target: Target,
    pub number: OriginId,
    /// Value of `Host`.
    pub host: String,
    /// For cookies.
    pub origin: Origin,
}

/// What a worker keeps for a sampler.
pub struct Kept {
    /// The request, if it is always the same.
    pub fixed: OnceCell<Rc<Fixed>>,
    /// What preceded its path last.
    pub base: LastBase,
    /// Its series, if its label is fixed and nothing is challenged.
    pub series: Cell<Option<RequestId>>,
    /// The series of its assertions, if label and name are fixed.
    pub checks: Box<[Cell<Option<RequestId>>]>,
}

/// The request of a sampler that sends the same each time.
pub struct Fixed {
    pub request: Rc<Request>,
    /// Its head without cookies and credentials, for an origin.
    pub head: OnceCell<(OriginId, Box<[u8]>)>,
}

impl Kept {
    fn new(sampler: &Sampler) -> Kept {
        Kept {
            fixed: OnceCell::new(),
            base: LastBase::default(),
            series: Cell::new(None),
            checks: sampler.assertions.iter().map(|_| Cell::new(None)).collect(),
        }
    }
}

impl Worker {
    pub fn new(run: Arc<Run>, plan: Arc<Plan>, origins: &[(Target, OriginId)]) -> Worker {
        let kept = plan.groups.iter().map(|group| group.samplers.iter().map(Kept::new).collect()).collect();
        let last_ok = (run.names.find("JMeterThread.last_sample_ok"), ["false".into(), "true".into()]);
        let worker = Worker {
            run,
            plan: Rc::new(OwnPlan(plan)),
            caches: Caches::default(),
            requests: Shared::default(),
            kept,
            last_ok,
            origins: RefCell::default(),
            series: RefCell::default(),
            cookies: RefCell::default(),
            texts: RefCell::default(),
            line: RefCell::default(),
        };
        for (target, number) in origins {
            worker.know_origin(target.clone(), *number);
        }
        worker
    }

    pub fn origin(&self, target: &Target) -> Option<Rc<Known>> {
        self.origins.borrow().iter().find(|known| known.target == *target).cloned()
    }

    /// Remembers the number of an origin.
    pub fn know_origin(&self, target: Target, number: OriginId) {
        if self.origin(&target).is_none() {
            let host = target.authority();
            let origin = Origin::new(&site(number, &host, target.tls));
            self.origins.borrow_mut().push(Rc::new(Known { target, number, host, origin }));
        }
    }

    /// Returns what is kept for a sampler.
    pub fn kept(&self, group: usize, sampler: SamplerId) -> &Kept {
        // proof: threads are made for groups of the plan, and ask for their samplers.
        &self.kept[group][sampler as usize]
    }

    /// Sets the variable that says whether the last sample passed.
    pub fn set_last_ok(&self, vars: &mut Vars, is_ok: bool) {
        if let (Some(id), values) = &self.last_ok {
            vars.put_at(*id, &values[usize::from(is_ok)]);
        }
    }

    /// Returns the series of requests with a label.
    pub fn series(&self, label: &Rc<str>, out: &mut Outbox) -> Option<RequestId> {
        if let Some(known) = self.series.borrow().get(label) {
            return Some(*known);
        }
        let opened = out.open(Family::Request, shortened(label), &[])?;
        let mut all = self.series.borrow_mut();
        // Labels with changing values must not fill the memory.
        if all.len() < SERIES_MAX {
            all.insert(Rc::clone(label), opened);
        }
        Some(opened)
    }
}

/// Labels that a worker remembers.
const SERIES_MAX: usize = 10_000;

/// Returns the settings of cookies for a host.
pub fn site(number: OriginId, host: &str, tls: bool) -> Site {
    Site { number, host: host.to_owned(), tls, http10: false, close: false, user_agent: USER_AGENT }
}

/// Returns a text that is short enough for the name of a series.
pub fn shortened(text: &str) -> &str {
    match text.char_indices().find(|(at, sign)| at + sign.len_utf8() > 250) {
        Some((at, _)) => &text[..at],
        None => text,
    }
}
