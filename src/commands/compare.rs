//! `plimsoll compare A B`: tests whether B is faster or slower than A.

use super::find::share;
use super::page::Wanted;
use super::{folder_report, template};
use crate::exit::{Exit, Failure};
use crate::flags::judge::Compare;
use crate::{say, wall};
use plimsoll_analysis::Digest;
use plimsoll_chart::Chart;
use plimsoll_experiment::compare::baseline::Baseline;
use plimsoll_experiment::compare::gate::{Gate, Gated, Passage, Rule, gate};
use plimsoll_experiment::compare::{CompareOptions, Comparison, compare_cells, variants};
use plimsoll_experiment::conclusion::{is_valid, sides};
use plimsoll_experiment::folder::{self, Run};
use plimsoll_output::html::Page;
use plimsoll_output::junit::Whole;
use plimsoll_output::{compare as render, figure, json};
use plimsoll_plan::diag::Place;
use plimsoll_plan::{Diagnostic, Problem};
use std::path::{Path, PathBuf};

pub fn command(flags: &Compare) -> Result<Exit, Failure> {
    let (asked, rules) = requested(flags)?;
    if let Some(name) = &flags.save {
        return save(flags, name);
    }
    let forms = [
        (flags.json, "--json"),
        (flags.markdown, "--markdown"),
        (flags.github, "--github"),
        (flags.template.is_some(), "--template"),
    ];
    let wanted = Wanted::of(&flags.page, forms.into_iter().find(|(is_on, _)| *is_on).map(|(_, flag)| flag))?;
    let comparisons = match (flags.runs.as_slice(), &flags.baseline) {
        ([b], Some(name)) => {
            let (shown, before) = baseline(flags, name)?;
            compare_cells((&shown, &before), (b, &sides(Path::new(b))?.0), &asked)
        }
        ([a, b], None) => {
            crate::home::refuse_missing(&flags.runs)?;
            let (before, after) = (sides(Path::new(a))?.0, sides(Path::new(b))?.0);
            compare_cells((a, &before), (b, &after), &asked)
        }
        ([one], None) if Path::new(one).is_dir() => {
            let (runs, first) = sides(Path::new(one))?;
            variants(&runs, first.as_deref(), &asked)
        }
        _ => return Err(which(flags).into()),
    };
    if comparisons.is_empty() {
        return Err(nothing_in_common().into());
    }
    let gate = Gate { allow: rules };
    // `run` made a folder of variants; without a gate, `compare` exits with its code.
    let conclusion = match (flags.runs.as_slice(), &flags.baseline) {
        ([folder], None) if gate.allow.is_empty() => Some(folder_report::concluded(Path::new(folder))?),
        _ => None,
    };
    let page = match &wanted {
        Some(wanted) => Some((wanted, page(&comparisons, &gate)?)),
        None => None,
    };
    if let Some(path) = &flags.junit {
        refuse_other_kinds(path)?;
        let whole = conclusion.as_ref().map(|c| Whole { result: c.result, sentence: &c.sentence });
        let xml = render::junit(&comparisons, &gate, whole.as_ref());
        std::fs::write(path, xml)
            .map_err(|e| Failure::machine(format!("cannot write `{path}`: {e}"), None))?;
    }
    if !wanted.as_ref().is_some_and(Wanted::is_result) {
        print(flags, &comparisons, &gate)?;
    }
    if let Some((wanted, page)) = page {
        wanted.write(&page)?;
    }
    if let Some(conclusion) = conclusion {
        return Ok(conclusion.result.into());
    }
    let worst = comparisons.iter().map(|one| gate_of(one, &gate)).max();
    Ok(match worst {
        Some(Passage::Pass) => Exit::Pass,
        Some(Passage::Fail) => Exit::ThresholdMissed,
        Some(Passage::Inconclusive | Passage::NotCompared) | None => Exit::Inconclusive,
    })
}

/// Allows replacing an earlier result of the same job, but not a run file named by mistake.
pub fn refuse_other_kinds(path: &str) -> Result<(), Failure> {
    let mut head = [0; 5];
    let read = std::fs::File::open(path).and_then(|mut file| std::io::Read::read(&mut file, &mut head));
    match read {
        Ok(n) if n > 0 && head != *b"<?xml" => {
            let message = format!("`{path}` exists and is not JUnit XML");
            Err(Diagnostic::new("U020", Place::Flag("--junit".into()), message, "name another file").into())
        }
        _ => Ok(()),
    }
}

/// Returns the page of all comparisons with the results of the gate.
fn page(all: &[Comparison], rules: &Gate) -> Result<Page, Failure> {
    let gated: Vec<Gated> = all.iter().map(|one| gate(one, rules)).collect();
    let wrong =
        |e: serde_json::Error| Failure::machine(format!("cannot write the comparison as JSON: {e}"), None);
    let document = serde_json::from_str(&json::comparisons(all, &gated)?).map_err(wrong)?;
    Ok(render::page(all, &gated, charts(all), document))
}

