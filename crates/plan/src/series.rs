//! What a series is: numbers of one thing, under a family, a name and labels. The family says which numbers.
//!
//! The series of a plan (its requests, checks, groups and addresses) are there from the start. A program may open
//! others while the load goes on, see [`book`]: requests that nobody named before, and metrics of its own.

pub mod book;
mod value;

pub use value::{THOUSANDTHS, counted, from_ordered, ordered, parts_of};

use crate::metric::{
    CheckSum, CounterSum, GaugeFloor, GaugeLast, GaugePeak, GaugeSum, GroupHist, GroupSum, RateSum, RunFloor,
    RunHist, RunPeak, RunSum, SERIES_SUMS, SeriesFloor, SeriesHist, SeriesPeak, StreamHist, TrendHist,
};
use crate::origin::FIRST;
use crate::outline::RequestOutline;
use serde::{Deserialize, Serialize};

/// How many cells a tally has: sums, peaks, floors, histograms, last values.
pub type Cells = [usize; 5];

/// Cells of the run as a whole.
pub const RUN_CELLS: Cells = [RunSum::COUNT, RunPeak::COUNT, RunFloor::COUNT, RunHist::COUNT, 0];

/// Cells of all requests added up, whatever their families: those of the widest, so cells of one family that another
/// does not have must not share a number.
pub const REQUESTS_CELLS: Cells = Family::Stream.cells();

/// See the module. A protocol that counts something of its own adds a family, and a table of [`crate::metric`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// Requests of one name: [`crate::metric::SeriesSum`], faults, status codes, [`SeriesHist`].
    Request,
    /// The same of streams of events, and [`crate::metric::StreamSum`], [`StreamHist`].
    Stream,
    /// [`CheckSum`].
    Check,
    /// [`GroupSum`], [`GroupHist`].
    Group,
    /// The requests to one of several addresses, their times left out.
    Address,
    /// A user-defined metric: a sum of numbers that are not negative.
    Counter,
    /// The last, the least and the greatest of some numbers.
    Gauge,
    /// How many of some values are true.
    Rate,
    /// The distribution of numbers that are not negative.
    Trend,
}

impl Family {
    /// The families of user-defined metrics.
    pub const CUSTOM: [Family; 4] = [Family::Counter, Family::Gauge, Family::Rate, Family::Trend];

    /// As run files and documents call it.
    pub const fn name(self) -> &'static str {
        match self {
            Family::Request => "request",
            Family::Stream => "stream",
            Family::Check => "check",
            Family::Group => "group",
            Family::Address => "address",
            Family::Counter => "counter",
            Family::Gauge => "gauge",
            Family::Rate => "rate",
            Family::Trend => "trend",
        }
    }

    /// The one home of layouts: every tally of a series is made of this.
    pub const fn cells(self) -> Cells {
        match self {
            Family::Request => [SERIES_SUMS, SeriesPeak::COUNT, SeriesFloor::COUNT, SeriesHist::COUNT, 0],
            Family::Stream => [SERIES_SUMS, SeriesPeak::COUNT, SeriesFloor::COUNT, StreamHist::COUNT, 0],
            Family::Check => [CheckSum::COUNT, 0, 0, 0, 0],
            Family::Group => [GroupSum::COUNT, 0, 0, GroupHist::COUNT, 0],
            Family::Address => [SERIES_SUMS, SeriesPeak::COUNT, SeriesFloor::COUNT, 0, 0],
            Family::Counter => [CounterSum::COUNT, 0, 0, 0, 0],
            Family::Gauge => [GaugeSum::COUNT, GaugePeak::COUNT, GaugeFloor::COUNT, 0, GaugeLast::COUNT],
            Family::Rate => [RateSum::COUNT, 0, 0, 0, 0],
            Family::Trend => [0, 0, 0, TrendHist::COUNT, 0],
        }
    }

    /// What a user of the load defined, by its kind; `None`: nobody defined it.
    pub const fn custom(self) -> Option<Custom> {
        match self {
            Family::Counter => Some(Custom::Counter),
            Family::Gauge => Some(Custom::Gauge),
            Family::Rate => Some(Custom::Rate),
            Family::Trend => Some(Custom::Trend),
            Family::Request | Family::Stream | Family::Check | Family::Group | Family::Address => None,
        }
    }

    /// What a user of the load defined.
    pub const fn is_custom(self) -> bool {
        self.custom().is_some()
    }

    /// Requests and streams count in the totals of a run.
    pub const fn is_requests(self) -> bool {
        match self {
            Family::Request | Family::Stream => true,
            Family::Check | Family::Group | Family::Address => false,
            Family::Counter | Family::Gauge | Family::Rate | Family::Trend => false,
        }
    }
}

/// The families of user-defined metrics, for those who know no other: a family that a protocol adds does not touch
/// them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Custom {
    Counter,
    Gauge,
    Rate,
    Trend,
}

/// The name of a label that a series has from where it was counted, beside those that a program gave it.
pub mod label {
    /// The scenario that a request belongs to.
    pub const SCENARIO: &str = "scenario";
    /// The group, nested ones as `a / b`.
    pub const GROUP: &str = "group";
    /// The request's own name.
    pub const REQUEST: &str = "request";
    /// The name of a user-defined metric.
    pub const METRIC: &str = "metric";
    /// The method of a request.
    pub const METHOD: &str = "method";
}

/// What a series is known by, on every worker and every machine: numbers of equal keys are added up.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SeriesKey {
    pub family: Family,
    pub name: String,
    /// By name, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<(String, String)>,
}

impl SeriesKey {
    /// Labels may come in any order; of two of one name the later counts.
    pub fn new(family: Family, name: &str, labels: &[(&str, &str)]) -> Self {
        let mut sorted: Vec<(String, String)> = Vec::with_capacity(labels.len());
        for (name, value) in labels {
            match sorted.binary_search_by(|(known, _)| known.as_str().cmp(name)) {
                Ok(at) => sorted[at].1 = (*value).into(),
                Err(at) => sorted.insert(at, ((*name).into(), (*value).into())),
            }
        }
        SeriesKey { family, name: name.into(), labels: sorted }
    }

    /// The value of a label.
    pub fn label(&self, name: &str) -> Option<&str> {
        self.labels.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// A request or a stream as the plan would have shown it; `None` of other families.
    pub fn request(&self) -> Option<RequestOutline> {
        let text = |name: &str| self.label(name).map(str::to_owned);
        let own = [label::SCENARIO, label::GROUP, label::METHOD];
        self.family.is_requests().then(|| RequestOutline {
            name: self.name.clone(),
            method: text(label::METHOD).unwrap_or_default(),
            path: String::new(),
            // A program says by a label where it went; the plan's own number of the server is not known here.
            origin: FIRST,
            headers: Vec::new(),
            body_bytes: 0,
            scenario: text(label::SCENARIO),
            group: text(label::GROUP),
            tags: self.labels.iter().filter(|(name, _)| !own.contains(&name.as_str())).cloned().collect(),
            is_stream: self.family == Family::Stream,
            is_outside_load: false,
            is_redirect_expected: false,
        })
    }
}
