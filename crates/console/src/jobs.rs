//! Loads that were started here: child processes of this executable that write ordinary run files. They are steered
//! by lines on stdin, and their state is read from their files; nothing here slows a send.

mod check;
pub mod latest;
pub mod order;
pub mod stages;
mod steer;

use crate::Tool;
use crate::agents::Agents;
use crate::answer::{Answer, ApiError, aside};
use crate::index::id_of;
use check::{experiment, remove};
use latest::{Pauses, planned, whole_of};
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

/// Maximum output of a child that is kept, from the end.
const SAID_BYTES_MAX: usize = 64 * 1024;
/// Maximum number of ended jobs; their runs are in the list.
const KEPT_MAX: usize = 100;
/// Interval of the checks for the plan of a new run and for pauses.
const LOOK: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// There is no run file yet.
    Starting,
    Running,
    Paused,
    /// It was stopped and is making its report.
    Ending,
    /// Ended with a verdict, whichever it is.
    Ended,
    /// Ended without a verdict.
    Failed,
}

/// A job as the API shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Job {
    pub id: String,
    pub name: String,
    pub state: State,
    /// Id of its run or folder, once it exists.
    pub run: Option<String>,
    pub command: Vec<String>,
    pub exit_code: Option<i32>,
    /// `pause` or `resume`, if requested but not yet confirmed by the load.
    pub pending_action: Option<&'static str>,
    /// Why the last command was rejected.
    pub rejection: Option<String>,
    /// End of its stderr.
    pub output: String,
    pub elapsed_s: f64,
    /// Planned duration of the current or last run.
    pub planned_s: Option<f64>,
    pub stages: Vec<Stage>,
    /// Number of that run in its experiment, from 1, and the number of runs, if known.
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
    /// Plan of the current run; `None` until it was read.
    course: Option<Course>,
    steering: Steering,
    /// Closed when the child has ended.
    lines: Option<mpsc::UnboundedSender<String>>,
}

pub struct Jobs {
    tool: Tool,
    /// Folders of the console; new runs go to the first.
    folders: Vec<PathBuf>,
    agents: Arc<Agents>,
    allow_commands: bool,
    /// This process's own folder for pasted experiments, below one that consoles may share.
    scratch: PathBuf,
    all: Mutex<Vec<Inner>>,
    /// Allows one start at a time, so that two cannot both find that nothing is running.
    starting: tokio::sync::Mutex<u32>,
    /// Increases whenever a job changes.
    changes: watch::Sender<u64>,
}

impl Jobs {
    /// Creates an empty list. `scratch` is the folder for pasted experiments, which consoles may share.
    pub fn new(
        tool: Tool,
        folders: Vec<PathBuf>,
        agents: Arc<Agents>,
        allow_commands: bool,
        scratch: &Path,
    ) -> Self {
        let changes = watch::Sender::new(0);
        check::clear(scratch);
        let scratch = scratch.join(std::process::id().to_string());
        let (all, starting) = (Mutex::default(), tokio::sync::Mutex::default());
        Self { tool, folders, agents, allow_commands, scratch, all, starting, changes }
    }

    /// Returns all jobs, the latest first.
    pub fn list(&self) -> Vec<Job> {
        let now_ns = (self.tool.now_unix_ns)();
        self.lock().iter_mut().rev().map(|inner| inner.refresh(now_ns)).collect()
    }

    pub fn job(&self, id: &str) -> Option<Job> {
        let now_ns = (self.tool.now_unix_ns)();
        self.lock().iter_mut().find(|inner| inner.id == id).map(|inner| inner.refresh(now_ns))
    }

    /// Returns the path of the job's future or existing run file, or a folder if it has several runs.
    pub fn out(&self, id: &str) -> Option<PathBuf> {
        self.lock().iter().find(|inner| inner.id == id).map(|inner| inner.out.clone())
    }

    /// Returns the job that writes this run or folder.
    pub fn of_out(&self, path: &Path) -> Option<String> {
        self.lock().iter().rev().find(|inner| path == inner.out).map(|inner| inner.id.clone())
    }

    /// Stores the plan that was read from the run file.
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

