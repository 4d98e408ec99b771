//! The load generator of an agent: a process of this program that works on one part of a load.

use super::files::below;
use super::tools;
use super::variables::{OF_AGENT, is_permitted};
use crate::part::read_reports;
use plimsoll_cluster::agent::Report;
use plimsoll_cluster::message::Task;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Sender, channel};

/// Largest text on standard error that is kept, bytes.
const SAID_MAX: u64 = 64 << 10;
/// Exit codes of a load with any verdict, and of one that an interrupt ended.
const RAN: [i32; 10] = [0, 3, 99, 101, 107, 108, 110, 129, 130, 143];

/// What an agent adds to a task.
pub struct Own<'a> {
    /// Public hosts that may be loaded.
    pub allow: &'a [String],
    /// Its name and labels, as a word.
    pub name: String,
}

/// A running load generator.
pub struct Generator {
    pid: u32,
    stdin: Option<ChildStdin>,
}

impl Generator {
    /// Starts the part of a task. Its files are below `root`, and its own record becomes `record`. Reports go to
    /// `reports`, the last one is [`Report::Exited`].
    ///
    /// # Errors
    /// Returns an error if the process cannot be started.
    pub fn start(
        task: &Task,
        own: &Own<'_>,
        root: &Path,
        record: &Path,
        reports: Sender<Report>,
    ) -> std::io::Result<Generator> {
        use std::os::unix::process::CommandExt;
        let mut command = Command::new(std::env::current_exe()?);
        command.args(words(task, own, root, record)).current_dir(below(root, &task.folder));
        // The load reads the variables of the coordinator, and none of the agent.
        command.env_clear();
        command.envs(OF_AGENT.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        command.envs(task.variables.0.iter().filter(|(name, _)| is_permitted(name)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Ctrl-C ends the agent, which then ends its load generator with a report.
        command.process_group(0);
        let mut child = command.spawn()?;
        let generator = Generator { pid: child.id(), stdin: child.stdin.take() };
        std::thread::Builder::new().name("reports".into()).spawn(move || {
            let exited = watched(&mut child, &reports);
            // The agent may have ended.
            let _ = reports.send(exited);
        })?;
        Ok(generator)
    }

    /// Writes a line to its standard input.
    pub fn line(&mut self, line: &str) {
        // A process that has ended takes no more lines, and reports why it has.
        if let Some(stdin) = &mut self.stdin
            && stdin.write_all(format!("{line}\n").as_bytes()).is_err()
        {
            self.stdin = None;
        }
    }

    /// Ends it as two interrupts would: at once, with the record until then.
    pub fn kill(&self) {
        plimsoll_engine::signals::interrupt(self.pid);
        plimsoll_engine::signals::interrupt(self.pid);
    }
}

/// Returns whether words are the command line of a load: an agent does nothing else for a coordinator.
pub fn is_load(words: &[String]) -> bool {
    if tools::is_tool(words) {
        return tools::is_load(words);
    }
    // Flags that write a file are not part of a load; a coordinator leaves them out.
    const WRITING: [&str; 4] = ["--out", "--junit", "--tls-key-log", "--html"];
    let is_target = |word: &String| word == "run" || word.contains("://") || word.starts_with("--urls=");
    let writes = |word: &String| {
        let name = word.split('=').next().unwrap_or_default();
        WRITING.contains(&name) || word.starts_with("-o")
    };
    words.first().is_some_and(is_target) && !words.iter().any(writes)
}

/// Returns the words after the program's name.
fn words(task: &Task, own: &Own<'_>, root: &Path, record: &Path) -> Vec<String> {
    // What may be loaded is decided on this machine.
    let is_kept = |word: &&String| !word.starts_with("--allow=");
    let mut words: Vec<String> =
        task.words.iter().filter(is_kept).map(|word| moved(word, task, root)).collect();
    words.extend(own.allow.iter().map(|host| format!("--allow={host}")));
    match tools::is_tool(&task.words) {
        true => words.extend(tools::own_words(&task.words, record)),
        false => words.extend([
            format!("--out={}", record.display()),
            format!("--as-agent={}", own.name),
            "--quiet".to_owned(),
            "--no-color".to_owned(),
        ]),
    }
    words.extend([
        format!("--shard={}/{}", task.part, task.of),
        "--steered".to_owned(),
        "--part-of-agent".to_owned(),
        format!("--with-parent={}", std::process::id()),
    ]);
    words
}

/// Returns a word with the absolute path of a file of the task as it is here.
fn moved(word: &str, task: &Task, root: &Path) -> String {
    // An experiment that may only use some directories may only use these here, too.
    if let Some(folder) = word.strip_prefix("--keep-to=") {
        return format!("--keep-to={}", below(root, folder).display());
    }
    let found = task.files.iter().find(|file| {
        let before = word.strip_suffix(file.path.as_str());
        before.is_some_and(|before| before.is_empty() || before.ends_with('=') || before.ends_with('@'))
    });
    match found {
        Some(file) => {
            let before = &word[..word.len() - file.path.len()];
            format!("{before}{}", below(root, &file.path).display())
        }
        None => word.to_owned(),
    }
}

/// Passes on the reports of a process and waits for its end.
fn watched(child: &mut Child, reports: &Sender<Report>) -> Report {
    let (begun_out, passed) = channel();
    let stderr = child.stderr.take();
    let heard = std::thread::spawn(move || {
        let mut said = Vec::new();
        if let Some(mut stderr) = stderr {
            // What cannot be read is not needed: the exit code says that it failed.
            let _ = stderr.by_ref().take(SAID_MAX).read_to_end(&mut said);
            let _ = std::io::copy(&mut stderr, &mut std::io::sink());
        }
        String::from_utf8_lossy(&said).into_owned()
    });
    let forward = reports.clone();
    let begun = std::thread::spawn(move || {
        let mut has_begun = false;
        for report in passed {
            has_begun |= matches!(report, Report::Begun { .. });
            if forward.send(report).is_err() {
                break;
            }
        }
        has_begun
    });
    let read = child.stdout.take().map(|pipe| read_reports(pipe, &begun_out));
    drop(begun_out);
    let ended = child.wait();
    let has_begun = begun.join().unwrap_or(false);
    let mut said = heard.join().unwrap_or_default();
    if let Some(Err(e)) = read {
        said.push_str(&format!("{e}\n"));
    }
    let code = match ended {
        Ok(status) => code_of(status, &mut said),
        Err(e) => {
            said.push_str(&format!("cannot wait for the load generator: {e}\n"));
            -1
        }
    };
    Report::Exited { code, ran: has_begun && (RAN.contains(&code) || code < 0 || code == 1), said }
}

fn code_of(status: ExitStatus, said: &mut String) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => code,
        (None, signal) => {
            let signal = signal.unwrap_or_default();
            said.push_str(&format!("the load generator was killed by signal {signal}\n"));
            -signal
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_load;

    #[test]
    fn an_agent_only_sends_loads() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        for text in ["run a.yaml --seed=7", "http://127.0.0.1:8080/ --rate=5", "--urls=list.txt"] {
            assert!(is_load(&words(text)), "{text}");
        }
        for text in
            ["serve", "test-server --listen 0.0.0.0:80", "run a.yaml --out=/etc/x", "run a.js -o/etc/x", ""]
        {
            assert!(!is_load(&words(text)), "{text}");
        }
    }
}
