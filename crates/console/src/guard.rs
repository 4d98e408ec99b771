//! Checks of every request: the server's name, a session, and, for changes, the console's own origin. Also sets the
//! headers of every response.

use crate::answer::ApiError;
use crate::app::App;
use crate::auth::Opened;
use crate::connection_limiter::Place;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Response};
use std::sync::Arc;
use std::time::Duration;

/// Maximum size of a body; a long experiment file has tens of kilobytes.
const BODY_BYTES_MAX: usize = 1 << 20;
/// Maximum duration of receiving a body.
const BODY_PATIENCE: Duration = Duration::from_secs(10);

/// For all pages but reports, which have their own policy.
const POLICY: &str = "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; \
                      form-action 'self'; frame-ancestors 'none'";

/// Paths that need no session: the login page and its stylesheet.
const OPEN: [&str; 2] = ["/login", "/style.css"];

pub async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let mut answer = match pass(&app, request).await {
        Ok(request) => next.run(request).await,
        Err(refused) => *refused,
    };
    let headers = answer.headers_mut();
    let mut put = |name: HeaderName, value: &'static str| {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    };
    put(header::CONTENT_SECURITY_POLICY, POLICY);
    put(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    put(header::X_FRAME_OPTIONS, "DENY");
    put(header::REFERRER_POLICY, "no-referrer");
    put(header::CACHE_CONTROL, "no-store");
    put(HeaderName::from_static("cross-origin-resource-policy"), "same-origin");
    put(HeaderName::from_static("cross-origin-opener-policy"), "same-origin");
    answer
}

async fn pass(app: &App, request: Request) -> Result<Request, Box<Response>> {
    let host = host_of(&request);
    if !host.as_deref().is_some_and(|host| app.names.fits(host)) {
        return Err(refused(
            StatusCode::MISDIRECTED_REQUEST,
            "this address does not belong to the console",
            USE_PRINTED,
        ));
    }
    let host = host.unwrap_or_default();
    let path = request.uri().path();
    // A different port is the same site, so pages of other servers on this machine send the console's cookie along.
    // Browsers indicate that.
    let site = text(request.headers(), HeaderName::from_static("sec-fetch-site"));
    let is_own = matches!(site.as_deref(), None | Some("same-origin" | "none"));
    if !is_own && (path.starts_with("/api/") || path.ends_with("/file")) {
        return Err(refused(StatusCode::FORBIDDEN, "the request comes from another page", USE_PRINTED));
    }
    let mut cookies = request.headers().get_all(header::COOKIE).iter();
    let session = cookies.find_map(|cookies| app.auth.session(cookies.to_str().ok()?));
    if let (Some(session), Some(place)) = (&session, request.extensions().get::<Arc<Place>>()) {
        place.know(session.number);
    }
    let changes = !matches!(*request.method(), Method::GET | Method::HEAD);
    let token = token_of(request.uri()).filter(|_| path == "/" && !changes);
    // Also for signed-in browsers: one that has lost its key gets a new one.
    if token.as_deref().is_some_and(|token| app.auth.is_token(token)) {
        return Err(Box::new(enter(app)));
    }
    if session.is_none() && !OPEN.contains(&path) {
        return Err(Box::new(outside(app, path, changes)));
    }
    if !changes {
        // Removes even a wrong token from the address.
        if token.is_some() {
            return Err(Box::new((StatusCode::SEE_OTHER, [(header::LOCATION, "/")]).into_response()));
        }
        return Ok(request);
    }
    let headers = request.headers();
    // Browsers name the origin of a request; a request without one is not from the console's pages.
    if text(headers, header::ORIGIN).as_deref() != Some(app.names.origin(&host).as_str()) {
        return Err(refused(StatusCode::FORBIDDEN, "the request comes from another page", USE_PRINTED));
    }
    let kind = text(headers, header::CONTENT_TYPE).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    let expected = if path == "/login" { "application/x-www-form-urlencoded" } else { "application/json" };
    if kind != expected {
        let sentence = format!("unsupported content type `{kind}`");
        return Err(refused(StatusCode::FORBIDDEN, &sentence, &format!("send `{expected}`")));
    }
    // Another program on this host may have obtained the cookie, which browsers also send to its port.
    let key = text(headers, HeaderName::from_static(KEY)).unwrap_or_default();
    if path != "/login" && !session.is_some_and(|session| session.is(&key)) {
        return Err(refused(StatusCode::FORBIDDEN, "the session key is missing or wrong", USE_PRINTED));
    }
    whole(request).await
}

/// Header with the half of a session that is not in a cookie.
const KEY: &str = "x-plimsoll-key";
const USE_PRINTED: &str = "open the address that `plimsoll serve` printed";

/// Reads the body; rejects one that is too slow or too large.
async fn whole(request: Request) -> Result<Request, Box<Response>> {
    let (head, body) = request.into_parts();
    match tokio::time::timeout(BODY_PATIENCE, to_bytes(body, BODY_BYTES_MAX)).await {
        Ok(Ok(bytes)) => Ok(Request::from_parts(head, Body::from(bytes))),
        Ok(Err(_)) => {
            let sentence = format!("the request body is unreadable or larger than {BODY_BYTES_MAX} bytes");
            Err(refused(StatusCode::PAYLOAD_TOO_LARGE, &sentence, "send a smaller body"))
        }
        Err(_) => Err(refused(
            StatusCode::REQUEST_TIMEOUT,
            "the request body did not arrive in time",
            "send it again",
        )),
    }
}

fn refused(status: StatusCode, sentence: &str, hint: &str) -> Box<Response> {
    Box::new(ApiError::new(status, sentence, hint).into_response())
}

/// Opens a session after the right token or password. The redirect removes the token from the address.
pub fn enter(app: &App) -> Response {
    match app.auth.open() {
        Ok(Opened { cookie, location }) => {
            (StatusCode::SEE_OTHER, [(header::SET_COOKIE, cookie), (header::LOCATION, location)])
                .into_response()
        }
        Err(sentence) => ApiError::machine(sentence).into_response(),
    }
}

fn outside(app: &App, path: &str, changes: bool) -> Response {
    let is_page = !changes && !path.starts_with("/api/");
    if !is_page {
        return ApiError::new(StatusCode::UNAUTHORIZED, "this browser is not signed in", USE_PRINTED)
            .into_response();
    }
    if app.auth.has_password() {
        return (StatusCode::SEE_OTHER, [(header::LOCATION, "/login")]).into_response();
    }
    let page = "<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\"><title>plimsoll</title>\
                <link rel=\"stylesheet\" href=\"/style.css\"><main><h1>Open the printed address</h1>\
                <p>Open the address that <code>plimsoll serve</code> printed, including its token.</p></main></html>";
    (StatusCode::UNAUTHORIZED, Html(page)).into_response()
}

fn token_of(uri: &Uri) -> Option<String> {
    let pairs = uri.query()?.split('&').filter_map(|pair| pair.split_once('='));
    pairs.into_iter().find(|(name, _)| *name == "token").map(|(_, value)| value.to_owned())
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<String> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
}

/// Returns the `Host` header; two of them count as none.
fn host_of(request: &Request) -> Option<String> {
    let mut all = request.headers().get_all(header::HOST).iter();
    match (all.next(), all.next()) {
        (Some(one), None) => one.to_str().ok().map(str::to_ascii_lowercase),
        _ => None,
    }
}
