//! The process monitor, with real children: what they use, which processes belong together, and mistakes it avoids.

use crate::monitor_support::{Folder, Servant, fact, limit, now, reading, second, trouble, value};
use plimsoll_control::monitor::{Probe, Process};
use plimsoll_plan::watch::Who;
use std::path::Path;
use std::time::Instant;

fn of(who: Who) -> Process {
    Process::new(&who, Path::new("/"))
}

/// CPU time is reported in ticks of 10 ms, separately for user and system, and Python itself needs a little.
const TICKS_S: f64 = 0.04;

/// Takes a sample, gives an order, takes a sample again. Returns the CPU time that the order used, s.
fn used_s(process: &mut Process, order: impl FnOnce() -> u32) -> f64 {
    let begin = Instant::now();
    let from = now(begin);
    process.look(from).unwrap();
    order();
    let to = now(begin);
    value(&process.look(to).unwrap(), "", "cpu") * to.since_s(from)
}

#[test]
fn cpu_time_is_measured_and_the_first_sample_has_no_rates() {
    let mut servant = Servant::start(None, "");
    let mut process = of(Who::Pid(servant.pid()));
    let begin = Instant::now();
    let first = process.look(now(begin)).unwrap();
    assert!(reading(&first, "", "cpu").is_none() && reading(&first, "", "busiest_thread").is_none());
    assert!(value(&first, "", "rss") > 1e6 && value(&first, "", "threads") == 1.0);
    let used = used_s(&mut process, || servant.order("burn", 0.3));
    assert!((used - 0.3).abs() < TICKS_S, "{used}");
    let last = process.look(now(begin)).unwrap();
    let cpus = std::thread::available_parallelism().unwrap().get() as f64;
    assert!(limit(&last, "", "cpu").is_some_and(|limit| limit > 0.0 && limit <= cpus));
    assert_eq!(limit(&last, "", "busiest_thread"), Some(1.0));
    assert!(value(&last, "", "cpu_user") >= 0.0 && value(&last, "", "cpu_wait") >= 0.0);
    assert!(value(&last, "", "voluntary_switches") >= 0.0 && value(&last, "", "disk_write") >= 0.0);
    assert!(last.readings.iter().all(|reading| reading.part.is_empty()), "a single process has no parts");
}

#[test]
fn two_busy_threads_are_more_cpu_than_the_busiest_of_them() {
    let mut servant = Servant::start(None, "");
    let mut process = of(Who::Pid(servant.pid()));
    let begin = Instant::now();
    let from = now(begin);
    process.look(from).unwrap();
    servant.order("threads", 0.2);
    let to = now(begin);
    let found = process.look(to).unwrap();
    assert!((value(&found, "", "cpu") * to.since_s(from) - 0.4).abs() < TICKS_S + 0.02);
    let busiest = value(&found, "", "busiest_thread") * to.since_s(from);
    assert!((0.2..0.23).contains(&busiest), "{busiest}");
    assert_eq!(value(&found, "", "threads"), 3.0);
}

#[test]
fn a_child_that_lived_only_between_two_samples_is_counted() {
    let mut servant = Servant::start(None, "");
    let mut process = of(Who::Pid(servant.pid()));
    let used = used_s(&mut process, || servant.order("waited", 0.3));
    assert!((used - 0.3).abs() < TICKS_S, "{used}");
}

#[test]
fn a_child_whose_parent_waits_for_it_is_not_counted_twice() {
    let mut servant = Servant::start(None, "");
    let mut process = of(Who::Pid(servant.pid()));
    let mut child = 0;
    let used = used_s(&mut process, || {
        child = servant.order("child", 0.3);
        child
    });
    assert!((used - 0.3).abs() < TICKS_S, "{used}");
    let found = process.look(now(Instant::now())).unwrap();
    assert_eq!(value(&found, "", "processes"), 2.0);
    // Its CPU time now moves to its parent's account.
    let used = used_s(&mut process, || servant.order("kill", f64::from(child)));
    assert!((0.0..TICKS_S).contains(&used), "{used}");
}

#[test]
fn a_child_whose_parent_never_waits_causes_no_negative_time() {
    let mut servant = Servant::start(None, "");
    servant.order("ignore", 0.0);
    let mut process = of(Who::Pid(servant.pid()));
    let mut child = 0;
    let used = used_s(&mut process, || {
        child = servant.order("child", 0.2);
        child
    });
    assert!((used - 0.2).abs() < TICKS_S, "{used}");
    let used = used_s(&mut process, || servant.order("kill", f64::from(child)));
    assert!((0.0..TICKS_S).contains(&used), "{used}");
}

