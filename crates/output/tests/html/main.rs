//! The page of a run, read as a browser reads it.

// The helpers between the tests may stop at the first surprise too; the setting for tests does not reach them.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod dom;
mod frame;
mod numbers;

/// The same runs as the reports in text are tested with.
#[path = "../output"]
#[allow(dead_code, unused_imports, reason = "each set of tests needs others of them")]
mod shared {
    pub mod fixtures;
}

use dom::Dom;
use plimsoll_output::chart::{Axis, Chart, Form, Panel, Scale, Series, Unit};
use plimsoll_output::html::{Page, run_page};
use plimsoll_record::picture::Picture;
use plimsoll_record::summary::Summary;

/// A chart with two seconds in it.
pub fn chart(id: &str) -> Chart {
    let axis = |label: &str, unit| Axis {
        label: label.into(),
        unit,
        scale: Scale::Linear,
        from: None,
        to: None,
        ticks: Vec::new(),
    };
    Chart {
        id: id.into(),
        title: format!("The {id}"),
        subtitle: "of two seconds".into(),
        help: String::new(),
        x: axis("time", Unit::Seconds),
        xs: vec![0.0, 1.0],
        panels: vec![Panel {
            id: "rate".into(),
            y: axis("rate", Unit::PerSecond),
            series: vec![Series {
                id: "achieved".into(),
                name: "achieved".into(),
                colour: 0,
                form: Form::Line,
                x: None,
                y: vec![Some(900.0), Some(1_000.0)],
                low: Vec::new(),
                high: Vec::new(),
            }],
            bands: Vec::new(),
            limits: Vec::new(),
            heat: None,
            stacked: false,
        }],
        stretches: Vec::new(),
        marks: Vec::new(),
        group: "time".into(),
    }
}

pub fn page(s: &Summary) -> Page {
    let charts = ["timeline", "heat", "spectrum", "monitors-cpu"].map(chart).to_vec();
    run_page(s, &Picture::default(), Some("runs/a.plim"), charts).expect("a summary is JSON")
}

pub fn rendered(s: &Summary) -> String {
    page(s).render_with(Some("'use strict';")).expect("a page is made")
}

pub fn dom(s: &Summary) -> Dom {
    Dom::parse(&rendered(s))
}
