//! Flags about agents, parsed.

use crate::exit::Failure;
use crate::flags::agents::AgentFlags;
use plimsoll_cluster::coordinator::OnLoss;
use plimsoll_cluster::roster::Selection;
use plimsoll_plan::diag::Place;
use plimsoll_plan::{Diagnostic, unit};

/// Default of `--wait-for-agents`, ns.
const WAIT_NS: u64 = 3_000_000_000;
/// Default of `--max-skew`, ns.
const SKEW_NS: u64 = 5_000_000;

/// Flags about agents, parsed.
pub struct AgentOptions {
    pub selection: Selection,
    /// Longest wait for the agents, ns.
    pub wait_ns: u64,
    pub on_loss: OnLoss,
    /// Delay of a start above which it is named, ns.
    pub skew_ns: u64,
}

impl AgentOptions {
    /// Parses the flags; returns `None` without agents.
    ///
    /// # Errors
    /// Returns an error if one of them is invalid.
    pub fn of(flags: &AgentFlags) -> Result<Option<AgentOptions>, Failure> {
        let Some(text) = &flags.selection else { return Ok(None) };
        let wrong =
            |flag: &str, problem| Failure::from(Diagnostic::of("U011", Place::Flag(flag.into()), problem));
        let duration = |flag: &str, text: &Option<String>, default_ns| match text {
            Some(text) => unit::duration_ns(text).map_err(|problem| wrong(flag, problem)),
            None => Ok(default_ns),
        };
        Ok(Some(AgentOptions {
            selection: Selection::parse(text).map_err(|problem| wrong("--agents", problem))?,
            wait_ns: duration("--wait-for-agents", &flags.wait_for_agents, WAIT_NS)?,
            on_loss: match flags.on_agent_loss.as_deref() {
                None | Some("continue") => OnLoss::Continue,
                Some("stop") => OnLoss::Stop,
                Some("rebalance") => OnLoss::Rebalance,
                Some(other) => {
                    let message =
                        format!("invalid action `{other}`: expected `continue`, `stop`, or `rebalance`");
                    let place = Place::Flag("--on-agent-loss".into());
                    return Err(Diagnostic::new("U011", place, message, "use one of them").into());
                }
            },
            skew_ns: duration("--max-skew", &flags.max_skew, SKEW_NS)?,
        }))
    }
}

/// Checks the flags about agents, before anything else is done with them.
///
/// # Errors
/// Returns an error if one of them is invalid.
pub fn check(flags: &AgentFlags) -> Result<(), Failure> {
    let access = &flags.access;
    let given = [
        (access.nats.is_some(), "--nats"),
        (access.creds.is_some(), "--creds"),
        (access.nkey.is_some(), "--nkey"),
        (access.nats_ca.is_some(), "--nats-ca"),
        (access.nats_cert.is_some(), "--nats-cert"),
    ];
    if let (None, Some((_, flag))) = (&flags.selection, given.iter().find(|(is_given, _)| *is_given)) {
        let message = format!("`{flag}` has no effect without `--agents`");
        let hint = "add the agents, such as `--agents 4`";
        return Err(Diagnostic::new("U019", Place::Flag((*flag).into()), message, hint).into());
    }
    AgentOptions::of(flags).map(drop)
}
