//! Renders a chart (data) as SVG. Panels are stacked vertically on one x axis. Elements that could overlap (labels of
//! marks, legend entries) are placed first and get the room they need.

mod forms;
mod heat;
mod legend;
mod marks;
mod panel;
mod pool;
mod style;

pub(super) use pool::{Values, pooled};
pub use style::CSS;

use super::scale::Scale;
use super::svg::{Anchor, Svg, escape, short};
use super::text::{self, wrapped};
use crate::{Band, Chart, Panel, Scale as Kind};
use marks::Marks;

/// Where a picture is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Skin {
    /// A separate file, which contains its title, light background, and style.
    File,
    /// Part of a page: only classes, because the page's style sheet defines the style ([`CSS`]) and its caption
    /// contains the title.
    Page,
}

pub(crate) const WIDTH: f64 = 760.0;
const LEFT: f64 = 66.0;
const RIGHT: f64 = 14.0;
/// Width of the plots.
const WIDE: f64 = WIDTH - LEFT - RIGHT;
/// Height of a row of text.
const ROW: f64 = 16.0;
/// More points than this are not visible and make the file large; fewer than [`POINTS_MIN`] would hide details.
const POINTS: usize = 240;
const POINTS_MIN: usize = 80;
/// Bytes above which a picture gets fewer points: the page of an hour's run has a dozen pictures. A heat map limits its
/// own size.
const ROOM: usize = 28_000;

/// Returns the picture.
pub fn draw(chart: &Chart, skin: Skin) -> String {
    let has_heat = chart.panels.iter().any(|panel| panel.heat.is_some());
    let mut points = POINTS;
    loop {
        let (svg, height) = drawn(chart, skin, points);
        if svg.size() <= ROOM || points <= POINTS_MIN || has_heat {
            return finish(svg, chart, skin, height);
        }
        points = (points * 4 / 5).max(POINTS_MIN);
    }
}

/// Draws with at most `points` points per line and returns the height as well.
fn drawn(chart: &Chart, skin: Skin, points: usize) -> (Svg, f64) {
    let mut svg = Svg::default();
    let mut top = 6.0;
    if skin == Skin::File {
        top = head(&mut svg, chart);
    }
    let x = x_scale(chart);
    let marks = Marks::of(chart, &x);
    let mut frames = Vec::new();
    for (at, panel) in chart.panels.iter().enumerate() {
        let height = height(chart, panel);
        let y = y_scale(chart, panel, height, points);
        let is_low = |band: &&Band| !band.word.is_empty() && !panel::has_room(band, &y, height);
        let low: Vec<&Band> = panel.bands.iter().filter(is_low).collect();
        let legend = legend::placed(panel, &y.label, &chart.panels[..at], &low);
        top += legend.height();
        let label_at = top;
        // Labels of marks go between the first label and its plot, so that no line crosses a name.
        top += if frames.is_empty() { marks.height() } else { 0.0 };
        frames.push((legend, label_at, panel::Frame { chart, panel, x: &x, y, top, height, points }));
        top += height + 10.0;
    }
    let bottom = top - 10.0;
    for (at, (legend, label_at, frame)) in frames.iter().enumerate() {
        frame.draw(&mut svg, at == 0, *label_at);
        legend.draw(&mut svg, &frame.y.label, *label_at);
        marks.lines(&mut svg, (at == 0).then_some(*label_at), (frame.top, frame.top + frame.height));
    }
    if let Some((_, label_at, _)) = frames.first() {
        marks.words(&mut svg, *label_at);
    }
    let axis_end = foot(&mut svg, &x, bottom);
    let end = marks.list(&mut svg, axis_end);
    (svg, end + 8.0)
}

/// Draws the title and subtitle; returns the y at which the rest begins.
fn head(svg: &mut Svg, chart: &Chart) -> f64 {
    // 15 px instead of 11, and bold.
    let title = text::cut(&chart.title, (WIDTH - 28.0) / 1.53);
    svg.text((RIGHT, 24.0), Anchor::Start, "title", &title);
    let mut y = 41.0;
    for line in wrapped(&chart.subtitle.replace('`', ""), WIDTH - 28.0, 2) {
        svg.text((RIGHT, y), Anchor::Start, "", &line);
        y += 14.0;
    }
    y + if chart.subtitle.is_empty() { -8.0 } else { -2.0 }
}

