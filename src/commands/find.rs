//! `plimsoll find URL|FILE|SCRIPT`: searches the highest load that meets the thresholds.

use super::campaign::{self, Again, Cell};
use super::load::Shared;
use super::page::Wanted;
use super::{folder_report, run, script};
use crate::exit::{Exit, Failure};
use crate::flags::draft;
use crate::flags::judge::{Find, SearchFlags};
use crate::flags::load::LoadFlags;
use plimsoll_front::{Located, Study, StudyCell};
use plimsoll_plan::diag::Place;
use plimsoll_plan::experiment::{Experiment, Step, Until};
use plimsoll_plan::request::redacted_path;
use plimsoll_plan::{Diagnostic, Problem, experiment, unit};
use std::path::Path;

/// What a search loads.
#[derive(Clone, Copy)]
enum Target {
    Url,
    Script,
    File,
}

pub fn command(find: &Find) -> Result<Exit, Failure> {
    let Some(target) = &find.target else {
        return Err(Diagnostic::new(
            "U028",
            Place::Whole,
            "missing URL, experiment file, or script",
            "add one, such as `plimsoll find http://127.0.0.1:8080/ --threshold \
             'response_time p99 < 250ms'`",
        )
        .into());
    };
    let manner = &find.flags.manner;
    let forms = [(manner.json, "--json"), (find.form.markdown, "--markdown"), (find.form.csv, "--csv")];
    let form = forms.into_iter().find(|(is_on, _)| *is_on).map(|(_, flag)| flag);
    let wanted = Wanted::of(&manner.page, form)?;
    let mut wrong = refused(&find.flags);
    wrong.extend(folder_report::full_refused(manner.full));
    let is_file = [".yaml", ".yml", ".json"].iter().any(|end| target.ends_with(end));
    let kind = match target.contains("://") || !(is_file || Path::new(target).exists()) {
        true => Target::Url,
        false if script::is_script(target) => Target::Script,
        false => Target::File,
    };
    let study = match kind {
        Target::Url if find.flags.target.is_some() => {
            let message = "the URL already names the target";
            wrong.push(Diagnostic::new("U042", Place::Flag("--target".into()), message, "omit it"));
            of_url(target)
        }
        Target::Url => of_url(target),
        Target::Script => script::study(target, &find.flags),
        Target::File => run::study_of(target, &find.flags),
    };
    let mut study = match study {
        Ok(study) => study,
        Err(Failure::Text(mut more)) => {
            more.extend(wrong);
            return Err(Failure::Text(more));
        }
        Err(other) => return Err(other),
    };
    let asked = study.experiment.find.get_or_insert_default();
    wrong.extend(apply(&find.search, asked));
    wrong.extend(refused_of_model(&find.flags, asked.users));
    if !wrong.is_empty() {
        return Err(Failure::Text(wrong));
    }
    if study.experiment.name.is_empty() {
        // Excludes credentials and tokens, because every run file contains the name.
        let draft = study.cells.first().map(|cell| &cell.located.draft);
        let target = draft.and_then(|draft| draft.target.as_ref()).map(|target| target.authority());
        let path = draft.and_then(|draft| draft.requests.first()).map(|request| redacted_path(&request.path));
        study.experiment.name = format!("find {}{}", target.unwrap_or_default(), path.unwrap_or_default());
    }
    let (experiment, cells) = cells(study, &find.flags)?;
    let again = match kind {
        Target::Url => Again::plain(vec![target.clone()], &find.flags),
        Target::Script => Again::plain(vec!["run".into(), target.clone()], &find.flags),
        Target::File => Again::new(target, None, &find.flags),
    };
    campaign::run(experiment, cells, &find.flags.manner, &Shared::new(false)?, &again)?
        .print(&folder_report::Form::of_find(find), wanted.as_ref())
}

/// Returns the experiment and its cells, with the flags applied to their drafts.
pub fn cells(study: Study, flags: &LoadFlags) -> Result<(Experiment, Vec<Cell>), Failure> {
    let wrong = over_axes(&study.experiment, flags);
    if !wrong.is_empty() {
        return Err(Failure::Text(wrong));
    }
    let with_flags =
        |cell: StudyCell| Ok(Cell { settings: cell.settings, located: run::applied(cell.located, flags)? });
    let cells: Vec<Cell> = study.cells.into_iter().map(with_flags).collect::<Result<_, Failure>>()?;
    Ok((study.experiment, cells))
}

