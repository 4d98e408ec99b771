//! Agents, coordinators, and servers that are killed or paused at random, over a network that fails at random: what the
//! coordinator merges equals what the agents recorded.

use super::server::{Server, ends};
use super::weather::{Climate, Random, Weather};
use crate::support::{Output, Ruler, Running, Scratch, Tool, namespace, run_alongside};
use plimsoll_record::record::GeneratorRecord;
use plimsoll_record::run_file;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Requests per second of all agents together.
const RATE: u64 = 100;
/// Seeds at night, unless `PLIMSOLL_FAULT_SEEDS` says otherwise.
const SEEDS: usize = 200;
/// Runs at once: they mostly wait.
const AT_ONCE: usize = 6;

/// Something that happens once in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    Cut {
        agent: usize,
        ms: u64,
    },
    Stall {
        agent: usize,
        ms: u64,
    },
    KillAgent {
        agent: usize,
    },
    /// It comes back after this time, as the others do.
    KillServer {
        ms: u64,
    },
    PauseServer {
        ms: u64,
    },
    KillCoordinator {
        ms: u64,
    },
}

/// A run with its faults, all from one seed.
#[derive(Debug)]
struct Case {
    seed: u64,
    agents: usize,
    seconds: u64,
    climate: Climate,
    /// In the order of the number of requests at which they happen.
    events: Vec<(u64, Event)>,
}

impl Case {
    fn new(seed: u64, may_kill_agents: bool) -> Case {
        let mut random = Random::new(seed + 1);
        let (agents, seconds) = (2 + random.below(2) as usize, 5 + random.below(3));
        let climate = Climate {
            lost: random.below(4) * 4,
            repeated: random.below(4) * 8,
            delay_max: Duration::from_millis(random.below(4) * 80),
            // An envelope of a second has a few kilobytes.
            bytes_per_s: (random.below(3) == 0).then_some(20_000),
        };
        let mut events: Vec<(u64, Event)> = (0..1 + random.below(3))
            .map(|_| {
                let agent = random.below(agents as u64) as usize;
                // Also reached if only one agent is left.
                let at = 20 + random.below(RATE * seconds * 3 / 10 - 20);
                let ms = 200 + random.below(2_000);
                let event = match random.below(if may_kill_agents { 7 } else { 6 }) {
                    0 => Event::Cut { agent, ms: 2 * ms },
                    1 => Event::Stall { agent, ms: 2 * ms },
                    2 | 3 => Event::KillServer { ms },
                    4 => Event::PauseServer { ms },
                    5 => Event::KillCoordinator { ms },
                    // The first one stays.
                    _ => Event::KillAgent { agent: 1 + agent % (agents - 1) },
                };
                (at, event)
            })
            .collect();
        events.sort_by_key(|(at, _)| *at);
        Case { seed, agents, seconds, climate, events }
    }

    fn killed(&self) -> BTreeSet<usize> {
        let agent = |(_, event): &(u64, Event)| match event {
            Event::KillAgent { agent } => Some(*agent),
            _ => None,
        };
        self.events.iter().filter_map(agent).collect()
    }
}

/// Lets time pass: the length of a fault.
fn pass(ms: u64) {
    let until = Instant::now() + Duration::from_millis(ms);
    while let Some(left) = until.checked_duration_since(Instant::now()) {
        std::thread::park_timeout(left);
    }
}

/// Waits until this many requests have arrived. On a bad network, a load takes a while to begin.
fn reach(ruler: &Ruler, requests: u64) {
    let deadline = Instant::now() + Duration::from_secs(90);
    while ruler.requests() < requests {
        assert!(Instant::now() < deadline, "fewer than {requests} requests came within 90 s");
        pass(10);
    }
}

/// Ends a thread that looks until then, also after a failure.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn name(agent: usize) -> String {
    format!("agent-{agent}")
}

/// Links to the agents' own records, which they delete when they are free again.
struct Keeper {
    from: Vec<PathBuf>,
    to: PathBuf,
}

impl Keeper {
    /// Links the records that are there, and are not linked yet.
    fn look(&self) {
        for (agent, folder) in self.from.iter().enumerate() {
            for record in entries(folder).iter().flat_map(|one| entries(one)).map(|run| run.join("part.plim"))
            {
                // It may have been linked already, or be deleted meanwhile.
                let _ = std::fs::hard_link(record, self.to.join(format!("{agent}.plim")));
            }
        }
    }

