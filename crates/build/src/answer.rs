//! Checks, rules, and extractions of responses, and conditions on extracted values.

use crate::draft::{
    CheckDraft, ConditionDraft, ExtractDraft, On, Open, PartDraft, RuleDraft, StreamDraft, SubjectDraft,
};
use crate::expression::Expression;
use crate::openapi;
use crate::sentence::short;
use crate::work::Work;
use plimsoll_plan::answer::{Check, Extract, JwtCheck, Rule, Source, Subject};
use plimsoll_plan::script::{Ask, Condition};
use plimsoll_plan::stream::{Closer, Stream};
use plimsoll_plan::value::{Function, Text};

impl Work {
    /// Adds the checks of a draft to a request.
    pub fn check(&mut self, draft: &CheckDraft, ask: &mut Ask) {
        let found = self.subjects(&draft.subjects, Some(&*ask));
        if let (Some(chosen), true) = (&draft.name, found.is_empty()) {
            let hint = "add what the response must be, such as `status: 200`";
            self.wrong.complain("F016", chosen.pos, format!("check `{}` has no rule", chosen.name), hint);
        }
        let several = found.len() > 1;
        for (on, words) in found {
            let name = match &draft.name {
                Some(chosen) if several => format!("{}: {words}", chosen.name),
                Some(chosen) => chosen.name.clone(),
                None => words,
            };
            add(name, on, ask);
        }
        if let Some(chosen) = &draft.name
            && ask.checks.iter().any(|check| check.name == format!("{} (2)", chosen.name))
        {
            let message = format!("duplicate check name `{}`", chosen.name);
            let hint = "give each check its own name, because reports distinguish checks by name";
            self.wrong.complain("F013", chosen.pos, message, hint);
        }
    }

    /// Builds the subjects of a check, with their words.
    /// `ask` is the request whose response it is, if it is one.
    pub fn subjects(&mut self, drafts: &[SubjectDraft], ask: Option<&Ask>) -> Vec<(Subject, String)> {
        let mut found: Vec<(Subject, String)> = Vec::new();
        for subject in drafts {
            let front = &subject.words;
            match &subject.on {
                On::Fixed(on) => found.push((on.clone(), front.clone())),
                On::Header { name, rule } => found.extend(self.rule(rule).map(|rule| {
                    let words = format!("{front} {}", in_words(&rule));
                    (Subject::Header { name: name.clone(), rule }, words)
                })),
                On::Body(rule) => found.extend(self.rule(rule).map(|rule| {
                    let words = format!("{front} {}", in_words(&rule));
                    (Subject::Body(rule), words)
                })),
                On::Value { from, rule } => found.extend(self.rule(rule).map(|rule| {
                    let words = format!("{front} {}", in_words(&rule));
                    (Subject::Value { from: from.clone(), rule }, words)
                })),
                On::Jwt { from, key, claims } => {
                    let claims: Vec<_> = claims
                        .iter()
                        .map(|(name, rule)| self.rule(rule).map(|rule| (name.clone(), rule)))
                        .collect();
                    let key = self.jwt_key(key);
                    if let (Some(claims), Some(key)) = (claims.into_iter().collect::<Option<_>>(), key) {
                        let check = JwtCheck { from: from.clone(), key, claims };
                        found.push((Subject::Jwt(Box::new(check)), front.clone()));
                    }
                }
                On::OpenApi(draft) => match ask.map(|ask| openapi::described(draft, ask)) {
                    Some(Ok(described)) => {
                        let words = format!("{front} {}", described.operation);
                        found.push((Subject::OpenApi(Box::new(described)), words));
                    }
                    Some(Err(Some(problem))) => self.wrong.complain_of(draft.pos, problem),
                    // The path of the request has a mistake, which is already reported. A message has no such check.
                    Some(Err(None)) | None => {}
                },
                On::GrpcMessage(rule) => found.extend(self.rule(rule).map(|rule| {
                    let words = format!("{front} {}", in_words(&rule));
                    (Subject::GrpcMessage(rule), words)
                })),
                On::Json { path, rule } => found.extend(self.rule(rule).map(|rule| {
                    let words = format!("{front} {}", in_words(&rule));
                    (Subject::Json { path: path.clone(), rule }, words)
                })),
            }
        }
        found
    }

    fn rule(&mut self, draft: &RuleDraft) -> Option<Rule> {
        match draft {
            RuleDraft::Fixed(rule) => Some(rule.clone()),
            RuleDraft::Equals(text) => self.text(text).map(Rule::Equals),
            RuleDraft::Differs(text) => self.text(text).map(Rule::Differs),
            RuleDraft::Contains(text) => self.text(text).map(Rule::Contains),
            RuleDraft::Lacks(text) => self.text(text).map(Rule::Lacks),
            RuleDraft::OneOf(texts) => {
                let texts: Vec<_> = texts.iter().map(|text| self.text(text)).collect();
                texts.into_iter().collect::<Option<_>>().map(Rule::OneOf)
            }
        }
    }

    /// Builds the extractions of a request or a message.
    pub fn extracts(&mut self, drafts: &[ExtractDraft]) -> Vec<Extract> {
        let mut all = Vec::new();
        // Defaults first, then names: a default may use earlier values, but not values of this response.
        let defaults: Vec<Option<Option<Text>>> = drafts
            .iter()
            .map(|draft| match &draft.default {
                None => Some(None),
                Some(default) => self.text(default).map(Some),
            })
            .collect();
        for (draft, default) in drafts.iter().zip(defaults) {
            let slot = self.slot(&draft.into);
            if let (Some(into), Some((from, pick)), Some(default)) = (slot, &draft.from, default) {
                let name = draft.into.name.clone();
                all.push(Extract { into, name, from: from.clone(), pick: *pick, default });
            }
        }
        all
    }

