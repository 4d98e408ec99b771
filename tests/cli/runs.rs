//! The runs in the state directory: listed, reported, deleted.

use crate::support::{BINARY, Ruler, Scratch};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, SystemTime};

fn tool(state: &Scratch, args: &[&str]) -> Output {
    let mut command = Command::new(BINARY);
    command.args(args).env("XDG_STATE_HOME", state.folder()).stdin(Stdio::null());
    command.output().expect("the binary under test can be started")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn age(path: &Path, days: u64) {
    let then = SystemTime::now() - Duration::from_secs(days * 86_400);
    std::fs::File::options().write(true).open(path).unwrap().set_modified(then).unwrap();
}

#[test]
fn runs_are_listed_reported_and_pruned_by_age() {
    let (ruler, state) = (Ruler::start(&[]), Scratch::new());
    let folder = state.folder().join("plimsoll/runs");
    for _ in 0..2 {
        assert!(tool(&state, &[&ruler.url("/"), "-n", "20", "-q"]).status.success());
    }
    let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let [old, new] = files.as_slice() else { panic!("{files:?}") };
    let (first, second) =
        (old.file_stem().unwrap().to_str().unwrap(), new.file_stem().unwrap().to_str().unwrap());
    age(old, 40);
    age(new, 2);
    // A file that is not a run is ignored.
    std::fs::write(folder.join("notes.txt"), "mine").unwrap();
    age(&folder.join("notes.txt"), 400);

    let list = text(&tool(&state, &["runs", "list"]).stdout);
    let lines: Vec<&str> = list.lines().collect();
    assert!(
        lines[0].starts_with(second) && lines[1].starts_with(first) && lines[2].starts_with("2 runs in"),
        "{list}"
    );
    let show = tool(&state, &["runs", "show", first]);
    assert!(show.status.success() && text(&show.stdout).contains("PASS"), "{}", text(&show.stderr));

    let dry = text(&tool(&state, &["runs", "prune", "--keep", "30d", "--dry-run"]).stdout);
    assert!(dry.contains(first) && dry.contains("1 run would be deleted") && old.exists(), "{dry}");
    let done = text(&tool(&state, &["runs", "prune", "--keep", "30d"]).stdout);
    assert!(done.contains("1 run deleted") && done.contains("1 kept"), "{done}");
    assert!(!old.exists() && new.exists() && folder.join("notes.txt").exists());
    let wrong = tool(&state, &["runs", "prune"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("--keep 30d"), "{}", text(&wrong.stderr));
    assert_eq!(tool(&state, &["runs", "show", "1999"]).status.code(), Some(2));
}

#[test]
fn a_big_state_directory_is_said_once_a_month_and_never_among_results() {
    let (ruler, state) = (Ruler::start(&[]), Scratch::new());
    let folder = state.folder().join("plimsoll/runs");
    std::fs::create_dir_all(&folder).unwrap();
    let small = tool(&state, &[&ruler.url("/"), "-n", "2"]);
    assert!(!text(&small.stderr).contains("runs prune"), "{}", text(&small.stderr));
    // A file with a hole: 200 MB in name only.
    std::fs::File::create(folder.join("big.plim")).unwrap().set_len(200 << 20).unwrap();
    for quiet in ["--json", "-q"] {
        let said = tool(&state, &[&ruler.url("/"), "-n", "2", quiet]);
        assert!(!text(&said.stderr).contains("runs prune"), "{quiet}: {}", text(&said.stderr));
    }
    let describe = |state| text(&tool(state, &[&ruler.url("/"), "-n", "2"]).stderr);
    assert!(describe(&state).contains("delete old ones with `plimsoll runs prune --keep 30d`"));
    assert!(!describe(&state).contains("runs prune"), "it is said once");
    age(&state.folder().join("plimsoll/size-reminder"), 31);
    assert!(describe(&state).contains("runs prune"), "and again after a month");
}
