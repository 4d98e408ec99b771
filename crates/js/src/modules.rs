//! The modules that come with the program, as JavaScript: each is the text of a function with the parameters
//! `exports`, `require`, and `native`, where `native` has the functions of [`crate::native`].

mod resolve;

pub use resolve::{Builtin, resolve};

/// Runs modules: a function of `native`, the number of the entry, and the numbers of all modules.
pub const BOOT: &str = include_str!("modules/boot.js");

/// Name and text of every module.
pub const ALL: &[(&str, &str)] = &[
    ("jslib/ajv", include_str!("modules/jslib/ajv.js")),
    ("jslib/form-urlencoded", include_str!("modules/jslib/form-urlencoded.js")),
    ("jslib/formdata", include_str!("modules/jslib/formdata.js")),
    ("jslib/httpx", include_str!("modules/jslib/httpx.js")),
    ("jslib/jsonpath", include_str!("modules/jslib/jsonpath.js")),
    ("jslib/k6-reporter", include_str!("modules/jslib/k6-reporter.js")),
    ("jslib/k6-summary", include_str!("modules/jslib/k6-summary.js")),
    ("jslib/k6-testing", include_str!("modules/jslib/k6-testing.js")),
    ("jslib/k6-utils", include_str!("modules/jslib/k6-utils.js")),
    ("jslib/k6chaijs", include_str!("modules/jslib/k6chaijs.js")),
    ("jslib/papaparse", include_str!("modules/jslib/papaparse.js")),
    ("jslib/tempo", include_str!("modules/jslib/tempo.js")),
    ("jslib/totp", include_str!("modules/jslib/totp.js")),
    ("jslib/url", include_str!("modules/jslib/url.js")),
    ("k6", include_str!("modules/k6.js")),
    ("k6/crypto", include_str!("modules/crypto.js")),
    ("k6/data", include_str!("modules/data.js")),
    ("k6/encoding", include_str!("modules/encoding.js")),
    ("k6/execution", include_str!("modules/execution.js")),
    ("k6/experimental/csv", include_str!("modules/experimental/csv.js")),
    ("k6/experimental/fs", include_str!("modules/experimental/fs.js")),
    ("k6/experimental/redis", include_str!("modules/experimental/redis.js")),
    ("k6/experimental/streams", include_str!("modules/experimental/streams.js")),
    ("k6/experimental/webcrypto", include_str!("modules/experimental/webcrypto.js")),
    ("k6/html", include_str!("modules/html.js")),
    ("k6/http", include_str!("modules/http.js")),
    ("k6/metrics", include_str!("modules/metrics.js")),
    ("k6/net/grpc", include_str!("modules/grpc.js")),
    ("k6/options", include_str!("modules/options.js")),
    ("k6/secrets", include_str!("modules/secrets.js")),
    ("k6/timers", include_str!("modules/timers.js")),
    ("k6/websockets", include_str!("modules/websockets.js")),
    ("k6/ws", include_str!("modules/ws.js")),
    ("k6/x/sse", include_str!("modules/sse.js")),
    // Parts of modules and global objects: scripts cannot import them.
    ("~blob", include_str!("modules/blob.js")),
    ("~clone", include_str!("modules/clone.js")),
    ("~equal", include_str!("modules/jslib/equal.js")),
    ("~html/css", include_str!("modules/html/css.js")),
    ("~html/element", include_str!("modules/html/element.js")),
    ("~html/node", include_str!("modules/html/node.js")),
    ("~html/selection", include_str!("modules/html/selection.js")),
    ("~path", include_str!("modules/path.js")),
    ("~performance", include_str!("modules/performance.js")),
    ("~response", include_str!("modules/response.js")),
    ("~text", include_str!("modules/text.js")),
    ("~url", include_str!("modules/url.js")),
    ("~url/host", include_str!("modules/url/host.js")),
    ("~url/params", include_str!("modules/url/params.js")),
    ("~webcrypto", include_str!("modules/webcrypto.js")),
];

/// Returns the text of a module.
pub fn text(name: &str) -> Option<&'static str> {
    ALL.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// Returns the names of all modules that scripts can import.
pub fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|(name, _)| *name).filter(|name| !name.starts_with('~'))
}