/// Returns the charts, with ids that end in the number of the comparison if there are several.
fn charts(all: &[Comparison]) -> Vec<Chart> {
    let mut charts: Vec<Chart> = Vec::new();
    for (at, one) in all.iter().enumerate() {
        let mut own = figure::of_comparison(one);
        if all.len() > 1 {
            own.iter_mut().for_each(|chart| chart.id = format!("{}-{}", chart.id, at + 1));
        }
        charts.extend(own);
    }
    charts
}

/// Returns the page of two runs or folders with default limits, for the console.
///
/// # Errors
/// Returns an error if one of them cannot be read, or they have nothing in common.
#[cfg(feature = "console")]
pub fn page_of_two(a: &Path, b: &Path) -> Result<Page, Failure> {
    let (before, after) = (sides(a)?.0, sides(b)?.0);
    let describe = |path: &Path| path.display().to_string();
    // The user typed no paths here, so the part in which they differ identifies each.
    let last = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let (of_a, of_b) = match (last(a), last(b)) {
        (Some(of_a), Some(of_b)) if of_a != of_b => (of_a, of_b),
        _ => (describe(a), describe(b)),
    };
    let comparisons = compare_cells((&of_a, &before), (&of_b, &after), &CompareOptions::default());
    match comparisons.is_empty() {
        true => Err(nothing_in_common().into()),
        false => page(&comparisons, &Gate { allow: Vec::new() }),
    }
}

fn nothing_in_common() -> Diagnostic {
    Diagnostic::new(
        "U032",
        Place::Whole,
        "nothing to compare: the two sides have no combination in common",
        "name runs of the same load, or one directory of an experiment with `variants`",
    )
}

fn gate_of(comparison: &Comparison, rules: &Gate) -> Passage {
    gate(comparison, rules).result
}

fn print(flags: &Compare, comparisons: &[Comparison], rules: &Gate) -> Result<(), Failure> {
    let document = || -> Result<String, Failure> {
        let gated: Vec<Gated> = comparisons.iter().map(|one| gate(one, rules)).collect();
        Ok(json::comparisons(comparisons, &gated)?)
    };
    let text = if flags.json {
        document()?
    } else if let Some(own) = &flags.template {
        template::rendered(own, "comparison", &document()?, &charts(comparisons))?
    } else if flags.markdown {
        render::markdown(comparisons)
    } else if flags.github {
        render::github_summary(comparisons)
    } else {
        let look = say::look_of_results(flags.no_color);
        let each = comparisons.iter().map(|one| {
            // Without rules there is no gate, and the verdict is the result.
            match rules.allow.is_empty() {
                true => render::terminal(one, &look),
                false => {
                    let gated = gate(one, rules);
                    format!("{}\n{}", render::terminal(one, &look), render::gated(one, &gated, &look))
                }
            }
        });
        each.collect::<Vec<_>>().join("\n")
    };
    say::result(&text)
}

fn requested(flags: &Compare) -> Result<(CompareOptions, Vec<Rule>), Failure> {
    let mut asked = CompareOptions::default();
    let mut wrong = Vec::new();
    let mut complain = |flag: &str, problem: Problem| {
        wrong.push(Diagnostic::of("U011", Place::Flag(flag.into()), problem));
    };
    match flags.min_difference.as_deref().map(share) {
        Some(Ok(ratio)) => asked.min_difference_ratio = ratio,
        Some(Err(problem)) => complain("--min-difference", problem),
        None => {}
    }
    if let Some(list) = &flags.percentiles {
        asked.quantiles.clear();
        for word in list.split(',') {
            match word.trim().strip_prefix('p').and_then(|n| n.parse::<f64>().ok()) {
                Some(n) if n > 0.0 && n < 100.0 => asked.quantiles.push((n * 1e6).round() / 1e8),
                _ => complain(
                    "--percentiles",
                    Problem::plain(format!("invalid percentile `{word}`: expected a list such as `p50,p99`")),
                ),
            }
        }
    }
    match flags.seed.as_deref().map(|text| (text, text.trim().parse())) {
        Some((_, Ok(seed))) => asked.seed = seed,
        Some((text, Err(_))) => {
            complain("--seed", Problem::plain(format!("invalid seed `{text}`: expected a whole number")))
        }
        None => {}
    }
    let mut rules = Vec::new();
    for text in &flags.gate {
        match Rule::parse(text) {
            Ok(rule) => rules.push(rule),
            Err(problem) => complain("--gate", problem),
        }
    }
    for q in rules.iter().filter_map(Rule::quantile) {
        if !asked.quantiles.iter().any(|known| (known - q).abs() < 1e-9) {
            asked.quantiles.push(q);
        }
    }
    asked.quantiles.sort_by(f64::total_cmp);
    if wrong.is_empty() { Ok((asked, rules)) } else { Err(Failure::Text(wrong)) }
}

