//! What the server says when it cannot do what it was asked: a status, a sentence, a mend.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;
use std::time::Duration;

/// Whoever asks waits no longer for a file.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// `{"error":"sentence","help":"mend"}` with a status.
#[derive(Debug)]
pub struct ApiError {
    pub status: StatusCode,
    pub sentence: String,
    pub hint: String,
    /// What `plimsoll check` printed, where that is what is wrong.
    pub diagnostics: Option<String>,
    /// Of what is there instead of what was to be changed.
    pub version: Option<String>,
}

pub type Answer<T> = Result<T, ApiError>;

impl ApiError {
    pub fn new(status: StatusCode, sentence: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { status, sentence: sentence.into(), hint: hint.into(), diagnostics: None, version: None }
    }

    /// The request makes no sense.
    pub fn request(sentence: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, sentence, hint)
    }

    /// There is no such thing.
    pub fn missing(sentence: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, sentence, "go back to the list of runs: `/`")
    }

    /// Not now.
    pub fn conflict(sentence: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, sentence, hint)
    }

    /// The machine failed.
    pub fn machine(sentence: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, sentence, "")
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut body = json!({ "error": self.sentence, "help": self.hint });
        if let Some(diagnostics) = self.diagnostics {
            body["diagnostics"] = diagnostics.into();
        }
        if let Some(version) = self.version {
            body["version"] = version.into();
        }
        (self.status, Json(body)).into_response()
    }
}

/// Work on files of our own, and small work on others, on a thread where it holds up nobody. Runs are read by
/// [`Readers`](crate::readers::Readers).
///
/// # Errors
/// When the work itself broke off, or takes too long: nothing can end it, but nobody waits for it.
pub async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Answer<T> {
    match tokio::time::timeout(PATIENCE, tokio::task::spawn_blocking(work)).await {
        Ok(done) => done.map_err(broken_off),
        Err(_) => Err(ApiError::new(
            StatusCode::SERVICE_UNAVAILABLE,
            format!("the disk does not answer within {} s", PATIENCE.as_secs()),
            "try again",
        )),
    }
}

/// The work has panicked.
pub fn broken_off(error: impl std::fmt::Display) -> ApiError {
    ApiError::machine(format!("the work was broken off: {error}"))
}