#[test]
fn an_orphan_still_belongs_to_the_tree() {
    let mut servant = Servant::start(None, "");
    let middle = servant.order("nest", 0.0);
    let mut process = of(Who::Pid(servant.pid()));
    let begin = Instant::now();
    assert_eq!(value(&process.look(now(begin)).unwrap(), "", "processes"), 3.0);
    servant.order("kill", f64::from(middle));
    // The grandchild is now a child of the first process.
    assert_eq!(value(&process.look(now(begin)).unwrap(), "", "processes"), 2.0);
    // A monitor that starts later never saw its first parent, so it does not know the grandchild.
    assert_eq!(value(&of(Who::Pid(servant.pid())).look(now(begin)).unwrap(), "", "processes"), 1.0);
}

#[test]
fn each_process_of_several_is_listed_after_the_total() {
    let mut servant = Servant::start(None, "");
    let child = servant.order("child", 0.0);
    let mut process = of(Who::Pid(servant.pid()));
    let begin = Instant::now();
    for _ in 0..3 {
        servant.order("burn", 0.05);
        process.look(now(begin)).unwrap();
    }
    let found = process.look(now(begin)).unwrap();
    let parts: Vec<&str> =
        found.readings.iter().filter(|r| r.metric == "rss").map(|r| r.part.as_str()).collect();
    assert_eq!(parts.len(), 3, "{parts:?}");
    assert!(parts[1].ends_with(&format!(" {}", servant.pid())), "most CPU first: {parts:?}");
    assert!(parts[2].ends_with(&format!(" {child}")), "{parts:?}");
    let sum = value(&found, parts[1], "rss") + value(&found, parts[2], "rss");
    assert_eq!(value(&found, "", "rss"), sum);
    // That sum counts shared pages twice, so only private memory has a limit.
    assert!(limit(&found, "", "rss").is_none() && limit(&found, "", "rss_anon").is_some());
    assert!(value(&found, "", "rss_anon") < sum);
}

#[test]
fn file_descriptors_are_compared_with_the_limit_of_that_process() {
    let mut servant = Servant::start(Some(256), "");
    let mut process = of(Who::Pid(servant.pid()));
    let begin = Instant::now();
    let before = value(&process.look(now(begin)).unwrap(), "", "fds");
    servant.order("open", 190.0);
    let found = process.look(now(begin)).unwrap();
    assert_eq!(value(&found, "", "fds"), before + 190.0);
    assert_eq!(limit(&found, "", "fds"), Some(256.0));
    assert!((value(&found, "", "fds_share") - (before + 190.0) / 256.0).abs() < 1e-9);
    assert_eq!(fact(&found, "open file limit"), Some("256"));
}

#[test]
fn a_name_matches_all_processes_of_that_name_except_plimsoll() {
    let name = format!("srv{}", std::process::id());
    let mut process = of(Who::Name(name.clone()));
    let begin = Instant::now();
    assert_eq!(trouble(&mut process, now(begin)), format!("no process is called `{name}`"));
    let mut servants = [Servant::start(None, &name), Servant::start(None, &name)];
    for servant in &mut servants {
        servant.order("name", 0.0);
    }
    let found = process.look(now(begin)).unwrap();
    assert_eq!(value(&found, "", "processes"), 2.0);
    drop(servants);
    assert_eq!(trouble(&mut process, now(begin)), format!("no process is called `{name}`"));
    let own = std::env::current_exe().unwrap();
    let own = own.file_name().unwrap().to_str().unwrap().to_owned();
    assert_eq!(trouble(&mut of(Who::Name(own.clone())), now(begin)), format!("no process is called `{own}`"));
    let own = trouble(&mut of(Who::Pid(std::process::id())), now(begin));
    assert!(own.ends_with("is plimsoll itself: name the server's process"), "{own}");
}

#[test]
fn a_port_is_followed_to_its_next_listener() {
    let mut servant = Servant::start(None, "");
    let port = servant.order("listen", 0.0);
    let mut process = of(Who::Port(port as u16));
    let begin = Instant::now();
    assert_eq!(value(&process.look(now(begin)).unwrap(), "", "processes"), 1.0);
    // A fork holds the socket, too: both processes are listeners, and each counts once.
    let child = servant.order("child", 0.0);
    assert_eq!(value(&process.look(now(begin)).unwrap(), "", "processes"), 2.0);
    servant.order("kill", f64::from(child));
    drop(servant);
    assert_eq!(trouble(&mut process, now(begin)), format!("nothing listens on TCP port `{port}`"));
    let mut heir = Servant::start(None, "");
    heir.order("listen", f64::from(port));
    let used = used_s(&mut process, || heir.order("burn", 0.2));
    assert!((used - 0.2).abs() < TICKS_S, "{used}");
}

