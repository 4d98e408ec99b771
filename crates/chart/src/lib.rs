//! A chart as data: what is drawn as SVG, and what the script of a page draws again when somebody moves over it. Both
//! read this one value, so that they cannot show different things.
//!
//! Values are in base units (ns, bytes, per second, ratios); whoever draws chooses the unit of an axis from its highest
//! value and writes numbers by the rules of [`crate::format`]. As JSON the values of series have six digits that count
//! ([`crate::brief`]).

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

/// Panels below each other on one x axis.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Chart {
    /// Unique in a page: letters, digits and dashes. The stem of its file, the anchor of its section.
    pub id: String,
    pub title: String,
    /// One fragment: of what, how many; may be empty.
    pub subtitle: String,
    /// How to read it, one or two sentences for those who see such a chart for the first time; may be empty.
    pub help: String,
    pub x: Axis,
    /// The x of each value of those series that have no `x` of their own; of a heat-map the left edges of its columns.
    #[serde(serialize_with = "brief::exact")]
    pub xs: Vec<f64>,
    pub panels: Vec<Panel>,
    /// Grounds of another shade: the warm-up, stages.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stretches: Vec<Stretch>,
    /// Moments with a word: stage changes, notes, gaps.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
    /// Charts of one group share their cursor and their zoom; empty: none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub group: String,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Axis {
    /// Without the unit: `response time`.
    pub label: String,
    pub unit: Unit,
    pub scale: Scale,
    /// `None`: 0 on a linear axis, the least value elsewhere.
    pub from: Option<f64>,
    /// `None`: a round number at or above the highest value.
    pub to: Option<f64>,
    /// Where marks must stand because these values were chosen (levels of a sweep); empty: round numbers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ticks: Vec<f64>,
    /// What stands at these ticks instead of their numbers, one for each; empty: the numbers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Time on an axis, such as that of the run, s.
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
    /// A number whose unit stands in the label.
    Plain,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    Linear,
    Log,
    /// Of quantiles: equal steps from 0 to 0.9 to 0.99 to 0.999 (HdrHistogram's percentile axis, 1 / (1 - q)).
    Nines,
}

/// One y axis with what is drawn on it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Panel {
    /// Unique in its chart: `rate`.
    pub id: String,
    pub y: Axis,
    pub series: Vec<Series>,
    /// Intervals of y over the whole width.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bands: Vec<Band>,
    /// Lines across: thresholds, limits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<Limit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heat: Option<Heat>,
    /// Series are added up on each other, the first at the bottom.
    pub stacked: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Series {
    /// Unique in its chart: `p99`. Rows of a live run name their values by it.
    pub id: String,
    pub name: String,
    /// Place in the palette (0-6; 7 is grey); the same thing has the same colour in all panels of a page.
    pub colour: u8,
    pub form: Form,
    /// `None`: the chart's `xs`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub x: Option<Vec<f64>>,
    /// `None` is a gap, never a line through it.
    #[serde(serialize_with = "brief::maybe")]
    pub y: Vec<Option<f64>>,
    /// Intervals; empty, or one for each value.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "brief::maybe")]
    pub low: Vec<Option<f64>>,
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "brief::maybe")]
    pub high: Vec<Option<f64>>,
    /// What several neighbours become where there is room for one only.
    #[serde(skip)]
    pub pool: Pool,
}

/// See [`Series::pool`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pool {
    #[default]
    Mean,
    /// Of times and failures: the one bad second is what is looked for.
    Highest,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    Line,
    Dashed,
    /// Values hold until the next x.
    Step,
    /// The ground between this line and 0.
    Area,
    /// The ground between `low` and `high`; `y` is its middle line where it has one.
    Range,
    /// Joined, each point marked.
    Marked,
    /// Not joined.
    Dots,
    Crosses,
    Rings,
    /// Columns from 0 around their x, half-way to their neighbours.
    Bars,
}

/// How often something was where: columns over `xs`, rows between edges of y.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Heat {
    /// Rising, one more than there are rows.
    #[serde(serialize_with = "brief::exact")]
    pub edges: Vec<f64>,
    /// By column, then by row from the lowest; columns may end early (the rest is 0).
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
    /// Not counted.
    Warmup,
    /// A part of the load profile.
    Stage,
    /// Nothing is known of it.
    Gap,
    /// Slow seconds.
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
    /// Somebody wrote it while the run was going on.
    Note,
    /// The tool did something: a stop, a pause.
    Control,
    /// The course changed.
    Change,
    /// The answer of a search, a knee.
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
    /// It was kept; `None`: nobody judges it.
    pub met: Option<bool>,
}

impl Chart {
    /// A chart of nothing yet.
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

    /// Where the values of a series stand on x.
    pub fn xs_of<'a>(&'a self, series: &'a Series) -> &'a [f64] {
        series.x.as_deref().unwrap_or(&self.xs)
    }
}

impl Axis {
    /// Linear, from 0 (x: from the least value) to a round number.
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

    /// Exactly from here to there.
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
    pub fn new(id: &str, name: impl Into<String>, colour: u8, form: Form, y: Vec<Option<f64>>) -> Series {
        Series {
            id: id.to_owned(),
            name: name.into(),
            colour,
            form,
            x: None,
            y,
            low: Vec::new(),
            high: Vec::new(),
            pool: Pool::Mean,
        }
    }

    /// With an x of its own.
    pub fn at(mut self, x: Vec<f64>) -> Series {
        self.x = Some(x);
        self
    }

    /// With an interval for each value.
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
