//! Licences and bans of everything that is linked in, after `deny.toml`: the same file that cargo-deny reads, so
//! both agree, and this needs nothing installed.

use super::Problem;
use super::tree::{File, Tree};
use toml::Value;

const RULE: &str = "licence";

/// Tools that make or test the bundle and leave nothing of their own in it: their licence asks something only of who
/// hands on the tool itself. A tool, its licence and what it is for; its parts for single platforms go with it.
const NPM_TOOLS: [(&str, &str, &str); 4] = [
    ("lightningcss", "MPL-2.0", "reads style sheets for the bundler, when the console is built"),
    ("tslib", "0BSD", "helps the bundler's WebAssembly form; the licence asks for nothing"),
    ("axe-core", "MPL-2.0", "looks for barriers in pages, in the tests with a browser"),
    ("@axe-core/playwright", "MPL-2.0", "hands the pages of those tests to axe-core"),
];

pub fn check(tree: &Tree) -> Vec<Problem> {
    let Some(file) = tree.file("deny.toml") else {
        // Without externals there is nothing to judge (the pretend trees of other rules' tests).
        let message = "is missing: no licence can be judged".to_string();
        return if tree.externals.is_empty() {
            Vec::new()
        } else {
            vec![Problem::new(RULE, "deny.toml", 0, message)]
        };
    };
    let policy = match file.text.parse::<toml::Table>() {
        Ok(table) => Policy::new(&table),
        Err(e) => return vec![Problem::new(RULE, "deny.toml", 0, format!("cannot be read: {e}"))],
    };
    let mut problems: Vec<Problem> =
        tree.npm_locks.iter().flat_map(|lock| npm(lock, &policy.allow)).collect();
    for external in &tree.externals {
        let name = format!("{} {}", external.name, external.version);
        let mut add = |rule, message| problems.push(Problem::new(rule, "Cargo.lock", 0, message));
        if !permitted(&external.licence, &policy.allow) {
            let shown = if external.licence.is_empty() { "none named" } else { &external.licence };
            add(RULE, format!("{name}: licence `{shown}` is not in deny.toml's allow list"));
        }
        if !external.source.starts_with("registry+") && !external.source.starts_with("sparse+") {
            add("source", format!("{name}: comes from `{}`, not from the registry", external.source));
        }
        for ban in policy.bans.iter().filter(|ban| ban.name == external.name) {
            let strangers: Vec<&String> =
                external.dependents.iter().filter(|d| !ban.wrappers.contains(d)).collect();
            if ban.wrappers.is_empty() || !strangers.is_empty() {
                add("ban", format!("{name} is banned (asked for by {:?})", external.dependents));
            }
        }
    }
    problems
}

/// Packages of an npm lock file: the licences of `allow`, and those of [`NPM_TOOLS`].
fn npm(lock: &File, allow: &[String]) -> Vec<Problem> {
    let problem = |message| Problem::new(RULE, &lock.path, 0, message);
    let parsed: Result<serde_json::Value, _> = serde_json::from_str(&lock.text);
    let Some(packages) = parsed.ok().and_then(|lock| lock.get("packages")?.as_object().cloned()) else {
        return vec![problem("has no `packages`: no licence can be judged".to_string())];
    };
    let mut problems = Vec::new();
    // The package itself stands under an empty name.
    for (path, about) in packages.iter().filter(|(path, _)| !path.is_empty()) {
        let name = path.rsplit("node_modules/").next().unwrap_or(path);
        let licence = about.get("license").and_then(serde_json::Value::as_str).unwrap_or_default();
        let is_dev = about.get("dev").and_then(serde_json::Value::as_bool) == Some(true);
        let is_named =
            |tool: &str| name.strip_prefix(tool).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
        let is_tool = NPM_TOOLS.iter().any(|(tool, of_tool, _)| is_named(tool) && *of_tool == licence);
        if !(permitted(licence, allow) || (is_dev && is_tool)) {
            let shown = if licence.is_empty() { "none named" } else { licence };
            problems.push(problem(format!(
                "{name}: licence `{shown}` is neither allowed nor that of a known tool"
            )));
        }
    }
    problems
}

/// The platforms that are judged: `[graph] targets`.
pub fn targets(text: &str) -> Vec<String> {
    let table = text.parse::<toml::Table>().unwrap_or_default(); // a broken file is reported by `check`
    strings(table.get("graph").and_then(|graph| graph.get("targets")))
}

struct Policy {
    allow: Vec<String>,
    bans: Vec<Ban>,
}

struct Ban {
    name: String,
    /// Packages that may ask for it all the same.
    wrappers: Vec<String>,
}

impl Policy {
    fn new(table: &toml::Table) -> Policy {
        let at = |section: &str, key: &str| table.get(section).and_then(|s| s.get(key)).cloned();
        let deny = at("bans", "deny");
        let bans = deny.iter().filter_map(Value::as_array).flatten().filter_map(ban).collect();
        Policy { allow: strings(at("licenses", "allow").as_ref()), bans }
    }
}

fn ban(row: &Value) -> Option<Ban> {
    let name = match row {
        Value::String(name) => name.as_str(),
        // cargo-deny takes both words.
        _ => row.get("crate").or_else(|| row.get("name")).and_then(Value::as_str)?,
    };
    Some(Ban { name: name.to_string(), wrappers: strings(row.get("wrappers")) })
}

