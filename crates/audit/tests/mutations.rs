//! One figure of a sound result is changed, as a slip or a copy from another run would, and the audit has to notice:
//! doubled and halved, each figure of each output in `data/foreign/sound`. `data/mutations.md` has the counts; write it
//! with `UPDATE_GOLDEN=1 cargo test -p plimsoll-audit mutations`.

use plimsoll_audit::foreign::{Document, Figure, Measure, Row, Tool, read};
use plimsoll_audit::{Grade, audit};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Planted, caught, and the rows of the table of those that stayed silent.
#[derive(Default)]
struct Count {
    planted: u32,
    caught: u32,
}

type Table = BTreeMap<(&'static str, &'static str), Count>;

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

/// Doubts and contradictions by rule and calculation, so that a finding on one more row counts as new.
fn findings(document: &Document) -> BTreeSet<(&'static str, String)> {
    let found = audit(std::slice::from_ref(document)).findings.into_iter();
    let grave = found.filter(|f| f.grade != Grade::Missing);
    grave.flat_map(|f| f.arithmetic.into_iter().map(move |line| (f.rule, line))).collect()
}

fn class(measure: Measure) -> Option<&'static str> {
    use Measure as M;
    Some(match measure {
        M::Requests | M::Iterations => "count",
        M::Rate | M::OfferedRate => "rate",
        M::Duration => "duration",
        M::Mean => "mean",
        M::StdDev => "deviation",
        M::Min => "minimum",
        M::Max => "maximum",
        M::Percentile(_) => "percentile",
        M::Errors
        | M::Non2xx
        | M::LengthErrors
        | M::ReadErrors
        | M::ConnectErrors
        | M::TimeoutErrors
        | M::ExceptionErrors => "failures",
        M::ErrorRatio | M::WithinStdDev => "share",
        M::BytesTotal | M::BytesPerS | M::BytesSentTotal | M::BytesSentPerS | M::BodyBytes => "bytes",
        M::Users | M::GeneratorThreads => "users",
        M::ThreadRateMean | M::ThreadRateMax | M::ThreadRateStdDev => "rate per thread",
        M::TimePerRequestAll | M::TimePerRequestUsers => "time per request",
        M::ChecksPassed | M::ChecksFailed => "checks",
        M::ConnectMean
        | M::ConnectMin
        | M::ConnectMax
        | M::ConnectMedian
        | M::ConnectPercentile(_)
        | M::FirstByteMean
        | M::FirstByteMedian
        | M::ProcessingMean
        | M::ProcessingMedian => "phase",
        _ => return None,
    })
}

/// `written` with its number times `factor`, in as many digits; none: the change would be none.
fn changed(written: &str, factor: f64) -> Option<String> {
    let end = written.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == ',')).unwrap_or(written.len());
    let (number, unit) = written.split_at(end);
    let bare = number.replace(',', "");
    let decimals = bare.split_once('.').map_or(0, |(_, d)| d.len());
    let value: f64 = bare.parse().ok()?;
    let new = format!("{:.decimals$}", value * factor);
    // Rounding may undo a change of one digit.
    let far = (new.parse::<f64>().ok()? / value - factor).abs() < 0.2 * factor;
    (value > 0.0 && far && unit.chars().all(|c| !c.is_ascii_digit())).then(|| new + unit)
}

/// The text with one figure of one row changed, where the reader reads it as that figure and nothing else.
fn planted(text: &str, row: usize, measure: Measure, figure: &Figure, factor: f64) -> Option<Document> {
    let new = changed(&figure.written, factor)?;
    let start: usize = text.split_inclusive('\n').take(figure.line as usize - 1).map(str::len).sum();
    let line = text[start..].split('\n').next()?;
    let value_of = |row: &Row| row.figures.get(&measure).map(|f| f.value);
    let before = read("run", text);
    line.match_indices(&figure.written).find_map(|(at, _)| {
        let from = start + at;
        let mutated = format!("{}{new}{}", &text[..from], &text[from + figure.written.len()..]);
        let document = read("run", &mutated);
        let own = document.rows.get(row).filter(|_| document.rows.len() == before.rows.len())?;
        let hit = value_of(own).is_some_and(|v| (v / figure.value / factor - 1.0).abs() < 0.2);
        hit.then_some(document)
    })
}

fn name(tool: Tool) -> &'static str {
    tool.definitions().name
}

