//! A script as all workers share it: its modules, its settings, and what its users have in common.

use crate::code::ScriptCode;
use crate::grpc::CompileSchemas;
use crate::host::Host;
use crate::log::{Level, Log, Source};
use crate::metrics::Defined;
use crate::native::stack;
use crate::pod::Pod;
use crate::samples::SampleSink;
use crate::settings::Settings;
use plimsoll_bundle::{Bundle, Module};
use plimsoll_k6::pacer::RequestPacer;
use plimsoll_plan::code::OriginFacts;
use plimsoll_plan::diag::Place;
use plimsoll_plan::grpc::Schemas;
use plimsoll_plan::origin::OriginId;
use plimsoll_plan::request::Target;
use plimsoll_quickjs::{Kind, Thrown, Value};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Reads files for `open()`.
pub type ReadFile = dyn Fn(&Path) -> Result<Vec<u8>, String> + Send + Sync;

/// A script: its modules, and what it needs of its host.
#[derive(Clone)]
pub struct Script {
    pub bundle: Arc<Bundle>,
    pub log: Log,
    pub read_file: Arc<ReadFile>,
    pub compile_schemas: Arc<CompileSchemas>,
}

impl std::fmt::Debug for Script {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Script").field("bundle", &self.bundle).finish_non_exhaustive()
    }
}

/// What is known of origins that were tried.
pub type KnownOrigins = Arc<Mutex<HashMap<Target, OriginFacts>>>;

/// How setup or teardown failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PhaseFailure {
    /// It threw, or no user could be made for it.
    Exception,
    SetupTimeout,
    TeardownTimeout,
}

/// What all users of a script share, over all workers.
pub struct Shared {
    pub script: Script,
    pub settings: Settings,
    /// The origins of the plan.
    pub origins: Vec<(Target, OriginId)>,
    /// The result of `setup()`, as JSON.
    pub setup_data: Mutex<Option<String>>,
    /// Iterations begun, by scenario.
    pub begun: Vec<AtomicU64>,
    /// Iterations completed.
    pub completed: AtomicU64,
    /// The number of requests that ends the run, if nothing else does.
    pub only_end: Option<u64>,
    /// Whether any request was sent.
    has_sent: AtomicBool,
    /// Users that were made.
    pub users: AtomicU64,
    /// How setup or teardown failed, and why.
    trouble: Mutex<Option<(PhaseFailure, String)>>,
    /// Whether setup or teardown has returned.
    is_over: AtomicBool,
    /// Why a script has ended the test, or that its init part has.
    aborted: Mutex<Option<String>>,
    /// Why a script has declared the test failed.
    failed: Mutex<Option<String>>,
    /// Elements of shared arrays, as JSON, by name.
    pub arrays: Mutex<BTreeMap<String, Arc<[String]>>>,
    /// Contents of opened files, by path.
    pub files: Mutex<BTreeMap<PathBuf, Arc<[u8]>>>,
    /// Schemas that the script has loaded, by their files.
    pub schemas: Mutex<BTreeMap<String, Arc<Schemas>>>,
    /// The limit of requests per second.
    pub pacer: Option<RequestPacer>,
    /// Seed of the run.
    pub seed: u64,
    /// What is known of origins that were tried.
    pub facts: KnownOrigins,
    /// The output that takes each sample.
    pub samples: Option<Arc<dyn SampleSink>>,
    warned: Mutex<BTreeSet<String>>,
}

/// Warnings of different texts that are shown; more of them would hide everything else.
const WARNINGS_MAX: usize = 100;

/// Iterations without any request after which a test that ends by requests ends.
const SILENT_ITERATIONS: u64 = 1_000;

