//! `plimsoll run FILE` for a file with `parts`: runs one experiment after another, each in its own subfolder.

use super::campaign::{self, Again, Cell};
use super::folder_report::{self, Form};
use super::load::Shared;
use super::page::Wanted;
use super::parts_report::{self, PartResult};
use super::{find, folder_page, junit, run};
use crate::exit::{Exit, Failure};
use crate::flags::load::MannerFlags;
use crate::flags::verbs::Run;
use crate::{home, say, wall};
use plimsoll_experiment::folder::{INDEX, parts as list};
use plimsoll_front::Part;
use plimsoll_output::experiment::parts::heading;
use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;
use plimsoll_plan::experiment::Experiment;
use std::path::{Path, PathBuf};

/// A part that is ready to run.
struct Ready {
    name: String,
    folder: String,
    experiment: Experiment,
    cells: Vec<Cell>,
}

/// Runs all parts. An interrupt stops the next part; a missed threshold or an error does not.
///
/// # Errors
/// Returns every error in any part before the first packet, or an error if the folder cannot be written.
pub fn run(file: &str, parts: Vec<Part>, flags: &Run) -> Result<Exit, Failure> {
    let ready = ready(parts, flags)?;
    let asked = &flags.flags.manner;
    let wanted = Wanted::of(&asked.page, asked.json.then_some("--json"))?;
    let out = folder(file, asked)?;
    // The name of each experiment is the file's name, followed by the part's.
    let name = ready.first().map_or_else(String::new, |first| {
        let whole = first.experiment.name.as_str();
        whole.strip_suffix(&format!(" / {}", first.name)).unwrap_or(whole).to_owned()
    });
    let entries =
        ready.iter().map(|part| list::Part { name: part.name.clone(), folder: part.folder.clone() });
    list::write(&out, &name, entries.collect())?;
    let (mut form, manner) = (Form::of_run(flags), &flags.flags.manner);
    form.quiet |= wanted.as_ref().is_some_and(Wanted::is_result);
    let shared = Shared::new(false)?;
    let of = ready.len();
    let mut told: Vec<PartResult> = Vec::new();
    for (at, part) in ready.into_iter().enumerate() {
        if shared.interrupts.happened() {
            told.push(PartResult::missing(&part.name, &part.folder, "not started: interrupted before"));
            continue;
        }
        if !form.json && !form.quiet {
            let blank = if at == 0 { "" } else { "\n" };
            let heading = heading(at + 1, of, &part.name, &say::look_of_results(form.no_color));
            say::result(&format!("{blank}{heading}"))?;
        }
        told.push(one(part, &out, flags, &shared, &form, file)?);
    }
    parts_report::end(&name, &told, &form)?;
    if let Some(wanted) = &wanted {
        wanted.write(&folder_page::of(&out, wanted.file())?)?;
    }
    let worst = parts_report::worst(&told);
    let exit = if manner.stop_early_ok { worst } else { shared.interrupts.exit(worst) };
    junit::of_folder(asked.junit.as_deref(), &out, exit)?;
    if shared.interrupts.happened() && !manner.quiet {
        say::talk(&format!("stopped; to resume, rerun the same command with `--out {}`\n", out.display()));
    } else if !manner.quiet {
        say::talk(&format!("{}\n", out.display()));
    }
    Ok(exit)
}

/// Runs one part, and prints its report if reports are printed one by one.
fn one(
    part: Ready,
    out: &Path,
    flags: &Run,
    shared: &Shared,
    form: &Form,
    file: &str,
) -> Result<PartResult, Failure> {
    let path = out.join(&part.folder);
    let manner = MannerFlags { out: Some(path.display().to_string()), ..flags.flags.manner.clone() };
    let again = Again::new(file, Some(&part.name), &flags.flags);
    let question = part.experiment.question.clone();
    let ran = campaign::run(part.experiment, part.cells, &manner, shared, &again);
    let concluded = match ran {
        Ok(ran) => folder_report::concluded(&path).map(|conclusion| (conclusion, ran.stopped)),
        Err(failure) => Err(failure),
    };
    match concluded {
        Ok((conclusion, stopped)) => {
            if !form.json && !form.quiet {
                say::result(&folder_report::rendered(&conclusion, &path, form)?)?;
            }
            Ok(PartResult::of(&part.name, &part.folder, conclusion, stopped))
        }
        Err(failure) => {
            if shared.interrupts.happened() {
                return Ok(PartResult::missing(
                    &part.name,
                    &part.folder,
                    "interrupted before a run was complete",
                ));
            }
            say::failure(&failure, flags.flags.manner.no_color);
            Ok(PartResult::failed(&part.name, &part.folder, &question, &failure))
        }
    }
}

/// Prepares all parts, so that every error comes before the first packet.
fn ready(parts: Vec<Part>, flags: &Run) -> Result<Vec<Ready>, Failure> {
    let (mut ready, mut wrong) = (Vec::new(), Vec::new());
    for part in parts {
        let name = part.name.unwrap_or_default();
        let folder = list::folder_name(part.number, &name);
        let judged = campaign::plans(&part.study, &flags.flags);
        match judged.and_then(|_| find::cells(part.study, &flags.flags)) {
            Ok((experiment, cells)) => ready.push(Ready { name, folder, experiment, cells }),
            Err(Failure::Text(more)) => run::add_new(&mut wrong, more),
            Err(other) => return Err(other),
        }
    }
    if wrong.is_empty() { Ok(ready) } else { Err(Failure::Text(wrong)) }
}

/// Returns the folder of all parts: the given one, or a new one in the state directory.
fn folder(file: &str, manner: &MannerFlags) -> Result<PathBuf, Failure> {
    let Some(out) = &manner.out else {
        let stem = Path::new(file).file_stem().map_or("experiment".into(), |stem| stem.to_string_lossy());
        let name = home::name(&stem, wall::now_unix_ns())?;
        return Ok(home::state_folder()?.join(name.trim_end_matches(".plim")));
    };
    let path = PathBuf::from(out);
    let taken = |what: &str| {
        let message = format!("`{out}` is {what}, but a file with parts needs its own directory");
        Failure::from(Diagnostic::new("U027", Place::Flag("--out".into()), message, "name another directory"))
    };
    if path.is_file() {
        return Err(taken("a file"));
    }
    if path.join(INDEX).exists() {
        return Err(taken("the directory of one experiment"));
    }
    Ok(path)
}
