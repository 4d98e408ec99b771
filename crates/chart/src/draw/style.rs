//! The style of pictures: the rules for pages, and the same rules with a light palette for files.

/// Rules that the style sheet of a page needs for everything in an `svg.pic` and an `svg.spark`, based on the page's
/// own variables.
pub const CSS: &str = include_str!("../chart.css");

/// Colors that color-blind readers can distinguish (Okabe & Ito 2008). Some are darker than the originals, for a
/// contrast of 3:1 on white; `c7` is for secondary elements. The shades of a heat map decrease in brightness by equal
/// steps.
const LIGHT: [(&str, &str); 25] = [
    ("c0", "#0072b2"),
    ("c1", "#d55e00"),
    ("c2", "#009e73"),
    ("c3", "#cc79a7"),
    ("c4", "#755200"),
    ("c5", "#4295c8"),
    ("c6", "#333333"),
    ("c7", "#8a8a8a"),
    ("ink", "#14181d"),
    ("soft", "#4b535c"),
    ("faint", "#8b949e"),
    ("ground", "#ffffff"),
    ("line", "#e6e9ec"),
    ("pass", "#0a7d45"),
    ("fail", "#c62828"),
    ("doubt", "#8a6100"),
    ("h0", "#dcebf6"),
    ("h1", "#bddbee"),
    ("h2", "#96c6e3"),
    ("h3", "#6aadd5"),
    ("h4", "#4592c4"),
    ("h5", "#2675b0"),
    ("h6", "#125996"),
    ("h7", "#0a3f74"),
    ("h8", "#08264d"),
];

/// Returns the rules of a separate picture file. Programs that rasterize SVG do not support variables.
pub fn of_file() -> String {
    let rules = CSS.lines().filter(|line| line.starts_with(".pic"));
    let mut css: String =
        rules.map(|line| line.replace("; }", "}").replace(" { ", "{").replace(": ", ":")).collect();
    for (name, color) in LIGHT {
        css = css.replace(&format!("var(--{name})"), color);
    }
    css
}
