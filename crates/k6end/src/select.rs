//! Series by the tags of a sub-metric.

use plimsoll_plan::Fault;
use plimsoll_plan::metric::{SeriesSum, fault_id, status_id};
use plimsoll_plan::series::{Family, SeriesKey, label};
use plimsoll_plan::{Side, metric::SumCell};
use plimsoll_stats::Tally;

/// System tags that no series and no count of the record has.
const UNKNOWN: [&str; 11] = [
    "url",
    "proto",
    "subproto",
    "error",
    "error_code",
    "tls_version",
    "iter",
    "vu",
    "ocsp_status",
    "ip",
    "from_cache",
];

/// A tag that belongs to single requests, so that one series may have several values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestTag {
    Status(u16),
    Expected(bool),
}

/// Which of the requests of a series have a tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Covered {
    All,
    None,
    Some,
}

/// The tags of a sub-metric.
#[derive(Debug, Clone, Default)]
pub struct Selection<'a> {
    labels: Vec<(&'a str, &'a str)>,
    pub of_requests: Option<RequestTag>,
}

impl<'a> Selection<'a> {
    /// Returns the selection of these tags; `None` if a record cannot tell samples with them from others.
    pub fn of(tags: impl IntoIterator<Item = (&'a str, &'a str)>) -> Option<Selection<'a>> {
        let mut selection = Selection::default();
        for (name, value) in tags {
            let tag = match name {
                "status" => Some(RequestTag::Status(value.parse().ok()?)),
                "expected_response" => Some(RequestTag::Expected(value.parse().ok()?)),
                name if UNKNOWN.contains(&name) => return None,
                _ => None,
            };
            match tag {
                Some(_) if selection.of_requests.is_some() => return None,
                Some(tag) => selection.of_requests = Some(tag),
                None => selection.labels.push((name, value)),
            }
        }
        Some(selection)
    }

    /// Returns the same labels, without the tags of requests.
    pub fn of_all_requests(&self) -> Selection<'a> {
        Selection { labels: self.labels.clone(), of_requests: None }
    }

    pub fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.of_requests.is_none()
    }

    /// Returns whether a series has the labels. The samples of a single scenario have no label.
    pub fn covers(&self, key: &SeriesKey, single: Option<&str>) -> bool {
        self.labels.iter().all(|(name, value)| match *name {
            "name" if key.family.is_requests() => key.name == *value,
            "check" if key.family == Family::Check => key.name == *value,
            label::GROUP if key.family == Family::Group => key.name == *value,
            label::GROUP => key.label(label::GROUP).unwrap_or_default() == *value,
            label::SCENARIO => key.label(label::SCENARIO).or(single) == Some(*value),
            name => key.label(name) == Some(*value),
        })
    }
}

impl RequestTag {
    /// Returns the number of completed requests with it.
    pub fn count(self, requests: &Tally) -> u64 {
        match self {
            RequestTag::Status(0) => unanswered(requests),
            RequestTag::Status(status) => cell(requests, status_id(status)),
            RequestTag::Expected(false) => sum(requests, SeriesSum::Failed),
            RequestTag::Expected(true) => {
                sum(requests, SeriesSum::Finished).saturating_sub(sum(requests, SeriesSum::Failed))
            }
        }
    }

    /// Returns which of the completed requests with a response have it.
    pub fn of_responses(self, requests: &Tally) -> Covered {
        let lost = unanswered(requests);
        let responses = sum(requests, SeriesSum::Finished).saturating_sub(lost);
        let with = match self {
            RequestTag::Status(0) => 0,
            RequestTag::Expected(false) => self.count(requests).saturating_sub(lost),
            _ => self.count(requests),
        };
        covered(with, responses)
    }

    /// Returns which of the completed requests have it.
    pub fn of_requests(self, requests: &Tally) -> Covered {
        covered(self.count(requests), sum(requests, SeriesSum::Finished))
    }
}

fn covered(with: u64, all: u64) -> Covered {
    match with {
        0 => Covered::None,
        with if with >= all => Covered::All,
        _ => Covered::Some,
    }
}

/// Completed requests without a response.
pub fn unanswered(requests: &Tally) -> u64 {
    let lost = Fault::ALL.iter().filter(|fault| fault.is_below_http() && fault.side() != Side::Client);
    lost.map(|fault| cell(requests, fault_id(*fault))).fold(0, u64::saturating_add)
}

pub fn sum(tally: &Tally, id: impl SumCell) -> u64 {
    cell(tally, id.cell())
}

pub fn cell(tally: &Tally, id: usize) -> u64 {
    tally.sums.get(id).copied().unwrap_or(0)
}
