//! Pages with what they embed: images, scripts, style sheets, and frames, each as a sub-sample.

use super::exchange::Flow;
use super::finish::Judged;
use super::react::{Ended, Reaction};
use super::{After, Stage, Thread, scope};
use crate::http::{Failure, Request, embedded};
use crate::plan::{Resources, Sampler, SamplerId};
use crate::sample::{DataType, Sample};
use crate::scope::Wish;
use plimsoll_plan::Fault;
use plimsoll_plan::head::Head;
use plimsoll_plan::program::{At, Outbox, Reply, RequestId, StepId};
use regex::Regex;
use std::rc::Rc;

/// Levels of frames and style sheets below a page (`httpsampler.max_frame_depth`).
const DEPTH_MAX: u32 = 5;
/// Downloads at the same time if the number is invalid.
const CONCURRENT: usize = 6;

/// What a cache adds to a request.
const CONDITIONS: [&str; 2] = ["If-Modified-Since", "If-None-Match"];

/// A sample of a page, with its downloads in progress.
pub(super) struct Page {
    sampler: SamplerId,
    /// The series of the page itself.
    series: RequestId,
    /// The request of the page, which the others resemble.
    request: Rc<Request>,
    label: Rc<str>,
    filter: Filter,
    /// Most downloads of a document at the same time.
    limit: usize,
    /// Whether samples keep their responses.
    keeps_content: bool,
    flows: Vec<Flow>,
    /// The page, and the frames and style sheets that embed something as well.
    documents: Vec<Document>,
}

/// The document that embeds a file, and the number of the file in it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    document: usize,
    number: usize,
}

struct Document {
    /// What waits for it.
    parent: Option<Place>,
    depth: u32,
    sample: Sample,
    /// URLs that are not requested yet.
    urls: std::vec::IntoIter<String>,
    /// In the order of the URLs.
    files: Vec<Option<Sample>>,
    active: usize,
}

/// Which URLs are downloaded.
struct Filter {
    must_match: Option<Regex>,
    must_not_match: Option<Regex>,
}

impl Filter {
    fn takes(&self, url: &str) -> bool {
        self.must_match.as_ref().is_none_or(|pattern| pattern.is_match(url))
            && !self.must_not_match.as_ref().is_some_and(|pattern| pattern.is_match(url))
    }
}

impl Page {
    pub(super) fn has_sent(&self, id: StepId) -> bool {
        self.flows.iter().any(|flow| flow.id == id)
    }

    pub(super) fn flow(&self, id: StepId) -> Option<&Flow> {
        self.flows.iter().find(|flow| flow.id == id)
    }

    fn take_flow(&mut self, id: StepId) -> Option<Flow> {
        let at = self.flows.iter().position(|flow| flow.id == id)?;
        Some(self.flows.swap_remove(at))
    }

    /// Adds a document, or returns the sample back if it embeds nothing.
    fn add(&mut self, mut sample: Sample, parent: Option<Place>, depth: u32) -> Option<Sample> {
        let is_text = sample.is_success && sample.data_type == DataType::Text;
        if is_text && depth > DEPTH_MAX {
            let too_deep = too_deep(&sample);
            sample.absorb(too_deep, true);
        }
        if !is_text || sample.body.is_empty() || depth > DEPTH_MAX {
            return Some(sample);
        }
        let media =
            String::from_utf8_lossy(Head::new(&sample.head).field("content-type").unwrap_or_default());
        let media = media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let mut urls = embedded::urls(&media, &sample.text(), &sample.url);
        if urls.is_empty() {
            return Some(sample);
        }
        urls.retain(|url| self.filter.takes(url));
        let document =
            Document { parent, depth, sample, urls: urls.into_iter(), files: Vec::new(), active: 0 };
        self.documents.push(document);
        None
    }

    /// Returns the next URL to download. Those of an inner document come first.
    fn next(&mut self) -> Option<(String, Place)> {
        let limit = self.limit;
        let mut all = self.documents.iter_mut().enumerate().rev();
        all.find_map(|(document, one)| {
            let url = if one.active < limit { one.urls.next()? } else { return None };
            one.active += 1;
            one.files.push(None);
            Some((url, Place { document, number: one.files.len() - 1 }))
        })
    }