/// Draws the ticks of the x axis and its label, below the last panel.
fn foot(svg: &mut Svg, x: &Scale, bottom: f64) -> f64 {
    let mut y = bottom + 15.0;
    let room = WIDE / x.marks.len().max(1) as f64 - 4.0;
    // Few places have names longer than two words.
    let lines = 3;
    let named = x.marks.iter().map(|(_, text)| wrapped(text, room.max(48.0), lines)).collect::<Vec<_>>();
    let mut free_from = f64::NEG_INFINITY;
    for ((value, _), lines) in x.marks.iter().zip(&named) {
        let at = LEFT + WIDE * x.place(*value);
        svg.line((at, bottom), (at, bottom + 4.0), "axis");
        let half = lines.iter().map(|line| text::width(line)).fold(0.0, f64::max) / 2.0;
        let at = at.min(WIDTH - 2.0 - half);
        // Omit a text that would touch the previous one; its tick stays.
        if at - half < free_from {
            continue;
        }
        free_from = at + half + 4.0;
        for (row, line) in lines.iter().enumerate() {
            svg.text((at, y + 12.0 * row as f64), Anchor::Middle, "", line);
        }
    }
    y += 12.0 * named.iter().map(Vec::len).max().unwrap_or(1).saturating_sub(1) as f64;
    if x.label.is_empty() {
        return y;
    }
    svg.text((LEFT + WIDE / 2.0, y + 17.0), Anchor::Middle, "label", &x.label);
    y + 17.0
}

fn finish(svg: Svg, chart: &Chart, skin: Skin, height: f64) -> String {
    let (w, h) = (short(WIDTH), short(height));
    let said = if chart.subtitle.is_empty() {
        chart.title.clone()
    } else {
        format!("{}: {}", chart.title, chart.subtitle.replace('`', ""))
    };
    let (size, style) = match skin {
        Skin::Page => (String::new(), String::new()),
        Skin::File => (
            format!(r#" width="{w}" height="{h}""#),
            format!(
                "<style>{}</style>\n<rect class=\"ground\" width=\"{w}\" height=\"{h}\"/>\n",
                style::of_file()
            ),
        ),
    };
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"pic\" viewBox=\"0 0 {w} {h}\"{size} role=\"img\">\n\
         <title>{}</title>\n{style}{}</svg>\n",
        escape(&said),
        svg.into_body()
    )
}

/// Returns the height of a panel: a heat map gets the most, and a single panel more than one of many.
fn height(chart: &Chart, panel: &Panel) -> f64 {
    let has_heat = chart.panels.iter().any(|other| other.heat.is_some());
    let main = if chart.panels.len() == 2 { 1 } else { 2 };
    let first = chart.panels.iter().take(main).any(|other| other.id == panel.id);
    match chart.panels.len() {
        _ if panel.heat.is_some() => 240.0,
        _ if has_heat => 64.0,
        1 => 260.0,
        2 if first => 190.0,
        2 => 110.0,
        3 => 150.0,
        _ if first => 150.0,
        _ => 66.0,
    }
}

pub(super) fn x_scale(chart: &Chart) -> Scale {
    let series = chart.panels.iter().flat_map(|panel| &panel.series);
    let own = series.filter_map(|series| series.x.as_ref()).flatten();
    let (least, most) = range(chart.xs.iter().chain(own).copied());
    Scale::of(&chart.x, least, most, 9)
}

fn y_scale(chart: &Chart, panel: &Panel, height: f64, points: usize) -> Scale {
    let (mut least, mut most) = reach(chart, panel, points);
    if let Some(heat) = &panel.heat {
        let (low, high) = heat::reach(heat);
        (least, most) = (low, high);
    }
    let is_log = panel.y.scale == Kind::Log;
    for limit in &panel.limits {
        // A limit far above all values would flatten them, so it is written at the edge.
        let far = if is_log { 10.0 } else { 2.5 };
        if limit.value.is_finite() && limit.value <= far * most && limit.value > most {
            most = limit.value;
        }
    }
    for band in panel.bands.iter().filter(|band| band.low.is_finite() && band.high.is_finite()) {
        (least, most) = (least.min(band.low), most.max(band.high));
    }
    Scale::of(&panel.y, least, most, (height / 34.0).round().max(2.0) as usize)
}

/// Returns the lowest and the highest value that a panel draws. An interval may extend beyond the values, but an
/// unbounded one must not flatten all the others.
fn reach(chart: &Chart, panel: &Panel, points: usize) -> (f64, f64) {
    let is_log = panel.y.scale == Kind::Log;
    let describe = |y: &f64| y.is_finite() && (!is_log || *y > 0.0);
    if panel.stacked {
        let layers = pool::layers(chart, panel, points);
        return (0.0, range(layers.iter().flat_map(|layer| &layer.high).flatten().copied()).1);
    }
    let values = panel.series.iter().flat_map(|series| &series.y).flatten().copied().filter(describe);
    let (least, most) = range(values);
    let ends = |low: bool| {
        let ends = panel.series.iter().flat_map(move |s| if low { &s.low } else { &s.high });
        ends.flatten().copied().filter(describe)
    };
    let has_values = least <= most;
    let limit = |y: f64| if has_values { y.min(most + most.abs()) } else { y };
    let floor = |y: f64| if has_values { y.max(least - most.abs().max(least.abs())) } else { y };
    let high = ends(false).map(limit).fold(most, f64::max);
    let low = ends(true).map(floor).fold(least, f64::min);
    if low <= high { (low, high) } else { (0.0, 0.0) }
}

/// Returns a minimum above the maximum if there is no value.
fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let start = (f64::INFINITY, f64::NEG_INFINITY);
    values.filter(|x| x.is_finite()).fold(start, |(least, most), x| (least.min(x), most.max(x)))
}