    /// Starts an order and returns the job's id.
    pub async fn start(self: &Arc<Self>, order: Order) -> Answer<String> {
        let mut number = self.starting.lock().await;
        if !order.allow_concurrent && self.lock().iter().any(|inner| inner.ended_unix_ns.is_none()) {
            return Err(ApiError::conflict(
                "another load is running, and two loads on one machine affect each other",
                "wait for it, stop it, or start this one alongside it anyway",
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
                        // The user does not know the temporary file.
                        let own = file.display().to_string();
                        wrong.diagnostics = wrong.diagnostics.map(|said| said.replace(&own, "the text"));
                        return Err(wrong);
                    }
                }
            }
        };
        words.extend(filled(&order.allow).map(|host| format!("--allow={host}")));
        if let Some(selection) = filled(&order.agents) {
            words.extend(self.agents.words(selection)?);
        }
        let out = self.out_for(&name, is_one)?;
        words.push(format!("--out={}", out.display()));
        let shown = match &order.what {
            What::Form(form) => {
                filled(&form.name).map_or_else(|| redacted_url(form.url.trim()), str::to_owned)
            }
            // The same name as in the list of runs, without the file's path.
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

    /// Checks an experiment file; returns its words, its name, and whether it makes a single run.
    async fn file(&self, file: &Path) -> Answer<(Vec<String>, String, bool)> {
        let confined = self.confined(file);
        let (ok, diagnostics) = self.checked(file, &confined).await?;
        if !ok {
            let status = axum::http::StatusCode::UNPROCESSABLE_ENTITY;
            let mut wrong = ApiError::new(status, "the experiment is invalid", "fix the errors listed");
            wrong.diagnostics = Some(diagnostics);
            return Err(wrong);
        }
        let (experiment, path) = (self.tool.experiment, file.to_path_buf());
        let (name, is_one) = aside(move || experiment(&path)).await?.map_err(ApiError::machine)?;
        let words = ["run".to_owned(), file.display().to_string()].into_iter().chain(confined).collect();
        Ok((words, name, is_one))
    }

    /// Returns flags that restrict untrusted experiments: those that were pasted, and those in folders where runs are
    /// written.
    fn confined(&self, file: &Path) -> Vec<String> {
        // Resolves the real path, which links may change.
        let whole = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        let lies_at = whole(file);
        let is_strange = |folder: &PathBuf| lies_at.starts_with(whole(folder));
        // Includes those of other consoles, whose permissions do not apply here.
        let pasted = self.scratch.parent().unwrap_or(&self.scratch).to_path_buf();
        if self.allow_commands || !(is_strange(&pasted) || self.folders.iter().any(is_strange)) {
            return Vec::new();
        }
        self.folders.iter().map(|folder| format!("--keep-to={}", folder.display())).collect()
    }

    fn out_for(&self, word: &str, is_one: bool) -> Answer<PathBuf> {
        let folder =
            self.folders.first().ok_or_else(|| ApiError::machine("there is no directory for new runs"))?;
        std::fs::create_dir_all(folder)
            .map_err(|e| ApiError::machine(format!("cannot create directory `{}`: {e}", folder.display())))?;
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
        // The kernel signals the child when the THREAD that started it ends; the child then ends with its report.
        // This must be the server's thread, because those of the pool end after some idle seconds.
        command.arg(format!("--with-parent={}", std::process::id()));
        // Ctrl-C in the terminal reaches the child once, through this process.
        command.process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child =
            command.spawn().map_err(|e| ApiError::machine(format!("cannot start the load: {e}")))?;
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

    /// Reads the plan of a job and whether it is paused, even without viewers. Each of several consecutive runs has
    /// its own plan and starts without a pause.
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

    /// Reads the child's output until it ends.
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
            // Exit codes of runs with a verdict, including interrupted ones (see the table of exit codes); all others
            // made no report, and neither did runs that were interrupted before their load.
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

    /// Stops all jobs and waits for their reports.
    pub async fn end_all(&self) {
        // Lets a start in progress finish first.
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
        // The folder exists if anything was pasted, and is empty by now.
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

    /// A thread that panicked while holding the lock cannot have left the state inconsistent.
    fn lock(&self) -> MutexGuard<'_, Vec<Inner>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Marks the job as running once there is something to read.
    fn look(&mut self) {
        if self.state == State::Starting && (self.out.exists() || whole_of(&self.out).exists()) {
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

/// Removes secrets of the URL, the headers, and the body from the command, because every session can read it.
fn shown_words(words: Vec<String>) -> Vec<String> {
    std::iter::once("plimsoll".to_owned()).chain(words.into_iter().map(shown_word)).collect()
}

fn shown_word(word: String) -> String {
    if word.starts_with("http://") || word.starts_with("https://") {
        return redacted_url(&word);
    }
    // Several addresses of servers may each have a password.
    if let Some(addresses) = word.strip_prefix("--nats=") {
        let shown = |address: &str| match (address.split_once("://"), address.rsplit_once('@')) {
            (Some((scheme, _)), Some((_, host))) => format!("{scheme}://...@{host}"),
            _ => address.to_owned(),
        };
        let all: Vec<String> = addresses.split(',').map(shown).collect();
        return format!("--nats={}", all.join(","));
    }
    if let Some((name, value)) = word.strip_prefix("--header=").and_then(|header| header.split_once(':')) {
        return format!("--header={}: {}", name.trim(), redacted_header(name.trim(), value.trim()));
    }
    // A body may contain a password anywhere.
    if word.starts_with("--body=") { "--body=...".to_owned() } else { word }
}

/// Writes lines to the child until the job is removed or the child stops reading.
async fn write_lines(mut stdin: ChildStdin, mut lines: mpsc::UnboundedReceiver<String>) {
    while let Some(line) = lines.recv().await {
        if stdin.write_all(line.as_bytes()).await.is_err() {
            return;
        }
    }
}
