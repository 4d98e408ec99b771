//! Results of others, from issues, pull requests, and files of public repositories: figures retyped as facts, each with
//! its source and with the rules that are right for it (`right:`), that are right if they speak (`also:`), that are
//! right as a doubt and wrong as a contradiction (`doubt:`), and with `read: no` if it is not a result of a load test.
//! Each part was judged before the audit read it. Those in `reported` are the last part, and [`FIRST`] has what each
//! part gave at first. `data/corpus.md` and the page of the rules have the counts; write them with
//! `UPDATE_GOLDEN=1 cargo test -p plimsoll-audit corpus`.

use plimsoll_audit::foreign::read;
use plimsoll_audit::{Grade, audit};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

struct Artifact {
    /// Owner and name, with the number of the issue or pull request, or the number of a file in an index.
    source: String,
    /// Rules that are right to speak.
    right: BTreeSet<String>,
    /// Rules that are right if they speak, because another one says the same or the text barely allows it.
    also: BTreeSet<String>,
    /// Rules that are right if they raise a doubt, and wrong if they say that it cannot be true.
    doubt: BTreeSet<String>,
    /// Whether the text has a result of a load test at all.
    is_result: bool,
    text: String,
    is_tuned: bool,
}

/// What the first reading of each part gave, before any judgment was corrected: by reading, by rule, and why.
const FIRST: &str = include_str!("data/first-readings.md");

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

fn header<'a>(text: &'a str, name: &str) -> (&'a str, &'a str) {
    text.strip_prefix(name).map_or(("", text), |rest| rest.split_once('\n').expect("a text"))
}

fn artifacts() -> Vec<Artifact> {
    let folder =
        |name: &str| std::fs::read_dir(data().join("corpus").join(name)).expect("the folder is committed");
    let entries = ["tuned", "reported"].into_iter().flat_map(folder);
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    let mut all = Vec::new();
    for path in files {
        let is_tuned = path.components().any(|part| part.as_os_str() == "tuned");
        let text = std::fs::read_to_string(path).expect("text");
        for part in text.split("=== ").skip(1) {
            let (source, rest) = part.split_once('\n').expect("a source");
            let (right, rest) = header(rest, "right: ");
            let (also, rest) = header(rest, "also: ");
            let (doubt, rest) = header(rest, "doubt: ");
            let (read, text) = header(rest, "read: ");
            let rules = |names: &str| names.split_whitespace().map(str::to_owned).collect();
            all.push(Artifact {
                source: source.to_owned(),
                right: rules(right),
                also: rules(also),
                doubt: rules(doubt),
                is_result: read != "no",
                text: text.to_owned(),
                is_tuned,
            });
        }
    }
    all
}

#[derive(Default)]
struct Half {
    artifacts: u32,
    results: u32,
    read: u32,
    right: [u32; 2],
    false_ones: [u32; 2],
    missed: u32,
    /// Right and false by rule.
    rules: BTreeMap<&'static str, (u32, u32)>,
    remarks: Vec<String>,
}

fn judge(half: &mut Half, artifact: &Artifact) {
    let document = read("report.md", &artifact.text);
    let found = audit(std::slice::from_ref(&document)).findings;
    half.artifacts += 1;
    half.results += u32::from(artifact.is_result);
    match (artifact.is_result, document.rows.is_empty()) {
        (true, true) => half.remarks.push(format!("{}: not read", artifact.source)),
        (true, false) => half.read += 1,
        (false, true) => {}
        (false, false) => half.remarks.push(format!("{}: read as a result", artifact.source)),
    }
    let mut spoken = BTreeSet::new();
    for finding in found.iter().filter(|f| f.grade != Grade::Missing) {
        let at = usize::from(finding.grade == Grade::Implausible);
        let mut right = [&artifact.right, &artifact.also].to_vec();
        right.extend((finding.grade == Grade::Implausible).then_some(&artifact.doubt));
        let is_right = right
            .iter()
            .any(|rules| [finding.rule].iter().chain(&finding.also).any(|rule| rules.contains(*rule)));
        spoken.insert(finding.rule.to_owned());
        spoken.extend(finding.also.iter().map(|rule| (*rule).to_owned()));
        let count = half.rules.entry(finding.rule).or_default();
        if is_right {
            half.right[at] += 1;
            count.0 += 1;
        } else {
            half.false_ones[at] += 1;
            count.1 += 1;
            half.remarks.push(format!("{}: false `{}`: {}", artifact.source, finding.rule, finding.sentence));
        }
    }
    for rule in artifact.right.difference(&spoken) {
        half.missed += 1;
        half.remarks.push(format!("{}: missed `{rule}`", artifact.source));
    }
}

/// A section of [`FIRST`], without its heading.
fn first(section: &str) -> &'static str {
    let heading = format!("## {section}\n");
    let (_, rest) = FIRST.split_once(&heading).expect("the section is there");
    rest.split("\n## ").next().expect("a text").trim()
}

fn numbers(line: &str) -> Vec<u32> {
    line.split('|').filter_map(|cell| cell.trim().parse().ok()).collect()
}

