//! Compiles elements, each once: several samplers share its state.

use super::{
    Argument, Assertion, AssertionKind, AuthManager, Authorization, Barrier, CacheManager, Code, Config,
    CookieManager, Counter, Csv, Extractor, FilePart, Http, Match, Parameters, PostProcessor, PreProcessor,
    PreciseTimer, RandomVariable, Resources, ResultFile, ResultSaver, Rewriting, ShapingTimer, Share, SlotId,
    Socket, SocketAction, SocketMessage, Subject, ThroughputTimer, Timer,
};
use crate::script::Language;
use crate::template::{Compiler, Template};
use plimsoll_jmx::plan::{self as jmx, Element, Id, Info};
use plimsoll_jmx::text::Text;
use std::collections::HashMap;
use std::sync::atomic::AtomicI64;
use std::sync::{Arc, Mutex};

/// The compiled elements of a plan, by their IDs.
#[derive(Default)]
pub struct Elements {
    pub compiler: Compiler,
    pub slots: SlotId,
    pub csv_count: usize,
    pub cookie_managers: Vec<CookieManager>,
    pub cache_managers: Vec<CacheManager>,
    caches: HashMap<jmx::Id, usize>,
    pub reads_previous: bool,
    /// Whether a file of results has requests or responses, or results of assertions.
    pub writes_content: bool,
    /// Whether samples are written to a file.
    pub writes_results: bool,
    pub writes_checks: bool,
    configs: HashMap<Id, Arc<Config>>,
    cookies: HashMap<Id, usize>,
    auths: HashMap<Id, Arc<AuthManager>>,
    pres: HashMap<Id, Arc<PreProcessor>>,
    timers: HashMap<Id, Arc<Timer>>,
    posts: HashMap<Id, Arc<PostProcessor>>,
    assertions: HashMap<Id, Arc<Assertion>>,
    savers: HashMap<Id, Arc<ResultSaver>>,
    result_files: HashMap<Id, Arc<ResultFile>>,
}

/// Returns the compiled element with an ID, and compiles it at its first use.
macro_rules! once {
    ($self:ident . $map:ident, $element:ident, $make:expr) => {{
        if let Some(known) = $self.$map.get(&$element.info.id) {
            return Arc::clone(known);
        }
        let made = Arc::new($make);
        $self.$map.insert($element.info.id, Arc::clone(&made));
        made
    }};
}

impl Elements {
    fn text(&mut self, text: &Text) -> Template {
        self.reads_previous |= super::compile::reads_previous(text);
        self.compiler.text(text)
    }

    fn texts(&mut self, all: &[Text]) -> Vec<Template> {
        all.iter().map(|one| self.text(one)).collect()
    }

    /// Returns names and values.
    pub fn pairs(&mut self, all: &[(Text, Text)]) -> Vec<(Template, Template)> {
        all.iter().map(|(name, value)| (self.text(name), self.text(value))).collect()
    }

    fn slot(&mut self) -> SlotId {
        self.slots += 1;
        self.slots - 1
    }

    pub fn config(&mut self, element: &Arc<Element<jmx::Config>>) -> Arc<Config> {
        once!(self.configs, element, self.new_config(element))
    }

