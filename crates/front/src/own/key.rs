//! The table of an experiment file's keys: where each stands and what it expects; and the words that people try
//! instead of them.

use crate::nearest::nearest;

/// Where a key may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// At the left edge.
    Top,
    /// Under `load:`.
    Load,
    /// One leg of `load.stages`.
    Stage,
    /// One request of a scenario.
    Request,
}

impl Section {
    /// How a sentence names the place.
    pub fn name(self) -> &'static str {
        match self {
            Section::Top => "at the top level",
            Section::Load => "under `load`",
            Section::Stage => "in a stage",
            Section::Request => "in a request",
        }
    }
}

/// A row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    pub section: Section,
    pub name: &'static str,
    /// What its value is, with an example, as it follows behind the word "expected".
    pub expects: &'static str,
}

const fn row(section: Section, name: &'static str, expects: &'static str) -> Row {
    Row { section, name, expects }
}

use Section::{Load, Request, Stage, Top};

/// All keys.
pub const TABLE: &[Row] = &[
    row(Top, "name", "text"),
    row(Top, "target", "a URL such as `http://127.0.0.1:8080`"),
    row(Top, "scenarios", "a named list of requests, such as `browse: [ { get: /pick } ]`"),
    row(Top, "load", "a mapping such as `{ users: 100, duration: 15s }`"),
    row(Top, "thresholds", "a list such as `[ \"response_time p99 < 250ms\" ]`"),
    row(Top, "headers", "a mapping such as `{ Accept: text/html }`"),
    row(Top, "timeout", "a time such as `10s`"),
    row(Top, "warmup", "a time such as `5s`"),
    row(Top, "keep_alive", "`true` or `false`"),
    row(Top, "read_bodies", "`true` or `false`"),
    row(Top, "workers", "a whole number such as `2`"),
    row(Top, "seed", "a whole number such as `1`"),
    row(Top, "share", "a share such as `1/2`"),
    row(Top, "bands", "a list of times such as `[100ms, 1s, 10s]`"),
    row(Top, "limits", "a mapping such as `{ head_bytes: 32k }`"),
    row(Load, "users", "a whole number such as `100`"),
    row(Load, "connections", "a whole number such as `100`"),
    row(Load, "arrivals", "a rate such as `100/s`"),
    row(Load, "spread", "`constant` or `poisson`"),
    row(Load, "stages", "a list such as `[ \"10s:100\", \"1m:500\" ]`"),
    row(Load, "duration", "a time such as `15s`"),
    row(Load, "requests", "a whole number such as `1000`"),
    row(Stage, "duration", "a time such as `10s`"),
    row(Stage, "users", "a whole number such as `100`"),
    row(Stage, "arrivals", "a rate such as `100/s`"),
    row(Request, "get", "a path such as `/pick`"),
    row(Request, "post", "a path such as `/users`"),
    row(Request, "put", "a path such as `/users/7`"),
    row(Request, "patch", "a path such as `/users/7`"),
    row(Request, "delete", "a path such as `/users/7`"),
    row(Request, "head", "a path such as `/pick`"),
    row(Request, "options", "a path such as `/pick`"),
    row(Request, "name", "text"),
    row(Request, "headers", "a mapping such as `{ Accept: text/html }`"),
    row(Request, "json", "a value such as `{ email: a@example.com }`"),
    row(Request, "body", "text"),
    row(Request, "body_file", "the name of a file"),
];

/// The methods among the keys of a request.
pub const METHODS: &[&str] = &["get", "post", "put", "patch", "delete", "head", "options"];

/// Keys that an experiment file will have. Refused by name wherever they stand, never ignored.
pub const LATER: &[(Section, &str)] = &[
    (Top, "variants"),
    (Top, "monitor"),
    (Top, "repeat"),
    (Top, "feeders"),
    (Top, "agents"),
    (Top, "set_up"),
    (Top, "setup"),
    (Top, "tear_down"),
    (Top, "teardown"),
    (Top, "hypothesis"),
    (Top, "sweep"),
    (Top, "variables"),
    (Top, "allow"),
    (Top, "protocol"),
    (Load, "step"),
    (Load, "every"),
    (Load, "until"),
    (Load, "iterations"),
    (Load, "think"),
    (Request, "check"),
    (Request, "extract"),
    (Request, "think"),
    (Request, "repeat"),
    (Request, "weight"),
    (Request, "expect"),
    (Request, "form"),
    (Request, "query"),
    (Request, "timeout"),
    (Request, "feed"),
    (Request, "when"),
    (Request, "loop"),
    (Request, "parallel"),
    (Request, "websocket"),
    (Request, "sse"),
    (Request, "grpc"),
];

/// What people write who come from another tool, and our word for it (in the same section or in another).
pub const SYNONYMS: &[(Section, &str, &str)] = &[
    (Top, "url", "target"),
    (Top, "base_url", "target"),
    (Top, "host", "target"),
    (Top, "scenario", "scenarios"),
    (Top, "steps", "scenarios"),
    (Top, "threads", "workers"),
    (Top, "keepalive", "keep_alive"),
    (Top, "time_out", "timeout"),
    (Top, "objectives", "thresholds"),
    (Top, "slo", "thresholds"),
    (Load, "rate", "arrivals"),
    (Load, "rps", "arrivals"),
    (Load, "arrival_rate", "arrivals"),
    (Load, "vus", "users"),
    (Load, "concurrency", "users"),
    (Load, "time", "duration"),
    (Load, "count", "requests"),
    (Load, "poisson", "spread"),
    (Stage, "target", "users"),
    (Stage, "time", "duration"),
    (Stage, "rate", "arrivals"),
    (Request, "method", "get"),
    (Request, "url", "get"),
    (Request, "path", "get"),
    (Request, "header", "headers"),
    (Request, "data", "body"),
    (Request, "file", "body_file"),
];

/// The row of a key.
pub fn find(section: Section, name: &str) -> Option<&'static Row> {
    TABLE.iter().find(|row| row.section == section && row.name == name)
}

/// The key that a wrong one was meant for, as far as that can be guessed.
pub fn meant(section: Section, wrong: &str) -> Option<&'static str> {
    match SYNONYMS.iter().find(|(s, name, _)| *s == section && *name == wrong) {
        Some((_, _, ours)) => Some(ours),
        None => nearest(wrong, names(section)),
    }
}

/// All names of a section.
pub fn names(section: Section) -> impl Iterator<Item = &'static str> {
    TABLE.iter().filter(move |row| row.section == section).map(|row| row.name)
}
