//! A chart as data. It is drawn as SVG, and the page's script redraws it when the reader moves over it. Both use this
//! one value, so they cannot show different things.
//!
//! Values are in base units (ns, bytes, per second, ratios). The renderer chooses the unit of an axis from its highest
//! value and formats numbers by the rules of [`plimsoll_plan::phrase`]. In JSON, values of series have six significant
//! digits ([`crate::brief`]).

#![forbid(unsafe_code)]

pub mod brief;
mod draw;
pub mod png;
mod scale;
mod spark;
mod svg;
mod table;
mod text;

pub use draw::{CSS, Skin, draw};
pub use spark::spark;
pub use svg::cleaned;
pub use table::{Cell, Table, tables};

use serde::Serialize;

/// Panels stacked vertically on one x axis.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Chart {
    /// Unique in a page: letters, digits, and dashes. Also the stem of its file name and the anchor of its section.
    pub id: String,
    pub title: String,
    /// A fragment that names the subject and the counts; may be empty.
    pub subtitle: String,
    /// One or two sentences on how to read it, for readers new to such a chart; may be empty.
    pub help: String,
    pub x: Axis,
    /// The x of each value, for series without their own `x`; for a heat map, the left edges of its columns.
    #[serde(serialize_with = "brief::exact")]
    pub xs: Vec<f64>,
    pub panels: Vec<Panel>,
    /// Periods with a shaded background: the warm-up, stages.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stretches: Vec<Stretch>,
    /// Labeled points in time: stage changes, notes, gaps.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
    /// Charts of one group share their cursor and zoom; empty: no group.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub group: String,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Axis {
    /// Without the unit: `response time`.
    pub label: String,
    pub unit: Unit,
    pub scale: Scale,
    /// `None`: 0 on a linear axis, otherwise the lowest value.
    pub from: Option<f64>,
    /// `None`: a round number at or above the highest value.
    pub to: Option<f64>,
    /// Values that must have a tick because someone chose them (values of a sweep); empty: round numbers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ticks: Vec<f64>,
    /// One label for each of these ticks, in place of its number; empty: the numbers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Time on an axis, such as the time since the start of the run, s.
    Seconds,
    /// A measured time, ns.
    Nanoseconds,
    PerSecond,
    Bytes,
    BytesPerSecond,
    /// 0.01 is shown as 1%.
    Ratio,
    Count,
    Cores,
    /// 0.99 is shown as p99.
    Quantile,
    /// A number whose unit is part of the label.
    Plain,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    Linear,
    Log,
    /// For quantiles: equal steps from 0 to 0.9 to 0.99 to 0.999 (HdrHistogram's percentile axis, 1 / (1 - q)).
    Nines,
}

/// One y axis and everything drawn on it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Panel {
    /// Unique in its chart: `rate`.
    pub id: String,
    pub y: Axis,
    pub series: Vec<Series>,
    /// Intervals of y across the full width.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bands: Vec<Band>,
    /// Horizontal lines: thresholds, limits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<Limit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heat: Option<Heat>,
    /// Series are stacked, the first one at the bottom.
    pub stacked: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Series {
    /// Unique in its chart: `p99`. Rows of a live run refer to their values by it.
    pub id: String,
    pub name: String,
    /// Index in the palette (0–6; 7 is gray); the same thing has the same color in all panels of a page.
    pub color: u8,
    pub form: Form,
    /// `None`: the chart's `xs`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub x: Option<Vec<f64>>,
    /// `None` is a gap; no line crosses it.
    #[serde(serialize_with = "brief::maybe")]
    pub y: Vec<Option<f64>>,
    /// Lower ends of intervals; empty, or one for each value.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "brief::maybe")]
    pub low: Vec<Option<f64>>,
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "brief::maybe")]
    pub high: Vec<Option<f64>>,
    /// How adjacent values are combined where there is only room for one.
    #[serde(skip)]
    pub pool: Pool,
}

