//! The result of a sampler.

use plimsoll_plan::head::Head;
use std::borrow::Cow;
use std::rc::Rc;

/// A sample.
#[derive(Debug, Clone, Default)]
pub struct Sample {
    pub label: Rc<str>,
    /// Its start, ms since 1970.
    pub begin_ms: u64,
    pub elapsed_ms: u64,
    /// Until the first byte of the response.
    pub latency_ms: u64,
    pub connect_ms: u64,
    pub idle_ms: u64,
    pub code: Cow<'static, str>,
    pub message: Cow<'static, str>,
    pub is_success: bool,
    pub data_type: DataType,
    pub failure: Option<String>,
    /// Of the response, as received: head and body.
    pub bytes: u64,
    pub head_bytes: u64,
    pub sent_bytes: u64,
    pub url: Rc<str>,
    /// The head of the response, from the status line; empty without a response.
    pub head: Vec<u8>,
    /// Decoded.
    pub body: Vec<u8>,
    /// The head of the request as sent.
    pub request_head: String,
    pub request_body: Vec<u8>,
    pub method: Rc<str>,
    pub children: Vec<Sample>,
    /// Where the response redirects to, if a file of results has contents.
    pub redirect: Option<String>,
    /// Results of assertions, if a file of results has them.
    pub checks: Option<Vec<CheckResult>>,
    /// What a script asks for after this sample.
    pub stops_thread: bool,
    pub stops_test: bool,
    pub stops_now: bool,
    /// Whether it is not reported.
    pub is_ignored: bool,
}

/// The result of an assertion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckResult {
    pub name: String,
    pub is_failure: bool,
    /// The assertion could not be tried.
    pub is_error: bool,
    pub message: Option<String>,
}

/// The column `dataType`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DataType {
    #[default]
    None,
    Text,
    Binary,
}

impl DataType {
    pub const fn name(self) -> &'static str {
        match self {
            DataType::None => "",
            DataType::Text => "text",
            DataType::Binary => "bin",
        }
    }

    /// Returns the type of a response by its media type: images, audio, and video are binary.
    pub fn of_media(media: &[u8]) -> DataType {
        if media.is_empty() {
            return DataType::None;
        }
        let is = |kind: &&[u8]| media.get(..kind.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(kind));
        let is_binary = [&b"image/"[..], b"audio/", b"video/"].iter().any(is);
        let texts = [&b"image/svg+xml"[..], b"audio/x-mpegurl", b"audio/mpegurl", b"video/f4m"];
        let is_text = is_binary && texts.iter().any(is);
        if is_binary && !is_text { DataType::Binary } else { DataType::Text }
    }
}

impl Sample {
    /// Returns an empty sample of a request, for which nothing is allocated.
    pub fn of_request(label: &Rc<str>, url: &Rc<str>, method: &Rc<str>) -> Sample {
        Sample {
            label: Rc::clone(label),
            begin_ms: 0,
            elapsed_ms: 0,
            latency_ms: 0,
            connect_ms: 0,
            idle_ms: 0,
            code: Cow::Borrowed(""),
            message: Cow::Borrowed(""),
            is_success: false,
            data_type: DataType::None,
            failure: None,
            bytes: 0,
            head_bytes: 0,
            sent_bytes: 0,
            url: Rc::clone(url),
            head: Vec::new(),
            body: Vec::new(),
            request_head: String::new(),
            request_body: Vec::new(),
            method: Rc::clone(method),
            children: Vec::new(),
            redirect: None,
            checks: None,
            stops_thread: false,
            stops_test: false,
            stops_now: false,
            is_ignored: false,
        }
    }

    /// Returns the body as text.
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.body)
    }

    /// Returns the head of the response as JMeter shows it: with line feeds only.
    pub fn response_headers(&self) -> String {
        lines(&self.head)
    }

    /// Returns the fields of the request as JMeter shows them: without request line and cookies.
    pub fn request_headers(&self) -> String {
        let all = lines(self.request_head.as_bytes());
        let fields = all
            .lines()
            .skip(1)
            .filter(|line| !line.get(..7).is_some_and(|begin| begin.eq_ignore_ascii_case("cookie:")));
        fields.map(|line| format!("{line}\n")).collect()
    }

    /// Returns the encoding that the response names; may be empty. A text without a response is UTF-8.
    pub fn charset(&self) -> String {
        if self.method.is_empty() && self.data_type == DataType::Text {
            return "UTF-8".to_owned();
        }
        let media = Head::new(&self.head).field("content-type").unwrap_or_default().to_ascii_lowercase();
        let media = String::from_utf8_lossy(&media);
        let mut parameters = media.split(';').skip(1).map(str::trim);
        let charset = parameters.find_map(|parameter| parameter.strip_prefix("charset="));
        charset.unwrap_or_default().trim_matches('"').to_owned()
    }

    /// Returns the cookies of the request, as sent.
    pub fn cookies(&self) -> &str {
        let line = self.request_head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("cookie").then_some(value)
        });
        line.unwrap_or_default().trim()
    }

    /// Returns method, URL, and body of the request, as JMeter shows them.
    pub fn sampler_data(&self) -> String {
        let body = String::from_utf8_lossy(&self.request_body);
        format!(
            "{} {}\n\n{}:\n{body}\n",
            self.method,
            self.url,
            if body.is_empty() { "no data" } else { "data" }
        )
    }

    /// Returns what a line of results shows.
    pub fn without_content(&self) -> Sample {
        Sample {
            label: Rc::clone(&self.label),
            begin_ms: self.begin_ms,
            elapsed_ms: self.elapsed_ms,
            latency_ms: self.latency_ms,
            connect_ms: self.connect_ms,
            idle_ms: self.idle_ms,
            code: self.code.clone(),
            message: self.message.clone(),
            is_success: self.is_success,
            data_type: self.data_type,
            failure: self.failure.clone(),
            bytes: self.bytes,
            head_bytes: self.head_bytes,
            sent_bytes: self.sent_bytes,
            url: Rc::clone(&self.url),
            method: Rc::clone(&self.method),
            children: self.children.iter().map(Sample::without_content).collect(),
            checks: self.checks.clone(),
            ..Sample::default()
        }
    }

    /// Keeps the results of the assertions that follow, also those of sub-samples.
    pub fn keep_checks(&mut self) {
        self.checks.get_or_insert_default();
        self.children.iter_mut().for_each(Sample::keep_checks);
    }

    /// Fails the sample; the first message stays.
    pub fn fail(&mut self, message: String) {
        self.is_success = false;
        self.failure.get_or_insert(message);
    }

    /// Returns a passed sample without a request.
    pub fn local(label: &str, begin_ms: u64) -> Sample {
        Sample {
            label: label.into(),
            begin_ms,
            code: Cow::Borrowed("200"),
            message: Cow::Borrowed("OK"),
            is_success: true,
            ..Sample::default()
        }
    }
}

fn lines(head: &[u8]) -> String {
    let text = String::from_utf8_lossy(head).replace("\r\n", "\n");
    let mut text = text.trim_end_matches('\n').to_owned();
    if !text.is_empty() {
        text.push('\n');
    }
    text
}
