//! Licenses of npm packages, by the same `deny.toml` that cargo-deny reads for crates (`cargo xtask nightly`), because
//! cargo-deny does not read npm's lock files.

use super::Problem;
use super::tree::{File, Tree};
use toml::Value;

const RULE: &str = "license";

/// Tools that build or test the bundle and leave no code in it: their license only matters if you distribute the tool
/// itself. A tool, its license, and its purpose; this includes its packages for single platforms.
const NPM_TOOLS: [(&str, &str, &str); 4] = [
    ("lightningcss", "MPL-2.0", "reads style sheets for the bundler, when the console is built"),
    ("tslib", "0BSD", "used by the bundler's WebAssembly version; the license has no conditions"),
    ("axe-core", "MPL-2.0", "checks the accessibility of pages, in the browser tests"),
    ("@axe-core/playwright", "MPL-2.0", "passes the pages of those tests to axe-core"),
];

pub fn check(tree: &Tree) -> Vec<Problem> {
    let Some(file) = tree.file("deny.toml") else {
        // Without packages there is nothing to check (the trees of other rules' tests).
        let message = "missing file: licenses cannot be checked".to_string();
        return if tree.npm_locks.is_empty() {
            Vec::new()
        } else {
            vec![Problem::new(RULE, "deny.toml", 0, message)]
        };
    };
    let allow = match file.text.parse::<toml::Table>() {
        Ok(table) => strings(table.get("licenses").and_then(|section| section.get("allow"))),
        Err(e) => return vec![Problem::new(RULE, "deny.toml", 0, format!("cannot be read: {e}"))],
    };
    tree.npm_locks.iter().flat_map(|lock| npm(lock, &allow)).collect()
}

/// Checks the packages of an npm lock file: allowed are the licenses of `allow`, and those of [`NPM_TOOLS`].
fn npm(lock: &File, allow: &[String]) -> Vec<Problem> {
    let problem = |message| Problem::new(RULE, &lock.path, 0, message);
    let parsed: Result<serde_json::Value, _> = serde_json::from_str(&lock.text);
    let Some(packages) = parsed.ok().and_then(|lock| lock.get("packages")?.as_object().cloned()) else {
        return vec![problem("missing `packages`: licenses cannot be checked".to_string())];
    };
    let mut problems = Vec::new();
    // The package itself has an empty name.
    for (path, about) in packages.iter().filter(|(path, _)| !path.is_empty()) {
        let name = path.rsplit("node_modules/").next().unwrap_or(path);
        let license = about.get("license").and_then(serde_json::Value::as_str).unwrap_or_default();
        let is_dev = about.get("dev").and_then(serde_json::Value::as_bool) == Some(true);
        let is_named =
            |tool: &str| name.strip_prefix(tool).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
        let is_tool = NPM_TOOLS.iter().any(|(tool, of_tool, _)| is_named(tool) && *of_tool == license);
        if !(permitted(license, allow) || (is_dev && is_tool)) {
            let shown = if license.is_empty() { "none" } else { license };
            problems.push(problem(format!(
                "{name}: license `{shown}` is neither allowed nor that of a known tool"
            )));
        }
    }
    problems
}

fn strings(value: Option<&Value>) -> Vec<String> {
    let list = value.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    list.iter().filter_map(Value::as_str).map(str::to_string).collect()
}

/// Returns whether an SPDX expression permits an allowed choice. `OR` needs one side, `AND` both; `/` is an old form of
/// `OR`; `X WITH Y` is one name. `AND` binds tighter than `OR` (SPDX specification 2.3, annex D.4).
fn permitted(expression: &str, allow: &[String]) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut at = 0;
    let verdict = either(&words, &mut at, allow);
    // Remaining words mean that the expression is invalid: not permitted.
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
    use super::*;

    const DENY: &str = r#"
[licenses]
allow = ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception"]
"#;

    fn problems(package: &str) -> usize {
        let mut tree = Tree::of(&[("deny.toml", DENY)]);
        let text = format!(r#"{{ "packages": {{ "": {{}}, {package} }} }}"#);
        tree.npm_locks.push(File::new("web/package-lock.json", &text));
        check(&tree).len()
    }

    #[test]
    fn a_license_outside_the_list_fails() {
        let judged = |license: &str| problems(&format!(r#""node_modules/a": {{ "license": "{license}" }}"#));
        assert_eq!(judged("MIT OR Apache-2.0"), 0);
        assert_eq!(judged("MIT/Apache-2.0"), 0);
        assert_eq!(judged("GPL-3.0-only OR (MIT AND Apache-2.0 WITH LLVM-exception)"), 0);
        assert_eq!(judged("MIT AND GPL-3.0-only"), 1);
        assert_eq!(judged("GPL-3.0-only OR LGPL-3.0"), 1);
        assert_eq!(judged(""), 1);
        assert_eq!(judged("MIT MIT"), 1);
        assert_eq!(judged("(MIT"), 1);
    }

    #[test]
    fn locks_without_a_policy_are_a_problem() {
        let mut tree = Tree::of(&[]);
        assert!(check(&tree).is_empty());
        tree.npm_locks.push(File::new("web/package-lock.json", "{}"));
        assert_eq!(check(&tree).len(), 1);
    }

    #[test]
    fn an_npm_package_needs_an_allowed_license_unless_it_is_a_listed_tool() {
        assert_eq!(problems(r#""node_modules/a": { "license": "MIT OR GPL-3.0" }"#), 0);
        assert_eq!(problems(r#""node_modules/a": {}"#), 1);
        assert_eq!(problems(r#""node_modules/a": { "license": "MPL-2.0", "dev": true }"#), 1);
        let tool = r#""node_modules/lightningcss-linux-x64-gnu": { "license": "MPL-2.0""#;
        assert_eq!(problems(&format!(r#"{tool}, "dev": true }}"#)), 0);
        assert_eq!(problems(&format!("{tool} }}")), 1, "not where it could be in the bundle");
        assert_eq!(problems(&format!(r#"{tool}, "dev": true "#)), 1, "not JSON");
    }
}
