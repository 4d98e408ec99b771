//! Live views of runs: one reader per run, however many viewers it has.

mod by_agents;
mod follow;

use crate::answer::Answer;
use crate::app::App;
use crate::hub::{Frame, Target};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use follow::follow;
use futures_util::stream::unfold;
use serde_json::json;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

/// Maximum silence on a connection, so that both sides notice when the other is gone.
const SILENCE_MAX: Duration = Duration::from_secs(15);

/// Returns the events of a run as `text/event-stream`.
pub async fn watch(app: Arc<App>, id: String) -> Answer<Response> {
    let target = match app.jobs.out(&id) {
        Some(out) => Target { out, job: Some(id) },
        None => {
            let out = app.path(&id).await?;
            let job = app.jobs.of_out(&out);
            Target { out, job }
        }
    };
    let (first, receive) = app.hubs.enter(&target, |hub| {
        tokio::spawn(follow(app.clone(), target.clone(), hub));
    });
    let stream = unfold((first, receive, false), |(mut first, mut receive, has_ended)| async move {
        if has_ended {
            return None;
        }
        let frame = match first.pop_front() {
            Some(frame) => frame,
            // The viewer is too slow, or the run is over; the browser reconnects.
            None => receive.recv().await.ok()?,
        };
        let has_ended = frame.event == "ended";
        let event = Event::default().event(frame.event).data(&*frame.data);
        Some((Ok::<_, Infallible>(event), (first, receive, has_ended)))
    });
    Ok(Sse::new(stream).keep_alive(KeepAlive::new().interval(SILENCE_MAX)).into_response())
}

/// Returns the last event: the report is available now.
fn ended(run: Option<String>) -> Frame {
    Frame::new("ended", &json!({ "run": run }))
}
