//! One level of the tree: the elements that apply to the samplers below it, and how levels become the scope of one.

use super::Compiler;
use super::role::{Role, role};
use crate::code;
use crate::plan::{
    Assertion, AuthManager, CacheManager, Config, CookieManager, DnsManager, Elements, Header, OnError,
    PostProcessor, PreProcessor, ResultFile, ResultSaver, Scope, Timer,
};
use crate::tree::{Property, Raw};

/// The elements of one level, in document order.
#[derive(Debug, Default, Clone)]
pub(super) struct Level {
    /// The headers of each manager.
    pub headers: Vec<Vec<Header>>,
    pub cookies: Elements<CookieManager>,
    pub auth: Elements<AuthManager>,
    pub cache: Elements<CacheManager>,
    pub dns: Elements<DnsManager>,
    /// Properties of HTTP Request Defaults.
    pub defaults: Vec<Vec<Property>>,
    pub pre: Elements<PreProcessor>,
    pub timers: Elements<Timer>,
    pub post: Elements<PostProcessor>,
    pub assertions: Elements<Assertion>,
    pub actions: Elements<OnError>,
    pub savers: Elements<ResultSaver>,
    pub result_files: Elements<ResultFile>,
    /// Elements that belong to the iterations of the nearest controller.
    pub at_iteration: Elements<Config>,
}

impl Level {
    /// Adds the elements of a further level after these.
    pub fn extend(&mut self, other: &Level) {
        self.headers.extend_from_slice(&other.headers);
        self.cookies.extend_from_slice(&other.cookies);
        self.auth.extend_from_slice(&other.auth);
        self.cache.extend_from_slice(&other.cache);
        self.dns.extend_from_slice(&other.dns);
        self.defaults.extend_from_slice(&other.defaults);
        self.pre.extend_from_slice(&other.pre);
        self.timers.extend_from_slice(&other.timers);
        self.post.extend_from_slice(&other.post);
        self.assertions.extend_from_slice(&other.assertions);
        self.actions.extend_from_slice(&other.actions);
        self.savers.extend_from_slice(&other.savers);
        self.result_files.extend_from_slice(&other.result_files);
        self.at_iteration.extend_from_slice(&other.at_iteration);
    }
}

/// Returns the elements of all levels, the innermost level first.
pub(super) fn inward<T: Clone>(levels: &[Level], list: impl Fn(&Level) -> &Vec<T>) -> Vec<T> {
    levels.iter().rev().flat_map(|level| list(level).iter().cloned()).collect()
}

/// Returns the elements of all levels, the outermost level first.
fn outward<T: Clone>(levels: &[Level], list: impl Fn(&Level) -> &Vec<T>) -> Vec<T> {
    levels.iter().flat_map(|level| list(level).iter().cloned()).collect()
}

/// Returns the scope of a sampler within these levels, from the thread group to its own.
pub(super) fn scope(levels: &[Level]) -> Scope {
    let mut headers: Vec<Header> = Vec::new();
    for manager in inward(levels, |level| &level.headers) {
        // Headers of one manager may repeat a name; those of outer ones may not.
        let inner = headers.len();
        for header in manager {
            let is_hidden = headers[..inner]
                .iter()
                .any(|known| known.name.source.eq_ignore_ascii_case(&header.name.source));
            if !is_hidden {
                headers.push(header);
            }
        }
    }
    Scope {
        headers,
        cookies: inward(levels, |level| &level.cookies).pop(),
        auth: inward(levels, |level| &level.auth).pop(),
        cache: inward(levels, |level| &level.cache).pop(),
        dns: inward(levels, |level| &level.dns).pop(),
        pre: outward(levels, |level| &level.pre),
        timers: inward(levels, |level| &level.timers),
        post: outward(levels, |level| &level.post),
        assertions: outward(levels, |level| &level.assertions),
        actions: inward(levels, |level| &level.actions),
        savers: inward(levels, |level| &level.savers),
        result_files: inward(levels, |level| &level.result_files),
    }
}

impl Compiler<'_> {
    /// Returns the level of an element's children.
    pub(super) fn level(&mut self, children: &[Raw]) -> Level {
        let mut level = Level::default();
        for child in children {
            match role(&child.class) {
                Role::Group | Role::Controller | Role::Sampler => {}
                Role::Member => self.member(child, &mut level),
                Role::Window(why) => {
                    self.note(
                        code::note::WINDOW,
                        child.pos,
                        format!("`{}` ({}) has no effect: {why}", child.name, child.class),
                        "",
                    );
                    self.skip(child);
                }
                Role::Unsupported(why) => self.refuse(child, &format!("is not supported: {why}")),
                Role::Unknown if child.form.ends_with("Visualizer") || child.form == "ObsoleteGui" => {
                    self.note(
                        code::note::WINDOW,
                        child.pos,
                        format!("`{}` ({}) has no effect: it only shows results", child.name, child.class),
                        "",
                    );
                }
                Role::Unknown => self.refuse(child, "is unknown"),
            }
        }
        level
    }

    /// Reports elements below one that cannot have any.
    fn skip(&mut self, parent: &Raw) {
        for child in &parent.children {
            self.note(
                code::note::UNUSED,
                child.pos,
                format!("`{}` does not run: it is below `{}`", child.name, parent.name),
                "",
            );
        }
    }

    pub(super) fn refuse(&mut self, raw: &Raw, what: &str) {
        let message = format!("{} {what} ({} > {})", raw.class, self.path(), raw.name);
        self.wrong(code::ELEMENT, raw.pos, message, "disable the element in JMeter, or remove it");
    }

    /// Adds an element that belongs to samplers to its level.
    fn member(&mut self, raw: &Raw, level: &mut Level) {
        match raw.class.as_str() {
            // Its variables are known already.
            "Arguments" => {}
            "ConfigTestElement" => {
                if raw.form.is_empty() || matches!(raw.form.as_str(), "HttpDefaultsGui" | "UrlConfigGui") {
                    level.defaults.push(raw.properties.clone());
                }
            }
            "HeaderManager" => {
                let headers = self.headers(raw);
                level.headers.push(headers);
            }
            "CookieManager" => {
                let manager = self.cookie_manager(raw);
                level.cookies.push(self.element(raw, manager));
            }
            "AuthManager" => {
                let manager = self.auth_manager(raw);
                level.auth.push(self.element(raw, manager));
            }
            "CacheManager" => {
                let manager = self.cache_manager(raw);
                level.cache.push(self.element(raw, manager));
            }
            "DNSCacheManager" => {
                let manager = self.dns_manager(raw);
                level.dns.push(self.element(raw, manager));
            }
            "KeystoreConfig" => self.keystore(raw),
            "ResultCollector" | "CorrectedResultCollector" => {
                if let Some(file) = self.result_file(raw) {
                    level.result_files.push(self.element(raw, file));
                }
            }
            "ResultSaver" => {
                let saver = self.saver(raw);
                level.savers.push(self.element(raw, saver));
            }
            "ResultAction" => {
                let action = self.result_action(raw);
                level.actions.push(self.element(raw, action));
            }
            _ => {
                if let Some(config) = self.config(raw) {
                    level.at_iteration.push(self.element(raw, config));
                } else if let Some(pre) = self.pre_processor(raw) {
                    level.pre.push(self.element(raw, pre));
                } else if let Some(timer) = self.timer(raw) {
                    level.timers.push(self.element(raw, timer));
                } else if let Some(post) = self.post_processor(raw) {
                    level.post.push(self.element(raw, post));
                } else if let Some(assertion) = self.assertion(raw) {
                    level.assertions.push(self.element(raw, assertion));
                }
            }
        }
    }
}