    /// Takes the sample of a file. A frame or a style sheet may embed something as well.
    fn take(&mut self, place: Place, sample: Sample) {
        let depth = self.documents[place.document].depth + 1;
        if let Some(mut sample) = self.add(sample, Some(place), depth) {
            if !self.keeps_content {
                sample = sample.without_content();
            }
            self.settle(place, Some(sample));
        }
        // A document whose URLs are all filtered out waits for nothing.
        self.settle_last();
    }

    fn settle_last(&mut self) {
        let last = self.documents.len() - 1;
        if self.documents[last].is_complete()
            && let Some(parent) = self.documents[last].parent
        {
            let sample = self.whole(last);
            self.settle(parent, Some(sample));
        }
    }

    /// Ends a download, and the documents that waited for it.
    fn settle(&mut self, place: Place, sample: Option<Sample>) {
        let document = &mut self.documents[place.document];
        document.files[place.number] = sample;
        document.active -= 1;
        if document.is_complete()
            && let Some(parent) = document.parent
        {
            let sample = self.whole(place.document);
            self.settle(parent, Some(sample));
        }
    }

    /// Returns the sample of a document with its files.
    fn whole(&mut self, document: usize) -> Sample {
        let document = &mut self.documents[document];
        // Settled once.
        document.parent = None;
        let mut whole = std::mem::take(&mut document.sample);
        if whole.children.is_empty() {
            let mut own = if self.keeps_content { whole.clone() } else { whole.without_content() };
            own.label = format!("{}-0", self.label).into();
            whole.children.push(own);
        }
        for mut file in std::mem::take(&mut document.files).into_iter().flatten() {
            file.label = format!("{}-{}", self.label, whole.children.len()).into();
            let is_success = file.is_success;
            whole.absorb(file, true);
            if !is_success || !whole.is_success {
                whole.is_success = false;
                whole.message = failed_parts(&whole).into();
            }
        }
        whole
    }
}

/// Returns the sub-sample of JMeter's error for a frame that is too deep. It repeats the frame.
fn too_deep(frame: &Sample) -> Sample {
    let failure =
        Failure::new("java.lang.Exception", "Maximum frame/iframe nesting depth exceeded.".to_owned());
    let mut sample = frame.without_content();
    (sample.code, sample.message) = failure.columns();
    sample.label = format!("{}-{}", frame.label, frame.children.len()).into();
    sample.is_success = false;
    sample.children.clear();
    sample
}

/// Returns JMeter's message about parts that failed.
fn failed_parts(whole: &Sample) -> String {
    let failed = whole.children.iter().filter(|child| !child.is_success);
    let texts = failed.map(|one| format!("{} code:{} message:{}, ", one.url, one.code, one.message));
    format!("Embedded resource download error:{}", texts.collect::<String>())
}

impl Document {
    fn is_complete(&self) -> bool {
        self.active == 0 && self.urls.len() == 0
    }
}

impl Thread {
    /// Begins the download of what a page embeds. Returns its sample back if that is nothing.
    pub(super) fn open_page(
        &mut self,
        resources: &Resources,
        ended: Box<Ended>,
        at: At,
    ) -> Result<Box<Page>, Box<Ended>> {
        let Some(series) = ended.series else { return Err(ended) };
        let mut wish = Wish::default();
        let mut scope = scope!(self, at, &mut wish);
        let mut pattern = |text: &crate::template::Template| {
            let text = text.value(&mut scope);
            // JMeter ignores a pattern that it cannot read; the check reports those that are known before the load.
            if text.is_empty() { None } else { crate::pattern::compile_whole(&text).ok() }
        };
        let filter = Filter {
            must_match: pattern(&resources.must_match),
            must_not_match: pattern(&resources.must_not_match),
        };
        let limit = resources.concurrent.as_ref().map_or(1, |number| {
            number.value(&mut scope).trim().parse().ok().filter(|limit| *limit > 0).unwrap_or(CONCURRENT)
        });
        let mut page = Page {
            sampler: ended.sampler,
            series,
            request: Rc::clone(&ended.request),
            label: Rc::clone(&self.label),
            filter,
            limit,
            keeps_content: self.plan.keeps_content,
            flows: Vec::new(),
            documents: Vec::new(),
        };
        let ended = *ended;
        match page.add(ended.sample, None, 0) {
            None => Ok(Box::new(page)),
            Some(sample) => Err(Box::new(Ended { sample, ..ended })),
        }
    }

