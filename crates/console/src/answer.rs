//! Errors of the server: a status, a sentence, and a fix.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;
use std::time::Duration;

/// Maximum wait for a file.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// An error, sent as `{"error":"sentence","help":"fix"}` with a status.
#[derive(Debug)]
pub struct ApiError {
    pub status: StatusCode,
    pub sentence: String,
    pub hint: String,
    /// Output of `plimsoll check`, if it found errors.
    pub diagnostics: Option<String>,
    /// Version of the current state, if the change was based on another.
    pub version: Option<String>,
}

pub type Answer<T> = Result<T, ApiError>;

impl ApiError {
    pub fn new(status: StatusCode, sentence: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { status, sentence: sentence.into(), hint: hint.into(), diagnostics: None, version: None }
    }

    /// Returns an error for an invalid request.
    pub fn request(sentence: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, sentence, hint)
    }

    /// Returns an error for something that does not exist.
    pub fn missing(sentence: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, sentence, "return to the list of runs at `/`")
    }

    /// Returns an error for a request that is not possible now.
    pub fn conflict(sentence: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, sentence, hint)
    }

    /// Returns an error of the system.
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

/// Runs work on the console's own files, or small work on others, on a thread where it blocks nothing else.
/// [`Readers`](crate::readers::Readers) read runs.
///
/// # Errors
/// Returns an error if the work panicked or takes too long; it then continues, but nothing waits for it.
pub async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Answer<T> {
    match tokio::time::timeout(PATIENCE, tokio::task::spawn_blocking(work)).await {
        Ok(done) => done.map_err(broken_off),
        Err(_) => Err(ApiError::new(
            StatusCode::SERVICE_UNAVAILABLE,
            format!("the disk did not respond within {} s", PATIENCE.as_secs()),
            "try again",
        )),
    }
}

/// Returns the error of work that panicked.
pub fn broken_off(error: impl std::fmt::Display) -> ApiError {
    ApiError::machine(format!("internal error: {error}"))
}
