//! Loads that were started here: child processes of the own executable, which write their run files as always. They
//! are steered by lines on their stdin, and what becomes of them is read from their files; nothing here slows a send.

mod check;
pub mod latest;
pub mod order;
pub mod stages;
mod steer;

use crate::Tool;
use crate::answer::{Answer, ApiError, aside};
use crate::index::id_of;
use check::{experiment, remove};
use latest::{Pauses, planned};
use order::{Order, What, filled};
use plimsoll_plan::request::{redacted_header, redacted_url};
use serde::Serialize;
use stages::{Course, Stage};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use steer::Steering;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::{mpsc, watch};

/// Of what a child says, so much is kept: the last.
const SAID_BYTES_MAX: usize = 64 * 1024;
/// Ended jobs beyond this are forgotten; their runs are in the list.
const KEPT_MAX: usize = 100;
/// Between two looks for the plan of a run that has just begun, and whether it is paused.
const LOOK: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// There is no run file yet.
    Starting,
    Running,
    Paused,
    /// It was told to stop, and makes its report.
    Ending,
    /// With a verdict, whatever it says.
    Ended,
    /// Without one.
    Failed,
}

/// As the API shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Job {
    pub id: String,
    pub name: String,
    pub state: State,
    /// Id of its run or folder, once there is one.
    pub run: Option<String>,
    pub command: Vec<String>,
    pub exit_code: Option<i32>,
    /// `pause` or `resume`: somebody has asked for it, and the load has not said yet that it obeys.
    pub pending_action: Option<&'static str>,
    /// Why the last thing that was asked of it was not done.
    pub rejection: Option<String>,
    /// Last words on stderr.
    pub output: String,
    pub elapsed_s: f64,
    /// Of the run that goes on, or was the last one.
    pub planned_s: Option<f64>,
    pub stages: Vec<Stage>,
    /// Which run of an experiment that is, from 1, and of how many, if that is known.
    pub run_number: Option<u32>,
    pub run_count: Option<usize>,
}

struct Inner {
    id: String,
    name: String,
    state: State,
    command: Vec<String>,
    out: PathBuf,
    pid: u32,
    exit: Option<i32>,
    said: Vec<u8>,
    started_unix_ns: u64,
    ended_unix_ns: Option<u64>,
    /// Of the run that goes on; `None`: nobody has read it yet.
    course: Option<Course>,
    steering: Steering,
    /// Closed when the child has ended.
    lines: Option<mpsc::UnboundedSender<String>>,
}

pub struct Jobs {
    tool: Tool,
    /// The console's; new runs go to the first.
    folders: Vec<PathBuf>,
    allow_commands: bool,
    /// For pasted experiments: of this process alone, in a folder that consoles may share.
    scratch: PathBuf,
    all: Mutex<Vec<Inner>>,
    /// One start at a time, so that two cannot both find that nothing is running.
    starting: tokio::sync::Mutex<u32>,
    /// Rises whenever a job has changed.
    changes: watch::Sender<u64>,
}

impl Jobs {
    /// `scratch`: a folder for pasted experiments, which consoles may share.
    pub fn new(tool: Tool, folders: Vec<PathBuf>, allow_commands: bool, scratch: &Path) -> Self {
        let changes = watch::Sender::new(0);
        check::clear(scratch);
        let scratch = scratch.join(std::process::id().to_string());
        let (all, starting) = (Mutex::default(), tokio::sync::Mutex::default());
        Self { tool, folders, allow_commands, scratch, all, starting, changes }
    }

    /// All, the latest first.
    pub fn list(&self) -> Vec<Job> {
        let now_ns = (self.tool.now_unix_ns)();
        self.lock().iter_mut().rev().map(|inner| inner.refresh(now_ns)).collect()
    }

    pub fn job(&self, id: &str) -> Option<Job> {
        let now_ns = (self.tool.now_unix_ns)();
        self.lock().iter_mut().find(|inner| inner.id == id).map(|inner| inner.refresh(now_ns))
    }

    /// Where the job's run file is, or will be; a folder when there are several.
    pub fn out(&self, id: &str) -> Option<PathBuf> {
        self.lock().iter().find(|inner| inner.id == id).map(|inner| inner.out.clone())
    }

