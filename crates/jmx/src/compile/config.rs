//! Configuration elements.

use super::Compiler;
use crate::code;
use crate::plan::{
    AuthManager, Authorization, CacheManager, Config, Cookie, CookieManager, Counter, Csv, DnsManager,
    HostEntry, Mechanism, RandomVariable, ShareMode, UserParameters,
};
use crate::text::Text;
use crate::tree::Raw;

impl Compiler<'_> {
    /// Returns an element that belongs to the iterations of its controller.
    pub(super) fn config(&mut self, raw: &Raw) -> Option<Config> {
        Some(match raw.class.as_str() {
            "CSVDataSet" => Config::Csv(self.csv(raw)),
            "CounterConfig" => Config::Counter(Counter {
                variable: self.text(raw, "CounterConfig.name"),
                start: self.text(raw, "CounterConfig.start"),
                end: self.text(raw, "CounterConfig.end"),
                step: self.text(raw, "CounterConfig.incr"),
                format: self.text(raw, "CounterConfig.format"),
                is_per_user: self.flag(raw, "CounterConfig.per_user", false),
                resets_per_iteration: self.flag(raw, "CounterConfig.reset_on_tg_iteration", false),
            }),
            "RandomVariableConfig" => Config::Random(RandomVariable {
                variable: self.text(raw, "variableName"),
                least: self.text(raw, "minimumValue"),
                most: self.text(raw, "maximumValue"),
                format: self.text(raw, "outputFormat"),
                seed: self.text(raw, "randomSeed"),
                is_per_thread: self.flag(raw, "perThread", false),
            }),
            "UserParameters" if self.flag(raw, "UserParameters.per_iteration", false) => {
                Config::Parameters(self.parameters(raw))
            }
            _ => return None,
        })
    }

    pub(super) fn parameters(&mut self, raw: &Raw) -> UserParameters {
        let names = self.texts(raw.find("UserParameters.names"));
        let sets = raw.find("UserParameters.thread_values").cloned();
        let sets = sets.iter().flat_map(|sets| sets.items()).map(|set| self.texts(Some(set))).collect();
        let is_per_iteration = self.flag(raw, "UserParameters.per_iteration", false);
        UserParameters { names, sets, is_per_iteration }
    }

    fn csv(&mut self, raw: &Raw) -> Csv {
        let file = self.text(raw, "filename");
        if file.is_empty() {
            self.wrong(code::FILE, raw.pos, format!("`{}` names no file", raw.name), "set its file name");
        }
        self.refuse_missing(&file);
        let share = self.choice(raw, "shareMode");
        let share = match share.as_str() {
            "" | "shareMode.all" => ShareMode::All,
            "shareMode.group" => ShareMode::Group,
            "shareMode.thread" => ShareMode::Thread,
            other => ShareMode::Named(Text::literal(other, raw.pos)),
        };
        let delimiter = self.text(raw, "delimiter");
        let csv = Csv {
            file,
            encoding: self.text(raw, "fileEncoding"),
            variables: self.text(raw, "variableNames"),
            ignores_first_line: self.flag(raw, "ignoreFirstLine", false),
            delimiter: if delimiter.is_empty() { Text::literal(",", raw.pos) } else { delimiter },
            is_quoted: self.flag(raw, "quotedData", false),
            recycles: self.flag(raw, "recycle", true),
            stops_thread: self.flag(raw, "stopThread", false),
            share,
        };
        let name = csv.file.source.to_string();
        match (csv.recycles, csv.stops_thread) {
            (true, _) => self.note(
                code::note::ROWS,
                raw.pos,
                format!("rows of `{name}` repeat at the end of the file"),
                "",
            ),
            (false, false) => self.note(
                code::note::ROWS,
                raw.pos,
                format!("at the end of `{name}`, variables become `<EOF>`"),
                "to stop the thread there, set `Stop thread on EOF` to `True`",
            ),
            (false, true) => {}
        }
        csv
    }

    pub(super) fn cookie_manager(&mut self, raw: &Raw) -> CookieManager {
        let mut cookies = Vec::new();
        let items = raw.find("CookieManager.cookies").cloned();
        for cookie in items.iter().flat_map(|all| all.items()) {
            let name = match cookie.find("Cookie.name") {
                Some(_) => self.text(cookie, "Cookie.name"),
                // The name of the element itself.
                None => match cookie.find("TestElement.name") {
                    Some(_) => self.text(cookie, "TestElement.name"),
                    None => {
                        let (name, pos) = (cookie.name.clone(), cookie.pos);
                        self.compiled(&name, pos)
                    }
                },
            };
            cookies.push(Cookie {
                name,
                value: self.text(cookie, "Cookie.value"),
                domain: self.text(cookie, "Cookie.domain"),
                path: self.text(cookie, "Cookie.path"),
                is_secure: self.flag(cookie, "Cookie.secure", false),
            });
        }
        let policy = self.choice(raw, "CookieManager.policy");
        CookieManager {
            cookies,
            clears_each_iteration: self.flag(raw, "CookieManager.clearEachIteration", false),
            follows_group: self.flag(raw, "CookieManager.controlledByThreadGroup", false),
            ignores_cookies: policy == "ignorecookies" || policy == "ignoreCookies",
        }
    }

    pub(super) fn auth_manager(&mut self, raw: &Raw) -> AuthManager {
        let mut entries = Vec::new();
        let items = raw.find("AuthManager.auth_list").cloned();
        for entry in items.iter().flat_map(|all| all.items()) {
            let mechanism = match self.choice(entry, "Authorization.mechanism").as_str() {
                "" | "BASIC" => Mechanism::Basic,
                "BASIC_DIGEST" => Mechanism::BasicDigest,
                "DIGEST" => Mechanism::Digest,
                other => {
                    self.unsupported(raw, format!("authentication by `{other}`"), "use basic or digest");
                    Mechanism::Basic
                }
            };
            entries.push(Authorization {
                url: self.text(entry, "Authorization.url"),
                user: self.text(entry, "Authorization.username"),
                password: self.text(entry, "Authorization.password"),
                realm: self.text(entry, "Authorization.realm"),
                mechanism,
            });
        }
        let clears_each_iteration = self.flag(raw, "AuthManager.clearEachIteration", false);
        AuthManager { entries, clears_each_iteration }
    }

    pub(super) fn cache_manager(&mut self, raw: &Raw) -> CacheManager {
        let max_entries = self.text(raw, "maxSize");
        CacheManager {
            clears_each_iteration: self.flag(raw, "clearEachIteration", false),
            follows_group: self.flag(raw, "CacheManager.controlledByThread", false),
            uses_expires: self.flag(raw, "useExpires", false),
            max_entries: if max_entries.is_empty() { Text::literal("5000", raw.pos) } else { max_entries },
        }
    }

    pub(super) fn dns_manager(&mut self, raw: &Raw) -> DnsManager {
        let mut hosts = Vec::new();
        let items = raw.find("DNSCacheManager.hosts").cloned();
        for host in items.iter().flat_map(|all| all.items()) {
            hosts.push(HostEntry {
                name: self.text(host, "StaticHost.Name"),
                addresses: self.text(host, "StaticHost.Address"),
            });
        }
        let servers = raw.find("DNSCacheManager.servers").is_some_and(|servers| !servers.items().is_empty());
        if servers && self.flag(raw, "DNSCacheManager.isCustomResolver", false) {
            self.unsupported(raw, "a list of DNS servers", "use the resolver of the system");
        }
        DnsManager {
            hosts,
            clears_each_iteration: self.flag(raw, "DNSCacheManager.clearEachIteration", false),
        }
    }
}
