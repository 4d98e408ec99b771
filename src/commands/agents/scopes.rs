//! Thresholds on the load of some agents, as in `p99{agent: region=eu} < 300ms`.

use plimsoll_cluster::message::Identity;
use plimsoll_plan::Diagnostic;
use plimsoll_plan::draft::key;
use plimsoll_plan::threshold::Threshold;

/// Rejects thresholds on agents in a load without agents: they could only be missed.
///
/// # Errors
/// Returns an error for the first one.
pub fn refuse(thresholds: &[Threshold]) -> Result<(), Diagnostic> {
    match thresholds.iter().find(|one| one.scope.as_ref().is_some_and(|scope| scope.agents().is_some())) {
        None => Ok(()),
        Some(one) => {
            let message = format!("threshold `{}` applies to agents, but this load has none", one.text);
            Err(Diagnostic::field("P030", key::THRESHOLDS, message, "use `--agents`, or remove the scope"))
        }
    }
}

/// Rejects thresholds on agents that do not send this load.
pub fn check(thresholds: &[Threshold], agents: &[Identity]) -> Result<(), Diagnostic> {
    for threshold in thresholds {
        let Some((scope, wanted)) = threshold.scope.as_ref().and_then(|s| Some((s, s.agents()?))) else {
            continue;
        };
        if !agents.iter().any(|agent| scope.covers_agent(&agent.name, &agent.labels)) {
            let message = format!("unknown agent `{wanted}` in threshold `{}`", threshold.text);
            let names: Vec<String> = agents.iter().map(|agent| format!("`{}`", agent.name)).collect();
            let hint = format!("use {}, or one of their labels, such as `region=eu`", names.join(", "));
            return Err(Diagnostic::field("P030", key::THRESHOLDS, message, hint));
        }
    }
    Ok(())
}