    /// The job that writes this run or folder.
    pub fn of_out(&self, path: &Path) -> Option<String> {
        self.lock().iter().rev().find(|inner| path == inner.out).map(|inner| inner.id.clone())
    }

    /// Told what is planned, by whoever has read it from the run file.
    pub fn plan(&self, id: &str, course: Course) {
        let mut is_news = false;
        self.with(id, |inner| {
            is_news = inner.course.as_ref() != Some(&course);
            inner.course = Some(course);
        });
        if is_news {
            self.changed();
        }
    }

    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Starts what is asked for, and returns the job's id.
    pub async fn start(self: &Arc<Self>, order: Order) -> Answer<String> {
        let mut number = self.starting.lock().await;
        if !order.allow_concurrent && self.lock().iter().any(|inner| inner.ended_unix_ns.is_none()) {
            return Err(ApiError::conflict(
                "a load is running already, and two loads on one machine disturb each other",
                "wait for it, stop it, or start this one beside it all the same",
            ));
        }
        let mut temporary = None;
        let (mut words, name, is_one) = match &order.what {
            What::Form(form) => (form.words()?, form.host(), true),
            What::File { path } => self.file(&experiment(path).await?).await?,
            What::Text { text } => {
                let file = self.written(text.clone()).await?;
                match self.file(&file).await {
                    Ok(found) => {
                        temporary = Some(file);
                        found
                    }
                    Err(mut wrong) => {
                        remove(&file);
                        // Nobody knows the name of our own file.
                        let own = file.display().to_string();
                        wrong.diagnostics = wrong.diagnostics.map(|said| said.replace(&own, "the text"));
                        return Err(wrong);
                    }
                }
            }
        };
        words.extend(filled(&order.allow).map(|host| format!("--allow={host}")));
        let out = self.out_for(&name, is_one)?;
        words.push(format!("--out={}", out.display()));
        let shown = match &order.what {
            What::Form(form) => {
                filled(&form.name).map_or_else(|| redacted_url(form.url.trim()), str::to_owned)
            }
            // As the list of runs names it, which knows neither the file nor that it was pasted.
            What::File { .. } | What::Text { .. } => name.clone(),
        };
        *number += 1;
        let id = format!("job-{number}");
        let result = self.spawn(id.clone(), shown, words, out, temporary.clone());
        if let (Err(_), Some(file)) = (&result, &temporary) {
            remove(file);
        }
        result.map(|()| id)
    }

    /// Checks an experiment file; its words, its name, and whether it makes one run.
    async fn file(&self, file: &Path) -> Answer<(Vec<String>, String, bool)> {
        let confined = self.confined(file);
        let (ok, diagnostics) = self.checked(file, &confined).await?;
        if !ok {
            let status = axum::http::StatusCode::UNPROCESSABLE_ENTITY;
            let mut wrong =
                ApiError::new(status, "the experiment cannot be run as it is", "mend what is said of it");
            wrong.diagnostics = Some(diagnostics);
            return Err(wrong);
        }
        let (experiment, path) = (self.tool.experiment, file.to_path_buf());
        let (name, is_one) = aside(move || experiment(&path)).await?.map_err(ApiError::machine)?;
        let words = ["run".to_owned(), file.display().to_string()].into_iter().chain(confined).collect();
        Ok((words, name, is_one))
    }

    /// What binds an experiment that whoever has a session may have written: a pasted one, and one that lies where runs
    /// write.
    fn confined(&self, file: &Path) -> Vec<String> {
        // Where it really lies: a path may lead anywhere on its way.
        let whole = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        let lies_at = whole(file);
        let is_strange = |folder: &PathBuf| lies_at.starts_with(whole(folder));
        // Another console's as well: what it permits is not for this one.
        let pasted = self.scratch.parent().unwrap_or(&self.scratch).to_path_buf();
        if self.allow_commands || !(is_strange(&pasted) || self.folders.iter().any(is_strange)) {
            return Vec::new();
        }
        self.folders.iter().map(|folder| format!("--keep-to={}", folder.display())).collect()
    }