impl Shared {
    pub fn new(
        mut script: Script,
        settings: Settings,
        origins: Vec<(Target, OriginId)>,
        seed: u64,
    ) -> Shared {
        script.log = script.log.hiding(settings.secrets.iter().map(|secret| secret.value.clone()).collect());
        let pacer = settings.requests_per_s.map(|limit| RequestPacer::new(limit, 1));
        let begun = settings.scenarios.iter().map(|_| AtomicU64::new(0)).collect();
        Shared {
            script,
            settings,
            origins,
            setup_data: Mutex::new(None),
            begun,
            completed: AtomicU64::new(0),
            only_end: None,
            has_sent: AtomicBool::new(false),
            users: AtomicU64::new(0),
            trouble: Mutex::default(),
            is_over: AtomicBool::new(false),
            aborted: Mutex::default(),
            failed: Mutex::default(),
            arrays: Mutex::default(),
            files: Mutex::default(),
            schemas: Mutex::default(),
            pacer,
            seed,
            facts: KnownOrigins::default(),
            samples: None,
            warned: Mutex::default(),
        }
    }

    /// Remembers that a request was sent.
    pub fn note_sent(&self) {
        // Most calls only read, which costs other workers nothing.
        if !self.has_sent.load(Ordering::Relaxed) {
            self.has_sent.store(true, Ordering::Relaxed);
        }
    }

    /// Counts a completed iteration. Ends the test if it would never end: its end is a number of requests, and it sends
    /// none.
    pub fn note_completed(&self) {
        let completed = self.completed.fetch_add(1, Ordering::Relaxed) + 1;
        if let Some(requests) = self.only_end
            && completed >= SILENT_ITERATIONS
            && !self.has_sent.load(Ordering::Relaxed)
        {
            self.abort(&format!(
                "`-n {requests}` counts requests, and the script has sent none in {completed} iterations; \
                 use `plimsoll k6 run -i {requests}`, which counts iterations"
            ));
        }
    }

    pub fn begin_phase(&self) {
        self.is_over.store(false, Ordering::Relaxed);
    }

    pub fn phase_ended(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    pub fn is_phase_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    pub fn set_trouble(&self, how: PhaseFailure, why: String) {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert((how, why));
    }

    pub fn trouble(&self) -> Option<String> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(|(_, why)| why.clone())
    }

    /// Returns how setup or teardown failed.
    pub fn phase_failure(&self) -> Option<PhaseFailure> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(|(how, _)| *how)
    }

    /// Keeps the result of setup.
    pub fn keep_setup_data(&self, json: Option<String>) {
        *self.setup_data.lock().unwrap_or_else(PoisonError::into_inner) = json;
        self.phase_ended();
    }

    pub fn setup_json(&self) -> Option<String> {
        self.setup_data.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn users(&self) -> u64 {
        self.users.load(Ordering::Relaxed)
    }

    /// Ends the test; the first reason applies.
    pub fn abort(&self, message: &str) {
        let mut aborted = self.aborted.lock().unwrap_or_else(PoisonError::into_inner);
        aborted.get_or_insert_with(|| message.to_owned());
    }

    /// Returns why a script has ended the test.
    pub fn aborted(&self) -> Option<String> {
        self.aborted.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Declares the test failed; the first reason applies.
    pub fn fail(&self, message: &str) {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| message.to_owned());
    }

    /// Returns why a script has declared the test failed.
    pub fn failed(&self) -> Option<String> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Writes a warning to the console of the script, each text once.
    pub fn warn_once(&self, text: &str) {
        let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
        if warned.len() < WARNINGS_MAX && warned.insert(text.to_owned()) {
            drop(warned);
            self.script.log.write(Level::Warning, Source::Run, text);
        }
    }

    /// Describes a thrown error with its stack, whose places are those of the user's files.
    pub fn describe(&self, thrown: &Thrown) -> String {
        match thrown {
            Thrown::Value(value) => self.script.with_places(&described(value)),
            Thrown::Cancelled => "the iteration was interrupted".to_owned(),
            Thrown::Interrupted(error) => {
                let text = "an endless loop: JavaScript ran too long without waiting";
                let stack = error.as_ref().map(stack::raw).unwrap_or_default();
                self.script.with_places(format!("{text}\n{stack}").trim_end())
            }
            Thrown::Outside => "this call cannot wait here".to_owned(),
        }
    }

    /// Describes a thrown error in one line, without its stack.
    pub fn message(&self, thrown: &Thrown) -> String {
        let text = match thrown {
            Thrown::Value(value) => value.describe(),
            _ => self.describe(thrown),
        };
        text.lines().next().unwrap_or_default().to_owned()
    }

    /// Returns the place in the user's files that has thrown an error.
    pub fn place(&self, thrown: &Thrown) -> Place {
        let (Thrown::Value(value) | Thrown::Interrupted(Some(value))) = thrown else { return Place::Whole };
        let stack = stack::raw(value);
        let found = stack.lines().find_map(|line| {
            let (module, row, column) = self.script.frame(line)?;
            module.is_of_user(row, column).then(|| module.place(row, column))
        });
        found.unwrap_or(Place::Whole)
    }

    /// Writes the error of an iteration that threw.
    pub fn threw(&self, thrown: &Thrown) {
        if matches!(thrown, Thrown::Interrupted(_))
            && let Some(why) = self.aborted()
        {
            self.script.log.write(Level::Error, Source::Run, &why);
            return;
        }
        let text = self.describe(thrown);
        self.script.log.write(Level::Error, Source::Exception, &text);
    }
}

