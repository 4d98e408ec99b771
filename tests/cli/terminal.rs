//! A real terminal with a person in front of it: the live view, and the question that a public host raises.

use crate::support::{BINARY, Ruler, Scratch, namespace, run_alongside};
use std::io::Read;
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// No screen is waited for longer.
const DEADLINE: Duration = Duration::from_secs(30);

/// A terminal of 100 columns and 40 rows: a separate tmux server that runs one shell command.
struct Terminal {
    /// The server's socket and the files of the command.
    folder: Scratch,
    /// Something was written to the screen.
    written: Receiver<()>,
}

impl Terminal {
    /// Runs the tool with these arguments, its results going to a file, and says its exit code at the end.
    fn start(args: &str) -> Self {
        let folder = Scratch::new();
        let (fifo, results) = (folder.path("written"), folder.path("results"));
        assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        let state = folder.path("state");
        // The shell stays until it is killed, so that the last screen can be looked at.
        let script = format!("XDG_STATE_HOME={state} {BINARY} {args} > {results}; echo ended with $?; cat");
        let (send, written) = channel();
        let this = Self { folder, written };
        this.tmux(&["-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "40", &script]);
        this.tmux(&["pipe-pane", &format!("cat > {fifo}")]);
        // Opening waits for the other end; the pipe closes with the terminal.
        std::thread::spawn(move || {
            let mut pipe = std::fs::File::open(fifo).unwrap();
            let mut buffer = [0; 4_096];
            while matches!(pipe.read(&mut buffer), Ok(1..)) && send.send(()).is_ok() {}
        });
        this
    }

    fn tmux(&self, args: &[&str]) -> String {
        let mut command = Command::new("tmux");
        command.args(["-u", "-S", &self.folder.path("tmux")]).args(args);
        for name in ["TMUX", "NO_COLOR", "COLUMNS"] {
            command.env_remove(name);
        }
        let output = command.output().expect("`tmux` is needed; `cargo xtask needs` would install it");
        assert!(output.status.success(), "tmux {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// The screen, as soon as `seen` likes it.
    #[track_caller]
    fn wait_for(&self, seen: impl Fn(&str) -> bool) -> String {
        let begin = Instant::now();
        loop {
            let screen = self.tmux(&["capture-pane", "-p"]);
            if seen(&screen) {
                return screen.trim_end().to_owned();
            }
            // It is looked at again when something has been written, and not before.
            let left = DEADLINE.saturating_sub(begin.elapsed());
            assert!(self.written.recv_timeout(left).is_ok(), "the screen stayed like this:\n{screen}");
        }
    }

    /// Types a line.
    fn type_line(&self, text: &str) {
        self.tmux(&["send-keys", "-l", text]);
        self.tmux(&["send-keys", "Enter"]);
    }

    /// The screen and the exit code, once the tool has ended.
    #[track_caller]
    fn end(&self) -> (String, i32) {
        let screen = self.wait_for(|screen| screen.contains("ended with "));
        let (before, code) = screen.split_once("ended with ").unwrap();
        (before.trim_end().to_owned(), code.trim().parse().unwrap())
    }

    fn results(&self) -> serde_json::Value {
        serde_json::from_str(&std::fs::read_to_string(self.folder.path("results")).unwrap()).unwrap()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = Command::new("tmux").args(["-S", &self.folder.path("tmux"), "kill-server"]).output();
    }
}

#[test]
fn the_live_view_shows_rate_errors_and_time_left_and_is_gone_at_the_end() {
    let ruler = Ruler::start(&["--delay", "2ms"]);
    let terminal = Terminal::start(&format!("{} -r 200 -d 4s --json", ruler.url("/")));
    let view = terminal.wait_for(|screen| screen.contains("s left") && screen.contains("generator"));
    for word in ["200 arrivals/s", "rate", "response", "p99", "errors", "in flight"] {
        assert!(view.contains(word), "`{word}` is not in the view:\n{view}");
    }
    assert!(view.lines().count() <= 8, "more than an inline view:\n{view}");
    // It is repainted in place: the time left shrinks, and there is only one of it.
    let later = terminal.wait_for(|screen| screen.contains(" 1 s left"));
    assert_eq!(later.matches("left").count(), 1, "{later}");
    let (screen, _) = terminal.end();
    assert_eq!(screen, "", "the view left a trace");
    // A noisy machine may make the run doubtful and leave no time for the last arrivals; each is counted all the same.
    let count = |name: &str| terminal.results()["totals"][name].as_u64().unwrap();
    assert_eq!(count("requests") + count("arrivals_not_started"), 800);
    assert!(count("arrivals_not_started") <= 2, "{}", terminal.results());
}

/// An address reserved for documentation (RFC 5737); here it belongs to the loopback interface of a namespace.
const PUBLIC: &str = "203.0.113.5";

#[test]
fn typing_the_hosts_name_permits_a_public_host_and_anything_else_does_not() {
    let test = "terminal::typing_the_hosts_name_permits_a_public_host_and_anything_else_does_not";
    namespace::inside(test, &format!("ip addr add {PUBLIC}/32 dev lo"), run_alongside, || {
        let ruler = Ruler::start(&["--listen", &format!("{PUBLIC}:0")]);
        let answered = |text: &str| {
            let terminal = Terminal::start(&format!("{} -n 5 -c 1 -q", ruler.url("/one")));
            let question = terminal.wait_for(|screen| screen.contains("ownership file:"));
            assert!(question.contains(&format!("Type `{PUBLIC}`")), "{question}");
            terminal.type_line(text);
            terminal.end()
        };
        for wrong in ["", "y", "203.0.113.6"] {
            let (screen, code) = answered(wrong);
            assert_eq!(code, 4, "{screen}");
            assert!(screen.contains("loading it requires permission"), "{screen}");
        }
        assert_eq!(ruler.counters()["by_path"].get("/one"), None, "sent without permission");
        assert_eq!(answered(PUBLIC).1, 0);
        assert_eq!(ruler.counters()["by_path"]["/one"], 5);
    });
}
