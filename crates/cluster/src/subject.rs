//! Subjects of messages. Each agent publishes only below its own name, so a server can restrict it to that.

/// First part of every subject, with the version of the layout.
const ROOT: &str = "plimsoll.v1";

/// Signs of life of all agents.
pub const BEATS: &str = "plimsoll.v1.agent.*.beat";

/// Question to all agents for a sign of life.
pub const ROLL_CALL: &str = "plimsoll.v1.roll_call";

/// Question to all agents for a check of their machines.
pub const CHECK_UP: &str = "plimsoll.v1.check_up";

/// Answers of all agents to it.
pub const CHECKED: &str = "plimsoll.v1.agent.*.checked";

/// Answers of one agent.
pub fn checked(agent: &str) -> String {
    format!("{ROOT}.agent.{agent}.checked")
}

/// Signs of life of one agent.
pub fn beat(agent: &str) -> String {
    format!("{ROOT}.agent.{agent}.beat")
}

/// Envelopes of one agent for one run.
pub fn envelopes(agent: &str, run: &str) -> String {
    format!("{ROOT}.agent.{agent}.envelope.{run}")
}

/// Envelopes of all agents for one run.
pub fn all_envelopes(run: &str) -> String {
    envelopes("*", run)
}

/// Orders to one agent.
pub fn orders(agent: &str) -> String {
    format!("{ROOT}.order.{agent}")
}

/// Questions to the coordinator of a run for its time.
pub fn clock(run: &str) -> String {
    format!("{ROOT}.run.{run}.clock")
}

/// Questions to the coordinator of a run for parts of files.
pub fn files(run: &str) -> String {
    format!("{ROOT}.run.{run}.file")
}

/// Returns whether a name can be part of a subject: letters, digits, `-`, and `_`, at most 64 characters.
pub fn is_name(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    (1..=64).contains(&name.len()) && name.chars().all(allowed)
}

/// Returns a name with every other character replaced by `-`, such as that of a host.
pub fn name_of(text: &str) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let name: String = text.chars().take(64).map(allowed).collect();
    if name.is_empty() { "agent".into() } else { name }
}
