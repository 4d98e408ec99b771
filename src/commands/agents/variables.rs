//! The environment variables of a coordinator that its load reads: agents get these, and no others.

use plimsoll_cluster::message::Variables;
use plimsoll_plan::inputs;
use std::collections::BTreeMap;
use std::path::Path;

/// Endings of files whose users read variables by name during the load.
const CODE: [&str; 8] = ["js", "mjs", "cjs", "ts", "mts", "cts", "tar", "jmx"];

/// Variables of an agent that its load generator needs; a coordinator does not replace them.
pub const OF_AGENT: [&str; 11] = [
    "PATH",
    "HOME",
    "TMPDIR",
    "LANG",
    "LC_ALL",
    "TZ",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "RUST_BACKTRACE",
    "XDG_CACHE_HOME",
    "XDG_STATE_HOME",
];

/// Returns the variables that the plans of this process have read, and those of `environment` whose names its scripts
/// and test plans contain.
pub fn of_load(environment: impl Iterator<Item = (String, String)>) -> Variables {
    let is_code = |path: &Path| {
        path.extension().and_then(|ending| ending.to_str()).is_some_and(|ending| CODE.contains(&ending))
    };
    let read = |path: &std::path::PathBuf| std::fs::read(path).ok();
    let code: Vec<Vec<u8>> = inputs::noted().iter().filter(|path| is_code(path)).filter_map(read).collect();
    let is_named = |name: &str| code.iter().any(|content| contains_word(content, name.as_bytes()));
    let mut all: BTreeMap<String, String> = environment.filter(|(name, _)| is_named(name)).collect();
    all.extend(inputs::noted_variables());
    all.retain(|name, _| is_permitted(name));
    Variables(all)
}

/// Returns whether a coordinator may set a variable: not those that decide which code runs.
pub fn is_permitted(name: &str) -> bool {
    !OF_AGENT.contains(&name) && !name.starts_with("LD_") && name != "GLIBC_TUNABLES"
}

/// Returns whether a content contains a name that is not a part of another one.
fn contains_word(content: &[u8], name: &[u8]) -> bool {
    let is_part = |byte: Option<&u8>| byte.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    if name.is_empty() {
        return false;
    }
    let mut from = 0;
    while let Some(at) = content[from..].windows(name.len()).position(|window| window == name) {
        let (begin, end) = (from + at, from + at + name.len());
        let before = begin.checked_sub(1).and_then(|at| content.get(at));
        if !is_part(before) && !is_part(content.get(end)) {
            return true;
        }
        from = begin + 1;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_whole_word() {
        let content = b"const a = __ENV.TOKEN_ID; b(__ENV['HOST'])";
        for (name, is_there) in
            [("TOKEN_ID", true), ("TOKEN", false), ("ID", false), ("HOST", true), ("", false)]
        {
            assert_eq!(contains_word(content, name.as_bytes()), is_there, "{name}");
        }
    }

    #[test]
    fn a_coordinator_does_not_decide_which_code_an_agent_runs() {
        for name in ["PATH", "HOME", "LD_PRELOAD", "LD_LIBRARY_PATH", "GLIBC_TUNABLES"] {
            assert!(!is_permitted(name), "{name}");
        }
        assert!(is_permitted("TOKEN"));
    }
}
