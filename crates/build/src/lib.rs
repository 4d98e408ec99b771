//! Builds plans from drafts, for all front ends and input formats.
//!
//! This crate knows no format. It opens no sockets; the only files that it reads are those that a request sends.
//!
//! A front end reads its text into a [`draft::ScriptDraft`], plain data with places. [`script`] gives every name its
//! number, joins every path to its target, and reports mistakes in either. Inputs that need no script use [`requests`].

#![forbid(unsafe_code)]

mod answer;
mod auth;
pub mod body;
mod call;
mod derived;
pub mod draft;
pub mod escape;
pub mod expression;
mod functions;
pub mod header;
mod json_schema;
pub mod nearest;
mod openapi;
mod path;
mod request;
pub mod requests;
pub mod sentence;
mod site;
mod socket;
pub mod source;
mod steps;
mod text;
mod work;

use crate::source::Complaint;
use draft::{OriginDraft, ScriptDraft};
pub use json_schema::compiles;
use plimsoll_plan::Target;
use plimsoll_plan::origin::NamedTarget;
use plimsoll_plan::script::{Scenario, Script};
use site::Site;
pub use site::{TARGET, base, without_ws};
pub use work::wrong_name;
use work::{Phase, Scope, Work};

/// The result of building a draft.
pub struct Built {
    /// Valid only if `wrong` is empty.
    pub script: Script,
    /// The target of its requests, if the draft names one.
    pub target: Option<Target>,
    /// The other origins, starting at number 1.
    pub more_origins: Vec<NamedTarget>,
    pub wrong: Vec<Complaint>,
}

/// Builds a script from its draft. Setup comes first, because all other phases may use what it extracts.
pub fn script(draft: ScriptDraft) -> Built {
    let mut work = Work {
        wrong: Default::default(),
        site: Site { written: draft.has_target, base: draft.target, more: draft.origins },
        script: Script { cookies: draft.cookies, ..Script::default() },
        constants: draft.constants,
        secrets: draft.secrets,
        feeders: draft.feeders,
        headers: draft.headers,
        auth: draft.auth,
        scope: Scope::default(),
        taken: Default::default(),
        counters: 0,
        timings: Vec::new(),
        logins: Vec::new(),
        token_steps: Vec::new(),
        is_incomplete: false,
        in_headers: false,
    };
    work.scope = Scope::new(Phase::Setup, None, &draft.setup);
    work.script.setup = work.steps(&draft.setup);
    for (number, scenario) in draft.scenarios.into_iter().enumerate() {
        work.scope = Scope::new(Phase::Load, Some(number as u16), &scenario.steps);
        let nodes = work.steps(&scenario.steps);
        work.script.scenarios.push(Scenario { name: scenario.name, nodes, pace: scenario.pace });
    }
    work.scope = Scope::new(Phase::Teardown, None, &draft.teardown);
    work.script.teardown = work.steps(&draft.teardown);
    work.resolve_timings();
    // Tokens are requested before everything else.
    let tokens = std::mem::take(&mut work.token_steps);
    work.script.setup.splice(..0, tokens);
    let Work { wrong, site, script, .. } = work;
    let more_origins = site.more.iter().map(OriginDraft::named_target).collect();
    Built { script, target: site.base.map(|base| base.target), more_origins, wrong: wrong.all }
}
