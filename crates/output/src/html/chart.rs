//! A chart in a page: its picture, and behind it the table that says the same to those who do not see it.

use crate::chart::Chart;
use maud::{Markup, html};

/// The script finds it by `data-chart` and its values in the page's data.
pub fn figure(chart: &Chart) -> Markup {
    html! {
        figure.chart #{ "chart-" (chart.id) } data-chart=(chart.id) {
            figcaption { b { (chart.title) } " " (chart.subtitle) }
        }
    }
}
