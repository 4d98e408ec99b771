//! Samples with several responses: redirects become sub-samples.

use super::exchange::Flow;
use crate::sample::Sample;
use std::rc::Rc;

impl Flow {
    /// Adds the response to a redirect.
    pub(super) fn add(&mut self, mut sample: Sample, is_listed: bool) {
        let Some(first) = &mut self.first else {
            self.first = Some(Box::new(sample));
            return;
        };
        let number = self.redirects - 1;
        sample.label = format!("{}-{number}", self.label).into();
        first.absorb(sample, is_listed);
    }

    /// Returns the whole sample.
    pub(super) fn ended(self, last: Sample, is_listed: bool) -> Sample {
        let Some(first) = self.first else { return last };
        let mut first = *first;
        if is_listed && first.children.is_empty() {
            let mut copy = first.clone();
            copy.label = format!("{}-0", self.label).into();
            first.children.insert(0, copy);
        } else if is_listed {
            let mut copy = first.clone();
            copy.children.clear();
            copy.label = format!("{}-0", self.label).into();
            first.children.insert(0, copy);
        }
        let mut last = last;
        let number = self.redirects;
        let (code, message, is_success) = (last.code.clone(), last.message.clone(), last.is_success);
        let (url, method, data_type) = (last.url.clone(), Rc::clone(&last.method), last.data_type);
        let (head, body) = (last.head.clone(), last.body.clone());
        let (request_head, request_body) = (last.request_head.clone(), last.request_body.clone());
        last.label = format!("{}-{number}", self.label).into();
        first.absorb(last, is_listed);
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
    fn absorb(&mut self, sample: Sample, is_listed: bool) {
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
