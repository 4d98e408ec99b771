//! Configuration elements that keep a state.

use crate::text::Text;

/// An element that runs when an iteration of its controller starts.
#[derive(Debug, Clone, PartialEq)]
pub enum Config {
    Csv(Csv),
    Counter(Counter),
    Random(RandomVariable),
    /// Only those that change once per iteration.
    Parameters(UserParameters),
}

/// Which threads read the same rows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ShareMode {
    /// All threads of the run.
    #[default]
    All,
    Group,
    Thread,
    /// All threads that use the same name.
    Named(Text),
}

/// A CSV Data Set.
#[derive(Debug, Clone, PartialEq)]
pub struct Csv {
    pub file: Text,
    /// Empty: UTF-8.
    pub encoding: Text,
    /// Separated by commas; empty: the first line has them.
    pub variables: Text,
    /// Only if `variables` is not empty.
    pub ignores_first_line: bool,
    /// `\t` means a tab. It may have several characters.
    pub delimiter: Text,
    pub is_quoted: bool,
    /// At the end of the file, begin again.
    pub recycles: bool,
    /// At the end of the file, without `recycles`, stop the thread. Otherwise, values are `<EOF>`.
    pub stops_thread: bool,
    pub share: ShareMode,
}

/// A counter. All threads share it unless it is per user.
#[derive(Debug, Clone, PartialEq)]
pub struct Counter {
    pub variable: Text,
    /// Empty: 0.
    pub start: Text,
    /// Empty: no limit. After it, the counter begins again.
    pub end: Text,
    pub step: Text,
    /// Of Java's `DecimalFormat`; empty: the digits.
    pub format: Text,
    pub is_per_user: bool,
    /// Per user: whether each iteration of the thread group begins with `start`.
    pub resets_per_iteration: bool,
}

/// A random variable.
#[derive(Debug, Clone, PartialEq)]
pub struct RandomVariable {
    pub variable: Text,
    pub least: Text,
    pub most: Text,
    /// Of Java's `DecimalFormat`; empty: the digits.
    pub format: Text,
    /// Empty: from the run.
    pub seed: Text,
    pub is_per_thread: bool,
}

/// User Parameters: thread k uses set k modulo the number of sets.
#[derive(Debug, Clone, PartialEq)]
pub struct UserParameters {
    pub names: Vec<Text>,
    pub sets: Vec<Vec<Text>>,
    /// Otherwise, they are evaluated before each sampler in scope.
    pub is_per_iteration: bool,
}

/// A cookie manager.
#[derive(Debug, Clone, PartialEq)]
pub struct CookieManager {
    /// Those that each thread begins with.
    pub cookies: Vec<Cookie>,
    pub clears_each_iteration: bool,
    /// Whether the thread group decides instead (`Group::is_same_user`).
    pub follows_group: bool,
    /// Whether no cookie is stored or sent (policy `ignoreCookies`).
    pub ignores_cookies: bool,
}

/// A cookie of a cookie manager.
#[derive(Debug, Clone, PartialEq)]
pub struct Cookie {
    pub name: Text,
    pub value: Text,
    pub domain: Text,
    pub path: Text,
    pub is_secure: bool,
}

/// An authorization manager.
#[derive(Debug, Clone, PartialEq)]
pub struct AuthManager {
    pub entries: Vec<Authorization>,
    pub clears_each_iteration: bool,
}

/// The way to authenticate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mechanism {
    /// Basic or digest, whichever the server demands first.
    BasicDigest,
    /// Basic, with the first request.
    #[default]
    Basic,
    Digest,
}

/// A user of an authorization manager.
#[derive(Debug, Clone, PartialEq)]
pub struct Authorization {
    /// The beginning of the URLs that it applies to; empty: all.
    pub url: Text,
    pub user: Text,
    pub password: Text,
    pub realm: Text,
    pub mechanism: Mechanism,
}

/// A cache manager.
#[derive(Debug, Clone, PartialEq)]
pub struct CacheManager {
    pub clears_each_iteration: bool,
    /// Whether the thread group decides instead (`Group::is_same_user`).
    pub follows_group: bool,
    /// Whether `Cache-Control` and `Expires` are used.
    pub uses_expires: bool,
    /// Entries of each thread.
    pub max_entries: Text,
}

/// A DNS cache manager.
#[derive(Debug, Clone, PartialEq)]
pub struct DnsManager {
    /// Fixed addresses of hosts.
    pub hosts: Vec<HostEntry>,
    pub clears_each_iteration: bool,
}

/// A fixed address.
#[derive(Debug, Clone, PartialEq)]
pub struct HostEntry {
    pub name: Text,
    /// Addresses or names, separated by commas.
    pub addresses: Text,
}
