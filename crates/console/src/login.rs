//! The way in with a password. Each wrong one makes the next answer come later, for everybody: guessing in parallel
//! does not help.

use crate::answer::Wrong;
use crate::api::App;
use axum::Form;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use maud::{DOCTYPE, html};
use serde::Deserialize;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, Semaphore};

/// After the first wrong password; doubled by each further one.
const FIRST_DELAY: Duration = Duration::from_millis(250);
const DOUBLED_AT_MOST: u32 = 5;
/// More than so many who wait are sent away.
const WAITING_MAX: usize = 8;

/// How often in a row the password was wrong.
pub struct Doorman {
    failures: Mutex<u32>,
    waiting: Semaphore,
}

impl Default for Doorman {
    fn default() -> Self {
        Self { failures: Mutex::default(), waiting: Semaphore::new(WAITING_MAX) }
    }
}

#[derive(Deserialize)]
pub struct Given {
    password: String,
}

pub async fn page(State(app): State<Arc<App>>) -> Response {
    if !app.auth.has_password() {
        return Wrong::missing("this console asks for no password").into_response();
    }
    form(StatusCode::OK, "")
}

pub async fn enter(State(app): State<Arc<App>>, Form(given): Form<Given>) -> Response {
    let Ok(_place) = app.doorman.waiting.try_acquire() else {
        return form(StatusCode::TOO_MANY_REQUESTS, "Too many try at once.");
    };
    // One after the other: held while it waits.
    let mut failures = app.doorman.failures.lock().await;
    if *failures > 0 {
        tokio::time::sleep(FIRST_DELAY * 2u32.pow((*failures - 1).min(DOUBLED_AT_MOST))).await;
    }
    if !app.auth.is_password(&given.password) {
        *failures = failures.saturating_add(1);
        return form(StatusCode::UNAUTHORIZED, "This is not the password.");
    }
    *failures = 0;
    match app.auth.open(app.names.is_secure) {
        Ok(cookie) => (StatusCode::SEE_OTHER, [(header::SET_COOKIE, cookie), (header::LOCATION, "/".into())])
            .into_response(),
        Err(sentence) => Wrong::machine(sentence).into_response(),
    }
}

fn form(status: StatusCode, said: &str) -> Response {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "plimsoll" }
                link rel="stylesheet" href="/style.css";
            }
            body { main {
                h1 { "plimsoll" }
                @if !said.is_empty() { p role="alert" { (said) } }
                form method="post" action="/login" {
                    label for="password" { "Password" } " "
                    input id="password" name="password" type="password" required autofocus
                        autocomplete="current-password";
                    " " button type="submit" { "Come in" }
                }
            } }
        }
    };
    (status, Html(page.into_string())).into_response()
}