    fn new_config(&mut self, element: &Element<jmx::Config>) -> Config {
        match &element.kind {
            jmx::Config::Csv(csv) => {
                self.csv_count += 1;
                Config::Csv(Box::new(Csv {
                    number: self.csv_count - 1,
                    file: self.text(&csv.file),
                    encoding: self.text(&csv.encoding),
                    variables: self.text(&csv.variables),
                    ignores_first_line: csv.ignores_first_line,
                    delimiter: self.text(&csv.delimiter),
                    is_quoted: csv.is_quoted,
                    recycles: csv.recycles,
                    stops_thread: csv.stops_thread,
                    share: match &csv.share {
                        jmx::ShareMode::All => Share::All,
                        jmx::ShareMode::Group => Share::Group,
                        jmx::ShareMode::Thread => Share::Thread,
                        jmx::ShareMode::Named(name) => Share::Named(self.text(name)),
                    },
                    name: element.info.path.to_string(),
                }))
            }
            jmx::Config::Counter(counter) => Config::Counter(Box::new(Counter {
                variable: self.text(&counter.variable),
                start: self.text(&counter.start),
                end: self.text(&counter.end),
                step: self.text(&counter.step),
                format: self.text(&counter.format),
                is_per_user: counter.is_per_user,
                resets_per_iteration: counter.resets_per_iteration,
                shared: Mutex::new(None),
                slots: [self.slot(), self.slot()],
            })),
            jmx::Config::Random(random) => Config::Random(Box::new(RandomVariable {
                variable: self.text(&random.variable),
                least: self.text(&random.least),
                most: self.text(&random.most),
                format: self.text(&random.format),
                seed: self.text(&random.seed),
                is_per_thread: random.is_per_thread,
                shared: Mutex::new(None),
                slot: self.slot(),
            })),
            jmx::Config::Parameters(parameters) => Config::Parameters(self.parameters(parameters)),
        }
    }

    fn parameters(&mut self, parameters: &jmx::UserParameters) -> Parameters {
        Parameters {
            names: self.texts(&parameters.names),
            sets: parameters.sets.iter().map(|set| self.texts(set)).collect(),
        }
    }

    pub fn cookie_manager(&mut self, element: &Arc<Element<jmx::CookieManager>>) -> usize {
        if let Some(known) = self.cookies.get(&element.info.id) {
            return *known;
        }
        let of = &element.kind;
        let manager = CookieManager {
            cookies: of
                .cookies
                .iter()
                .map(|one| {
                    [
                        self.text(&one.name),
                        self.text(&one.value),
                        self.text(&one.domain),
                        self.text(&one.path),
                    ]
                })
                .collect(),
            secure: of.cookies.iter().map(|one| one.is_secure).collect(),
            clears_each_iteration: of.clears_each_iteration,
            follows_group: of.follows_group,
            ignores_cookies: of.ignores_cookies,
        };
        self.cookie_managers.push(manager);
        self.cookies.insert(element.info.id, self.cookie_managers.len() - 1);
        self.cookie_managers.len() - 1
    }

    /// Returns the number of a cache manager.
    pub fn cache_manager(&mut self, element: &Arc<Element<jmx::CacheManager>>) -> usize {
        if let Some(known) = self.caches.get(&element.info.id) {
            return *known;
        }
        let of = &element.kind;
        let manager = CacheManager {
            clears_each_iteration: of.clears_each_iteration,
            follows_group: of.follows_group,
            uses_expires: of.uses_expires,
            max_entries: self.text(&of.max_entries),
        };
        self.cache_managers.push(manager);
        self.caches.insert(element.info.id, self.cache_managers.len() - 1);
        self.cache_managers.len() - 1
    }

    pub fn auth_manager(&mut self, element: &Arc<Element<jmx::AuthManager>>) -> Arc<AuthManager> {
        once!(self.auths, element, {
            let entries = element.kind.entries.iter().map(|one| Authorization {
                url: self.compiler.text(&one.url),
                user: self.compiler.text(&one.user),
                password: self.compiler.text(&one.password),
                mechanism: one.mechanism,
            });
            AuthManager { entries: entries.collect() }
        })
    }

    pub fn code(&mut self, script: &jmx::Script, info: &Info) -> Code {
        let text = match &script.file_code {
            Some(code) => Template::literal(code),
            None => self.text(&script.code),
        };
        Code {
            language: Language::named(&script.language).unwrap_or_default(),
            text,
            parameters: self.text(&script.parameters),
            name: info.name.source.to_string(),
        }
    }

