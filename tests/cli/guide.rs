//! The documentation shows nothing that is not true: plimsoll accepts each experiment, each piece of one is part of an
//! example, and each command and its flags exist. The pages have the form of their kind, and none repeats another.

#[path = "tutorial.rs"]
mod tutorial;

use crate::support::{Scratch, Tool};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The pages of one kind, as paths from the root, sorted.
fn kind(folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(root().join("docs").join(folder)).expect("the checkout is whole");
    let names = entries.map(|entry| entry.expect("a folder can be read").file_name());
    let names = names.map(|name| name.into_string().expect("pages have plain names"));
    let mut all: Vec<String> = names.filter(|name| name.ends_with(".md")).collect();
    all.sort();
    all.into_iter().map(|name| format!("docs/{folder}/{name}")).collect()
}

/// The pages that show what to type.
fn pages() -> Vec<String> {
    let all = [kind("tutorial"), kind("how-to"), vec!["docs/README.md".into(), "README.md".into()]];
    all.concat()
}

fn read(page: &str) -> String {
    std::fs::read_to_string(root().join(page)).expect("the checkout is whole")
}

/// A fenced block: its language, the number of its first line, and its text.
struct Block {
    language: String,
    line: usize,
    text: String,
}

fn blocks(text: &str) -> Vec<Block> {
    let mut all = Vec::new();
    let mut open: Option<Block> = None;
    for (i, line) in text.lines().enumerate() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(word), None) => {
                open = Some(Block { language: word.trim().to_owned(), line: i + 2, text: String::new() });
            }
            (Some(_), Some(_)) => all.extend(open.take()),
            (None, Some(block)) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block is never closed");
    all
}

fn blocks_in(text: &str, language: &str) -> Vec<Block> {
    blocks(text).into_iter().filter(|block| block.language == language).collect()
}

/// The text without fenced blocks.
fn prose(text: &str) -> String {
    let mut is_fenced = false;
    let mut out = String::new();
    for line in text.lines() {
        let is_fence = line.starts_with("```");
        if !is_fenced && !is_fence {
            out.push_str(line);
            out.push('\n');
        }
        is_fenced ^= is_fence;
    }
    out
}

/// Lines without the indentation that all of them share, and without empty ones: a piece may be deeper in its file.
fn outdented(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let depth = lines.iter().map(|line| line.len() - line.trim_start().len()).min().unwrap_or(0);
    lines.iter().map(|line| line[depth..].trim_end().to_owned()).collect()
}

fn is_part_of(piece: &str, whole: &str) -> bool {
    let piece = outdented(piece);
    let whole: Vec<&str> = whole.lines().filter(|line| !line.trim().is_empty()).collect();
    whole.windows(piece.len()).any(|lines| outdented(&lines.join("\n")) == piece)
}

fn examples() -> Vec<String> {
    let entries = std::fs::read_dir(root().join("examples")).expect("the checkout is whole");
    let paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a folder can be read").path()).collect();
    let yaml = paths.iter().filter(|path| path.extension().is_some_and(|ending| ending == "yaml"));
    yaml.map(|path| std::fs::read_to_string(path).expect("the checkout is whole")).collect()
}

fn is_whole(experiment: &str) -> bool {
    experiment.lines().any(|line| line.starts_with("scenarios:"))
}

/// `plimsoll check` on a text, in a folder that has the data of the examples.
fn check(text: &str) -> crate::support::Output {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.folder().join("data")).expect("the folder for temporary files is writable");
    for entry in std::fs::read_dir(root().join("examples/data")).expect("the checkout is whole") {
        let path = entry.expect("a folder can be read").path();
        let name = path.file_name().expect("a file has a name");
        std::fs::copy(&path, scratch.folder().join("data").join(name)).expect("there is room");
    }
    let file = scratch.file("experiment.yaml", text);
    Tool::new(&["check", &file]).env("API_KEY", "k-4711").env("REGION", "north").start().wait()
}

#[test]
fn every_experiment_of_the_pages_is_accepted() {
    let mut checked = 0;
    for page in pages() {
        for block in blocks_in(&read(&page), "yaml").iter().filter(|block| is_whole(&block.text)) {
            checked += 1;
            let output = check(&block.text);
            assert_eq!(output.code, 0, "{page}:{}: {}", block.line, output.stderr);
        }
    }
    assert!(checked >= 20, "the pages show {checked} whole experiments");
}

