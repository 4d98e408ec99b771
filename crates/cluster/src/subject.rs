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

/// What a client of the server may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permissions {
    pub publish: Vec<String>,
    pub subscribe: Vec<String>,
    /// Whether it may answer questions of others.
    pub answers: bool,
}

/// Returns what an agent needs.
pub fn permissions_of_agent(agent: &str) -> Permissions {
    Permissions {
        publish: vec![format!("{ROOT}.agent.{agent}.>"), clock("*"), files("*")],
        subscribe: vec![
            orders(agent),
            ROLL_CALL.to_owned(),
            CHECK_UP.to_owned(),
            format!("{}.>", inbox(agent)),
        ],
        answers: false,
    }
}

/// Returns what a coordinator needs.
pub fn permissions_of_coordinator() -> Permissions {
    Permissions {
        publish: vec![orders("*"), ROLL_CALL.to_owned(), CHECK_UP.to_owned()],
        subscribe: vec![BEATS.to_owned(), CHECKED.to_owned(), all_envelopes("*"), clock("*"), files("*")],
        answers: true,
    }
}

/// Returns the prefix of the subjects on which a client gets answers.
pub fn inbox(name: &str) -> String {
    format!("_INBOX_{}", name_of(name))
}

/// Returns whether a name can be part of a subject: letters, digits, `-`, and `_`, at most 64 characters.
pub fn is_name(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    (1..=64).contains(&name.len()) && name.chars().all(allowed)
}

/// Returns the name of an agent that has a number, beginning with 0.
pub fn numbered(index: u32) -> String {
    format!("agent-{index}")
}

/// Returns a name with every other character replaced by `-`, such as that of a host.
pub fn name_of(text: &str) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let name: String = text.chars().take(64).map(allowed).collect();
    if name.is_empty() { "agent".into() } else { name }
}
