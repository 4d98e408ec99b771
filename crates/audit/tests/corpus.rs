//! Results of others, from issues, pull requests, and files of public repositories: figures retyped as facts, each with
//! its source and with the rules that are right for it (`right:`), that are right if they speak (`also:`), that are right
//! as a doubt and wrong as a contradiction (`doubt:`), and with `read: no` if it is not a result of a load test. Each part was judged before the audit read it. Those in `reported`
//! are the last part; what it showed is corrected, and [`FIRST`] has what each part gave at first. `data/corpus.md` has
//! the counts; write it with `UPDATE_GOLDEN=1 cargo test -p plimsoll-audit corpus`.

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

/// What the first reading of each part gave, before any judgment was corrected.
const FIRST: &str = "\
First readings, before anything was corrected. A reading is of results that were judged before the audit read them;
afterwards they correct readers and rules, and count as tuned on.

| reading | results | read | impossible: right | false | implausible: right | false | missed |
|---|---|---|---|---|---|---|---|
| 1 | 82 | 69 | 8 | 6 | 25 | 5 | 6 |
| 2 | 68 | 63 | 2 | 6 | 42 | 3 | 3 |
| 3 | 56 | 54 | 1 | 2 | 15 | 1 | 2 |
| 4 | 64 | 60 | 8 | 2 | 25 | 5 | 3 |
| 5 | 47 | 46 | 1 | 1 | 12 | 3 | 3 |
| 6 | 15 | 15 | 0 | 4 | 6 | 3 | 1 |
| 7 | 76 | 74 | 1 | 0 | 41 | 15 | 9 |

Causes of what was false in the readings 2 to 6:

- Reading 2: a timed run of h2load, whose rate is over whole seconds (4); tables of Locust that end before their last
  rows (2).
- Reading 3: an excerpt of oha without its list of errors; autocannon's total counts what was sent.
- Reading 4: h2load counts a status at the head of a response, and its request at the end; a command of vegeta was read
  as a label. Doubts: rows of one request compared with longer ones (2), JMeter's rates over windows of their own, and
  threads that end after their loops.
- Reading 5: siege's bytes are those of bodies, which can be small (2); autocannon's total includes requests without an
  answer, so 192 failures of 300 were taken for all of them.
- Reading 6: forks of wrk2 print p99 in the column of the maximum (4). The three doubts are
  `percentile_of_few_samples`, and right by its limit of 15 samples above p99.

Judgments that were wrong by arithmetic, and are corrected: `histogram_differs` in hashgraph/pbj issue 465; two of the
three false doubts of reading 2 (a mean of 125.14 above a p95 of 124.07, and 2,996 checks on 3,300 iterations);
`failures_in_the_times` in file/68383596141, where half the requests of a row failed; and the one finding of reading 5
that counts as false among what cannot be true: `within_deviation_wrong` in file/54181698274, where 92% within one
deviation, up to 0.95 ms, contradict a p90 of 1.10 ms. `groups_differ_from_whole` in nghttp2/nghttp2 issue 1523 was
wrong by the meaning of h2load's numbers. Two of the three that reading 5 missed are below the threshold of
`made_up_samples` (1.10 and 1.23 times the connections).

A source `file/NUMBER` is the number of a file in an index of public repositories that names no repository.
";

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

fn render(halves: &[(&str, Half)]) -> String {
    let mut out = String::from(
        "# Results of others\n\nWritten by `UPDATE_GOLDEN=1 cargo test -p plimsoll-audit corpus` from artifacts in\n\
         `corpus/`.\n\n\
         | half | artifacts | results | read | impossible: right | false | implausible: right | false | missed |\n\
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
    writeln!(out, "\n{FIRST}").expect("text");
    let mut rules: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    for (_, half) in halves {
        for (rule, (right, wrong)) in &half.rules {
            let sum = rules.entry(rule).or_default();
            *sum = (sum.0 + right, sum.1 + wrong);
        }
    }
    out += "## By rule\n\n| rule | right | false |\n|---|---|---|\n";
    for (rule, (right, wrong)) in rules {
        writeln!(out, "| `{rule}` | {right} | {wrong} |").expect("text");
    }
    out += "\n## Not as judged by hand\n\n";
    for remark in halves.iter().flat_map(|(_, half)| &half.remarks) {
        writeln!(out, "- {remark}").expect("text");
    }
    out
}

#[test]
fn corpus_is_judged_as_the_table_says() {
    let mut halves = [("tuned on", Half::default()), ("reported on", Half::default())];
    for artifact in artifacts() {
        judge(&mut halves[usize::from(!artifact.is_tuned)].1, &artifact);
    }
    let text = render(&halves);
    let path = data().join("corpus.md");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &text).expect("the folder is there");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(committed, text, "run with UPDATE_GOLDEN=1 and look at `git diff`");
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