fn described(value: &Value) -> String {
    let text = value.describe();
    if !value.is_error() {
        return text;
    }
    match stack::raw(value).trim_end() {
        "" => text,
        // A script has given it the stack of another error.
        stack if stack.starts_with(&text) => stack.to_owned(),
        stack => format!("{text}\n{stack}"),
    }
}

/// Returns the part of a line of a stack that is a place: `    at f (name:line:column)`.
fn place_in(line: &str) -> Option<(usize, usize)> {
    if !line.trim_start().starts_with("at ") {
        return None;
    }
    let end = line.rfind(')').unwrap_or(line.len());
    let begin = line.rfind('(').map_or_else(|| line.rfind(' ').map_or(0, |at| at + 1), |at| at + 1);
    Some((begin, end))
}

impl Script {
    /// Replaces places in factories, `name:line:column`, by those in the user's files.
    pub(crate) fn with_places(&self, text: &str) -> String {
        let mut lines = Vec::new();
        for line in text.lines() {
            // Frames of modules that come with the program say nothing about the script.
            if line.trim_start().starts_with("at ") && line.contains("(boot.js:") {
                continue;
            }
            // Neither do those of the code around a module, such as of an export.
            if self.frame(line).is_some_and(|(module, row, column)| !module.is_of_user(row, column)) {
                continue;
            }
            lines.push(self.with_place(line).unwrap_or_else(|| line.to_owned()));
        }
        lines.join("\n")
    }

    fn with_place(&self, line: &str) -> Option<String> {
        let (begin, end) = place_in(line)?;
        let (module, row, column) = self.frame(line)?;
        let (row, column) = module.original(row, column);
        Some(format!("{}{}:{row}:{column}{}", &line[..begin], module.name, &line[end..]))
    }

    /// Returns the module of a line of a stack, with line and column in its factory.
    fn frame(&self, line: &str) -> Option<(&Module, u32, u32)> {
        let (begin, end) = place_in(line)?;
        let (rest, column) = line.get(begin..end)?.rsplit_once(':')?;
        let (name, row) = rest.rsplit_once(':')?;
        let module = self.bundle.modules.iter().find(|module| module.name == name)?;
        Some((module, row.parse().ok()?, column.parse().ok()?))
    }
}

/// What the init part of a script says of it.
#[derive(Debug, Clone, Default)]
pub struct Init {
    /// `options`, as JSON.
    pub options_json: Option<String>,
    /// Whether `options` is not an object.
    pub has_invalid_options: bool,
    /// Names of exported functions.
    pub functions: Vec<String>,
    /// The metrics that it defines.
    pub metrics: Vec<Defined>,
    /// Texts of variables at the top level that may be URLs.
    pub texts: Vec<String>,
}

/// Why the init part of a script has not ended.
#[derive(Debug, Clone, PartialEq)]
pub struct InitError {
    /// Whether it has ended the test with `exec.test.abort()`.
    pub has_aborted: bool,
    /// In one line.
    pub message: String,
    pub place: Place,
}