    /// Returns the record of an agent. If nothing ended it in an orderly way, its file has a second part.
    fn record(&self, agent: usize) -> GeneratorRecord {
        let runs = entries(&self.from[agent]).into_iter().flat_map(|one| entries(&one));
        let left = runs.map(|run| run.join("part.plim")).find(|path| path.exists());
        let path = left.unwrap_or_else(|| self.to.join(format!("{agent}.plim")));
        let record = run_file::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        record.generators.into_values().next().unwrap()
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let found = std::fs::read_dir(folder).into_iter().flatten();
    found.filter_map(|entry| Some(entry.ok()?.path())).collect()
}

/// Runs a case, and returns the number of faults on the way.
fn check(case: &Case) -> u64 {
    let (ruler, scratch, mut server) = (Ruler::start(&[]), Scratch::new(), Server::start());
    let weathers: Vec<Weather> = (0..case.agents)
        .map(|at| Weather::start(server.port, case.climate, case.seed * 8 + at as u64))
        .collect();
    let folders: Vec<PathBuf> = (0..case.agents).map(|at| scratch.folder().join(name(at))).collect();
    let keeper = Keeper { from: folders.clone(), to: scratch.folder().join("kept") };
    std::fs::create_dir(&keeper.to).unwrap();
    let agents: Vec<Running> = weathers
        .iter()
        .enumerate()
        .map(|(at, weather)| {
            std::fs::create_dir(&folders[at]).unwrap();
            let folder = folders[at].display().to_string();
            let words = ["agent", "--nats", &weather.url(), "--name", &name(at), "--dir", &folder, "-q"];
            // An agent must not outlive a test that fails.
            let parent = format!("--with-parent={}", std::process::id());
            Tool::new(&[&words[..], &[&parent]].concat()).start()
        })
        .collect();
    server.wait_for(case.agents);
    let out = scratch.path("run.plim");
    let (url, nats, count) = (ruler.url("/"), server.url(), case.agents.to_string());
    let (rate, length) = (RATE.to_string(), format!("{}s", case.seconds));
    let words =
        [&url, "-r", &rate, "-d", &length, "--nats", &nats, "--agents", &count, "--out", &out, "--json"];
    let mut running = Some(Tool::new(&words).start());
    let is_over = AtomicBool::new(false);
    let output = std::thread::scope(|scope| {
        let _over = Over(&is_over);
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                keeper.look();
                pass(20);
            }
        });
        for (at, event) in &case.events {
            reach(&ruler, *at);
            match *event {
                Event::Cut { agent, ms } => weathers[agent].cut(Duration::from_millis(ms)),
                Event::Stall { agent, ms } => weathers[agent].stall(Duration::from_millis(ms)),
                Event::KillAgent { agent } => agents[agent].signal("KILL"),
                Event::KillServer { ms } => {
                    server.kill();
                    pass(ms);
                    server.restart();
                }
                Event::PauseServer { ms } => {
                    server.signal("STOP");
                    pass(ms);
                    server.signal("CONT");
                }
                Event::KillCoordinator { ms } => {
                    if let Some(first) = running.take() {
                        first.signal("KILL");
                        let first = first.wait();
                        assert!(first.code == -9 || has_no_server(&first), "{case:?}\n{}", first.stderr);
                    }
                    pass(ms);
                    running = Some(Tool::new(&words).start());
                }
            }
        }
        let output = running.take().map(Running::wait).unwrap();
        // A coordinator that was started while there was no server says so, and is started again.
        match has_no_server(&output) {
            true => Tool::run(&words),
            false => output,
        }
    });
    let killed = case.killed();
    let known: &[i32] = if killed.is_empty() { &[0, 3, 99] } else { &[3, 99] };
    assert!(known.contains(&output.code), "{case:?}\ncode {}\n{}", output.code, output.stderr);
    for (at, agent) in agents.into_iter().enumerate() {
        match killed.contains(&at) {
            true => drop(agent),
            false => assert_eq!(ends(agent).code, 0, "{case:?}"),
        }
    }
    let merged = run_file::read(Path::new(&out)).unwrap_or_else(|e| panic!("{case:?}: {e}"));
    let by_name: BTreeMap<String, GeneratorRecord> = merged
        .generators
        .into_values()
        .map(|one| (one.opening.environment.agent.as_ref().expect("an agent").name.clone(), one))
        .collect();
    assert_eq!(by_name.len(), case.agents, "{case:?}");
    for at in 0..case.agents {
        compare(case, at, &keeper.record(at), &by_name[&name(at)], killed.contains(&at), &output.stderr);
    }
    if killed.is_empty() {
        let json = output.json();
        let totals = &json["totals"];
        let of = |key: &str| totals[key].as_u64().unwrap_or(0);
        let sent = of("requests") + of("in_flight_at_end");
        assert_eq!(json["is_complete"], true, "{case:?}\n{}", output.stderr);
        assert_eq!(sent, ruler.requests(), "{case:?}\n{}", output.stderr);
    }
    weathers.iter().map(Weather::faults).sum()
}

fn has_no_server(output: &Output) -> bool {
    output.code == 1 && output.stderr.contains("cannot connect to the NATS server")
}

