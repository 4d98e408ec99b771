//! Plain words (docs/design/language.md, section 4): patterns that no string, comment, document, or page may contain.
//! Folders that are not rewritten yet have a row with their number of hits: a number never rises, and a row is deleted
//! with its last hit. Folders without a row must have no hits.

#[cfg(test)]
mod examples;
mod left;

use super::{Problem, tree::File, tree::Tree};
use chore::Outcome;
use fancy_regex::Regex;
use left::LEFT;
use std::collections::BTreeMap;

/// A pattern, and what to write instead.
const BANNED: &[(&str, &str)] = &[
    (
        r"(?<!\bthere )\b(is|are|was|were) no (?!longer|more|less|better|worse|different|such)\w+",
        "invalid, unknown, not a",
    ),
    (
        concat!(
            r"\bmend(s|ed|ing)?\b|\bobey(s|ed)?\b|\b(gives?|gave) out\b|\bfor want of\b|",
            r"\bst(ood|ands?) still\b|\bstand-?stills?\b|",
            r"\bst(ands?|anding|ood) (in|on|under|at|above|below|there|for)\b",
        ),
        "fix; accept; saturate; for lack of; stall; is, appears",
    ),
    (
        r"\bbehind\b(?! (a|an|the) (proxy|load balancer|gateway|NAT|firewall))|\bbeside\b",
        "after, below; alongside",
    ),
    (
        r"\b(is|are|was|were|be) told\b|\btold apart\b|\btells? of\b|\bh(olds?|olding|eld)\b[^.;|]{1,60}\bagainst\b",
        "reported; distinguished; compare with",
    ),
    (
        r"\b(who|what)ever\b|\b(no|some|any|every)body\b|\b(we|our|ours|by us)\b",
        "you, plimsoll, other processes",
    ),
    (
        concat!(
            r"\bso (many|long|much)\b(?! (as|that))|\bin turns\b|\bone after the other\b|",
            r"\b(go|goes|going|went) on\b|\bfrom \S+( s| ms)? on\b(?! up)|\bunder way\b|",
            r"\bon the average\b|\banew\b|\b(made|sent) again\b|\bin silence\b|\bwithout a word\b|",
            r"\bkept up with\b|\bknown only\b",
        ),
        "N; interleaved; continue; since; in flight; on average; retried; silently",
    ),
    (
        r"\b[\w-]+ of (its|their|your|one.s) own\b|\b(is|are|was|were) to be\b|\bto be had\b",
        "its own X; must be; available",
    ),
    (r#"^#+ What [^?]*$|"What [^"?]*""#, "a noun phrase"),
    (
        r"\d %|\b1 (times|requests|errors|users|connections|samples|runs|spikes|steps)\b|\bper cent\b",
        "95%; 1 time; percent",
    ),
    (
        concat!(
            r"(?<!file )\bdescriptors?\b|\b(time-out|set-up|tear-down|log-in|heat-map)s?\b|",
            r"\b(colour|behaviour|artefact|licence|neighbour|utilisation|judgement|misspelt|learnt|spelt|centre)\w*",
        ),
        "file descriptors; timeout, setup, teardown; American spelling",
    ),
];

/// Files and folders that may contain the patterns, with the reason.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("docs/design/language.md", "quotes what it bans"),
    ("xtask/src/tidy/language/examples.rs", "has an example of each pattern"),
    ("xtask/src/tidy/language.rs", "holds the patterns"),
    ("experiments/", "reports of runs as they were printed"),
    ("bench/runs/", "results as they were measured"),
    ("docs/explanation/published-anomalies.md", "quotes published reports"),
    ("docs/reference/limits.md", "names the limit `descriptors`, which run files contain"),
    ("crates/audit/", "reads and quotes what others write"),
    ("crates/foreign/", "reads and quotes what others write"),
    ("CHANGELOG.md", "names what earlier versions had"),
];

struct Hit {
    path: String,
    line: usize,
    text: String,
    instead: &'static str,
}

/// `cargo xtask tidy words`: prints every hit with its place, and the counts for the table.
pub fn command(tree: &Tree) -> Outcome {
    let hits = hits(tree)?;
    for Hit { path, line, text, instead } in &hits {
        eprintln!("{path}:{line}: `{text}`  =>  {instead}");
    }
    for (folder, count) in by_folder(&hits) {
        println!("    (\"{folder}\", {count}),");
    }
    println!("{} hits", hits.len());
    Ok(())
}

pub fn check(tree: &Tree) -> Vec<Problem> {
    match hits(tree) {
        Ok(hits) => compare(&by_folder(&hits), LEFT),
        Err(sentence) => vec![Problem::new("words", "xtask/src/tidy/language.rs", 0, sentence)],
    }
}

