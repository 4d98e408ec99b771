//! The metrics of a script: those that it defines, its checks, and its groups, as series that are opened at their first
//! value.

use crate::host::Host;
use crate::vu::Vu;
use plimsoll_plan::metric::{CheckSum, GroupHist, GroupSum};
use plimsoll_plan::program::{Count, RequestId};
use plimsoll_plan::series::{Family, label};

/// Metrics that scripts define in their init part, by number.
#[derive(Debug, Default)]
pub struct Metrics {
    defined: Vec<Defined>,
}

/// A metric of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Defined {
    pub name: String,
    pub family: Family,
    /// Whether its values are times, in milliseconds.
    pub is_time: bool,
}

impl Metrics {
    /// Returns the number of a metric, and defines it if it is new.
    ///
    /// # Errors
    /// Returns a message if the name is invalid, or belongs to a metric of another type.
    pub fn define(&mut self, name: &str, family: Family, is_time: bool) -> Result<usize, String> {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let is_valid = !name.is_empty()
            && name.len() <= 128
            && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(is_word);
        if !is_valid {
            return Err(format!(
                "invalid metric name `{name}`: a name has up to 128 ASCII letters, digits, and `_`, and begins \
                 with a letter or `_`"
            ));
        }
        if let Some(at) = self.defined.iter().position(|one| one.name == name) {
            return match self.defined[at].family == family && self.defined[at].is_time == is_time {
                true => Ok(at),
                false => Err(format!("metric `{name}` is already defined with another type")),
            };
        }
        self.defined.push(Defined { name: name.to_owned(), family, is_time });
        Ok(self.defined.len() - 1)
    }

    pub fn get(&self, number: usize) -> Option<&Defined> {
        self.defined.get(number)
    }

    pub fn all(&self) -> &[Defined] {
        &self.defined
    }
}

impl Host {
    /// Returns the labels of what the user measures now: scenario, group, and tags. Later ones win.
    pub fn labels<'a>(&'a self, vu: &Vu, group: &'a str, own: &'a [(String, String)]) -> Labels<'a> {
        let shared = &self.shared;
        let mut labels = Vec::new();
        let scenario = shared.settings.scenarios.get(vu.scenario);
        for (name, value) in shared.settings.tags.iter().chain(scenario.iter().flat_map(|one| &one.tags)) {
            labels.push((name.clone(), value.clone()));
        }
        labels.extend(vu.tags.borrow().iter().cloned());
        let scenario = scenario.filter(|_| shared.settings.scenarios.len() > 1).map(|one| one.name.as_str());
        Labels { scenario, group, set: labels, own }
    }

    /// Returns a series of the current worker, and whether it is the one that was asked for: if there are too many, it
    /// is one without labels, and the book of series counts each lookup.
    pub fn series(&self, family: Family, name: &str, labels: &Labels<'_>) -> Option<(RequestId, bool)> {
        let all = labels.pairs();
        let mut out = self.out.borrow_mut();
        let before = out.book.refused();
        let series = out.open(family, name, &all)?;
        Some((series, out.book.refused() == before))
    }

    /// Counts one evaluation of a check.
    pub fn count_check(&self, series: RequestId, passed: bool) {
        let mut out = self.out.borrow_mut();
        out.count(Count::sum(series, CheckSum::Made, 1));
        if !passed {
            out.count(Count::sum(series, CheckSum::Failed, 1));
        }
    }

    /// Counts one pass through a group.
    pub fn count_group(&self, name: &str, labels: &Labels<'_>, time_ns: u64) {
        if let Some((series, _)) = self.series(Family::Group, name, labels) {
            let mut out = self.out.borrow_mut();
            out.count(Count::sum(series, GroupSum::Passages, 1));
            out.count(Count::hist(series, GroupHist::Time, time_ns));
        }
    }
}

/// Labels of a series.
pub struct Labels<'a> {
    scenario: Option<&'a str>,
    group: &'a str,
    set: Vec<(String, String)>,
    own: &'a [(String, String)],
}

impl Labels<'_> {
    /// Returns names and values. Of two with the same name, the later one applies.
    pub fn pairs(&self) -> Vec<(&str, &str)> {
        let mut all: Vec<(&str, &str)> = Vec::with_capacity(self.set.len() + self.own.len() + 2);
        let mut put = |name, value| match all.iter_mut().find(|(known, _)| *known == name) {
            Some(known) => known.1 = value,
            None => all.push((name, value)),
        };
        if let Some(scenario) = self.scenario {
            put(label::SCENARIO, scenario);
        }
        if !self.group.is_empty() {
            put(label::GROUP, self.group);
        }
        for (name, value) in self.set.iter().chain(self.own) {
            put(name, value);
        }
        all
    }
}
