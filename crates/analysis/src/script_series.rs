//! Checks and groups over all machines: those of the plan, then those that programs opened during the run.

use super::facts::Machine;
use plimsoll_plan::series::{Family, group_path, label};
use plimsoll_stats::Tally;
use plimsoll_stats::tally::Layout;
use std::collections::BTreeMap;

/// A check.
pub(super) struct Check {
    pub name: String,
    /// The name of its request; empty for a check of a program, which belongs to no request.
    pub request: String,
    /// Of a check of a program.
    pub scenario: Option<String>,
    /// Of a check of a program, as reports show it.
    pub group: Option<String>,
    pub tally: Tally,
}

/// A group; nested groups are named `outer / inner`.
pub(super) struct Group {
    pub name: String,
    pub tally: Tally,
}

/// Returns the checks of the load: those of the plan by the place of their request and by name, those of programs by
/// name, scenario, and group.
pub(super) fn checks(machines: &[Machine]) -> Vec<Check> {
    let mut all: Vec<((usize, usize), Check)> = Vec::new();
    for machine in machines {
        let plan = machine.plan();
        for (i, check) in plan.checks.iter().enumerate() {
            let Some(request) =
                plan.requests.get(check.request as usize).filter(|request| !request.is_outside_load)
            else {
                continue;
            };
            let Some(tally) = machine.origin.totals.series.get(plan.check_series(i) as usize) else {
                continue;
            };
            let nth = plan.checks[..i].iter().filter(|before| *before == check).count();
            let key = (check.request as usize, nth);
            let is_it = |(k, one): &&mut ((usize, usize), Check)| {
                *k == key && one.name == check.name && one.request == request.name
            };
            match all.iter_mut().find(is_it) {
                Some((_, known)) => known.tally.merge(tally),
                None => {
                    let (name, request) = (check.name.clone(), request.name.clone());
                    let tally = tally.clone();
                    all.push((key, Check { name, request, scenario: None, group: None, tally }));
                }
            }
        }
    }
    all.into_iter().map(|(_, check)| check).chain(opened_checks(machines)).collect()
}

/// Tags divide a check into several series.
fn opened_checks(machines: &[Machine]) -> Vec<Check> {
    let mut all: BTreeMap<(Option<&str>, Option<String>, &str), Tally> = BTreeMap::new();
    for machine in machines {
        for one in machine.origin.opened.iter().filter(|one| one.key.family == Family::Check) {
            let Some(tally) = machine.origin.totals.series.get(one.series as usize) else { continue };
            let key = (one.key.label(label::SCENARIO), one.key.group(), one.key.name.as_str());
            all.entry(key).or_insert_with(|| empty(Family::Check)).merge(tally);
        }
    }
    let check = |((scenario, group, name), tally): ((Option<&str>, _, &str), _)| Check {
        name: name.to_owned(),
        request: String::new(),
        scenario: scenario.map(str::to_owned),
        group,
        tally,
    };
    all.into_iter().map(check).collect()
}

/// Returns the groups by name. A group that programs entered and never left has no pass, but may have requests.
pub(super) fn groups(machines: &[Machine]) -> Vec<Group> {
    let mut all: Vec<Group> = Vec::new();
    for machine in machines {
        let plan = machine.plan();
        for (i, name) in plan.groups.iter().enumerate() {
            let Some(tally) = machine.origin.totals.series.get(plan.group_series(i) as usize) else {
                continue;
            };
            match all.iter_mut().find(|known| known.name == *name) {
                Some(known) => known.tally.merge(tally),
                None => all.push(Group { name: name.clone(), tally: tally.clone() }),
            }
        }
    }
    let mut opened: BTreeMap<String, Tally> = BTreeMap::new();
    for machine in machines {
        for one in &machine.origin.opened {
            let passes = machine.origin.totals.series.get(one.series as usize);
            if one.key.family == Family::Group
                && let Some(tally) = passes
            {
                let name = group_path(&one.key.name);
                opened.entry(name).or_insert_with(|| empty(Family::Group)).merge(tally);
            }
            if let Some(group) = one.request.as_ref().and_then(|request| request.group.as_ref()) {
                opened.entry(group.clone()).or_insert_with(|| empty(Family::Group));
            }
        }
    }
    for (name, tally) in opened {
        match all.iter_mut().find(|known| known.name == name) {
            Some(known) => known.tally.merge(&tally),
            None => all.push(Group { name, tally }),
        }
    }
    all
}

fn empty(family: Family) -> Tally {
    Tally::on_demand(Layout::of(family.cells()))
}
