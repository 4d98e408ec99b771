//! The saturated resource of several runs.

use super::Watching;
use crate::summary::{Bottleneck, SaturatedResource};
use crate::watched::rank;

/// Returns the bottleneck of the first group that has one: a resource that was saturated in at least half of its
/// runs, described as in one of them. `None` if no run had monitors.
pub fn bottleneck_of(groups: &[Vec<&Watching>]) -> Option<Bottleneck> {
    let mut watched = false;
    let mut unknown = None;
    for group in groups {
        let told: Vec<&&Watching> = group.iter().filter(|run| run.bottleneck.is_some()).collect();
        watched |= told.iter().any(|run| !run.seen.is_empty());
        unknown = unknown.or_else(|| told.first().and_then(|run| run.bottleneck.clone()));
        let mut all: Vec<SaturatedResource> =
            told.iter().flat_map(|run| run.saturated.iter().cloned()).collect();
        rank(&mut all);
        let often = |p: &&SaturatedResource| {
            let has = |run: &&&&Watching| run.saturated.iter().any(|other| other.resource == p.resource);
            2 * told.iter().filter(has).count() >= told.len()
        };
        if let Some(first) = all.iter().find(often) {
            return Some(first.into());
        }
    }
    if watched { Some(Bottleneck::NoneWatched) } else { unknown }
}