/// See [`Series::pool`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pool {
    #[default]
    Mean,
    /// For times and failures, because readers look for the single bad second.
    Highest,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    Line,
    Dashed,
    /// A value lasts until the next x.
    Step,
    /// The area between this line and 0.
    Area,
    /// The area between `low` and `high`; `y`, if present, is its middle line.
    Range,
    /// Joined points, each with a marker.
    Marked,
    /// Points that are not joined.
    Dots,
    Crosses,
    Rings,
    /// Columns from 0, centered on their x, reaching halfway to the adjacent ones.
    Bars,
}

/// Counts per cell: columns over `xs`, rows between edges of y.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Heat {
    /// In ascending order, one more than the number of rows.
    #[serde(serialize_with = "brief::exact")]
    pub edges: Vec<f64>,
    /// By column, then by row from the lowest; a column may be short (the rest is 0).
    pub counts: Vec<Vec<u64>>,
    /// What is counted: `requests`.
    pub what: String,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Stretch {
    pub from: f64,
    pub to: f64,
    pub word: String,
    pub kind: StretchKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StretchKind {
    /// Not included in the results.
    Warmup,
    /// A part of the load profile.
    Stage,
    /// No data.
    Gap,
    /// A period of slow responses.
    Spike,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Mark {
    pub at: f64,
    pub word: String,
    pub kind: MarkKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MarkKind {
    Stage,
    /// A note that the user wrote during the run.
    Note,
    /// An action of plimsoll: a stop, a pause.
    Control,
    /// A change point.
    Change,
    /// The result of a search, or a knee.
    Answer,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Band {
    pub low: f64,
    pub high: f64,
    pub word: String,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Limit {
    pub value: f64,
    pub word: String,
    /// Whether the limit was met; `None`: it is not evaluated.
    pub met: Option<bool>,
}

impl Chart {
    /// Creates an empty chart.
    pub fn new(id: &str, title: impl Into<String>, x: Axis) -> Chart {
        Chart {
            id: id.to_owned(),
            title: title.into(),
            subtitle: String::new(),
            help: String::new(),
            x,
            xs: Vec::new(),
            panels: Vec::new(),
            stretches: Vec::new(),
            marks: Vec::new(),
            group: String::new(),
        }
    }

    /// Returns the x positions of a series.
    pub fn xs_of<'a>(&'a self, series: &'a Series) -> &'a [f64] {
        series.x.as_deref().unwrap_or(&self.xs)
    }
}

impl Axis {
    /// Creates a linear axis, from 0 (x: from the lowest value) to a round number.
    pub fn new(label: impl Into<String>, unit: Unit) -> Axis {
        Axis {
            label: label.into(),
            unit,
            scale: Scale::Linear,
            from: None,
            to: None,
            ticks: Vec::new(),
            names: Vec::new(),
        }
    }

    pub fn scaled(mut self, scale: Scale) -> Axis {
        self.scale = scale;
        self
    }

    /// Sets the exact ends.
    pub fn between(mut self, from: f64, to: f64) -> Axis {
        (self.from, self.to) = (Some(from), Some(to));
        self
    }
}

impl Panel {
    pub fn new(id: &str, y: Axis, series: Vec<Series>) -> Panel {
        let (bands, limits) = (Vec::new(), Vec::new());
        Panel { id: id.to_owned(), y, series, bands, limits, heat: None, stacked: false }
    }
}

impl Series {
    pub fn new(id: &str, name: impl Into<String>, color: u8, form: Form, y: Vec<Option<f64>>) -> Series {
        Series {
            id: id.to_owned(),
            name: name.into(),
            color,
            form,
            x: None,
            y,
            low: Vec::new(),
            high: Vec::new(),
            pool: Pool::Mean,
        }
    }

    /// Sets the series' own x.
    pub fn at(mut self, x: Vec<f64>) -> Series {
        self.x = Some(x);
        self
    }

    /// Sets an interval for each value.
    pub fn within(mut self, low: Vec<Option<f64>>, high: Vec<Option<f64>>) -> Series {
        (self.low, self.high) = (low, high);
        self
    }

    /// See [`Pool::Highest`].
    pub fn highest(mut self) -> Series {
        self.pool = Pool::Highest;
        self
    }
}
