//! Routes of the server; other modules do the work.

use crate::annotations::{self, Annotations, Unwritten};
use crate::answer::{Answer, ApiError, aside};
use crate::app::App;
use crate::guard::guard;
use crate::index::{Entry, Listing, is_being_written, matches};
use crate::jobs::Job;
use crate::jobs::order::{Check, Order};
use crate::{login, pages};
use axum::body::{Body, Bytes};
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post, put};
use axum::{Json, Router, middleware};
use plimsoll_record::run_file::Tail;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::fs::File;
use std::io::Read;
use std::path::Path as FilePath;
use std::sync::{Arc, PoisonError};

type Shared = State<Arc<App>>;

pub fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/api/state", get(state))
        .route("/api/key", post(key))
        .route("/api/runs", get(runs))
        .route("/api/runs/{id}/annotations", put(annotate))
        .route("/runs/{id}", get(run))
        .route("/runs/{id}/file", get(file))
        .route("/compare", get(compare))
        .route("/api/check", post(check))
        .route("/api/start", post(start))
        .route("/api/live/{id}", get(live))
        .route("/api/agents", get(agents))
        .route("/api/jobs", get(jobs))
        .route("/api/jobs/{id}/{what}", post(steer))
        .route("/login", get(login::page).post(login::enter))
        .route("/style.css", get(style))
        .fallback(asset)
        .layer(middleware::from_fn_with_state(app.clone(), guard))
        .with_state(app)
}

/// Parses a body, which the guard has read within its limit.
fn body<T: DeserializeOwned>(bytes: &Bytes) -> Answer<T> {
    serde_json::from_slice(bytes).map_err(|e| ApiError::request(format!("invalid request body: {e}"), ""))
}

async fn state(State(app): Shared) -> Json<Value> {
    let folders: Vec<String> = app.config.folders.iter().map(|folder| folder.display().to_string()).collect();
    Json(json!({ "version": app.config.version, "folders": folders, "can_start": true,
        "has_agents": app.agents.has_server() }))
}

/// Confirms a session's key, which the guard has checked, so that a page can test it before storing it.
async fn key() -> StatusCode {
    StatusCode::NO_CONTENT
}

#[derive(Deserialize)]
struct Wanted {
    #[serde(default)]
    search: String,
    #[serde(default)]
    tag: String,
}

async fn runs(State(app): Shared, Query(wanted): Query<Wanted>) -> Answer<Json<Listing>> {
    let mut listing = app.index.list().await;
    let has_tag = |entry: &Entry| wanted.tag.is_empty() || entry.tags.contains(&wanted.tag);
    listing.entries.retain(|entry| has_tag(entry) && matches(entry, &wanted.search));
    Ok(Json(listing))
}

#[derive(Deserialize)]
struct NewAnnotations {
    tags: Vec<String>,
    note: String,
    /// `annotations_version` of the entry on which the change is based.
    version: String,
}

async fn annotate(State(app): Shared, Path(id): Path<String>, bytes: Bytes) -> Answer<Json<Entry>> {
    let NewAnnotations { tags, note, version } = body(&bytes)?;
    let new = annotations::checked(Annotations { tags, note }).map_err(|e| ApiError::request(e, ""))?;
    let path = app.path(&id).await?;
    let (lock, written) = (app.annotating.clone(), new.clone());
    let done = aside(move || {
        let _one = lock.lock().unwrap_or_else(PoisonError::into_inner);
        annotations::write(&path, &version, &written)
    });
    match done.await? {
        Ok(()) => {}
        Err(Unwritten::Failed(why)) => {
            return Err(ApiError::conflict(why, "move that file, or free disk space"));
        }
        Err(Unwritten::Changed(now)) => {
            let hint = "save again to replace it";
            let wrong = ApiError::conflict(
                format!("these annotations were changed meanwhile to {}", now.describe()),
                hint,
            );
            app.index.annotate(&id, now.clone());
            return Err(ApiError { version: Some(now.version()), ..wrong });
        }
    }
    app.index.annotate(&id, new);
    app.index.entry(&id).ok_or_else(|| ApiError::missing("the run no longer exists")).map(Json)
}

async fn run(State(app): Shared, Path(id): Path<String>) -> Response {
    let page = match app.path(&id).await {
        Ok(path) => {
            let (tool, read) = (app.config.tool.clone(), path.clone());
            app.pages.read(&[&path], move || pages::of_path(&tool, &read)).await
        }
        Err(wrong) => Err(wrong),
    };
    page.and_then(|page| page).map_or_else(|wrong| pages::sorry(&wrong), pages::served)
}

#[derive(Deserialize)]
struct Two {
    a: String,
    b: String,
}