fn bench() -> Table {
    let mut table = Table::new();
    let mut files: Vec<PathBuf> = std::fs::read_dir(data().join("foreign/sound"))
        .expect("the folder is committed")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    for path in files {
        let file = path.file_name().expect("a name").to_string_lossy().into_owned();
        // Single samples are summed up; changing one changes no published figure.
        if file.ends_with(".md") || file.contains("samples") || file.contains("points.json") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("text");
        let document = read("run", &text);
        let before = findings(&document);
        for (at, row) in document.rows.iter().enumerate() {
            let Some(tool) = row.tool.map(name) else { continue };
            for (measure, figure) in &row.figures {
                let Some(class) = class(*measure) else { continue };
                for factor in [2.0, 0.5] {
                    let Some(mutated) = planted(&text, at, *measure, figure, factor) else { continue };
                    let caught = findings(&mutated).iter().any(|finding| !before.contains(finding));
                    let count = table.entry((tool, class)).or_default();
                    count.planted += 1;
                    count.caught += u32::from(caught);
                    if !caught && std::env::var_os("SILENT").is_some() {
                        println!("silent: {file} {measure:?} {} x {factor}", figure.written);
                    }
                }
            }
        }
    }
    table
}

fn render(table: &Table) -> String {
    let tools: BTreeSet<&str> = table.keys().map(|(tool, _)| *tool).collect();
    let classes: BTreeSet<&str> = table.keys().map(|(_, class)| *class).collect();
    let mut out = String::from(
        "# Planted errors\n\nEach figure of each sound output, doubled and halved, one at a time: caught / planted.\n\
         Written by `UPDATE_GOLDEN=1 cargo test -p plimsoll-audit mutations`.\n\n| tool |",
    );
    classes.iter().for_each(|class| out += &format!(" {class} |"));
    out += " all |\n|---|";
    out += &"---|".repeat(classes.len() + 1);
    out += "\n";
    let sum = |filter: &dyn Fn(&(&str, &str)) -> bool| {
        let all = table.iter().filter(|(key, _)| filter(key)).map(|(_, c)| (c.caught, c.planted));
        all.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    };
    let mut line = |title: &str, tool: Option<&str>| {
        write!(out, "| {title} |").expect("text");
        let of_tool = |key: &(&str, &str)| tool.is_none_or(|tool| key.0 == tool);
        for class in &classes {
            let (caught, planted) = sum(&|key| of_tool(key) && key.1 == *class);
            if planted > 0 {
                write!(out, " {caught}/{planted} |").expect("text");
            } else {
                out += " |";
            }
        }
        let (caught, planted) = sum(&of_tool);
        let share = 100.0 * f64::from(caught) / f64::from(planted);
        writeln!(out, " {caught}/{planted} ({share:.0}%) |").expect("text");
    };
    tools.iter().for_each(|tool| line(tool, Some(tool)));
    line("all", None);
    out
}

#[test]
fn mutations_are_caught_as_the_table_says() {
    let text = render(&bench());
    let path = data().join("mutations.md");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &text).expect("the folder is there");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(committed, text, "run with UPDATE_GOLDEN=1 and look at `git diff`");
}

#[test]
fn sound_runs_hold_nothing_impossible() {
    for entry in std::fs::read_dir(data().join("foreign/sound")).expect("the folder is committed") {
        let path = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("text");
        let found = audit(&[read(&path.display().to_string(), &text)]).findings;
        let wrong: Vec<_> = found.into_iter().filter(|f| f.grade == Grade::Impossible).collect();
        assert!(path.ends_with("README.md") || wrong.is_empty(), "{wrong:?}");
    }
}

#[test]
fn sound_outputs_are_recognized_as_whole_and_cut_ones_are_not() {
    let mut wrong: Vec<String> = Vec::new();
    // Tables of CSV have no end that is known.
    // The sections of groups and scenarios in `k6-full` are not read line by line.
    let is_open = |file: &str| file.ends_with(".csv") || file.ends_with(".tsv") || file == "k6-full.txt";
    for entry in std::fs::read_dir(data().join("foreign/sound")).expect("the folder is committed") {
        let path = entry.expect("an entry").path();
        let file = path.file_name().expect("a name").to_string_lossy().into_owned();
        if file.ends_with(".md") || is_open(&file) {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("text");
        let rows = read(&file, &text).rows;
        // Of these tools, no text is known to be whole, so that each contradiction in one is a doubt.
        let has_layout =
            rows.first().and_then(|row| row.tool).is_some_and(|tool| !tool.definitions().layout.is_empty());
        if !has_layout && !file.ends_with(".json") {
            continue;
        }
        let is_whole = |row: &Row| row.is_whole || row.samples.is_some();
        if rows.is_empty() || !rows.iter().all(is_whole) {
            wrong.push(file);
            continue;
        }
        // Without one of its lines, no output is whole.
        let lines: Vec<&str> = text.lines().collect();
        let layout = rows[0].tool.expect("a tool").definitions().layout;
        for part in layout.iter().filter(|_| !file.ends_with(".json")) {
            let plain =
                |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase() + " ";
            let kept: Vec<&str> = lines.iter().copied().filter(|line| !plain(line).contains(part)).collect();
            if kept.len() < lines.len() {
                assert!(read(&file, &kept.join("\n")).rows.iter().all(|row| !row.is_whole), "{file}: {part}");
            }
        }
    }
    assert!(wrong.is_empty(), "not whole: {wrong:?}");
}