    pub fn http(&mut self, http: &jmx::Http) -> Http {
        Http {
            protocol: self.text(&http.protocol),
            domain: self.text(&http.domain),
            port: self.text(&http.port),
            method: self.text(&http.method),
            path: self.text(&http.path),
            encoding: self.text(&http.content_encoding),
            has_raw_body: http.has_raw_body,
            arguments: http
                .arguments
                .iter()
                .map(|one| Argument {
                    name: self.text(&one.name),
                    value: self.text(&one.value),
                    is_encoded_always: one.encoding == jmx::Encoding::Always,
                    has_equals: one.has_equals,
                    content_type: self.text(&one.content_type),
                })
                .collect(),
            files: http
                .files
                .iter()
                .map(|one| FilePart {
                    path: self.text(&one.path),
                    parameter: self.text(&one.parameter),
                    media_type: self.text(&one.media_type),
                })
                .collect(),
            is_multipart: http.is_multipart,
            is_browser_compatible: http.is_browser_compatible,
            follows_redirects: http.follows_redirects,
            redirects_automatically: http.redirects_automatically,
            keeps_alive: http.keeps_alive,
            response_timeout_ms: self.text(&http.response_timeout_ms),
            stores_md5: http.stores_md5,
            resources: http.resources.as_ref().map(|resources| Resources {
                must_match: self.text(&resources.must_match),
                must_not_match: self.text(&resources.must_not_match),
                concurrent: resources.concurrent.as_ref().map(|number| self.text(number)),
            }),
        }
    }

    pub fn socket(&mut self, of: &jmx::Socket) -> Socket {
        let action = match &of.action {
            jmx::SocketAction::Open => SocketAction::Open,
            jmx::SocketAction::Write(message) => SocketAction::Write(self.socket_message(message), false),
            jmx::SocketAction::Exchange(message) => SocketAction::Write(self.socket_message(message), true),
            jmx::SocketAction::Read { is_binary, is_optional } => {
                SocketAction::Read { is_binary: *is_binary, is_optional: *is_optional }
            }
            jmx::SocketAction::Ping => SocketAction::Ping,
            jmx::SocketAction::Pong => SocketAction::Pong,
            jmx::SocketAction::Close { status } => SocketAction::Close(self.text(status)),
        };
        let url = |url: &jmx::SocketUrl| {
            (url.is_secure, [&url.server, &url.port, &url.path].map(|text| self.text(text)))
        };
        Socket {
            opens: of.opens.as_ref().map(url),
            action,
            connect_timeout_ms: self.text(&of.connect_timeout_ms),
            read_timeout_ms: self.text(&of.read_timeout_ms),
        }
    }

    fn socket_message(&mut self, of: &jmx::SocketMessage) -> SocketMessage {
        SocketMessage {
            is_binary: of.is_binary,
            text: self.text(&of.text),
            file: of.file.as_ref().map(|file| self.text(file)),
        }
    }

    pub fn pre_processor(&mut self, element: &Arc<Element<jmx::PreProcessor>>) -> Arc<PreProcessor> {
        once!(
            self.pres,
            element,
            match &element.kind {
                jmx::PreProcessor::Parameters(parameters) => {
                    PreProcessor::Parameters(self.parameters(parameters))
                }
                jmx::PreProcessor::Script(script) => PreProcessor::Script(self.code(script, &element.info)),
                jmx::PreProcessor::Rewriting(of) => PreProcessor::Rewriting(Box::new(Rewriting {
                    argument: self.text(&of.argument),
                    is_path_extension: of.is_path_extension,
                    has_no_equals: of.has_no_equals,
                    has_no_question_mark: of.has_no_question_mark,
                    caches_value: of.caches_value,
                    encodes: of.encodes,
                    kept: format!("__plimsoll_rewriting_{}", element.info.id.0),
                })),
                jmx::PreProcessor::Replacement(of) => PreProcessor::Replacement(Box::new([
                    self.text(&of.variable),
                    self.text(&of.name_group),
                    self.text(&of.value_group),
                ])),
                jmx::PreProcessor::Timeout(limit) => PreProcessor::Timeout(self.text(limit)),
            }
        )
    }

