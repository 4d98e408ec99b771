//! Samples of responses.

use super::exchange::{DECODED_BYTES_MAX, Flow};
use super::{Thread, scope};
use crate::http::{Failure, Request};
use crate::plan::{Http, Sampler};
use crate::sample::{DataType, Sample};
use crate::scope::Wish;
use plimsoll_plan::answer::Statuses;
use plimsoll_plan::head::Head;
use plimsoll_plan::program::{At, Reply};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::rc::Rc;

/// Entries of a cache whose manager does not say how many.
const ENTRIES_USUAL: usize = 5_000;

impl Thread {
    /// Returns the sample of a response.
    pub(super) fn sample(
        &mut self,
        of: &Sampler,
        http: &Http,
        flow: &mut Flow,
        reply: &Reply<'_>,
        at: At,
    ) -> Sample {
        let phases = reply.phases;
        let connect_ns = phases.connect_ns + phases.tls_ns;
        let elapsed_ms = (connect_ns + phases.service_ns()) / 1_000_000 + flow.challenged_ms;
        let head_bytes = reply.head.text().len() as u64;
        let mut sample = Sample {
            begin_ms: (at.unix_ns / 1_000_000).saturating_sub(elapsed_ms),
            elapsed_ms,
            latency_ms: (connect_ns + phases.first_byte_ns) / 1_000_000 + flow.challenged_ms,
            connect_ms: connect_ns / 1_000_000,
            code: code_text(reply.status),
            message: reason(reply.head),
            is_success: Statuses::usual(reply.status),
            bytes: head_bytes + reply.body_bytes,
            head_bytes,
            sent_bytes: flow.sent_bytes,
            ..Sample::of_request(&flow.label, &flow.request.url, &flow.request.method)
        };
        if self.plan.keeps_content && matches!(reply.status, 301..=303 | 307 | 308) {
            let location = reply.head.field("location");
            sample.redirect = location.map(|location| String::from_utf8_lossy(location).into_owned());
        }
        let is_read = of.reads_body || http.stores_md5 || self.plan.keeps_content;
        if is_read || self.plan.writes_results {
            sample.data_type = DataType::of_media(reply.head.field("content-type").unwrap_or_default());
        }
        if is_read || of.reads_head {
            sample.head = reply.head.text().to_vec();
        }
        if is_read {
            sample.body = match reply.head.field("content-encoding") {
                None => reply.body.to_vec(),
                Some(_) => match plimsoll_body::decoded(reply.head, reply.body, DECODED_BYTES_MAX) {
                    Ok(body) => body,
                    Err(why) => {
                        let failure = Failure::new("java.io.IOException", why);
                        (sample.code, sample.message) = failure.columns();
                        sample.is_success = false;
                        Vec::new()
                    }
                },
            };
        }
        if http.stores_md5 {
            sample.body = crate::function::digest("md5", &sample.body).unwrap_or_default().into_bytes();
        }
        if of.reads_request || self.plan.keeps_content {
            sample.request_head = std::mem::take(&mut flow.request_head);
            sample.request_body = flow.request.body.clone().unwrap_or_default();
        }
        sample
    }

    /// Remembers what a cache would know of a response.
    pub(super) fn store_cached(&mut self, of: &Sampler, request: &Request, reply: &Reply<'_>, at: At) {
        let Some(number) = of.cache.filter(|_| &*request.method == "GET") else { return };
        let plan = Rc::clone(&self.plan);
        let manager = &plan.cache_managers[number];
        let mut wish = Wish::default();
        let max = match manager.max_entries.integer(&mut scope!(self, at, &mut wish)) {
            0 => ENTRIES_USUAL,
            max => max.max(1) as usize,
        };
        let now_ms = (at.unix_ns / 1_000_000) as i64;
        let known = (reply.status, reply.head);
        let cache = &mut self.caches[number];
        cache.keep(&request.url, &request.headers, known, (manager.uses_expires, max), now_ms);
    }

    pub(super) fn store_cookies(&mut self, of: &Sampler, request: &Request, head: Head<'_>, at: At) {
        let Some(number) = of.cookies.filter(|number| !self.plan.cookie_managers[*number].ignores_cookies)
        else {
            return;
        };
        if head.field("set-cookie").is_none() {
            return;
        }
        if let Some(known) = self.worker.origin(&request.target) {
            self.jars[number].take(head, request.path().as_bytes(), at.unix_ns, &known.origin);
        }
    }
}

fn code_text(status: u16) -> Cow<'static, str> {
    match status {
        200 => Cow::Borrowed("200"),
        201 => Cow::Borrowed("201"),
        204 => Cow::Borrowed("204"),
        302 => Cow::Borrowed("302"),
        404 => Cow::Borrowed("404"),
        500 => Cow::Borrowed("500"),
        other => {
            let mut text = String::new();
            // Writing to a string cannot fail.
            let _ = write!(text, "{other}");
            Cow::Owned(text)
        }
    }
}

/// Returns the reason phrase of a status line.
fn reason(head: Head<'_>) -> Cow<'static, str> {
    if head.text().starts_with(b"HTTP/1.1 200 OK\r\n") {
        return Cow::Borrowed("OK");
    }
    let line = head.text().split(|byte| matches!(byte, b'\r' | b'\n')).next().unwrap_or_default();
    let phrase = line.splitn(3, |byte| *byte == b' ').nth(2).unwrap_or_default();
    match phrase {
        b"OK" => Cow::Borrowed("OK"),
        other => Cow::Owned(String::from_utf8_lossy(other).trim().to_owned()),
    }
}