async fn compare(State(app): Shared, two: Result<Query<Two>, QueryRejection>) -> Response {
    let Ok(Query(two)) = two else {
        return pages::sorry(&ApiError::request(
            "a comparison needs two runs",
            "select them in the list (`?a=ID&b=ID`)",
        ));
    };
    let page = match (app.path(&two.a).await, app.path(&two.b).await) {
        (Ok(a), Ok(b)) => {
            let (tool, read) = (app.config.tool.clone(), (a.clone(), b.clone()));
            app.pages.read(&[&a, &b], move || pages::of_two(&tool, &read.0, &read.1)).await
        }
        (Err(wrong), _) | (_, Err(wrong)) => Err(wrong),
    };
    page.and_then(|page| page).map_or_else(|wrong| pages::sorry(&wrong), pages::served)
}

/// Sends the run file unchanged.
async fn file(State(app): Shared, Path(id): Path<String>) -> Answer<Response> {
    /// Size of the parts that are read.
    const PART_BYTES: usize = 256 * 1024;
    let path = app.path(&id).await?;
    let (now_ns, opened) = ((app.config.tool.now_unix_ns)(), path.clone());
    let (length, file) = app.pages.read(&[&path], move || run_file(&opened, now_ns)).await??;
    let name: String = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let name: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || ".-_".contains(c) { c } else { '_' }).collect();
    let parts = futures_util::stream::try_unfold(file, |mut file| async move {
        let read = aside(move || {
            let mut part = vec![0; PART_BYTES];
            let n = file.read(&mut part)?;
            part.truncate(n);
            Ok::<_, std::io::Error>((part, file))
        });
        let (part, file) = read.await.map_err(|wrong| std::io::Error::other(wrong.sentence))??;
        Ok::<_, std::io::Error>((!part.is_empty()).then_some((part, file)))
    });
    let head = [
        (header::CONTENT_TYPE, "application/vnd.sqlite3".to_owned()),
        (header::CONTENT_LENGTH, length.to_string()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")),
    ];
    Ok((head, Body::from_stream(parts)).into_response())
}

/// Opens a run file and returns its size.
fn run_file(path: &FilePath, now_ns: u64) -> Answer<(u64, File)> {
    if path.is_dir() {
        return Err(ApiError::missing("an experiment is a directory, not a single file"));
    }
    if is_being_written(path, now_ns) {
        return Err(ApiError::conflict(
            "the run is in progress, so its file is incomplete",
            "wait for its end",
        ));
    }
    // Sends only run files, even if a name or a link leads elsewhere.
    Tail::open(path).map_err(|why| ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, why.to_string(), ""))?;
    let opened = File::open(path).and_then(|file| Ok((file.metadata()?.len(), file)));
    opened.map_err(|e| ApiError::missing(format!("cannot read the run file: {e}")))
}

async fn check(State(app): Shared, bytes: Bytes) -> Answer<Json<Value>> {
    let asked: Check = body(&bytes)?;
    app.jobs.check(asked).await.map(Json)
}

async fn start(State(app): Shared, bytes: Bytes) -> Answer<Json<Value>> {
    let order: Order = body(&bytes)?;
    let id = app.jobs.start(order).await?;
    Ok(Json(json!({ "job": id })))
}

async fn agents(State(app): Shared) -> Answer<Json<Value>> {
    app.agents.list().await.map(Json)
}

async fn jobs(State(app): Shared) -> Json<Value> {
    Json(json!({ "jobs": app.jobs.list() }))
}

async fn live(State(app): Shared, Path(id): Path<String>) -> Answer<Response> {
    crate::live::watch(app, id).await
}

#[derive(Deserialize)]
struct Note {
    text: String,
}

#[derive(Deserialize)]
struct Level {
    factor: f64,
}

async fn steer(
    State(app): Shared,
    Path((id, what)): Path<(String, String)>,
    bytes: Bytes,
) -> Answer<Json<Job>> {
    match what.as_str() {
        "stop" => app.jobs.stop(&id),
        "pause" => app.jobs.pause(&id, true),
        "resume" => app.jobs.pause(&id, false),
        "annotate" => app.jobs.annotate(&id, &body::<Note>(&bytes)?.text),
        "level" => app.jobs.level(&id, body::<Level>(&bytes)?.factor),
        _ => Err(ApiError::missing(format!("unknown action `{what}`"))),
    }
    .map(Json)
}

async fn style() -> Response {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], plimsoll_output::html::STYLE).into_response()
}

/// Sends a built-in file of the console's pages.
async fn asset(request: Request) -> Response {
    let path = request.uri().path().trim_start_matches('/');
    let path = if path.is_empty() { "index.html" } else { path };
    match plimsoll_ui::console_files().iter().find(|file| file.path == path) {
        Some(file) => ([(header::CONTENT_TYPE, file.mime)], file.bytes).into_response(),
        None => {
            (StatusCode::NOT_FOUND, ApiError::missing(format!("there is no page `/{path}`"))).into_response()
        }
    }
}
