//! One user and his requests, for the tests of what is sent: made by hand, rendered to text.

#![allow(dead_code, reason = "each test file uses its own part")]

use plimsoll_plan::load::Share;
use plimsoll_plan::program::UserSlot;
use plimsoll_plan::script::Ask;
use plimsoll_plan::value::{Escape, Part, Placeholder, Secret, Text, VarId};
use plimsoll_script::ask::{CookieJar, Form, Site};
use plimsoll_script::feed::{Feeds, Rows};
use plimsoll_script::value::{Counters, Globals, Scope, Unfilled, Vars};
use plimsoll_stats::random::SplitMix64;
use std::sync::Arc;

/// 6 November 1994, 08:49:37, the day of the RFCs' examples.
pub const NOW_NS: u64 = 784_111_777 * 1_000_000_000;

pub struct User {
    pub vars: Vars,
    globals: Arc<Globals>,
    rows: Rows,
    random: SplitMix64,
    counters: Counters,
    pub scratch: Vec<u8>,
}

impl User {
    pub fn new() -> User {
        let feeds = Feeds::open(&[], 1, Share::default()).expect("no feeder, nothing to go wrong");
        User {
            vars: Vars::new(4),
            globals: Globals::new(0),
            rows: Rows::new(&Arc::new(feeds), UserSlot { workload: 0, user: 0, id: 0, users: 1 }),
            random: SplitMix64::new(1),
            counters: Counters::new(),
            scratch: b"left over".to_vec(),
        }
    }

    pub fn with(values: &[&str]) -> User {
        let mut user = User::new();
        for (id, value) in values.iter().enumerate() {
            user.vars.set(id as VarId, value.as_bytes());
        }
        user
    }

    pub fn render(
        &mut self,
        form: &Form,
        jar: Option<&CookieJar>,
        out: &mut Vec<u8>,
    ) -> Result<(), Unfilled> {
        let mut scope = Scope {
            vars: &mut self.vars,
            globals: &self.globals,
            rows: &mut self.rows,
            random: &mut self.random,
            counters: &self.counters,
            unix_ns: NOW_NS,
            user: 1,
            iteration: 1,
            timings: &[],
            request: Default::default(),
        };
        form.render(&mut scope, jar, &mut self.scratch, out)
    }

    pub fn text(&mut self, form: &Form, jar: Option<&CookieJar>) -> String {
        let mut out = Vec::new();
        self.render(form, jar, &mut out).expect("every hole has a value that may be sent");
        String::from_utf8(out).expect("the test's requests are text")
    }
}

pub fn site() -> Site {
    let host = "shop.example:8080".to_owned();
    Site { number: 0, host, tls: false, http10: false, close: false, user_agent: "plimsoll/0.1.0" }
}

pub fn ask(method: &str, path: Text) -> Ask {
    Ask {
        origin: 0,
        name: "buy".into(),
        scenario: Some(0),
        group: None,
        tags: Vec::new(),
        method: method.into(),
        path,
        headers: Vec::new(),
        body: None,
        timeout_ns: None,
        redirects: 0,
        expect: None,
        checks: Vec::new(),
        extracts: Vec::new(),
        go_on_after_failure: false,
        stream: None,
        websocket: None,
        grpc: None,
    }
}

pub fn with_headers(mut ask: Ask, headers: &[(&str, Text)]) -> Ask {
    ask.headers = headers.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    ask
}

pub fn with_body(mut ask: Ask, body: Text) -> Ask {
    ask.body = Some(body);
    ask
}

pub fn form(ask: &Ask) -> Form {
    Form::compile(ask, &site()).unwrap_or_else(|sentence| panic!("{sentence}"))
}

pub fn literal(text: &str) -> Text {
    Text::literal(text)
}

/// `$0` to `$3` become holes for the user's variables, escaped as said; `$s` becomes a secret.
pub fn text(pattern: &str, escape: Escape) -> Text {
    let mut text = Text::default();
    let mut pieces = pattern.split('$');
    text.push_literal(pieces.next().unwrap_or_default().as_bytes());
    for piece in pieces {
        text.parts.push(match &piece[..1] {
            "s" => Part::Secret(Secret::new("s3cret")),
            digit => Part::Placeholder(Placeholder::Var(digit.parse().expect("a digit follows")), escape),
        });
        text.push_literal(&piece.as_bytes()[1..]);
    }
    text
}
