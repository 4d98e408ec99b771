//! What users as code exclude, and settings of a target that a plan without one would ignore.

use crate::diag::Diagnostic;
use crate::draft::{Draft, key};

/// Reports contradictions of a draft with users as code.
pub(super) fn check(draft: &Draft, wrong: &mut Vec<Diagnostic>) {
    if draft.code.is_none() {
        return;
    }
    let has_requests = !draft.requests.is_empty() || draft.script.is_some();
    if has_requests || draft.redirects.is_some() || draft.continue_ns.is_some() {
        wrong.push(Diagnostic::field(
            "P045",
            key::REQUESTS,
            "a script defines its own requests",
            "remove the other requests, and the flags that change requests",
        ));
    }
    let names_target =
        !draft.more_origins.is_empty() || !draft.link.weighted.is_empty() || draft.health.is_some();
    if draft.target.is_none() && names_target {
        wrong.push(Diagnostic::field(
            "P001",
            key::TARGET,
            "missing target: other origins, weighted addresses, and the health of a service require one",
            "add a target, such as `http://127.0.0.1:8080/`, or remove these settings",
        ));
    }
}