    fn out_for(&self, word: &str, is_one: bool) -> Answer<PathBuf> {
        let folder =
            self.folders.first().ok_or_else(|| ApiError::machine("there is no folder for new runs"))?;
        std::fs::create_dir_all(folder).map_err(|e| {
            ApiError::machine(format!("the folder `{}` cannot be made: {e}", folder.display()))
        })?;
        let name = (self.tool.new_name)(word).map_err(ApiError::machine)?;
        Ok(folder.join(if is_one { name.as_str() } else { name.trim_end_matches(".plim") }))
    }

    fn spawn(
        self: &Arc<Self>,
        id: String,
        name: String,
        words: Vec<String>,
        out: PathBuf,
        temporary: Option<PathBuf>,
    ) -> Answer<()> {
        let mut command = Command::new(&self.tool.program);
        command.args(&words).args(["--quiet", "--no-color", "--steered"]);
        // The kernel tells it when the THREAD that starts it is gone; then it ends with its report. This is the thread
        // of the server, which drives all tasks: one of those for work aside would be gone after some idle seconds.
        command.arg(format!("--with-parent={}", std::process::id()));
        // Ctrl-C in the terminal reaches it through us, and once.
        command.process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child =
            command.spawn().map_err(|e| ApiError::machine(format!("the load cannot be started: {e}")))?;
        let (tell, told) = mpsc::unbounded_channel();
        if let Some(stdin) = child.stdin.take() {
            tokio::spawn(write_lines(stdin, told));
        }
        let inner = Inner {
            id: id.clone(),
            name,
            state: State::Starting,
            command: shown_words(words),
            out,
            pid: child.id().unwrap_or_default(),
            exit: None,
            said: Vec::new(),
            started_unix_ns: (self.tool.now_unix_ns)(),
            ended_unix_ns: None,
            course: None,
            steering: Steering::default(),
            lines: Some(tell),
        };
        let mut all = self.lock();
        all.push(inner);
        let ended = all.iter().filter(|inner| inner.ended_unix_ns.is_some()).count();
        if ended > KEPT_MAX
            && let Some(oldest) = all.iter().position(|inner| inner.ended_unix_ns.is_some())
        {
            all.remove(oldest);
        }
        drop(all);
        tokio::spawn(self.clone().learn(id.clone()));
        tokio::spawn(self.clone().follow(id, child, temporary));
        self.changed();
        Ok(())
    }

    /// Finds out what is planned, and whether it is paused, also when nobody watches. Of several runs one after the
    /// other each has a plan of its own, and begins without a pause.
    async fn learn(self: Arc<Self>, id: String) {
        let (mut known, mut knows_all): (Option<PathBuf>, bool) = (None, false);
        let mut pauses = Pauses::default();
        loop {
            tokio::time::sleep(LOOK).await;
            let open = {
                let all = self.lock();
                let open = |inner: &&Inner| inner.id == id && inner.ended_unix_ns.is_none();
                all.iter().find(open).map(|inner| (inner.out.clone(), inner.steering.is_watched))
            };
            let Some((out, is_steered)) = open else { return };
            if knows_all && !is_steered {
                continue;
            }
            let (last, now_ns) = (known.clone(), (self.tool.now_unix_ns)());
            let looked = aside(move || {
                let found = if knows_all { None } else { planned(&out, last.as_deref(), now_ns) };
                let is_paused = if is_steered { pauses.look(&out, now_ns) } else { None };
                (found, is_paused, !out.is_dir(), pauses)
            });
            let Ok((found, is_paused, is_one, back)) = looked.await else { return };
            pauses = back;
            if let Some((run, course)) = found {
                self.plan(&id, course);
                (known, knows_all) = (Some(run), is_one);
            }
            if let Some(is_paused) = is_paused {
                self.observed(&id, is_paused);
            }
        }
    }