#[test]
fn every_piece_of_an_experiment_is_part_of_an_example() {
    let examples = examples();
    for page in pages() {
        for block in blocks_in(&read(&page), "yaml").iter().filter(|block| !is_whole(&block.text)) {
            let is_known = examples.iter().any(|example| is_part_of(&block.text, example));
            assert!(is_known, "{page}:{}: no example has this piece:\n{}", block.line, block.text);
        }
    }
}

#[test]
fn every_example_of_a_threshold_in_the_reference_is_accepted() {
    let page = read("docs/reference/thresholds.md");
    let (_, subjects) = page.split_once("## Subjects").expect("the page has a table of subjects");
    let (subjects, _) = subjects.split_once("## ").expect("another section follows");
    let rows = subjects.lines().filter(|line| line.starts_with("| `"));
    let examples: Vec<&str> = rows.filter_map(|row| spans(row).last().copied()).collect();
    assert!(examples.len() >= 15, "{examples:?}");
    // Calls and WebSockets need different versions of HTTP.
    let (calls, others): (Vec<&str>, Vec<&str>) =
        examples.into_iter().partition(|example| example.starts_with("grpc_status"));
    let list = |examples: &[&str]| -> String {
        examples.iter().map(|example| format!("  - \"{example}\"\n")).collect()
    };
    let experiment = format!(
        "target: http://127.0.0.1:8080\nload: {{ rate: 10/s }}\nscenarios:\n  a:\n    - group: checkout\n      \
         steps: [ {{ get: /, check: {{ status: 200 }} }} ]\n    - {{ get: /events, stream: {{ sequence: id, \
         timestamp: {{ json: $.at, unit: ms }} }} }}\n    - {{ connect: /chat, duration: 9s, \
         sequence: {{ json: $.seq }}, \
         timestamp: {{ json: $.at, unit: ms }} }}\nthresholds:\n{}",
        list(&others)
    );
    let of_calls = format!(
        "target: http://127.0.0.1:8080\ngrpc: {{ protos: {} }}\nload: {{ rate: 10/s }}\nscenarios:\n  \
         a: [ {{ grpc: shop.v1.Shop/PutItem, message: {{}} }} ]\nthresholds:\n{}",
        root().join("examples/data/shop.proto").display(),
        list(&calls)
    );
    for experiment in [experiment, of_calls] {
        let output = check(&experiment);
        assert_eq!(output.code, 0, "{}", output.stderr);
    }
}

/// The words of a command line; quotes keep a word together.
fn words(line: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut quote = None;
    for letter in line.chars() {
        match (quote, letter) {
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            (None, ' ') => all.push(String::new()),
            (_, _) => all.last_mut().expect("it is never empty").push(letter),
        }
    }
    all.retain(|word| !word.is_empty());
    all
}

/// The command lines of a page that begin with `plimsoll`: in blocks, and in sentences and tables.
fn commands(text: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for block in blocks(text).iter().filter(|block| ["console", "sh"].contains(&block.language.as_str())) {
        let lines = block.text.lines().map(|line| line.strip_prefix("$ ").unwrap_or(line));
        // Variables before the command are the shell's.
        let bare = lines.filter_map(|line| {
            Some(&line[line.find("plimsoll ")?..]).filter(|_| {
                let before = &line[..line.find("plimsoll ").unwrap_or(0)];
                before.split_whitespace().all(|word| word.contains('='))
            })
        });
        all.extend(bare.map(str::to_owned));
    }
    let prose = prose(text);
    all.extend(spans(&prose).into_iter().filter(|span| span.starts_with("plimsoll ")).map(str::to_owned));
    all
}

/// Inline code.
fn spans(prose: &str) -> Vec<&str> {
    prose.lines().flat_map(|line| line.split('`').skip(1).step_by(2)).collect()
}