fn strings(value: Option<&Value>) -> Vec<String> {
    let list = value.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    list.iter().filter_map(Value::as_str).map(str::to_string).collect()
}

/// Does an SPDX expression leave a choice that is allowed? `OR` needs one side, `AND` both; `/` is an old way to write
/// `OR`; `X WITH Y` is one name. `AND` binds tighter than `OR` (SPDX specification 2.3, annex D.4).
fn permitted(expression: &str, allow: &[String]) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut at = 0;
    let verdict = either(&words, &mut at, allow);
    // Words left over mean that the expression was not understood: not permitted.
    verdict && at == words.len()
}

fn either(words: &[&str], at: &mut usize, allow: &[String]) -> bool {
    let mut verdict = both(words, at, allow);
    while words.get(*at) == Some(&"OR") {
        *at += 1;
        verdict |= both(words, at, allow);
    }
    verdict
}

fn both(words: &[&str], at: &mut usize, allow: &[String]) -> bool {
    let mut verdict = one(words, at, allow);
    while words.get(*at) == Some(&"AND") {
        *at += 1;
        verdict &= one(words, at, allow);
    }
    verdict
}

fn one(words: &[&str], at: &mut usize, allow: &[String]) -> bool {
    let Some(&word) = words.get(*at) else { return false };
    *at += 1;
    if word == "(" {
        let verdict = either(words, at, allow);
        let closed = words.get(*at) == Some(&")");
        *at += usize::from(closed);
        return verdict && closed;
    }
    let mut name = word.to_string();
    if words.get(*at) == Some(&"WITH") {
        name = format!("{word} WITH {}", words.get(*at + 1).copied().unwrap_or_default());
        *at = (*at + 2).min(words.len());
    }
    allow.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::super::tree::External;
    use super::*;

    const DENY: &str = r#"
[graph]
targets = ["x86_64-unknown-linux-gnu"]
[licenses]
allow = ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception"]
[bans]
deny = [{ crate = "ring" }, { crate = "tokio", wrappers = ["plimsoll-control"] }]
"#;

    fn judged(name: &str, licence: &str, dependents: &[&str]) -> Vec<&'static str> {
        let mut tree = Tree::of(&[("deny.toml", DENY)]);
        tree.externals.push(External {
            name: name.into(),
            licence: licence.into(),
            source: "registry+x".into(),
            dependents: dependents.iter().map(|d| d.to_string()).collect(),
            ..External::default()
        });
        check(&tree).into_iter().map(|p| p.rule).collect()
    }

    #[test]
    fn a_licence_outside_the_list_fails() {
        assert!(judged("a", "MIT OR Apache-2.0", &[]).is_empty());
        assert!(judged("a", "MIT/Apache-2.0", &[]).is_empty());
        assert!(judged("a", "GPL-3.0-only OR (MIT AND Apache-2.0 WITH LLVM-exception)", &[]).is_empty());
        assert_eq!(judged("a", "MIT AND GPL-3.0-only", &[]), ["licence"]);
        assert_eq!(judged("a", "GPL-3.0-only OR LGPL-3.0", &[]), ["licence"]);
        assert_eq!(judged("a", "", &[]), ["licence"]);
        assert_eq!(judged("a", "MIT MIT", &[]), ["licence"]);
        assert_eq!(judged("a", "(MIT", &[]), ["licence"]);
    }

    #[test]
    fn a_banned_crate_fails_and_a_wrapper_may_have_it() {
        assert_eq!(judged("ring", "MIT", &["rustls"]), ["ban"]);
        assert!(judged("tokio", "MIT", &["plimsoll-control"]).is_empty());
        assert_eq!(judged("tokio", "MIT", &["plimsoll-control", "plimsoll-engine"]), ["ban"]);
    }

    #[test]
    fn a_crate_from_elsewhere_fails() {
        let mut tree = Tree::of(&[("deny.toml", DENY)]);
        tree.externals.push(External {
            licence: "MIT".into(),
            source: "git+x".into(),
            ..External::default()
        });
        assert_eq!(check(&tree)[0].rule, "source");
    }

    #[test]
    fn an_npm_package_needs_a_licence_and_a_tool_of_another_one_its_entry() {
        let judged = |package: &str| {
            let mut tree = Tree::of(&[("deny.toml", DENY)]);
            let text = format!(r#"{{ "packages": {{ "": {{}}, {package} }} }}"#);
            tree.npm_locks.push(File::new("web/package-lock.json", &text));
            check(&tree).len()
        };
        assert_eq!(judged(r#""node_modules/a": { "license": "MIT OR GPL-3.0" }"#), 0);
        assert_eq!(judged(r#""node_modules/a": {}"#), 1);
        assert_eq!(judged(r#""node_modules/a": { "license": "MPL-2.0", "dev": true }"#), 1);
        let tool = r#""node_modules/lightningcss-linux-x64-gnu": { "license": "MPL-2.0""#;
        assert_eq!(judged(&format!(r#"{tool}, "dev": true }}"#)), 0);
        assert_eq!(judged(&format!("{tool} }}")), 1, "not where it could be in the bundle");
        assert_eq!(judged(&format!(r#"{tool}, "dev": true "#)), 1, "not JSON");
    }

    #[test]
    fn the_platforms_come_from_the_same_file() {
        assert_eq!(targets(DENY), ["x86_64-unknown-linux-gnu"]);
    }
}