/// Right and false by rule: at the first readings from the second on, and now.
fn by_rule(halves: &[(&str, Half)]) -> String {
    let mut rules: BTreeMap<String, [u32; 4]> = BTreeMap::new();
    for line in first("By rule").lines().filter(|line| line.starts_with("| `")) {
        let name = line.split('`').nth(1).expect("a rule").to_owned();
        let [right, wrong] = numbers(line)[..] else { panic!("{line}") };
        let counts = rules.entry(name).or_default();
        (counts[0], counts[1]) = (right, wrong);
    }
    for (_, half) in halves {
        for (rule, (right, wrong)) in &half.rules {
            let counts = rules.entry((*rule).to_owned()).or_default();
            (counts[2], counts[3]) = (counts[2] + right, counts[3] + wrong);
        }
    }
    let mut out = String::from(
        "| rule | first readings: right | false | now: right | false |\n|---|---|---|---|---|\n",
    );
    for (rule, [a, b, c, d]) in rules {
        writeln!(out, "| `{rule}` | {a} | {b} | {c} | {d} |").expect("text");
    }
    out
}

fn table(halves: &[(&str, Half)]) -> String {
    let mut out = String::from(
        "| half | artifacts | results | read | impossible: right | false | implausible: right | false | missed |\n\
         |---|---|---|---|---|---|---|---|---|\n",
    );
    for (name, half) in halves {
        let Half { artifacts, results, read, right, false_ones, missed, .. } = half;
        writeln!(
            out,
            "| {name} | {artifacts} | {results} | {read} | {} | {} | {} | {} | {missed} |",
            right[0], false_ones[0], right[1], false_ones[1]
        )
        .expect("text");
    }
    out
}

/// The sums of the first readings from the second on, in one sentence.
fn summary() -> String {
    let rows = first("By reading").lines().map(numbers).filter(|n| n.len() == 8 && n[0] > 1);
    let sum = rows.fold([0; 8], |mut sum, row| {
        sum.iter_mut().zip(row).for_each(|(a, b)| *a += b);
        sum
    });
    let [_, results, read, right, wrong, good, bad, missed] = sum;
    let percent = |part: u32, whole: u32| 100.0 * f64::from(part) / f64::from(whole);
    format!(
        "Over the readings from the second on, the audit read {read} of {results} results ({:.0}%). Of what it called\n\
         impossible, {right} findings were right and {wrong} false; of the doubts, {good} were right and {bad} false \
         ({:.0}%); it\nmissed {missed}.\n",
        percent(read, results),
        percent(bad, good + bad)
    )
}

fn render(halves: &[(&str, Half)]) -> String {
    let mut out = format!(
        "# Results of others\n\nWritten by `UPDATE_GOLDEN=1 cargo test -p plimsoll-audit corpus` from artifacts in\n\
         `corpus/`.\n\n{}\n{}\n## By rule\n\n{}\n## Not as judged by hand\n\n",
        table(halves),
        FIRST.replace("\n## By rule\n", "\n## By rule at the first readings\n"),
        by_rule(halves)
    );
    for remark in halves.iter().flat_map(|(_, half)| &half.remarks) {
        writeln!(out, "- {remark}").expect("text");
    }
    out
}

/// The counts on the page of the rules, between two marks.
fn page(halves: &[(&str, Half)], old: &str) -> String {
    const BEGIN: &str = "<!-- counts: written by UPDATE_GOLDEN=1 cargo test -p plimsoll-audit corpus -->\n";
    const END: &str = "<!-- end of counts -->";
    let (head, rest) = old.split_once(BEGIN).expect("the mark is there");
    let (_, tail) = rest.split_once(END).expect("the other mark is there");
    format!(
        "{head}{BEGIN}\n{}\n\n{}\nAfter the corrections, the results read as follows:\n\n{}\nRight and false by rule; \
         no other rule has said anything of these results:\n\n{}\n{END}{tail}",
        first("By reading"),
        summary(),
        table(halves),
        by_rule(halves)
    )
}

#[test]
fn corpus_is_judged_as_the_table_says() {
    let mut halves = [("tuned on", Half::default()), ("reported on", Half::default())];
    for artifact in artifacts() {
        judge(&mut halves[usize::from(!artifact.is_tuned)].1, &artifact);
    }
    let rules = data().join("../../../../docs/reference/audit-rules.md");
    let old = std::fs::read_to_string(&rules).expect("the page is there");
    for (path, text) in [(data().join("corpus.md"), render(&halves)), (rules, page(&halves, &old))] {
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&path, &text).expect("the folder is there");
        }
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(committed, text, "run with UPDATE_GOLDEN=1 and look at `git diff`");
    }
    // What is reported on shows what to expect of a new text: the table has its false ones.
    assert_eq!(halves[0].1.false_ones[0], 0, "a sound result is called impossible");
}

#[test]
fn corpus_sources_are_repositories() {
    for Artifact { source, text, .. } in artifacts() {
        let name = source.split_whitespace().next().expect("a name");
        assert_eq!(name.matches('/').count(), 1, "{source}");
        assert!(!text.trim().is_empty(), "{source}");
    }
}
