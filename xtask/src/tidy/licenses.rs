//! Licences of npm packages, after the same `deny.toml` that cargo-deny reads for crates, their bans and their sources
//! (`cargo xtask nightly`): what npm locks, cargo-deny does not know.

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
        // Without packages there is nothing to judge (the pretend trees of other rules' tests).
        let message = "is missing: no licence can be judged".to_string();
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
    fn a_licence_outside_the_list_fails() {
        let judged = |licence: &str| problems(&format!(r#""node_modules/a": {{ "license": "{licence}" }}"#));
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
    fn an_npm_package_needs_a_licence_and_a_tool_of_another_one_its_entry() {
        assert_eq!(problems(r#""node_modules/a": { "license": "MIT OR GPL-3.0" }"#), 0);
        assert_eq!(problems(r#""node_modules/a": {}"#), 1);
        assert_eq!(problems(r#""node_modules/a": { "license": "MPL-2.0", "dev": true }"#), 1);
        let tool = r#""node_modules/lightningcss-linux-x64-gnu": { "license": "MPL-2.0""#;
        assert_eq!(problems(&format!(r#"{tool}, "dev": true }}"#)), 0);
        assert_eq!(problems(&format!("{tool} }}")), 1, "not where it could be in the bundle");
        assert_eq!(problems(&format!(r#"{tool}, "dev": true "#)), 1, "not JSON");
    }
}