/// What is wrong with a command line: an unknown command, flag, or example.
fn mistake(line: &str, helps: &mut BTreeMap<String, String>) -> Option<String> {
    let words = words(line);
    let first = words.get(1).map_or("", String::as_str);
    let is_verb =
        first.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
            && !first.starts_with('-');
    let verb = if is_verb { first } else { "" };
    // Each action of these has its own flags.
    let action = words.get(2).filter(|word| ["cluster", "k8s"].contains(&verb) && !word.starts_with('-'));
    let action = action.map_or("", String::as_str);
    let help = helps.entry(format!("{verb} {action}")).or_insert_with(|| match verb {
        "" => Tool::run(&["--help"]).expect_code(0).stdout,
        verb if !action.is_empty() => Tool::run(&[verb, action, "--help"]).stdout,
        "test-server" => Tool::run(&["test-server", "--help"]).expect_code(0).stdout,
        verb => Tool::run(&["help", verb]).stdout,
    });
    if help.is_empty() {
        return Some(format!("unknown command `{verb}`"));
    }
    // What follows the name of another tool is a command line of that tool.
    const TOOLS: [&str; 9] = ["curl", "jmeter", "k6", "wrk", "ab", "hey", "oha", "vegeta", "loadtest"];
    let is_own = |word: &&String| *word != "|" && !TOOLS.contains(&word.as_str());
    for word in words.iter().skip(1).take_while(is_own) {
        let flag = word.split('=').next().unwrap_or_default();
        let is_known = match flag.strip_prefix("--") {
            Some(name) if verb == "test-server" => {
                help.contains(&format!("--{name} ")) || help.contains(&format!(" {name}="))
            }
            Some(_) => help.split([' ', '\n', ',', '`']).any(|known| known == flag),
            None if flag.len() == 2 && flag.starts_with('-') => help.contains(&format!(" {flag}, --")),
            None => !word.starts_with("examples/") || root().join(word).is_file(),
        };
        if !is_known {
            return Some(format!("unknown `{flag}`"));
        }
    }
    None
}

#[test]
fn every_command_and_flag_of_the_pages_exists() {
    let mut helps = BTreeMap::new();
    for page in [pages(), kind("explanation"), kind("reference")].concat() {
        let text = read(&page);
        for line in commands(&text) {
            if let Some(mistake) = mistake(&line, &mut helps) {
                panic!("{page}: {mistake}: {line}");
            }
        }
    }
}

#[test]
fn every_flag_in_a_sentence_exists() {
    let reference = read("docs/reference/command-line.md");
    for page in [pages(), kind("explanation")].concat() {
        // These name flags of other programs.
        if page.contains("/come-from-")
            || page.ends_with("load-a-lab-system.md")
            || page.ends_with("-compatibility.md")
            || page.ends_with("-anomalies.md")
        {
            continue;
        }
        let text = prose(&read(&page));
        for span in spans(&text).into_iter().filter(|span| span.starts_with("--")) {
            let flag = span.split([' ', '=']).next().unwrap_or_default();
            let is_known = reference.split([' ', '\n', ',', '`', '[']).any(|known| known == flag);
            assert!(is_known, "{page}: unknown flag `{span}`");
        }
    }
}

/// Keys in inline code such as `tls: { certificate, key }`: the first one, and bare names in braces.
fn keys(span: &str) -> Vec<&str> {
    let is_name = |word: &str| word.len() > 1 && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    let Some((first, rest)) = span.split_once(": ") else { return Vec::new() };
    let inner = rest.strip_prefix("{ ").and_then(|rest| rest.strip_suffix(" }")).unwrap_or_default();
    let bare = inner.split(", ").filter(|word| is_name(word));
    std::iter::once(first).filter(|word| is_name(word)).chain(bare).collect()
}

#[test]
fn every_key_in_a_sentence_or_table_exists() {
    /// Lines of other files.
    const FOREIGN: [&str; 2] = ["allow", "expires"];
    let reference = read("docs/reference/experiment-file.md");
    for page in pages() {
        let text = prose(&read(&page));
        for line in text.lines() {
            // The first column of these tables has the words of the other tool.
            let is_foreign = page.contains("/come-from-") && line.starts_with('|');
            let line =
                if is_foreign { line[1..].split_once(" | ").map_or("", |(_, rest)| rest) } else { line };
            for key in spans(line).into_iter().flat_map(keys) {
                let is_known = FOREIGN.contains(&key) || reference.contains(&format!("\n| `{key}` |"));
                assert!(is_known, "{page}: unknown key `{key}`: {line}");
            }
        }
    }
}

#[test]
fn the_index_leads_to_every_page_of_every_kind() {
    assert!(read("README.md").contains("(docs/README.md)"));
    let index = read("docs/README.md");
    for page in ["tutorial", "how-to", "reference", "explanation"].map(kind).concat() {
        let link = page.strip_prefix("docs/").expect("it is in this folder");
        assert!(index.contains(&format!("({link})")), "docs/README.md does not lead to {page}");
    }
}

