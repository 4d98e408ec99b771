//! What this crate cannot run of a plan, before the load.

use crate::script::{Language, Refused, Script};
use plimsoll_jmx::code;
use plimsoll_jmx::plan::{
    Assertion, Controller, Info, Match, Node, NodeKind, PostProcessor, PreProcessor, Sampler, SamplerKind,
    SocketAction, TestPlan, Timer,
};
use plimsoll_jmx::text::{Part, Pos, Text};
use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;
use std::collections::BTreeSet;

/// Returns everything of a plan that cannot run, with its element and place.
pub fn check(plan: &TestPlan) -> Vec<Diagnostic> {
    let mut checker = Checker { plan, found: Vec::new(), seen: BTreeSet::new() };
    for group in &plan.groups {
        checker.nodes(&group.nodes);
    }
    checker.found
}

struct Checker<'p> {
    plan: &'p TestPlan,
    found: Vec<Diagnostic>,
    /// Elements that several samplers share are reported once.
    seen: BTreeSet<(Pos, String)>,
}

impl Checker<'_> {
    fn refuse(&mut self, info: &Info, pos: Pos, what: &str, hint: &str) {
        self.refuse_as(code::SETTING, info, pos, what, hint);
    }

    fn refuse_as(&mut self, code: &'static str, info: &Info, pos: Pos, what: &str, hint: &str) {
        if !self.seen.insert((pos, what.to_owned())) {
            return;
        }
        let file = self.plan.files.get(usize::from(pos.file)).cloned().unwrap_or_default();
        let place = Place::Text { file, line: pos.line, column: pos.column, excerpt: String::new() };
        let message = format!("`{}`: {what}", info.path);
        self.found.push(Diagnostic::new(code, place, message, hint));
    }

    fn nodes(&mut self, nodes: &[Node]) {
        for node in nodes {
            self.text(&node.info, &node.info.name);
            match &node.kind {
                NodeKind::Sampler(sampler) => self.sampler(&node.info, sampler),
                NodeKind::Controller { controller, nodes, .. } => {
                    match controller {
                        Controller::If { condition, is_expression: false, .. } => {
                            self.code(&node.info, condition, Language::JavaScript);
                        }
                        Controller::If { condition, .. } | Controller::While { condition } => {
                            self.text(&node.info, condition);
                        }
                        _ => {}
                    }
                    self.nodes(nodes);
                }
            }
        }
    }

    fn sampler(&mut self, info: &Info, sampler: &Sampler) {
        match &sampler.kind {
            SamplerKind::Http(http) => {
                for text in [&http.protocol, &http.domain, &http.port, &http.path, &http.method] {
                    self.text(info, text);
                }
                for argument in &http.arguments {
                    self.text(info, &argument.name);
                    self.text(info, &argument.value);
                }
                if let Some(resources) = &http.resources {
                    self.pattern(info, &resources.must_match);
                    self.pattern(info, &resources.must_not_match);
                }
            }
            SamplerKind::Script(script) => self.script(info, script),
            SamplerKind::Action { pause_ms, .. } => self.text(info, pause_ms),
            SamplerKind::Socket(socket) => {
                if let Some(url) = &socket.opens {
                    for text in [&url.server, &url.port, &url.path] {
                        self.text(info, text);
                    }
                }
                if let SocketAction::Write(message) | SocketAction::Exchange(message) = &socket.action {
                    self.text(info, &message.text);
                }
            }
            SamplerKind::Java { arguments: pairs, .. } | SamplerKind::Set(pairs) => {
                for (name, value) in pairs {
                    self.text(info, name);
                    self.text(info, value);
                }
            }
            SamplerKind::Debug { .. } => {}
        }
        let scope = &sampler.scope;
        for header in &scope.headers {
            self.text(info, &header.name);
            self.text(info, &header.value);
        }
        for pre in &scope.pre {
            match &pre.kind {
                PreProcessor::Script(script) => self.script(&pre.info, script),
                PreProcessor::Parameters(parameters) => {
                    for text in parameters.sets.iter().flatten() {
                        self.text(&pre.info, text);
                    }
                }
                PreProcessor::Rewriting(_) | PreProcessor::Replacement(_) | PreProcessor::Timeout(_) => {}
            }
        }
        for timer in &scope.timers {
            if let Timer::Script(script) = &timer.kind {
                self.script(&timer.info, script);
            }
        }
        for post in &scope.post {
            match &post.kind {
                PostProcessor::Script(script) => self.script(&post.info, script),
                PostProcessor::Extract(extractor) => self.matcher(&post.info, &extractor.matcher),
                PostProcessor::Debug => {}
            }
        }
        for assertion in &scope.assertions {
            self.assertion(&assertion.info, &assertion.kind);
        }
    }

    fn matcher(&mut self, info: &Info, matcher: &Match) {
        match matcher {
            Match::Regex { pattern, .. } => self.pattern(info, pattern),
            Match::JsonPath { paths, .. } => {
                for path in
                    paths.fixed().unwrap_or_default().split(';').filter(|path| !path.trim().is_empty())
                {
                    self.place(info, paths.pos, plimsoll_body::Values::json(path.trim()).err());
                }
            }
            Match::JsonArray { path } => {
                if let Some(text) = path.fixed().filter(|text| !text.trim().is_empty()) {
                    self.place(info, path.pos, plimsoll_body::Values::json(text.trim()).err());
                }
            }
            Match::JmesPath { path } => {
                if let Some(text) = path.fixed().filter(|text| !text.trim().is_empty()) {
                    self.place(info, path.pos, plimsoll_body::Values::jmes(text.trim()).err());
                }
            }
            Match::XPath { query, returns_fragment, .. } => {
                if *returns_fragment {
                    let hint = "switch off `Return entire XPath fragment`";
                    self.refuse(info, query.pos, "an XPath that returns XML is not supported", hint);
                }
                if let Some(text) = query.fixed().filter(|text| !text.is_empty()) {
                    self.place(info, query.pos, plimsoll_body::Values::xpath(text).err());
                }
            }
            Match::Css { selector, attribute } => {
                if let (Some(text), Some(attribute)) =
                    (selector.fixed().filter(|text| !text.is_empty()), attribute.fixed())
                {
                    let attribute = (!attribute.is_empty()).then_some(attribute);
                    self.place(info, selector.pos, plimsoll_body::Values::css(text, attribute).err());
                }
            }
            Match::Boundary { .. } => {}
        }
    }

    fn place(&mut self, info: &Info, pos: Pos, wrong: Option<String>) {
        if let Some(why) = wrong {
            self.refuse(info, pos, &why, "write the expression in a form that both tools accept");
        }
    }

    fn pattern(&mut self, info: &Info, pattern: &Text) {
        if let Some(Err(why)) = pattern.fixed().map(crate::pattern::compile) {
            self.refuse(info, pattern.pos, &why, "write a pattern without lookaround and back references");
        }
    }

    fn assertion(&mut self, info: &Info, assertion: &Assertion) {
        use plimsoll_jmx::plan::Pattern;
        match assertion {
            Assertion::Response { pattern: Pattern::Contains | Pattern::Matches, patterns, .. } => {
                for pattern in patterns {
                    self.pattern(info, pattern);
                }
            }
            Assertion::Json { path, is_jmespath, .. } => {
                if let Some(text) = path.fixed().filter(|text| !text.is_empty()) {
                    let compiled = match is_jmespath {
                        true => plimsoll_body::Values::jmes(text),
                        false => plimsoll_body::Values::json(text),
                    };
                    self.place(info, path.pos, compiled.err());
                }
            }
            Assertion::XPath { query, .. } => {
                if let Some(text) = query.fixed().filter(|text| !text.is_empty()) {
                    self.place(info, query.pos, plimsoll_body::Values::xpath(text).err());
                }
            }
            Assertion::Script(script) => self.script(info, script),
            _ => {}
        }
    }

    fn script(&mut self, info: &Info, script: &plimsoll_jmx::plan::Script) {
        let Some(language) = Language::named(&script.language) else {
            let what = format!("scripts in `{}` are not supported", script.language);
            return self.refuse_as(code::SCRIPT, info, info.pos, &what, HINT);
        };
        match &script.file_code {
            Some(code) => {
                if let Err(refused) = Script::parse(code, language) {
                    self.refused(info, info.pos, &refused);
                }
            }
            None => self.code(info, &script.code, language),
        }
    }

    /// Checks code in which variables and functions are replaced first.
    fn code(&mut self, info: &Info, code: &Text, language: Language) {
        self.text(info, code);
        if let Err(refused) = parsed(code, language) {
            self.refused(info, code.pos, &refused);
        }
    }

    fn refused(&mut self, info: &Info, pos: Pos, refused: &Refused) {
        let what =
            format!("line {} of the script uses {}, which is not supported", refused.line, refused.what);
        self.refuse_as(code::SCRIPT, info, pos, &what, HINT);
    }

    /// Checks the functions of a text.
    fn text(&mut self, info: &Info, text: &Text) {
        let mut wrong = Vec::new();
        text.visit(&mut |part| {
            let Part::Call(call) = part else { return };
            let language = match call.name.as_str() {
                "__groovy" => Language::Groovy,
                "__javaScript" => Language::JavaScript,
                "__jexl2" | "__jexl3" => Language::Jexl,
                "__time" | "__timeShift" | "__RandomDate" => {
                    if let Some(letter) =
                        call.arguments.first().and_then(|one| one.fixed()).and_then(unknown_letter)
                    {
                        wrong.push(format!(
                            "`{}`: the letter `{letter}` of the date format is not supported",
                            call.source
                        ));
                    }
                    return;
                }
                name if crate::function::named(name).is_none() => {
                    wrong.push(format!("the function `{name}` is not supported"));
                    return;
                }
                _ => return,
            };
            if let Some(Err(refused)) = call.arguments.first().map(|code| parsed(code, language)) {
                wrong.push(format!("`{}` uses {}, which is not supported", call.source, refused.what));
            }
        });
        for what in wrong {
            self.refuse_as(
                code::FUNCTION,
                info,
                text.pos,
                &what,
                "replace it by variables and simpler functions",
            );
        }
    }
}

fn unknown_letter(format: &str) -> Option<char> {
    let is_short = ["", "YMD", "HMS", "YMDHMS"].contains(&format) || format.starts_with('/');
    if is_short { None } else { crate::date::unknown_letter(format) }
}

const HINT: &str = "write it with elements of JMeter, or leave out such scripts with `--skip-scripts`";

/// Parses code, with a number in place of each variable and function.
fn parsed(code: &Text, language: Language) -> Result<(), Refused> {
    let mut text = String::new();
    for part in &code.parts {
        match part {
            Part::Literal(literal) => text.push_str(literal),
            // No variable has such a name, so that its text stays.
            Part::Variable(name) if name.contains(['"', '\'', ';', '\n']) => {
                text.push_str("${");
                text.push_str(name);
                text.push('}');
            }
            Part::Variable(_) | Part::Call(_) => text.push('1'),
        }
    }
    Script::parse(&text, language).map(|_| ())
}
