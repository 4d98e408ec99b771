//! Results as pages: those of the report, with a bar that leads back to the list.

use crate::answer::{Answer, Wrong};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use maud::{DOCTYPE, html};
use plimsoll_output::compare;
use plimsoll_output::html::Page;
use plimsoll_record::analysis::compare::{Asked, compare_cells};
use plimsoll_record::analysis::summarise;
use plimsoll_record::experiment::{conclude, sides};
use plimsoll_record::{folder, run_file};
use std::path::Path;

/// The page of a run, or of a folder of runs.
///
/// # Errors
/// When it cannot be read.
pub fn of_path(path: &Path) -> Answer<String> {
    let unreadable =
        |e: &dyn std::fmt::Display| Wrong::new(StatusCode::UNPROCESSABLE_ENTITY, e.to_string(), "");
    if !path.exists() {
        return Err(Wrong::missing(format!("`{}` is not there any more", path.display())));
    }
    if path.is_dir() {
        let read = folder::read(path).map_err(|e| unreadable(&e))?;
        let conclusion = conclude(read).ok_or_else(|| unreadable(&"the folder holds no run"))?;
        return render(page("experiment", &conclusion.name, &conclusion.sentence));
    }
    let record = run_file::read(path).map_err(|e| unreadable(&e))?;
    let summary = summarise(&record);
    render(page("run", &summary.name, &summary.verdict.sentence))
}

/// The page of two sides held against each other.
///
/// # Errors
/// When one of them cannot be read, or they have nothing in common.
pub fn of_two(a: &Path, b: &Path) -> Answer<String> {
    let read = |path: &Path| {
        sides(path).map_err(|e| Wrong::new(StatusCode::UNPROCESSABLE_ENTITY, e.to_string(), ""))
    };
    let (before, after) = (read(a)?.0, read(b)?.0);
    let (shown_a, shown_b) = (a.display().to_string(), b.display().to_string());
    let comparisons = compare_cells((&shown_a, &before), (&shown_b, &after), &Asked::default());
    if comparisons.is_empty() {
        return Err(Wrong::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "there is nothing to compare: no cell is on both sides",
            "choose runs of the same load",
        ));
    }
    render(page("comparison", "comparison", &compare::markdown(&comparisons)))
}

fn page(kind: &'static str, title: &str, text: &str) -> Page {
    let head = html! { h1 { (title) } pre { (text) } };
    let bar = Some(html! { nav.console { a href="/" { "All runs" } } });
    Page {
        kind,
        title: title.to_owned(),
        head,
        sections: Vec::new(),
        charts: Vec::new(),
        document: serde_json::Value::Null,
        bar,
    }
}

fn render(page: Page) -> Answer<String> {
    page.render().map_err(|e| Wrong::machine(e.to_string()))
}

/// A report with its own policy as a header, too: a browser holds the page to both, and only a header can say who may
/// frame it.
pub fn served(page: String) -> Response {
    let policy = policy_of(&page).map(|own| format!("{own}; frame-ancestors 'none'"));
    let mut answer = ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], page).into_response();
    if let Some(policy) = policy.and_then(|policy| policy.parse().ok()) {
        answer.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    answer
}

/// What the frame of pages has written into the head. Texts of others stand behind it, and escaped.
fn policy_of(page: &str) -> Option<String> {
    let head = &page[..page.find("</head>")?];
    let from = head.find("http-equiv=\"Content-Security-Policy\"")?;
    let rest = &head[from..];
    let begin = rest.find("content=\"")? + "content=\"".len();
    let length = rest[begin..].find('"')?;
    Some(rest[begin..begin + length].replace("&#39;", "'"))
}

/// A sentence as a page, for who has followed a link.
pub fn sorry(wrong: &Wrong) -> Response {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head { meta charset="utf-8"; title { "plimsoll" } link rel="stylesheet" href="/style.css"; }
            body { main {
                h1 { (wrong.sentence) }
                @if !wrong.hint.is_empty() { p { (wrong.hint) } }
                p { a href="/" { "All runs" } }
            } }
        }
    };
    (wrong.status, axum::response::Html(page.into_string())).into_response()
}
