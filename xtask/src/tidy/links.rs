//! Links in Markdown: the target of every relative link must exist.

use super::{Problem, source, tree::Tree};

pub fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in tree.files.iter().filter(|file| file.path.ends_with(".md")) {
        let prose = without_code(&file.text);
        for (target, at) in targets(&prose) {
            let relative = target.split(['#', '?']).next().unwrap_or_default();
            let outside = target.contains("://") || target.starts_with("mailto:");
            if relative.is_empty() || outside {
                continue;
            }
            if !resolve(&file.path, relative).is_some_and(|path| exists(tree, &path)) {
                let line = source::line_of(&prose, at);
                problems.push(Problem::new(
                    "link",
                    &file.path,
                    line,
                    format!("the target `{target}` does not exist"),
                ));
            }
        }
    }
    problems
}

/// Replaces fenced blocks and inline code with spaces: an example of a link is not a link.
fn without_code(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut fenced = false;
    for line in text.split_inclusive('\n') {
        let fence = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        let mut ticked = false;
        for letter in line.chars() {
            ticked ^= letter == '`';
            let hide = letter != '\n' && (fenced || fence || ticked || letter == '`');
            // As many spaces as the letter has bytes, so that byte positions do not change.
            if hide { out.extend(std::iter::repeat_n(' ', letter.len_utf8())) } else { out.push(letter) }
        }
        fenced ^= fence;
    }
    out
}

/// Returns the targets of `[text](target)` and `[name]: target`, with their places.
fn targets(prose: &str) -> Vec<(&str, usize)> {
    let mut found = Vec::new();
    for (at, _) in prose.match_indices("](") {
        let rest = &prose[at + 2..];
        if let Some(end) = rest.find(')') {
            // A title may follow the target: `(a.md "Title")`.
            found.push((rest[..end].split_whitespace().next().unwrap_or_default(), at));
        }
    }
    let mut at = 0;
    for line in prose.split_inclusive('\n') {
        if line.starts_with('[')
            && let Some((_, target)) = line.split_once("]: ")
        {
            found.push((target.split_whitespace().next().unwrap_or_default(), at));
        }
        at += line.len();
    }
    found.into_iter().map(|(target, at)| (target.trim_start_matches('<').trim_end_matches('>'), at)).collect()
}

/// Returns the path from the root; None if it is outside of the checkout.
fn resolve(from: &str, relative: &str) -> Option<String> {
    let mut parts: Vec<&str> = if relative.starts_with('/') { Vec::new() } else { from.split('/').collect() };
    parts.pop();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

fn exists(tree: &Tree, path: &str) -> bool {
    let folder = format!("{path}/");
    path.is_empty() || tree.paths.iter().any(|known| known == path || known.starts_with(&folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_without_a_target_fails() {
        let text = "[a](a.md) [b](../README.md#top) [c](gone.md)\n![p](img/x.png)\n[up](../../out.md)\n[r]: lost.md\n";
        let tree = Tree::of(&[("docs/x.md", text), ("docs/a.md", ""), ("README.md", "")]);
        let lines: Vec<usize> = check(&tree).into_iter().map(|p| p.line).collect();
        assert_eq!(lines, [1, 2, 3, 4]);
    }

    #[test]
    fn folders_other_hosts_anchors_and_examples_pass() {
        let text = "[s](docs/) [h](https://example.com/x) [t](#top) `[no](link.md)`\n```\n[x](y.md)\n```\n";
        let tree = Tree::of(&[("README.md", text), ("docs/a.md", "")]);
        assert!(check(&tree).is_empty());
    }
}
