//! What each agent of a load gets: its part of the same command line.

use super::files::Library;
use super::variables;
use crate::commands::campaign::Again;
use crate::exit::Failure;
use plimsoll_cluster::message::{Identity, PROTOCOL, Task};
use plimsoll_plan::{Outline, Plan};

/// Returns the task of each agent, in their order.
///
/// # Errors
/// Returns an error if the working directory is unknown.
pub fn tasks(
    again: &Again,
    plan: &Plan,
    agents: Vec<Identity>,
    library: &Library,
) -> Result<Vec<(Identity, Task)>, Failure> {
    let folder = std::env::current_dir()
        .map_err(|e| Failure::machine(format!("cannot find the working directory: {e}"), None))?;
    let of = agents.len() as u32;
    let words = words(again, &plan.outline);
    let mut folders = Vec::new();
    for file in plan.script.iter().flat_map(|script| &script.files) {
        folders.extend(
            std::path::absolute(&file.path).ok().and_then(|path| Some(path.parent()?.display().to_string())),
        );
    }
    let variables = variables::of_load(std::env::vars());
    let task = |part: u32| Task {
        protocol: PROTOCOL,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        words: words.clone(),
        part,
        of,
        folder: folder.display().to_string(),
        files: library.outlines.clone(),
        folders: folders.clone(),
        variables: variables.clone(),
    };
    Ok(agents.into_iter().zip(1..).map(|(identity, part)| (identity, task(part))).collect())
}

/// Returns the command line of every agent, except for its part.
pub fn words(again: &Again, outline: &Outline) -> Vec<String> {
    let settings: Vec<_> = outline.cell.iter().flat_map(|cell| &cell.settings).collect();
    // Several values of a name make a sweep; this is one run of it.
    let is_swept = |word: &&String| {
        let name = word.strip_prefix("--set=").and_then(|pair| pair.split('=').next());
        name.is_some_and(|name| settings.iter().any(|setting| setting.parameter == name))
    };
    let mut words: Vec<String> = again.words().iter().filter(|word| !is_swept(word)).cloned().collect();
    words.extend(settings.iter().map(|setting| format!("--set={}={}", setting.parameter, setting.value)));
    words.push(format!("--seed={}", outline.seed));
    words.extend(again.is_file().then(|| "--single-run".to_owned()));
    words
}
