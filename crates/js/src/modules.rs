//! The modules that come with the program, as JavaScript: each is the text of a function with the parameters
//! `exports`, `require`, and `native`, where `native` has the functions of [`crate::native`].

/// Runs modules: a function of `native`, the number of the entry, and the numbers of all modules.
pub const BOOT: &str = include_str!("modules/boot.js");

/// Name and text of every module.
const ALL: &[(&str, &str)] = &[
    ("k6", include_str!("modules/k6.js")),
    ("k6/crypto", include_str!("modules/crypto.js")),
    ("k6/data", include_str!("modules/data.js")),
    ("k6/encoding", include_str!("modules/encoding.js")),
    ("k6/execution", include_str!("modules/execution.js")),
    ("k6/html", include_str!("modules/html.js")),
    ("k6/http", include_str!("modules/http.js")),
    ("k6/metrics", include_str!("modules/metrics.js")),
    ("k6/options", include_str!("modules/options.js")),
    ("k6/timers", include_str!("modules/timers.js")),
    // Parts of modules and global objects: scripts cannot import them.
    ("~clone", include_str!("modules/clone.js")),
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

/// Returns the names of all modules.
pub fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|(name, _)| *name)
}