fn which(flags: &Compare) -> Diagnostic {
    let message = match (flags.runs.len(), &flags.baseline) {
        (0, _) => "missing runs to compare".to_owned(),
        (1, None) => format!("comparing requires two runs; found only `{}`", flags.runs[0]),
        (n, Some(name)) => {
            format!("the baseline `{name}` is compared with one run or directory, but there are {n}")
        }
        (n, None) => format!("comparing requires two runs or directories, but there are {n}"),
    };
    let hint = "name two runs or directories, one directory of `variants`, or one run and `--baseline NAME`";
    Diagnostic::new("U031", Place::Whole, message, hint)
}

/// Returns the runs of a side with their files; a run file is a side by itself.
fn runs(path: &Path) -> Result<Vec<Run>, Failure> {
    let runs: Vec<Run> = match path.is_dir() {
        true => folder::read(path)?.runs.into_iter().filter(|run| is_valid(&run.digest)).collect(),
        false => sides(path)?.0.into_iter().map(|digest| Run { path: path.into(), digest }).collect(),
    };
    match runs.is_empty() {
        true => Err(folder::Error::Empty { path: path.into() }.into()),
        false => Ok(runs),
    }
}

/// Returns the path of a baseline: a name is a file in the baseline directory, a path is itself.
fn place(flags: &Compare, name: &str) -> PathBuf {
    let file = if name.ends_with(".json") { name.to_owned() } else { format!("{name}.json") };
    match name.contains('/') {
        true => PathBuf::from(file),
        false => Path::new(&flags.baseline_dir).join(file),
    }
}

/// Saves runs as a baseline. The run files are copied next to it, so that a baseline is a few plain files to commit.
fn save(flags: &Compare, name: &str) -> Result<Exit, Failure> {
    let [path] = flags.runs.as_slice() else {
        let message =
            format!("a baseline is one run or directory, but there are {} for `{name}`", flags.runs.len());
        return Err(Diagnostic::new(
            "U031",
            Place::Flag("--save".into()),
            message,
            "name one run or directory",
        )
        .into());
    };
    let file = place(flags, name);
    if file.exists() {
        let message = format!("baseline `{}` exists, and baselines are never overwritten", file.display());
        let hint = "choose another name, or move the existing file and its directory";
        return Err(Diagnostic::new("U020", Place::Flag("--save".into()), message, hint).into());
    }
    let runs = runs(Path::new(path))?;
    let beside = file.with_extension("");
    let named = |run: &Run| {
        let own = run.path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let folder = beside.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        format!("{folder}/{own}")
    };
    let files: Vec<(String, &Digest)> = runs.iter().map(|run| (named(run), &run.digest)).collect();
    let date = wall::date(wall::now_unix_ns());
    let refused = |sentence: String| Failure::from(Diagnostic::new("U033", Place::Whole, sentence, ""));
    let baseline = Baseline::of(name, &date, &files).map_err(refused)?;
    let text = baseline.to_json().map_err(refused)?;
    let failed = |what: &Path, e: std::io::Error| {
        Failure::machine(format!("cannot write `{}`: {e}", what.display()), None)
    };
    std::fs::create_dir_all(&beside).map_err(|e| failed(&beside, e))?;
    for (run, (to, _)) in runs.iter().zip(&files) {
        let to = beside.parent().unwrap_or(Path::new("")).join(to);
        std::fs::copy(&run.path, &to).map_err(|e| failed(&to, e))?;
    }
    std::fs::write(&file, text).map_err(|e| failed(&file, e))?;
    let count = runs.len();
    say::result(&format!("{}: {count} {}\n", file.display(), if count == 1 { "run" } else { "runs" }))?;
    Ok(Exit::Pass)
}

/// Returns the runs of a baseline, if they are the ones that were saved.
fn baseline(flags: &Compare, name: &str) -> Result<(String, Vec<Digest>), Failure> {
    let file = place(flags, name);
    let shown = file.display().to_string();
    let text = std::fs::read_to_string(&file).map_err(|e| {
        let hint = format!(
            "create it with `plimsoll compare RUN --save {name}`, or set its directory with `--baseline-dir DIR`"
        );
        Failure::machine(format!("cannot read baseline `{shown}`: {e}"), Some(hint))
    })?;
    let wrong = |sentence: String| Failure::machine(format!("`{shown}`: {sentence}"), None);
    let baseline = Baseline::from_json(&text).map_err(wrong)?;
    let mut digests = Vec::new();
    for run in &baseline.runs {
        let path = file.parent().unwrap_or(Path::new("")).join(&run.file);
        for digest in sides(&path)?.0 {
            baseline.check(&run.file, &digest).map_err(wrong)?;
            digests.push(digest);
        }
    }
    Ok((format!("{} ({})", baseline.name, baseline.date), digests))
}