    /// Requests what can be requested now; without downloads, the sample ends.
    pub(super) fn load(&mut self, mut page: Box<Page>, at: At, out: &mut Outbox) -> After {
        let plan = Rc::clone(&self.plan);
        let Some((of, _)) = self.http_of(&plan, page.sampler) else { return After::Continues };
        while let Some((url, place)) = page.next() {
            match page.request.embedded(&url) {
                Ok(request) => self.download(&mut page, of, request, place, at, out),
                Err(failure) => {
                    let mut sample = Sample::local(&page.label, at.unix_ns / 1_000_000);
                    (sample.code, sample.message) = failure.columns();
                    sample.url = url.as_str().into();
                    sample.is_success = false;
                    page.take(place, sample);
                }
            }
        }
        if !page.flows.is_empty() {
            self.stage = Stage::Loading(page);
            return After::Waits;
        }
        let sample = page.whole(0);
        let label = Rc::clone(&sample.label);
        self.count_group(&label, sample.elapsed_ms * 1_000_000, out);
        self.finish_sampler(page.sampler, Some(sample), Judged::Earlier(page.series), at, out)
    }

    fn download(
        &mut self,
        page: &mut Page,
        of: &Sampler,
        request: Request,
        place: Place,
        at: At,
        out: &mut Outbox,
    ) {
        let mut request = Rc::new(request);
        if of.cache.is_some() {
            // The conditions of the page are not those of its files.
            let headers = Rc::make_mut(&mut Rc::make_mut(&mut request).headers);
            headers.retain(|(name, _)| !CONDITIONS.iter().any(|known| name.eq_ignore_ascii_case(known)));
        }
        if self.is_cached(of, &mut request, at).is_some_and(|is_fresh| is_fresh) {
            return page.settle(place, None);
        }
        let flow = Flow { place: Some(place), ..Flow::new(page.sampler, request, &page.label) };
        self.dispatch_part(page, flow, place, at, out);
    }

    fn dispatch_part(&mut self, page: &mut Page, mut flow: Flow, place: Place, at: At, out: &mut Outbox) {
        match self.dispatch(&mut flow, at, out) {
            Ok(()) => page.flows.push(flow),
            Err(failure) => page.take(place, self.failed(flow, &failure, None, at).sample),
        }
    }

    /// Takes the response to a download.
    pub(super) fn part_replied(
        &mut self,
        mut page: Box<Page>,
        reply: &Reply<'_>,
        at: At,
        out: &mut Outbox,
    ) -> After {
        let Some(flow) = page.take_flow(reply.id) else {
            self.stage = Stage::Loading(page);
            return After::Waits;
        };
        let Some(place) = flow.place else { return After::Continues };
        match self.react(Box::new(flow), reply, at) {
            Reaction::Again(flow) => self.dispatch_part(&mut page, *flow, place, at, out),
            Reaction::Ended(ended) => {
                if ended.series.is_some() && !ended.sample.is_success {
                    out.fail(Fault::Status);
                }
                page.take(place, ended.sample);
            }
        }
        self.load(page, at, out)
    }

    /// Continues a download whose origin is known now, or cannot be reached.
    pub(super) fn part_reached(
        &mut self,
        mut page: Box<Page>,
        id: StepId,
        result: Result<(), crate::http::Failure>,
        at: At,
        out: &mut Outbox,
    ) -> After {
        let Some((flow, place)) = page.take_flow(id).and_then(|flow| flow.place.map(|place| (flow, place)))
        else {
            self.stage = Stage::Loading(page);
            return After::Waits;
        };
        match result {
            Ok(()) => self.dispatch_part(&mut page, flow, place, at, out),
            Err(failure) => page.take(place, self.failed(flow, &failure, None, at).sample),
        }
        self.load(page, at, out)
    }
}