    /// Reads what the child says until it ends.
    async fn follow(self: Arc<Self>, id: String, mut child: Child, temporary: Option<PathBuf>) {
        if let Some(mut stderr) = child.stderr.take() {
            let mut part = [0; 4096];
            while let Ok(n @ 1..) = stderr.read(&mut part).await {
                self.with(&id, |inner| inner.hear(&part[..n]));
                self.changed();
            }
        }
        let status = child.wait().await;
        let now_ns = (self.tool.now_unix_ns)();
        self.with(&id, |inner| {
            inner.exit = status.ok().and_then(|status| status.code());
            // Verdicts, those of runs that were cut short among them (see the table of exit codes); everything else
            // made no report, and neither did what was cut short before its load.
            let has_reported = matches!(inner.exit, Some(0 | 3 | 99))
                || matches!(inner.exit, Some(129 | 130 | 143)) && latest::has_run(&inner.out);
            inner.state = if has_reported { State::Ended } else { State::Failed };
            inner.ended_unix_ns = Some(now_ns);
            inner.lines = None;
        });
        if let Some(file) = temporary {
            remove(&file);
        }
        self.changed();
    }

    /// Stops all and waits for their reports.
    pub async fn end_all(&self) {
        // Whatever is being started now is there afterwards.
        let _starting = self.starting.lock().await;
        let mut changes = self.changes();
        for inner in self.lock().iter_mut().filter(|inner| inner.ended_unix_ns.is_none()) {
            if inner.state != State::Ending {
                (self.tool.interrupt)(inner.pid);
                inner.state = State::Ending;
            }
        }
        while self.lock().iter().any(|inner| inner.ended_unix_ns.is_none()) {
            if changes.changed().await.is_err() {
                return;
            }
        }
        // It is there if something was pasted, and empty.
        let _ = std::fs::remove_dir(&self.scratch);
    }

    fn with(&self, id: &str, change: impl FnOnce(&mut Inner)) {
        if let Some(inner) = self.lock().iter_mut().find(|inner| inner.id == id) {
            change(inner);
        }
    }

    fn changed(&self) {
        self.changes.send_modify(|number| *number += 1);
    }

    /// A thread that panicked while holding the lock left nothing half-done in it.
    fn lock(&self) -> MutexGuard<'_, Vec<Inner>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// It runs as soon as there is something to read.
    fn look(&mut self) {
        if self.state == State::Starting && self.out.exists() {
            self.state = State::Running;
        }
    }

    fn refresh(&mut self, now_ns: u64) -> Job {
        self.look();
        let until_ns = self.ended_unix_ns.unwrap_or(now_ns);
        Job {
            id: self.id.clone(),
            name: self.name.clone(),
            state: match self.state {
                State::Running if self.steering.is_paused() => State::Paused,
                state => state,
            },
            pending_action: self.steering.pending_action(now_ns),
            rejection: self.steering.rejection().map(str::to_owned),
            run: self.out.exists().then(|| id_of(&self.out)),
            command: self.command.clone(),
            exit_code: self.exit,
            output: String::from_utf8_lossy(&self.said).trim().to_owned(),
            elapsed_s: until_ns.saturating_sub(self.started_unix_ns) as f64 / 1e9,
            planned_s: self.course.as_ref().and_then(|course| course.planned_s),
            stages: self.course.as_ref().map(|course| course.stages.clone()).unwrap_or_default(),
            run_number: self.course.as_ref().and_then(|course| course.turn),
            run_count: self.course.as_ref().and_then(|course| course.turns),
        }
    }
}

/// The command without the secrets of its URL, its headers, and its body: every session can read it.
fn shown_words(words: Vec<String>) -> Vec<String> {
    std::iter::once("plimsoll".to_owned()).chain(words.into_iter().map(shown_word)).collect()
}

fn shown_word(word: String) -> String {
    if word.starts_with("http://") || word.starts_with("https://") {
        return redacted_url(&word);
    }
    if let Some((name, value)) = word.strip_prefix("--header=").and_then(|header| header.split_once(':')) {
        return format!("--header={}: {}", name.trim(), redacted_header(name.trim(), value.trim()));
    }
    // A body can contain a password anywhere.
    if word.starts_with("--body=") { "--body=...".to_owned() } else { word }
}

/// Until the job is forgotten or its child reads no more.
async fn write_lines(mut stdin: ChildStdin, mut lines: mpsc::UnboundedReceiver<String>) {
    while let Some(line) = lines.recv().await {
        if stdin.write_all(line.as_bytes()).await.is_err() {
            return;
        }
    }
}
