//! The data files that setup writes, for load generators that do not run it: they travel with its values.

use super::file::Sink;
use plimsoll_plan::Problem;
use plimsoll_plan::data::Feeder;
use std::path::Path;

/// Returns the files, in the order in which they travel.
fn paths(feeders: &[Feeder]) -> Vec<&Path> {
    let mut paths: Vec<&Path> =
        feeders.iter().filter(|feeder| feeder.made_by_setup).map(|feeder| &*feeder.path).collect();
    paths.sort_unstable();
    paths.dedup();
    paths
}

/// Returns the number of files.
pub fn count(feeders: &[Feeder]) -> usize {
    paths(feeders).len()
}

/// Returns the content of each file; none for a file that setup did not write, which fails the load here as well.
pub fn read(feeders: &[Feeder]) -> Vec<Option<Vec<u8>>> {
    paths(feeders).into_iter().map(|path| std::fs::read(path).ok()).collect()
}

/// Writes the files as they are where setup has run.
///
/// # Errors
/// Returns an error with the name of the file if one cannot be written.
pub fn write(feeders: &[Feeder], sinks: &[Sink], contents: &[Option<&[u8]>]) -> Result<(), Problem> {
    // Opening replaces a file, so it must come first.
    sinks.iter().try_for_each(Sink::open)?;
    sinks.iter().try_for_each(Sink::flush)?;
    for (path, content) in paths(feeders).into_iter().zip(contents) {
        std::fs::write(path, content.unwrap_or_default())
            .map_err(|e| Problem::plain(format!("cannot write `{}`: {e}", path.display())))?;
    }
    Ok(())
}