/// Returns folders with more hits than their row allows, and rows of folders without hits.
fn compare(counts: &BTreeMap<String, usize>, left: &[(&str, usize)]) -> Vec<Problem> {
    let allowed = |folder: &str| left.iter().find(|(name, _)| *name == folder).map_or(0, |(_, n)| *n);
    let more = counts.iter().filter(|(folder, n)| **n > allowed(folder)).map(|(folder, n)| {
        let allowed = match allowed(folder) {
            0 => String::new(),
            most => format!(", {most} are allowed"),
        };
        let message = format!("{n} banned patterns{allowed}: `cargo xtask tidy words` lists them");
        Problem::new("words", folder, 0, message)
    });
    let done = left.iter().filter(|(folder, _)| !counts.contains_key(*folder));
    let done = done.map(|(folder, _)| {
        Problem::new(
            "words",
            folder,
            0,
            "no banned pattern is left: delete its row in xtask/src/tidy/language/left.rs".into(),
        )
    });
    more.chain(done).collect()
}

fn by_folder(hits: &[Hit]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for hit in hits {
        *counts.entry(folder(&hit.path)).or_default() += 1;
    }
    counts
}

/// `crates/plan`, `docs/how-to`, `tests`, or the file itself at the root.
fn folder(path: &str) -> String {
    let parts: Vec<&str> = path.split('/').collect();
    let depth = match parts.first() {
        Some(&"crates" | &"docs" | &"testbed" | &"examples") => 2,
        _ => 1,
    };
    parts[..depth.min(parts.len())].join("/")
}

fn hits(tree: &Tree) -> Result<Vec<Hit>, String> {
    let rules: Vec<(Regex, &str)> = BANNED
        .iter()
        .map(|(pattern, instead)| {
            let regex = Regex::new(&format!("(?i){pattern}"));
            regex.map(|regex| (regex, *instead)).map_err(|e| format!("`{pattern}`: {e}"))
        })
        .collect::<Result<_, _>>()?;
    let mut hits = Vec::new();
    for file in tree.files.iter().filter(|file| is_prose(file)) {
        for (number, line) in (1..).zip(prose(file).lines()) {
            for (rule, instead) in &rules {
                let found = rule.find(line).map_err(|e| format!("{}: {e}", file.path))?;
                if let Some(found) = found {
                    let (path, text) = (file.path.clone(), found.as_str().trim().to_owned());
                    hits.push(Hit { path, line: number, text, instead });
                }
            }
        }
    }
    Ok(hits)
}

fn is_prose(file: &File) -> bool {
    let ending = file.path.rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_excepted = EXCEPTIONS.iter().any(|(path, _)| match path.ends_with('/') {
        true => file.path.starts_with(path),
        false => file.path == *path,
    });
    ["rs", "md", "svelte"].contains(&ending) && !is_excepted && !file.path.contains("/golden/")
}

/// Returns the prose of a file: of Rust, only strings and comments. Each line is checked separately.
fn prose(file: &File) -> String {
    if !file.is_rust() {
        return file.text.clone();
    }
    let bytes = file.text.bytes().zip(file.code.bytes());
    let kept = bytes.map(|(text, code)| if code == b' ' || text == b'\n' { text } else { b' ' });
    String::from_utf8_lossy(&kept.collect::<Vec<u8>>()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<(usize, String)> {
        let hits = hits(&Tree::of(&[(path, text)])).unwrap();
        hits.into_iter().map(|hit| (hit.line, hit.text)).collect()
    }

    #[test]
    fn patterns_are_found_in_strings_comments_and_documents_and_not_in_code() {
        let rust = "//! x\nlet beside = 1 % 2;\nf(\"`x` is no port\");\n// It stands behind the rest.\n";
        assert_eq!(found("src/a.rs", rust), [(3, "is no port".into()), (4, "behind".into())]);
        assert_eq!(
            found("docs/how-to/a.md", "99 % of\n# What it does\n"),
            [(1, "9 %".to_owned()), (2, "# What it does".to_owned()),]
        );
        assert_eq!(found("docs/how-to/a.md", "There is no such port. 99% of it, behind a proxy.\n"), []);
        assert_eq!(found("bench/runs/a.md", "99 % of\n"), []);
    }

    #[test]
    fn a_count_never_rises_and_a_finished_folder_has_no_row() {
        let counts = BTreeMap::from([("src".to_owned(), 3), ("tests".to_owned(), 1)]);
        assert_eq!(compare(&counts, &[("src", 3), ("tests", 1)]), []);
        assert_eq!(compare(&BTreeMap::new(), &[]), [], "the table may be empty");
        let broken = |left: &[(&str, usize)]| compare(&counts, left).len();
        assert_eq!((broken(&[("src", 2), ("tests", 1)]), broken(&[("src", 4), ("tests", 1)])), (1, 0));
        assert_eq!(broken(&[("src", 3)]), 1, "a folder without a row allows none");
        assert_eq!(broken(&[("src", 3), ("tests", 1), ("docs/how-to", 2)]), 1, "a row without hits goes");
    }
}
