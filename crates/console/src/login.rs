//! Login with a password: its page, and its responses.

use crate::answer::ApiError;
use crate::app::App;
use crate::connection_limiter::Place;
use crate::guard::enter as let_in;
use crate::login_throttle::LoginVerdict;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::{Extension, Form};
use maud::{DOCTYPE, html};
use serde::Deserialize;
use std::sync::Arc;

#[derive(Deserialize)]
pub struct PasswordForm {
    password: String,
}

pub async fn page(State(app): State<Arc<App>>) -> Response {
    if !app.auth.has_password() {
        return ApiError::missing("this console has no password").into_response();
    }
    form(StatusCode::OK, "")
}

pub async fn enter(
    State(app): State<Arc<App>>,
    Extension(place): Extension<Arc<Place>>,
    Form(given): Form<PasswordForm>,
) -> Response {
    let now_ns = (app.config.tool.now_unix_ns)();
    match app.throttle.judge(place.peer(), now_ns, || app.auth.is_password(&given.password)) {
        LoginVerdict::Right => let_in(&app),
        LoginVerdict::Wrong => form(StatusCode::UNAUTHORIZED, "Wrong password."),
        LoginVerdict::TooSoon(wait_ns) => {
            let wait_s = wait_ns.div_ceil(1_000_000_000);
            let said = format!(
                "Too many wrong passwords from this address, so this one was not checked. Try again in {wait_s} s, or \
                 open the address that `plimsoll serve` printed."
            );
            let mut answer = form(StatusCode::TOO_MANY_REQUESTS, &said);
            answer.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(wait_s));
            answer
        }
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
                    " " button type="submit" { "Sign in" }
                }
            } }
        }
    };
    // With `no-referrer`, as everywhere else, the browser would send the form with `Origin: null` (Fetch, 3.2
    // `Origin` header), and the guard would reject it.
    let policy = [(header::REFERRER_POLICY, "same-origin")];
    (status, policy, Html(page.into_string())).into_response()
}