/// Evaluates the init part of a script once.
///
/// # Errors
/// Returns what it has thrown, with its place.
pub fn initialize(script: &Script, settings: &Settings) -> Result<Init, InitError> {
    let shared = Arc::new(Shared::new(script.clone(), settings.clone(), Vec::new(), 1));
    let describe = |thrown: Thrown| match shared.aborted() {
        Some(message) => InitError { has_aborted: true, message, place: Place::Whole },
        None => {
            InitError { has_aborted: false, message: shared.message(&thrown), place: shared.place(&thrown) }
        }
    };
    let no_memory =
        |_| InitError { has_aborted: false, message: "memory has run out".to_owned(), place: Place::Whole };
    let pod = Pod::new(&shared).map_err(no_memory)?;
    let realm = pod.realm().map_err(describe)?;
    pod.runtime.set_budget(settings.budget);
    let exports = pod.instantiate(&realm, true).map_err(describe)?;
    let mut init = Init::default();
    for name in exports.keys().map_err(describe)? {
        let value = exports.get_str(&name).map_err(describe)?;
        if value.is_function() {
            init.functions.push(name);
        } else if name == "options" && value.is_object() {
            init.options_json = value.to_json().map_err(describe)?;
        } else {
            init.has_invalid_options |= name == "options" && !value.is_nullish();
            texts_of(&value, 0, &mut init.texts);
        }
    }
    if let Ok(values) = pod.peek(&realm) {
        texts_of(&values, 0, &mut init.texts);
    }
    if let Some(host) = Host::of_runtime(&pod.runtime) {
        init.metrics = host.metrics.borrow().all().to_vec();
    }
    Ok(init)
}

/// Calls `handleSummary()` of a script with its data as JSON; returns the texts to write by path, or `None` if there is
/// no such function.
///
/// # Errors
/// Returns what the function has thrown.
pub fn handle_summary(code: &ScriptCode, data: &str) -> Result<Option<Vec<(String, String)>>, String> {
    if !code.functions.iter().any(|name| name == "handleSummary") {
        return Ok(None);
    }
    let shared = Arc::new(Shared::new(code.script.clone(), code.settings.clone(), Vec::new(), 1));
    let describe = |thrown: Thrown| shared.describe(&thrown);
    let pod = Pod::new(&shared).map_err(|_| "memory has run out".to_owned())?;
    let realm = pod.realm().map_err(describe)?;
    pod.runtime.set_budget(code.settings.budget);
    let exports = pod.instantiate(&realm, false).map_err(describe)?;
    let data = realm.parse_json(data, "summary.json").map_err(describe)?;
    // k6 has the property in any case.
    if data.get_str("setup_data").map_err(describe)?.is_undefined() {
        data.set_str("setup_data", realm.undefined()).map_err(describe)?;
    }
    let function = exports.get_str("handleSummary").map_err(describe)?;
    let mut result = function.call(&realm.undefined(), &[&data]).map_err(describe)?;
    if result.is_promise() {
        while realm.run_job().map_err(describe)? {}
        result = match result.settled() {
            Some(Ok(value)) => value,
            Some(Err(reason)) => return Err(describe(Thrown::Value(reason))),
            None => return Err("its promise was never settled".to_owned()),
        };
    }
    // As in k6, the usual text stays.
    if result.is_nullish() {
        return Ok(None);
    }
    if !result.is_object() {
        return Err("it must return an object with texts by path".to_owned());
    }
    let mut files = Vec::new();
    for path in result.keys().map_err(describe)? {
        let value = result.get_str(&path).map_err(describe)?;
        let text = match value.bytes() {
            Some(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            None => value.to_text().map_err(describe)?,
        };
        files.push((path, text));
    }
    Ok(Some(files))
}

/// Collects texts that begin like a URL, some levels deep.
fn texts_of(value: &Value, depth: usize, texts: &mut Vec<String>) {
    const DEPTH_MAX: usize = 4;
    const TEXTS_MAX: usize = 200;
    if depth > DEPTH_MAX || texts.len() >= TEXTS_MAX {
        return;
    }
    match value.kind() {
        Kind::String => {
            let text = value.as_text().unwrap_or_default();
            if text.starts_with("http://") || text.starts_with("https://") {
                texts.push(text);
            }
        }
        Kind::Object if !value.is_function() => {
            for key in value.keys().unwrap_or_default().into_iter().take(TEXTS_MAX) {
                if let Ok(inner) = value.get_str(&key) {
                    texts_of(&inner, depth + 1, texts);
                }
            }
        }
        _ => {}
    }
}
