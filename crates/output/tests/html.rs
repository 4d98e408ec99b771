//! The page of a run, read as a browser reads it.

pub mod dom;
mod frame;
mod numbers;
mod room;

use crate::output::fixtures;
use dom::Dom;
use plimsoll_analysis::picture::Picture;
use plimsoll_analysis::summary::Summary;
use plimsoll_output::figure;
use plimsoll_output::html::{Page, run_page};

/// Every kind of run, and what its charts are made of; most of them have no more than their seconds.
pub fn runs() -> Vec<(&'static str, Summary, Picture)> {
    let bare = |(name, s)| (name, s, Picture::default());
    let mut all: Vec<(&'static str, Summary, Picture)> = fixtures::all().into_iter().map(bare).collect();
    for (name, (s, picture)) in
        [("drawn", fixtures::drawn()), ("drawn and watched", fixtures::drawn_with_monitors())]
    {
        all.push((name, s, picture));
    }
    all
}

pub fn page_of(s: &Summary, picture: &Picture) -> Page {
    run_page(s, picture, Some("runs/a.plim"), figure::of_run(s, picture)).expect("a summary is JSON")
}

pub fn page(s: &Summary) -> Page {
    page_of(s, &Picture::default())
}

pub fn rendered(s: &Summary) -> String {
    page(s).render_with(Some("'use strict';")).expect("a page is made")
}

pub fn dom(s: &Summary) -> Dom {
    Dom::parse(&rendered(s))
}

pub fn dom_of(s: &Summary, picture: &Picture) -> Dom {
    Dom::parse(&page_of(s, picture).render_with(Some("'use strict';")).expect("a page is made"))
}