/// Rejects flags that would override a parameter and make all its cells equal under different names.
fn over_axes(experiment: &Experiment, flags: &LoadFlags) -> Vec<Diagnostic> {
    let load: &[&str] = &["users", "rate", "total_arrivals"];
    let cases: [(bool, &str, &[&str]); 12] = [
        (flags.connections.is_some(), "-c", &["users"]),
        (flags.max_connections.is_some(), "--max-connections", &["max_connections"]),
        (flags.rate.is_some(), "-r", load),
        (flags.stages.is_some(), "--stages", load),
        (flags.duration.is_some(), "-d", &["duration"]),
        (flags.warmup.is_some(), "--warmup", &["warmup"]),
        (flags.workers.is_some(), "-t", &["workers"]),
        (flags.timeout.is_some(), "--timeout", &["timeout"]),
        (flags.no_keepalive, "--no-keepalive", &["keep_alive"]),
        (flags.follow.is_some(), "--follow", &["redirects"]),
        (flags.target.is_some(), "--target", &["target"]),
        (flags.read_bodies, "--read-bodies", &["read_bodies"]),
    ];
    let wrong = |(_, flag, names): (bool, &str, &[&str])| {
        let axis = experiment.axes.iter().find(|axis| names.contains(&axis.name.as_str()))?;
        let message = format!("`{flag}` would override every value of the parameter `{}`", axis.name);
        let hint = format!("select one value with `--set {}={}`", axis.name, axis.values.first()?);
        Some(Diagnostic::new("U035", Place::Flag(flag.into()), message, hint))
    };
    cases.into_iter().filter(|case| case.0).filter_map(wrong).collect()
}

fn of_url(text: &str) -> Result<Study, Failure> {
    let located = Located { draft: draft::of_url(text)?, ..Located::default() };
    let cell = StudyCell { settings: Vec::new(), located };
    Ok(Study { experiment: Experiment::default(), cells: vec![cell] })
}

/// Rejects load flags that a search sets itself.
fn refused(flags: &LoadFlags) -> Vec<Diagnostic> {
    let cases = [
        (flags.rate.is_some(), "-r", "the search sets the rate", "set the first level with `--from`"),
        (flags.duration.is_some(), "-d", "the search sets the length of a step", "use `--step-duration`"),
        (flags.requests.is_some(), "-n", "the steps of a search end by time", "use `--step-duration`"),
        (flags.stages.is_some(), "--stages", "the search sets the stages", "climb a staircase with `--step`"),
        (flags.warmup.is_some(), "--warmup", "the search sets the warm-up of each step", "omit it"),
        (
            flags.manner.junit.is_some(),
            "--junit",
            "the steps of a search miss thresholds on purpose",
            "write JUnit XML from `run` or `compare`",
        ),
        (
            flags.shard.is_some(),
            "--shard",
            "the steps of a search cannot be started as shards",
            "let agents send its loads: `--agents`",
        ),
    ];
    refusals(cases)
}

/// Rejects load flags of the other load model than the search's.
fn refused_of_model(flags: &LoadFlags, users: bool) -> Vec<Diagnostic> {
    refusals([
        (
            users && flags.connections.is_some(),
            "-c",
            "the search sets the users",
            "set the first level with `--from`",
        ),
        (
            !users && flags.connections.is_some(),
            "-c",
            "the search varies a rate, and a rate has no users",
            "limit connections with `--max-connections`, or search users with `--vary users`",
        ),
        (
            users && flags.max_connections.is_some(),
            "--max-connections",
            "every user holds one connection",
            "omit it, and limit the users with `--to`",
        ),
        (users && flags.arrivals.is_some(), "--arrivals", "users make no arrivals", "remove one of the two"),
    ])
}

fn refusals<const N: usize>(cases: [(bool, &str, &str, &str); N]) -> Vec<Diagnostic> {
    let diagnostic = |(_, flag, message, hint): (bool, &str, &str, &str)| {
        Diagnostic::new("U029", Place::Flag(flag.into()), message, hint)
    };
    cases.into_iter().filter(|case| case.0).map(diagnostic).collect()
}