    /// Builds the stream that begins with the response to `ask`.
    pub fn stream(&mut self, draft: &StreamDraft, ask: &Ask) -> Box<Stream> {
        let mut stream = draft.stream.clone();
        // Both run at the same time: a value that one side sets may be available to the other.
        self.scope.add_all_of(&draft.beside);
        stream.beside = self.steps(&draft.beside);
        let reads_body = ask.checks.iter().any(|check| needs_body(&check.on))
            || ask.extracts.iter().any(|extract| source_needs_body(&extract.from));
        if reads_body {
            let message = "the body of a stream cannot be checked: it is not kept";
            let hint = "check its status and headers, and account for its events with `events`, \
                        `expected_interval`, and `sequence`";
            self.wrong.complain("F017", draft.pos, message, hint);
        }
        if stream.closed_by == Some(Closer::Client) && stream.for_ns.is_none() && stream.events.is_none() {
            let message = "missing `duration` or `events`: `closed_by: client` requires one of them";
            self.wrong.complain(
                "F016",
                draft.pos,
                message,
                "add one, such as `duration: 60s` or `events: 100`",
            );
        }
        Box::new(stream)
    }

    /// Builds a condition of a loop or a branch.
    pub fn condition(&mut self, draft: &ConditionDraft) -> Option<Condition> {
        // The value may be missing in the first iteration and present later. The condition checks for it, so the steps
        // after it may use it.
        if draft.asks_for_being {
            for part in &draft.left.parts {
                if let PartDraft::Open(Open { means: Expression::Name(name), .. }) = part
                    && self.scope.coming.iter().any(|coming| coming.name == *name)
                {
                    self.scope.add(name);
                }
            }
        }
        if let Some(operator) = draft.is_fixed_before {
            let written = draft.left.written();
            let word = written.trim();
            let message = format!("`{}` before `{operator}` is fixed text", short(word));
            let hint = match self.is_known(word) {
                true => format!("did you mean `${{{word}}}`?"),
                false => format!("write a value that changes before `{operator}`, such as `${{n}}`"),
            };
            self.wrong.complain("F031", draft.pos, message, hint);
        }
        let left = self.text(&draft.left);
        self.wrong.all.extend(draft.wrong.iter().cloned());
        let rule = draft.rule.as_ref().and_then(|rule| self.rule(rule));
        Some(Condition { left: left?, rule: rule? })
    }

    /// Returns whether `${word}` is defined here, or after a later step has set it.
    fn is_known(&self, word: &str) -> bool {
        if let Some((feeder, column)) = word.split_once('.') {
            return self
                .feeders
                .get(feeder)
                .is_some_and(|known| known.columns.is_none() || known.has(column));
        }
        self.scope.set.iter().chain(&self.script.globals).any(|name| name == word)
            || self.scope.coming.iter().any(|coming| coming.name == word)
            || self.constants.iter().any(|name| name == word)
            || Function::NAMES.contains(&word)
    }
}

fn add(name: String, on: Subject, ask: &mut Ask) {
    let name = distinct_name(name, |name| ask.checks.iter().any(|check| check.name == name));
    ask.checks.push(Check { name, on });
}

/// Returns a name that is not taken: with a number if necessary.
pub fn distinct_name(name: String, taken: impl Fn(&str) -> bool) -> String {
    let mut apart = name.clone();
    let mut number = 1;
    while taken(&apart) {
        number += 1;
        apart = format!("{name} ({number})");
    }
    apart
}

/// Returns whether a check needs the response body.
pub fn needs_body(on: &Subject) -> bool {
    match on {
        Subject::Body(_) | Subject::Json { .. } | Subject::Length { .. } | Subject::Hash { .. } => true,
        Subject::Schema(_) | Subject::OpenApi(_) | Subject::NoGraphqlErrors => true,
        Subject::Jwt(check) => source_needs_body(&check.from),
        Subject::Value { from, .. } => source_needs_body(from),
        Subject::GrpcStatus(_) | Subject::GrpcMessage(_) => false,
        Subject::Status(_)
        | Subject::Header { .. }
        | Subject::HeaderSnapshot(_)
        | Subject::Duration { .. } => false,
    }
}

/// Returns whether a value is taken from the response body.
fn source_needs_body(from: &Source) -> bool {
    match from {
        Source::Json(_) | Source::Regex { .. } | Source::Body => true,
        Source::XPath(_) | Source::Css { .. } | Source::JmesPath(_) | Source::Boundary { .. } => true,
        Source::Header(_) | Source::Cookie(_) | Source::Status => false,
    }
}

/// Describes a rule for the name of its check. Values that only the load knows are shown as `${...}`.
fn in_words(rule: &Rule) -> String {
    match rule {
        Rule::Exists => "exists".into(),
        Rule::Absent => "is absent".into(),
        Rule::Equals(text) => format!("is {}", short(&text.describe())),
        Rule::Differs(text) => format!("is not {}", short(&text.describe())),
        Rule::Contains(text) => format!("contains {}", short(&text.describe())),
        Rule::Lacks(text) => format!("does not contain {}", short(&text.describe())),
        Rule::Matches(pattern) => format!("matches /{}/", short(pattern)),
        Rule::Below(number) => format!("< {number}"),
        Rule::AtMost(number) => format!("<= {number}"),
        Rule::Above(number) => format!("> {number}"),
        Rule::AtLeast(number) => format!(">= {number}"),
        Rule::OneOf(texts) => {
            format!("is one of {}", short(&texts.iter().map(|t| t.describe()).collect::<Vec<_>>().join(", ")))
        }
    }
}