/// What a how-to page lacks of its form.
fn missing_form(text: &str) -> Option<&'static str> {
    let job = text.lines().skip(1).find(|line| !line.is_empty()).unwrap_or_default();
    if !["To ", "You "].iter().any(|word| job.starts_with(word)) {
        return Some("it begins with the job: `To ...` or `You have ... and want ...`");
    }
    let last = text.lines().rfind(|line| line.starts_with("## "));
    (last != Some("## Result")).then_some("its last section is `## Result`: what you have now")
}

#[test]
fn every_how_to_begins_with_its_job_and_ends_with_its_result() {
    for page in kind("how-to") {
        assert_eq!(missing_form(&read(&page)), None, "{page}");
        let is_numbered = page["docs/how-to/".len()..].starts_with(|letter: char| letter.is_ascii_digit());
        assert!(!is_numbered, "{page}: the job is its name");
    }
    assert_eq!(kind("tutorial").len(), 1, "one tutorial; jobs are how-to guides");
    assert!(read("README.md").lines().count() <= 150, "README.md is an entrance");
}

/// Sentences and cells of tables that are long enough to be recognized elsewhere.
fn sentences(text: &str) -> BTreeSet<String> {
    let mut paragraphs = vec![String::new()];
    for line in prose(text).lines() {
        let line = line.trim();
        if line.is_empty() || line.starts_with(['-', '|', '#']) {
            paragraphs.push(String::new());
        }
        let last = paragraphs.last_mut().expect("it is never empty");
        last.push_str(line);
        last.push(' ');
    }
    let ends = [". ", ": ", "? ", " | "];
    let split = ends.iter().fold(paragraphs.join("\n"), |text, end| text.replace(end, "\n"));
    let all = split.lines().map(|sentence| sentence.trim_matches([' ', '|', '-', '*', '.', ':']).to_owned());
    all.filter(|sentence| sentence.len() >= 45).collect()
}

#[test]
fn no_two_pages_say_the_same() {
    let mut seen: BTreeMap<String, String> = BTreeMap::new();
    let written = ["tutorial", "how-to", "reference", "explanation"].map(kind).concat();
    for page in written.into_iter().chain(["README.md".into(), "docs/README.md".into()]) {
        let text = read(&page);
        // Generated from the tables that the program itself explains.
        if text.starts_with("<!-- Made by") || page.ends_with("explanation/cautions.md") {
            continue;
        }
        for sentence in sentences(&text) {
            if let Some(other) = seen.insert(sentence.clone(), page.clone()) {
                panic!(
                    "{page} and {other} say the same, so one of them should link to the other: {sentence}"
                );
            }
        }
    }
}

#[test]
fn mistakes_on_a_page_are_found() {
    let wrong = "target: http://127.0.0.1:8080\nscenarios: { a: [ { gett: / } ] }\n";
    assert_eq!(check(wrong).code, 2);
    assert!(is_part_of("a: 1\n", "x:\n    a: 1\n") && !is_part_of("a: 1\n", "x:\n    a: 2\n"));
    let found: Vec<_> =
        blocks("```yaml\nx\n```\n```\ny\n```\n").into_iter().map(|b| (b.language, b.line, b.text)).collect();
    assert_eq!(found, [("yaml".into(), 2, "x\n".into()), (String::new(), 5, "y\n".into())]);

    let mut helps = BTreeMap::new();
    let text = "```console\n$ A=b plimsoll run x.yaml --budget 3s\n```\nType `plimsoll fnd URL`.\n";
    let mistakes: Vec<_> = commands(text).iter().map(|line| mistake(line, &mut helps)).collect();
    assert_eq!(mistakes, [Some("unknown `--budget`".to_owned()), Some("unknown command `fnd`".to_owned())]);
    for right in ["plimsoll URL -c 3 --threshold 'p99 < 1s' curl -z", "plimsoll test-server --workers 4"] {
        assert_eq!(mistake(right, &mut helps), None, "{right}");
    }

    assert_eq!(keys("tls: { certificate, key }"), ["tls", "certificate", "key"]);
    assert_eq!(keys("Note: text"), Vec::<&str>::new());
    assert_eq!(missing_form("# A\n\nTo do it, write.\n\n## Result\n\nYou have it.\n"), None);
    assert!(missing_form("# A\n\nIt is so.\n\n## Result\n").is_some());
    assert!(missing_form("# A\n\nTo do it, write.\n\n## Result\n\n## More\n").is_some());
    let one = sentences("A first sentence.\nThis one is long enough to be found on\nanother page again.\n");
    assert_eq!(
        one.into_iter().collect::<Vec<_>>(),
        ["This one is long enough to be found on another page again"]
    );
}