/// Compares an agent's own record with that of the coordinator.
fn compare(
    case: &Case,
    agent: usize,
    own: &GeneratorRecord,
    merged: &GeneratorRecord,
    is_killed: bool,
    said: &str,
) {
    let who =
        format!("{case:?}\nagent {agent}: {} of {} seconds\n{said}", merged.ticks.len(), own.ticks.len());
    for (number, tick) in &merged.ticks {
        assert_eq!(Some(tick), own.ticks.get(number), "{who}\nsecond {number}");
    }
    let last = merged.ticks.keys().next_back().map_or(0, |last| *last as usize + 1);
    assert_eq!(merged.ticks.len(), last, "{who}: without gaps");
    match is_killed {
        true => assert!(merged.ending.is_none(), "{who}"),
        false => {
            assert_eq!(merged.ticks.len(), own.ticks.len(), "{who}");
            assert_eq!(merged.totals, own.totals, "{who}");
            assert!(merged.ending.is_some(), "{who}");
        }
    }
}

/// Fills a disk, up to the last byte.
fn fill(disk: &Path) {
    let mut hog = std::fs::File::create(disk.join("hog")).unwrap();
    while hog.write_all(&[1; 256]).is_ok() {}
}

#[test]
fn an_agent_that_cannot_keep_its_results_ends_its_load_with_a_sentence() {
    let test = "agents::faults::an_agent_that_cannot_keep_its_results_ends_its_load_with_a_sentence";
    namespace::on_a_disk(test, 64, run_alongside, |disk| {
        let (ruler, server, scratch) = (Ruler::start(&[]), Server::start(), Scratch::new());
        let words = |name: &str, dir: &str| {
            ["agent", "--nats", &server.url(), "--name", name, "--dir", dir].map(str::to_owned)
        };
        let dir = scratch.path("files");
        let [a, b] = ["a", "b"].map(|name| words(name, &dir));
        let texts = |words: &[String]| Tool::new(&words.iter().map(String::as_str).collect::<Vec<_>>());
        // The directory for temporary files, where results wait for the coordinator.
        let full = texts(&a).env("TMPDIR", &disk.display().to_string()).start();
        let free = texts(&b).start();
        server.wait_for(2);
        fill(disk);
        let args = [&ruler.url("/"), "-r", "100", "-d", "3s", "--nats", &server.url(), "--agents", "a,b"];
        let output = Tool::run(&[&args[..], &["--json"]].concat()).expect_code(3);
        let said = "agent `a` has no complete load: cannot keep results for the coordinator: no space left";
        assert!(output.stderr.contains(said), "{}", output.stderr);
        let json = output.json();
        let rows = json["generators"].as_array().unwrap();
        let of = |name: &str| rows.iter().find(|row| row["agent"]["name"] == name).unwrap();
        assert_eq!((&of("b")["requests"], &of("b")["is_complete"]), (&150.into(), &true.into()));
        [full, free].into_iter().for_each(|agent| assert_eq!(ends(agent).code, 0));
    });
}

#[test]
fn a_coordinator_with_a_full_disk_has_the_whole_result() {
    let test = "agents::faults::a_coordinator_with_a_full_disk_has_the_whole_result";
    namespace::on_a_disk(test, 20_000, run_alongside, |disk| {
        let ruler = Ruler::start(&[]);
        let out = disk.join("run.plim").display().to_string();
        let args = [&ruler.url("/"), "-r", "100", "-d", "6s", "--agents", "local:2", "--out", &out, "--json"];
        let running = Tool::new(&args).start();
        ruler.wait_for_requests(250);
        fill(disk);
        let output = running.wait();
        assert!(
            output.stderr.contains("if this command is killed, the load cannot continue"),
            "{}",
            output.stderr
        );
        let json = output.json();
        assert_eq!(
            (json["totals"]["requests"].as_u64(), ruler.requests()),
            (Some(600), 600),
            "{}",
            output.stderr
        );
        // Next to the full disk, or on it.
        let is_there = std::path::Path::new(&out).exists() || output.state_files.len() == 1;
        assert!(is_there, "{:?}\n{}", output.state_files, output.stderr);
    });
}