/// Applies the flags to the search of the file.
fn apply(flags: &SearchFlags, find: &mut experiment::Find) -> Vec<Diagnostic> {
    let mut wrong = Vec::new();
    let mut read = |flag: &str, problem: Problem| {
        wrong.push(Diagnostic::of("U011", Place::Flag(flag.into()), problem));
    };
    match flags.vary.as_deref() {
        Some("rate") => find.users = false,
        Some("users") => find.users = true,
        Some(other) => {
            read("--vary", Problem::plain(format!("cannot vary `{other}`: expected `rate` or `users`")))
        }
        None => {}
    }
    let level = |text: &str| match find.users {
        true => match text.trim().parse::<u32>() {
            Ok(n) if n > 0 => Ok(f64::from(n)),
            _ => Err(Problem::plain(format!(
                "invalid number of users `{text}`: expected a whole number above 0"
            ))),
        },
        false => unit::rate_per_s(text),
    };
    for (flag, text, field) in [("--from", &flags.from, &mut find.from), ("--to", &flags.to, &mut find.to)] {
        match text.as_deref().map(level) {
            Some(Ok(value)) => *field = Some(value),
            Some(Err(sentence)) => read(flag, sentence),
            None => {}
        }
    }
    match flags.step.as_deref().map(Step::parse) {
        Some(Ok(step)) => find.step = Some(step),
        Some(Err(problem)) => read("--step", problem),
        None => {}
    }
    match flags.stop_when.as_deref().map(Until::parse) {
        Some(Ok(until)) => find.stop_when = Some(until),
        Some(Err(problem)) => read("--stop-when", problem),
        None => {}
    }
    match flags.step_duration.as_deref().map(unit::duration_ns) {
        Some(Ok(ns)) if ns >= unit::SECOND_NS => find.step_duration_ns = Some(ns),
        Some(Ok(_)) => read(
            "--step-duration",
            Problem::new("a step must be at least one second long", "use `1s` or more"),
        ),
        Some(Err(problem)) => read("--step-duration", problem),
        None => {}
    }
    match flags.max_time.as_deref().map(unit::duration_ns) {
        Some(Ok(ns)) if ns > 0 => find.max_time_ns = Some(ns),
        Some(Ok(_)) => read(
            "--max-time",
            Problem::new("the search time must be above zero", "use a duration such as `10m`"),
        ),
        Some(Err(problem)) => read("--max-time", problem),
        None => {}
    }
    match flags.precision.as_deref().map(share) {
        Some(Ok(ratio)) => find.precision = Some(ratio),
        Some(Err(problem)) => read("--precision", problem),
        None => {}
    }
    match flags.confirm.as_deref().map(|text| (text, text.trim().parse::<u32>())) {
        Some((_, Ok(n))) if (1..=10).contains(&n) => find.confirm = Some(n),
        Some((text, _)) => {
            read("--confirm", Problem::plain(format!("invalid number of repeats `{text}`: expected 1–10")))
        }
        None => {}
    }
    // Without `--step`, the search climbs no staircase.
    if find.stop_when.is_some() && find.step.is_none() {
        read("--stop-when", Problem::new("this flag requires `--step`", "add `--step x1.10`"));
    }
    if let (Some(from), Some(to)) = (find.from, find.to)
        && from > to
    {
        read("--from", Problem::new("`--from` is above `--to`", "lower `--from`, or raise `--to`"));
    }
    if find.users && matches!(find.stop_when, Some(Until::Shortfall(_))) {
        read(
            "--stop-when",
            Problem::new(
                "a search of users offers no rate to fall short of",
                "use `socket_errors > 0` or `missed`",
            ),
        );
    }
    wrong
}

/// Parses a share between 0.1% and 50%, such as `2%` or `0.02`.
pub fn share(text: &str) -> Result<f64, Problem> {
    let ratio = match text.trim().strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map(|n| n / 100.0),
        None => text.trim().parse::<f64>(),
    };
    match ratio {
        Ok(ratio) if (0.001..=0.5).contains(&ratio) => Ok(ratio),
        _ => Err(Problem::plain(format!("invalid share `{text}`: expected 0.1%–50%"))),
    }
}