#[test]
fn an_ended_process_is_reported() {
    let servant = Servant::start(None, "");
    let pid = servant.pid();
    let mut process = of(Who::Pid(pid));
    let begin = Instant::now();
    process.look(now(begin)).unwrap();
    drop(servant);
    assert_eq!(trouble(&mut process, now(begin)), format!("process `{pid}` has ended"));
    assert_eq!(trouble(&mut of(Who::Pid(pid)), now(begin)), format!("there is no process `{pid}`"));
}

#[test]
fn facts_name_the_program_without_its_arguments() {
    let servant = Servant::start(None, "");
    let found = of(Who::Pid(servant.pid())).look(now(Instant::now())).unwrap();
    assert!(fact(&found, "program").unwrap().starts_with("python3"));
    assert!(!format!("{found:?}").contains("hunter2"), "{found:?}");
}

/// Larger than any number that the kernel assigns, so that none of them is this program's.
const PID: u32 = 5_000_000;

fn record(folder: &Folder, start: u64, user: u64) {
    let stat = format!("{PID} (a (b) c) S 1 1 1 0 -1 0 0 0 7 0 {user} 0 0 0 20 0 1 0 {start} 0 0");
    folder.write(&format!("/proc/{PID}/stat"), &stat);
    let status =
        "VmRSS:\t 100 kB\nRssAnon:\t 40 kB\nCpus_allowed:\tff,ffffffff\nvoluntary_ctxt_switches:\t5\n";
    folder.write(&format!("/proc/{PID}/status"), status);
    folder.write(&format!("/proc/{PID}/cmdline"), "node\0--inspect\0/srv/app/server.mjs\0--token=hunter2\0");
    folder.write("/proc/stat", "cpu 1 1 1 1\ncpu0 1 1 1 1\ncpu1 1 1 1 1\ncpu2 1 1 1 1\nctxt 5\n");
    folder.write("/proc/meminfo", "MemTotal:  1000 kB\n");
}

#[test]
fn an_unreadable_value_is_omitted_and_never_0() {
    let folder = Folder::new();
    record(&folder, 77, 100);
    let mut process = Process::new(&Who::Pid(PID), folder.path());
    let first = process.look(second(1)).unwrap();
    assert_eq!(fact(&first, "program"), Some("node server.mjs"));
    record(&folder, 77, 150);
    let found = process.look(second(2)).unwrap();
    // 50 ticks in a second; the mask has 40 bits, and the machine has three CPUs.
    assert_eq!((value(&found, "", "cpu"), limit(&found, "", "cpu")), (0.5, Some(3.0)));
    assert_eq!((value(&found, "", "rss"), limit(&found, "", "rss")), (102_400.0, Some(1_024_000.0)));
    for absent in ["fds", "fds_share", "disk_read", "busiest_thread", "cpu_wait", "involuntary_switches"] {
        assert!(reading(&found, "", absent).is_none(), "{absent}");
    }
}

#[test]
fn a_reused_process_id_is_not_the_named_process() {
    let folder = Folder::new();
    record(&folder, 77, 100);
    let mut process = Process::new(&Who::Pid(PID), folder.path());
    process.look(second(1)).unwrap();
    record(&folder, 78, 5_000);
    let found = trouble(&mut process, second(2));
    assert_eq!(found, format!("process `{PID}` has ended, and another process has its number"));
}

#[test]
fn a_restarted_named_process_does_not_add_the_cpu_time_of_another() {
    let folder = Folder::new();
    record(&folder, 77, 100);
    let mut process = Process::new(&Who::Name("node".into()), folder.path());
    process.look(second(1)).unwrap();
    record(&folder, 77, 120);
    assert_eq!(value(&process.look(second(2)).unwrap(), "", "cpu"), 0.2);
    record(&folder, 78, 5_000);
    // Its number belongs to another process, and it is unknown when that one used its 50 s.
    assert!(process.look(second(3)).is_err());
    record(&folder, 78, 5_010);
    let found = process.look(second(4)).unwrap();
    assert!(reading(&found, "", "cpu").is_none_or(|cpu| cpu.value < 0.2), "{found:?}");
}