    pub fn timer(&mut self, element: &Arc<Element<jmx::Timer>>) -> Arc<Timer> {
        once!(
            self.timers,
            element,
            match &element.kind {
                jmx::Timer::Constant { delay_ms } => Timer::Constant(self.text(delay_ms)),
                jmx::Timer::Uniform { delay_ms, range_ms } => {
                    Timer::Uniform(self.text(delay_ms), self.text(range_ms))
                }
                jmx::Timer::Gaussian { delay_ms, deviation_ms } => {
                    Timer::Gaussian(self.text(delay_ms), self.text(deviation_ms))
                }
                jmx::Timer::Poisson { delay_ms, lambda_ms } => {
                    Timer::Poisson(self.text(delay_ms), self.text(lambda_ms))
                }
                jmx::Timer::ConstantThroughput { per_minute, mode } => {
                    Timer::Throughput(Box::new(ThroughputTimer {
                        per_minute: self.text(per_minute),
                        mode: *mode,
                        slot: self.slot(),
                        shared: Mutex::default(),
                    }))
                }
                jmx::Timer::PreciseThroughput {
                    throughput,
                    period_s,
                    duration_s,
                    batch,
                    batch_delay_ms,
                    seed,
                } => {
                    Timer::Precise(Box::new(PreciseTimer {
                        throughput: self.text(throughput),
                        period_s: self.text(period_s),
                        duration_s: self.text(duration_s),
                        batch: self.text(batch),
                        batch_delay_ms: self.text(batch_delay_ms),
                        seed: self.text(seed),
                        shared: Mutex::default(),
                    }))
                }
                jmx::Timer::Shaping { rows } => Timer::Shaping(Box::new(ShapingTimer {
                    rows: rows.iter().map(|row| row.each_ref().map(|text| self.text(text))).collect(),
                    shared: Mutex::default(),
                })),
                jmx::Timer::Synchronizing { group, timeout_ms } => Timer::Synchronizing(Box::new(Barrier {
                    group: self.text(group),
                    timeout_ms: self.text(timeout_ms),
                    shared: Mutex::default(),
                })),
                jmx::Timer::Script(script) => Timer::Script(self.code(script, &element.info)),
            }
        )
    }

    fn subject(&mut self, subject: &jmx::Subject) -> Subject {
        match subject {
            jmx::Subject::Main => Subject::Main,
            jmx::Subject::Children => Subject::Children,
            jmx::Subject::All => Subject::All,
            jmx::Subject::Variable(name) => Subject::Variable(self.text(name)),
        }
    }

    pub fn post_processor(&mut self, element: &Arc<Element<jmx::PostProcessor>>) -> Arc<PostProcessor> {
        once!(
            self.posts,
            element,
            match &element.kind {
                jmx::PostProcessor::Extract(extractor) => {
                    PostProcessor::Extract(Box::new(self.extractor(extractor)))
                }
                jmx::PostProcessor::Script(script) => PostProcessor::Script(self.code(script, &element.info)),
                jmx::PostProcessor::Debug => PostProcessor::Debug,
            }
        )
    }

    fn extractor(&mut self, of: &jmx::Extractor) -> Extractor {
        let matcher = match &of.matcher {
            jmx::Match::Regex { field, pattern, template } => {
                Match::Regex { field: *field, pattern: self.text(pattern), template: self.text(template) }
            }
            jmx::Match::Boundary { field, left, right } => {
                Match::Boundary { field: *field, left: self.text(left), right: self.text(right) }
            }
            jmx::Match::JsonPath { paths, joins } => {
                Match::JsonPath { paths: self.text(paths), joins: *joins }
            }
            jmx::Match::JsonArray { path } => Match::JsonArray { path: self.text(path) },
            jmx::Match::JmesPath { path } => Match::JmesPath { path: self.text(path) },
            jmx::Match::XPath { query, .. } => Match::XPath { query: self.text(query) },
            jmx::Match::Css { selector, attribute } => {
                Match::Css { selector: self.text(selector), attribute: self.text(attribute) }
            }
        };
        Extractor {
            subject: self.subject(&of.subject),
            variable: self.text(&of.variable),
            number: self.text(&of.number),
            default: self.text(&of.default),
            sets_empty_default: of.sets_empty_default,
            matcher,
        }
    }

