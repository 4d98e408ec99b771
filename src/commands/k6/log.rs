//! Logs as k6 writes them: lines of keys and values, JSON, or only messages. On a terminal, lines begin with the level.

use crate::exit::Failure;
use crate::{say, wall};
use plimsoll_js::{Level, Log, Message, Source};
use plimsoll_k6::flags::{LogFormat, LogOutput, Run};
use std::fs::File;
use std::io::{IsTerminal, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// The width to which lines on a terminal pad their message.
const MESSAGE_WIDTH: usize = 44;

/// Where lines go.
#[derive(Clone)]
enum Target {
    Stderr,
    Stdout,
    Nowhere,
    File(Arc<Mutex<File>>),
}

/// Returns the log of a run.
///
/// # Errors
/// Returns an error if a file cannot be created.
pub fn of(run: &Run) -> Result<Log, Failure> {
    let target = match &run.log_output {
        LogOutput::Stderr => Target::Stderr,
        LogOutput::Stdout => Target::Stdout,
        LogOutput::None => Target::Nowhere,
        LogOutput::File(path) => file("--log-output", path)?,
    };
    let console = run.console_output.as_ref().map(|path| file("--console-output", path)).transpose()?;
    let is_terminal = match target {
        Target::Stderr => std::io::stderr().is_terminal(),
        Target::Stdout => std::io::stdout().is_terminal(),
        Target::Nowhere | Target::File(_) => false,
    };
    let (format, is_verbose, began_ns) = (run.log_format, run.verbose, wall::now_unix_ns());
    Ok(Log::new(move |message| {
        if message.level == Level::Debug && !is_verbose {
            return;
        }
        let now_ns = wall::now_unix_ns();
        let console = console.as_ref().filter(|_| message.source == Source::Console);
        let is_terminal = is_terminal && console.is_none();
        let line = match format {
            LogFormat::Raw => format!("{}\n", message.text),
            LogFormat::Json => json(&message, now_ns),
            LogFormat::Text if is_terminal => on_terminal(&message, now_ns.saturating_sub(began_ns)),
            LogFormat::Text => pairs(&message, now_ns),
        };
        console.unwrap_or(&target).write(&line);
    }))
}

fn file(flag: &str, path: &str) -> Result<Target, Failure> {
    let opened = File::options().create(true).append(true).open(path);
    match opened {
        Ok(file) => Ok(Target::File(Arc::new(Mutex::new(file)))),
        Err(e) => Err(Failure::machine(format!("cannot write the file of `{flag}`, `{path}`: {e}"), None)),
    }
}

impl Target {
    fn write(&self, line: &str) {
        // A log that cannot be written must not end the load.
        let _ = match self {
            Target::Stderr => {
                say::talk(line);
                Ok(())
            }
            Target::Stdout => std::io::stdout().lock().write_all(line.as_bytes()),
            Target::Nowhere => Ok(()),
            Target::File(file) => {
                file.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes())
            }
        };
    }
}

fn level(level: Level) -> &'static str {
    match level {
        Level::Debug => "debug",
        Level::Info => "info",
        Level::Warning => "warning",
        Level::Error => "error",
    }
}

/// Returns the name of a source; the run itself has none.
fn source(source: Source) -> Option<&'static str> {
    match source {
        Source::Console => Some("console"),
        Source::Exception => Some("stacktrace"),
        Source::Http => Some("http-debug"),
        Source::Run => None,
    }
}

fn json(message: &Message<'_>, now_ns: u64) -> String {
    let mut line = serde_json::json!({
        "level": level(message.level),
        "msg": message.text,
        "time": wall::instant(now_ns),
    });
    if let (Some(name), Some(line)) = (source(message.source), line.as_object_mut()) {
        line.insert("source".into(), name.into());
    }
    format!("{line}\n")
}

fn pairs(message: &Message<'_>, now_ns: u64) -> String {
    let text = quoted(message.text);
    let line = format!("time=\"{}\" level={} msg={text}", wall::instant(now_ns), level(message.level));
    match source(message.source) {
        Some(name) => format!("{line} source={name}\n"),
        None => format!("{line}\n"),
    }
}

fn on_terminal(message: &Message<'_>, since_ns: u64) -> String {
    let name = match message.level {
        Level::Debug => "DEBU",
        Level::Info => "INFO",
        Level::Warning => "WARN",
        Level::Error => "ERRO",
    };
    let head = format!("{name}[{:04}] {}", since_ns / 1_000_000_000, message.text);
    match source(message.source) {
        Some(source) => {
            format!("{head:<width$} source={source}\n", width = MESSAGE_WIDTH + "INFO[0000] ".len())
        }
        None => format!("{head}\n"),
    }
}

/// Quotes a text unless it is a single word.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._/@^+".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => out.push_str(&format!("\\x{:02x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_keys_of_k6() {
        let message = Message { level: Level::Warning, source: Source::Console, text: "two \"words\"\n" };
        let line = pairs(&message, 0);
        assert_eq!(
            line,
            "time=\"1970-01-01T00:00:00Z\" level=warning msg=\"two \\\"words\\\"\\n\" source=console\n"
        );
        let message = Message { level: Level::Info, source: Source::Run, text: "word" };
        assert_eq!(pairs(&message, 0), "time=\"1970-01-01T00:00:00Z\" level=info msg=word\n");
        assert!(json(&message, 0).starts_with("{\"level\":\"info\",\"msg\":\"word\","));
    }
}
