//! Samples with several responses: redirects become sub-samples.

use super::exchange::Flow;
use crate::sample::Sample;
use std::rc::Rc;

impl Flow {
    /// Adds the response to a redirect.
    pub(super) fn add(&mut self, mut sample: Sample, is_listed: bool) {
        match &mut self.first {
            Some(first) => {
                sample.label = format!("{}-{}", self.label, self.redirects - 1).into();
                first.absorb(sample, is_listed);
            }
            None => {
                if is_listed {
                    let label = format!("{}-0", self.label).into();
                    sample.children.push(Sample { label, ..sample.clone() });
                }
                self.first = Some(Box::new(sample));
            }
        }
    }

    /// Returns the whole sample.
    pub(super) fn ended(self, last: Sample, is_listed: bool) -> Sample {
        let Some(first) = self.first else { return last };
        let mut first = *first;
        let mut last = last;
        let (code, message, is_success) = (last.code.clone(), last.message.clone(), last.is_success);
        let (url, method, data_type) = (Rc::clone(&last.url), Rc::clone(&last.method), last.data_type);
        let (head, body) = (last.head.clone(), last.body.clone());
        let (request_head, request_body) = (last.request_head.clone(), last.request_body.clone());
        let (bytes, head_bytes) = (last.bytes, last.head_bytes);
        last.label = format!("{}-{}", self.label, self.redirects).into();
        first.absorb(last, is_listed);
        if !is_listed {
            // HttpClient follows these itself, and reports the last response.
            (first.bytes, first.head_bytes) = (bytes, head_bytes);
        }
        first.label = self.label;
        (first.code, first.message, first.is_success) = (code, message, is_success);
        (first.url, first.method, first.data_type) = (url, method, data_type);
        (first.head, first.body) = (head, body);
        (first.request_head, first.request_body) = (request_head, request_body);
        first
    }
}

impl Sample {
    /// Adds a sub-sample: time until its end, and its bytes.
    pub(super) fn absorb(&mut self, sample: Sample, is_listed: bool) {
        let end_ms = sample.begin_ms + sample.elapsed_ms;
        self.elapsed_ms = self.elapsed_ms.max(end_ms.saturating_sub(self.begin_ms));
        self.bytes += sample.bytes;
        self.head_bytes += sample.head_bytes;
        self.sent_bytes += sample.sent_bytes;
        if is_listed {
            self.children.push(sample);
        }
    }
}
