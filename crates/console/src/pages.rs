//! Results as pages: those of the report, with a navigation bar to the list.

use crate::Tool;
use crate::answer::{Answer, ApiError};
use crate::index::id_of;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use maud::{DOCTYPE, Markup, html};
use plimsoll_output::html::Page;
use std::path::Path;

/// Returns the page of a run or a folder of runs.
///
/// # Errors
/// Returns an error if it no longer exists or cannot be read.
pub fn of_path(tool: &Tool, path: &Path) -> Answer<String> {
    is_there(path)?;
    let id = id_of(path);
    let is_file = path.is_file();
    // A run of an experiment is not in the list, where the other run is selected.
    let is_listed =
        !path.parent().is_some_and(|folder| folder.join(plimsoll_experiment::folder::INDEX).exists());
    let links = html! {
        @if is_listed { a href={ "/#/compare/" (id) } { "Compare with …" } }
        @if is_file { " " a href={ "/runs/" (id) "/file" } download { "Run file" } }
    };
    render((tool.page_of)(path), &links)
}

/// Returns the page that compares two runs.
///
/// # Errors
/// Returns an error under the conditions of [`of_path`], or if they have nothing in common.
pub fn of_two(tool: &Tool, a: &Path, b: &Path) -> Answer<String> {
    is_there(a)?;
    is_there(b)?;
    let (id_a, id_b) = (id_of(a), id_of(b));
    let links = html! {
        a href={ "/runs/" (id_a) } { "A" } " " a href={ "/runs/" (id_b) } { "B" } " "
        a href={ "/compare?a=" (id_b) "&b=" (id_a) } { "Swap sides" }
    };
    render((tool.page_of_two)(a, b), &links)
}

fn is_there(path: &Path) -> Answer<()> {
    match path.exists() {
        true => Ok(()),
        false => Err(ApiError::missing(format!("`{}` no longer exists", path.display()))),
    }
}

fn render(page: Result<Page, String>, links: &Markup) -> Answer<String> {
    let unreadable = |sentence| ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, sentence, "");
    let mut page = page.map_err(unreadable)?;
    page.bar = Some(html! { nav.console aria-label="Console" { a href="/" { "All runs" } " " (links) } });
    page.render().map_err(|e| ApiError::machine(e.to_string()))
}

/// Sends a report with its own policy as a header, too: a browser enforces both, and only a header can control
/// framing.
pub fn served(page: String) -> Response {
    let policy = policy_of(&page).map(|own| format!("{own}; frame-ancestors 'none'"));
    let mut answer = ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], page).into_response();
    if let Some(policy) = policy.and_then(|policy| policy.parse().ok()) {
        answer.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    answer
}

/// Returns the policy from the page's head, which precedes all foreign text.
fn policy_of(page: &str) -> Option<String> {
    let head = &page[..page.find("</head>")?];
    let from = head.find("http-equiv=\"Content-Security-Policy\"")?;
    let rest = &head[from..];
    let begin = rest.find("content=\"")? + "content=\"".len();
    let length = rest[begin..].find('"')?;
    Some(rest[begin..begin + length].replace("&#39;", "'"))
}

/// Returns an error as a page, for someone who has followed a link.
pub fn sorry(wrong: &ApiError) -> Response {
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
