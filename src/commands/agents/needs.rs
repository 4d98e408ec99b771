//! What a load needs of its agents: a user for each of them, and a connection for each user.

use crate::exit::Failure;
use plimsoll_cluster::coordinator::OnLoss;
use plimsoll_cluster::message::Identity;
use plimsoll_control::can_rebalance;
use plimsoll_plan::data::OutFile;
use plimsoll_plan::diag::Place;
use plimsoll_plan::link::Reuse;
use plimsoll_plan::load::Share;
use plimsoll_plan::phrase::counted;
use plimsoll_plan::{Diagnostic, Outline, Plan};

/// Open files of a load generator besides its connections: standard streams, and the readiness queue of a worker.
const OWN_FILES: u64 = 8;

/// Returns the closed loads of an outline as numbers of users, and whether arrivals come as well.
fn users(outline: &Outline) -> (Vec<u32>, bool) {
    if outline.workloads.is_empty() {
        let is_open = outline.load.is_open();
        return (if is_open { Vec::new() } else { vec![outline.connections] }, is_open);
    }
    let (open, closed): (Vec<_>, Vec<_>) = outline.workloads.iter().partition(|one| one.load.is_open());
    (closed.iter().map(|one| one.connections).collect(), !open.is_empty())
}

/// Leaves out agents that would have no user, and says so: of a sweep, only some loads may be that small.
pub fn with_users(outline: &Outline, mut agents: Vec<Identity>, tell: impl Fn(&str)) -> Vec<Identity> {
    // Arrivals are dealt out one by one.
    let (users, false) = users(outline) else { return agents };
    let most = users.into_iter().max().unwrap_or(0);
    if outline.cell.is_some() && most > 0 && agents.len() > most as usize {
        agents.truncate(most as usize);
        let (users, senders) = (counted(u64::from(most), "user"), counted(u64::from(most), "agent"));
        tell(&format!("{users}: only {senders} will send this load\n"));
    }
    agents
}

/// Refuses a load that has fewer users than agents.
///
/// # Errors
/// Returns an error if an agent would have no user.
pub fn check_users(outline: &Outline, of: u32) -> Result<(), Diagnostic> {
    // The last agent has the fewest. Arrivals are dealt out one by one.
    let last = Share { part: of, of };
    let (users, has_arrivals) = users(outline);
    let all = users.iter().sum::<u32>();
    if has_arrivals || all == 0 || users.iter().any(|users| last.count_of(*users) > 0) {
        return Ok(());
    }
    let (users, agents) = (counted(u64::from(all), "user"), counted(u64::from(of), "agent"));
    let message = format!("{users} cannot be divided among {agents}");
    let hint = "use more users, or fewer agents";
    Err(Diagnostic::new("P019", Place::Flag("--agents".into()), message, hint))
}

/// Refuses steps that write a file: each agent would have its own, and delete it with the other files of the load. Data
/// files that setup writes travel from the first agent to the others.
///
/// # Errors
/// Returns an error for the first file.
pub fn check_written_files(plan: &Plan) -> Result<(), Diagnostic> {
    let Some(script) = &plan.script else { return Ok(()) };
    let is_data =
        |file: &OutFile| script.feeders.iter().any(|feeder| feeder.made_by_setup && feeder.path == file.path);
    match script.files.iter().find(|file| !is_data(file)) {
        None => Ok(()),
        Some(file) => {
            let path = file.path.display();
            let message = format!(
                "a step writes `{path}`, and each agent would have its own, without the others' rows"
            );
            let hint = "write the file with a load without `--agents` before this one, or remove the step";
            Err(Diagnostic::new("U049", Place::Flag("--agents".into()), message, hint))
        }
    }
}

/// Refuses to rebalance a load that the other agents cannot take over.
///
/// # Errors
/// Returns an error with the reason.
pub fn check_rebalance(outline: &Outline, on_loss: OnLoss) -> Result<(), Diagnostic> {
    match (on_loss, can_rebalance(outline)) {
        (OnLoss::Rebalance, Err(why)) => {
            let message = format!("the other agents cannot take over the load of a lost one: {why}");
            let place = Place::Flag("--on-agent-loss".into());
            Err(Diagnostic::new("U037", place, message, "use `continue` or `stop`"))
        }
        _ => Ok(()),
    }
}

/// Refuses an agent that cannot open a connection for each of its users.
///
/// # Errors
/// Returns an error for the first one.
pub fn check_open_files(outline: &Outline, agents: &[Identity]) -> Result<(), Failure> {
    // Otherwise, users share connections (HTTP/2 as well), or have one only from time to time.
    if outline.link.reuse != Reuse::User || outline.link.streams > 1 {
        return Ok(());
    }
    let (users, _) = users(outline);
    for (part, agent) in (1..).zip(agents) {
        let share = Share { part, of: agents.len() as u32 };
        let own: u64 = users.iter().map(|all| u64::from(share.count_of(*all))).sum();
        if own + OWN_FILES > agent.open_files {
            let sentence = format!(
                "agent `{}` can open {}, and its part of the load has {}",
                agent.name,
                counted(agent.open_files, "file"),
                counted(own, "user")
            );
            let hint = "each user has a connection: raise the limit before `plimsoll agent` starts (`ulimit -n 65536`, \
                        or `LimitNOFILE=65536` in a systemd unit), or use more agents";
            return Err(Failure::machine(sentence, Some(hint.into())));
        }
    }
    Ok(())
}
