//! Which of the modules that come with the program an import means.

use super::names;

/// What the text after `from` in an import means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Builtin {
    /// A module that comes with the program, by its name.
    Known(&'static str),
    /// A module of k6 that is not supported.
    Refused {
        /// What is wrong, as a lower-case fragment.
        reason: String,
        /// What to do instead.
        hint: &'static str,
    },
    /// Neither a module of k6 nor a known library: a file, a package, or another address.
    Unknown,
}

/// Other names of modules, most of them older or experimental.
const ALIASES: &[(&str, &str)] = &[
    ("k6/experimental/grpc", "k6/net/grpc"),
    ("k6/experimental/timers", "k6/timers"),
    ("k6/experimental/tracing", "jslib/tempo"),
    ("k6/experimental/websockets", "k6/websockets"),
    ("k6/x/redis", "k6/experimental/redis"),
];

/// Libraries by the beginning of their address, after the scheme. The version follows.
const LIBRARIES: &[(&str, &str)] = &[
    ("jslib.k6.io/k6-utils/", "jslib/k6-utils"),
    ("jslib.k6.io/k6-summary/", "jslib/k6-summary"),
    ("jslib.k6.io/k6-testing/", "jslib/k6-testing"),
    ("jslib.k6.io/k6chaijs/", "jslib/k6chaijs"),
    ("jslib.k6.io/url/", "jslib/url"),
    ("jslib.k6.io/formdata/", "jslib/formdata"),
    ("jslib.k6.io/form-urlencoded/", "jslib/form-urlencoded"),
    ("jslib.k6.io/httpx/", "jslib/httpx"),
    ("jslib.k6.io/http-instrumentation-tempo/", "jslib/tempo"),
    ("jslib.k6.io/papaparse/", "jslib/papaparse"),
    ("jslib.k6.io/jsonpath/", "jslib/jsonpath"),
    ("jslib.k6.io/totp/", "jslib/totp"),
    ("jslib.k6.io/ajv/", "jslib/ajv"),
    ("raw.githubusercontent.com/benc-uk/k6-reporter/", "jslib/k6-reporter"),
];

/// Modules that need an explanation, with what to use instead. A name that ends in `/` means all below it.
const REFUSED: &[(&str, &str)] = &[
    ("k6/browser", "send the requests of the page with `k6/http`"),
    ("k6/experimental/browser", "send the requests of the page with `k6/http`"),
    ("k6/x/", "extensions of k6 are Go programs: remove the import"),
    ("k6/", "remove the import"),
];

const HINT_BUNDLE: &str = "bundle the library with the script, for example with esbuild";

/// Returns what an import means.
pub fn resolve(specifier: &str) -> Builtin {
    let alias = ALIASES.iter().find(|(name, _)| *name == specifier).map_or(specifier, |(_, of)| of);
    let is_k6 =
        alias == "k6" || alias.starts_with("k6/") || alias.starts_with("jslib/") && alias != specifier;
    if let Some(known) = names().find(|name| is_k6 && *name == alias) {
        return Builtin::Known(known);
    }
    if is_k6 {
        let matches = |name: &str| name == specifier || name.ends_with('/') && specifier.starts_with(name);
        let hint =
            REFUSED.iter().find(|(name, _)| matches(name)).map_or("remove the import", |(_, hint)| hint);
        return Builtin::Refused { reason: format!("`{specifier}` is not supported"), hint };
    }
    let address = specifier.strip_prefix("https://").or_else(|| specifier.strip_prefix("http://"));
    let Some(address) = address else { return Builtin::Unknown };
    match LIBRARIES.iter().find(|(beginning, _)| address.starts_with(beginning)) {
        Some((_, library)) => Builtin::Known(library),
        None if address.starts_with("jslib.k6.io/") => Builtin::Refused {
            reason: format!("the library `{specifier}` is not supported"),
            hint: HINT_BUNDLE,
        },
        None => Builtin::Unknown,
    }
}