    pub fn assertion(&mut self, element: &Arc<Element<jmx::Assertion>>) -> Arc<Assertion> {
        once!(self.assertions, element, {
            let name = self.text(&element.info.name);
            Assertion { name, kind: self.assertion_kind(element) }
        })
    }

    fn assertion_kind(&mut self, element: &Element<jmx::Assertion>) -> AssertionKind {
        match &element.kind {
            jmx::Assertion::Response {
                subject,
                field,
                pattern,
                is_negated,
                is_any,
                patterns,
                ignores_status,
                message,
            } => AssertionKind::Response {
                subject: self.subject(subject),
                field: *field,
                pattern: *pattern,
                is_negated: *is_negated,
                is_any: *is_any,
                patterns: self.texts(patterns),
                ignores_status: *ignores_status,
                message: self.text(message),
            },
            jmx::Assertion::Size { subject, field, size, comparison } => AssertionKind::Size {
                subject: self.subject(subject),
                field: *field,
                size: self.text(size),
                comparison: *comparison,
            },
            jmx::Assertion::Duration { limit_ms, subject } => {
                AssertionKind::Duration { limit_ms: self.text(limit_ms), subject: self.subject(subject) }
            }
            jmx::Assertion::Json {
                subject,
                path,
                value,
                is_regex,
                expects_null,
                is_inverted,
                is_jmespath,
            } => AssertionKind::Json {
                subject: self.subject(subject),
                path: self.text(path),
                value: value.as_ref().map(|value| self.text(value)),
                is_regex: *is_regex,
                expects_null: *expects_null,
                is_inverted: *is_inverted,
                is_jmespath: *is_jmespath,
            },
            jmx::Assertion::XPath { subject, query, is_negated, is_second, .. } => AssertionKind::XPath {
                is_second: *is_second,
                subject: self.subject(subject),
                query: self.text(query),
                is_negated: *is_negated,
            },
            jmx::Assertion::Md5 { digest } => AssertionKind::Md5 { digest: self.text(digest) },
            jmx::Assertion::Xml => AssertionKind::Xml,
            jmx::Assertion::Script(script) => AssertionKind::Script(self.code(script, &element.info)),
        }
    }

    pub fn result_saver(&mut self, element: &Arc<Element<jmx::ResultSaver>>) -> Arc<ResultSaver> {
        once!(self.savers, element, {
            let of = &element.kind;
            ResultSaver {
                prefix: self.text(&of.prefix),
                variable: self.text(&of.variable),
                only_failed: of.only_failed,
                only_passed: of.only_passed,
                has_no_number: of.has_no_number,
                has_no_ending: of.has_no_ending,
                has_timestamp: of.has_timestamp,
                number_width: self.text(&of.number_width),
                count: AtomicI64::new(0),
            }
        })
    }

    pub fn result_file(&mut self, element: &Arc<Element<jmx::ResultFile>>) -> Arc<ResultFile> {
        self.writes_results = true;
        self.writes_content |= element.kind.columns.has_content();
        self.writes_checks |= element.kind.columns.has_checks();
        once!(
            self.result_files,
            element,
            ResultFile {
                file: self.text(&element.kind.file),
                only_failed: element.kind.only_failed,
                only_passed: element.kind.only_passed,
                columns: element.kind.columns,
            }
        )
    }
}