/// One load for each action. The agent is lost 10 s after it was killed, and its share is half of the load.
#[test]
#[ignore = "a minute: `cargo xtask nightly`"]
fn a_lost_agent_has_the_effect_that_was_asked_for() {
    let (seconds, killed_at) = (24, 400);
    for (action, kept) in [("stop", 500..1_000), ("continue", 1_200..1_201), ("rebalance", 1_500..2_000)] {
        let (ruler, server) = (Ruler::start(&[]), Server::start());
        let (first, second) = (server.agent("a", &[]), server.agent("b", &[]));
        server.wait_for(2);
        let (url, nats, length) = (ruler.url("/"), server.url(), format!("{seconds}s"));
        let args = [&url, "-r", "100", "-d", &length, "--nats", &nats, "--agents", "a,b", "--json"];
        let running = Tool::new(&[&args[..], &["--on-agent-loss", action]].concat()).start();
        reach(&ruler, killed_at);
        second.signal("KILL");
        let output = running.wait();
        assert_eq!(output.code, 3, "{action}: {}", output.stderr);
        let json = output.json();
        let rows = json["generators"].as_array().unwrap();
        let row = rows.iter().find(|row| row["agent"]["name"] == "a").unwrap();
        let requests = row["requests"].as_u64().unwrap();
        assert!(kept.contains(&requests), "{action}: {requests} requests\n{}", output.stderr);
        assert_eq!(row["is_complete"], true, "{action}");
        assert_eq!(ends(first).code, 0);
        drop(second);
    }
}

/// The connection is alive, but nothing comes through: pings must notice.
#[test]
#[ignore = "half a minute: `cargo xtask nightly`"]
fn a_server_that_is_paused_for_ten_seconds_costs_no_result() {
    let (ruler, server) = (Ruler::start(&[]), Server::start());
    let agents = [server.agent("a", &[]), server.agent("b", &[])];
    server.wait_for(2);
    let args =
        [&ruler.url("/"), "-r", "100", "-d", "14s", "--nats", &server.url(), "--agents", "2", "--json"];
    let running = Tool::new(&args).start();
    ruler.wait_for_requests(200);
    server.signal("STOP");
    ruler.wait_for_requests(1_200);
    server.signal("CONT");
    let output = running.wait();
    let json = output.json();
    assert_eq!((json["totals"]["requests"].as_u64(), ruler.requests()), (Some(1_400), 1_400));
    assert_eq!(json["is_complete"], true, "{}", output.stderr);
    agents.into_iter().for_each(|agent| assert_eq!(ends(agent).code, 0));
}

/// The agent is lost for its coordinator after 10 s, loads on, and sends everything when it is back.
#[test]
#[ignore = "a minute: `cargo xtask nightly`"]
fn an_agent_that_is_cut_off_for_a_minute_costs_no_result() {
    let (ruler, server) = (Ruler::start(&[]), Server::start());
    let weather = Weather::start(server.port, Climate::default(), 1);
    let first = server.agent("a", &[]);
    let second = Tool::new(&["agent", "--nats", &weather.url(), "--name", "b"]).start();
    server.wait_for(2);
    let args =
        [&ruler.url("/"), "-r", "40", "-d", "75s", "--nats", &server.url(), "--agents", "a,b", "--json"];
    let running = Tool::new(&args).start();
    ruler.wait_for_requests(200);
    weather.cut(Duration::from_secs(60));
    let output = running.wait();
    for said in ["has not been heard for 3 s", "is lost: not heard for 10 s", "is heard again"] {
        assert!(output.stderr.contains(&format!("agent `b` {said}")), "{}", output.stderr);
    }
    let json = output.json();
    assert_eq!((json["totals"]["requests"].as_u64(), ruler.requests()), (Some(3_000), 3_000));
    assert_eq!(json["is_complete"], true, "{}", output.stderr);
    [first, second].into_iter().for_each(|agent| assert_eq!(ends(agent).code, 0));
}

/// Runs cases, a few at once; fails with all that failed.
fn check_all(cases: Vec<Case>) {
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let (faults, count) = (AtomicUsize::new(0), cases.len());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE.min(count) {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let checked = std::panic::catch_unwind(|| check(case));
                    match checked {
                        Ok(found) => drop(faults.fetch_add(found as usize, Ordering::Relaxed)),
                        Err(_) => failed.lock().unwrap_or_else(PoisonError::into_inner).push(case.seed),
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    assert!(failed.is_empty(), "{} of {count} runs failed, seeds {failed:?}", failed.len());
    let events: usize = cases.iter().map(|case| case.events.len()).sum();
    eprintln!("{count} runs, {events} events, {} lost or repeated messages", faults.into_inner());
}

#[test]
fn what_is_merged_equals_what_the_agents_recorded_whatever_fails() {
    check_all((1..=4).map(|seed| Case::new(seed, false)).collect());
}

#[test]
#[ignore = "some minutes: `cargo xtask nightly`"]
fn what_is_merged_equals_what_the_agents_recorded_for_many_seeds() {
    let variable = std::env::var("PLIMSOLL_FAULT_SEEDS").ok();
    let seeds = match variable.as_deref().map(|text| text.split_once('-').expect("FIRST-LAST")) {
        None => 0..SEEDS as u64,
        Some((first, last)) => first.parse().expect("a number")..last.parse::<u64>().expect("a number") + 1,
    };
    check_all(seeds.map(|seed| Case::new(seed, true)).collect());
}
