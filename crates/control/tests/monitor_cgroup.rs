//! The control group monitor: recorded groups of both versions, and a real one if this machine allows creating it.

use crate::monitor_support::{Folder, Servant, fact, limit, now, reading, second, trouble, value};
use plimsoll_control::monitor::{Cgroup, Found, Probe};
use plimsoll_plan::watch::{Group, Who};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Larger than any number that the kernel assigns.
const PID: u32 = 5_000_000;

fn common(folder: &Folder, mounts: &str, groups: &str) {
    folder.write("/proc/self/mountinfo", mounts);
    folder.write("/proc/stat", "cpu 1\ncpu0 1\ncpu1 1\ncpu2 1\ncpu3 1\n");
    folder.write(
        &format!("/proc/{PID}/stat"),
        &format!("{PID} (web) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 9 0 0"),
    );
    folder.write(&format!("/proc/{PID}/cgroup"), groups);
}

const TWO: &str = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

/// `n` seconds of a group that uses 0.5 CPUs and is throttled in 4 of 10 periods, below a tighter group.
fn second_of_two(folder: &Folder, n: u64) {
    let (outer, inner) = ("/sys/fs/cgroup/lab", "/sys/fs/cgroup/lab/web");
    folder.write(&format!("{outer}/cpu.max"), "50000 100000\n");
    folder.write(&format!("{outer}/memory.max"), "1000000\n");
    folder.write(&format!("{inner}/cpu.max"), "max 100000\n");
    folder.write(&format!("{inner}/memory.max"), "max\n");
    let times =
        format!("usage_usec {}\nuser_usec {}\nsystem_usec {}\n", 500_000 * n, 300_000 * n, 200_000 * n);
    let held = format!("nr_periods {}\nnr_throttled {}\nthrottled_usec {}\n", 10 * n, 4 * n, 150_000 * n);
    folder.write(&format!("{inner}/cpu.stat"), &(times + &held));
    folder.write(&format!("{inner}/memory.current"), "800000\n");
    folder.write(&format!("{inner}/memory.stat"), "anon 1\ninactive_file 300000\n");
    folder.write(&format!("{inner}/memory.events"), &format!("low 0\nmax {}\noom 0\noom_kill 0\n", 2 * n));
    folder.write(&format!("{inner}/pids.current"), "12\n");
    folder.write(&format!("{inner}/pids.max"), "100\n");
    folder.write(&format!("{inner}/cpu.pressure"), &format!("some avg10=0.00 total={}\n", 400_000 * n));
}

fn check(found: &Found) {
    let cases = [
        ("cpu", 0.5),
        ("cpu_user", 0.3),
        ("cpu_system", 0.2),
        ("throttled", 0.4),
        ("throttled_time", 0.15),
        ("memory", 800_000.0),
        ("memory_working_set", 500_000.0),
        ("memory_limit_hits", 2.0),
        ("oom_kills", 0.0),
        ("pids", 12.0),
    ];
    for (metric, expected) in cases {
        let seen = value(found, "", metric);
        assert!((seen - expected).abs() < 1e-9, "{metric}: {seen}, not {expected}");
    }
    assert_eq!(limit(found, "", "cpu"), Some(0.5));
    assert_eq!(limit(found, "", "memory_working_set"), Some(1e6));
    // Files that were read once fill any group, so this is not a lack of memory.
    assert_eq!(limit(found, "", "memory"), None);
    assert_eq!(limit(found, "", "pids"), Some(100.0));
}

#[test]
fn version_2_by_path_and_by_process_uses_the_tightest_limit_of_all_parents() {
    let folder = Folder::new();
    common(&folder, TWO, "0::/lab/web\n");
    for group in [Group::Path(PathBuf::from("/sys/fs/cgroup/lab/web")), Group::Of(Who::Pid(PID))] {
        let mut cgroup = Cgroup::new(&group, folder.path());
        second_of_two(&folder, 7);
        let first = cgroup.look(second(1)).unwrap();
        assert!(reading(&first, "", "cpu").is_none() && reading(&first, "", "throttled").is_none());
        assert_eq!(fact(&first, "cpu quota"), Some("0.5"));
        second_of_two(&folder, 9);
        let found = cgroup.look(second(3)).unwrap();
        check(&found);
        assert!((value(&found, "", "pressure_cpu") - 0.4).abs() < 1e-9);
        assert_eq!(fact(&found, "version"), Some("2"));
        // No period elapsed in this second, so nothing was throttled.
        assert_eq!(value(&cgroup.look(second(4)).unwrap(), "", "throttled"), 0.0);
    }
}

#[test]
fn in_a_container_the_group_has_its_outside_name_and_another_path() {
    let folder = Folder::new();
    let mount = "30 23 0:26 /lab /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n";
    common(&folder, mount, "0::/lab\n");
    folder.write("/sys/fs/cgroup/cpu.stat", "usage_usec 7\n");
    folder.write("/sys/fs/cgroup/memory.current", "4096\n");
    let found = Cgroup::new(&Group::Of(Who::Pid(PID)), folder.path()).look(second(1)).unwrap();
    assert_eq!(value(&found, "", "memory"), 4096.0);
}

const ONE: &str = "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n\
                   35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
                   39 31 0:36 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n\
                   41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";

fn second_of_one(folder: &Folder, n: u64) {
    let cpu = "/sys/fs/cgroup/cpu,cpuacct/lab";
    folder.write(&format!("{cpu}/cpu.cfs_quota_us"), "50000\n");
    folder.write(&format!("{cpu}/cpu.cfs_period_us"), "100000\n");
    folder.write(&format!("{cpu}/web/cpu.cfs_quota_us"), "-1\n");
    folder.write(&format!("{cpu}/web/cpu.cfs_period_us"), "100000\n");
    let held = format!("nr_periods {}\nnr_throttled {}\nthrottled_time {}\n", 10 * n, 4 * n, 150_000_000 * n);
    folder.write(&format!("{cpu}/web/cpu.stat"), &held);
    folder.write(&format!("{cpu}/web/cpuacct.usage"), &format!("{}\n", 500_000_000 * n));
    folder.write(&format!("{cpu}/web/cpuacct.stat"), &format!("user {}\nsystem {}\n", 30 * n, 20 * n));
    let memory = "/sys/fs/cgroup/memory/lab";
    folder.write(&format!("{memory}/memory.limit_in_bytes"), "1000000\n");
    folder.write(&format!("{memory}/web/memory.limit_in_bytes"), "9223372036854771712\n");
    folder.write(&format!("{memory}/web/memory.usage_in_bytes"), "800000\n");
    folder.write(&format!("{memory}/web/memory.stat"), "inactive_file 1\ntotal_inactive_file 300000\n");
    folder.write(&format!("{memory}/web/memory.failcnt"), &format!("{}\n", 2 * n));
    folder
        .write(&format!("{memory}/web/memory.oom_control"), "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n");
    folder.write("/sys/fs/cgroup/pids/lab/web/pids.current", "12\n");
    folder.write("/sys/fs/cgroup/pids/lab/web/pids.max", "100\n");
    // Version 2 is mounted as well. It has no controllers, but it counts all CPU time.
    folder.write("/sys/fs/cgroup/unified/cpu.stat", &format!("usage_usec {}\n", 9_000_000 * n));
}

#[test]
fn version_1_gives_the_same_values_from_its_files() {
    let folder = Folder::new();
    common(&folder, ONE, "7:pids:/lab/web\n4:memory:/lab/web\n2:cpu,cpuacct:/lab/web\n0::/\n");
    let by_path = |path: &str| Group::Path(PathBuf::from(path));
    let groups = [
        Group::Of(Who::Pid(PID)),
        by_path("/sys/fs/cgroup/memory/lab/web"),
        by_path("/sys/fs/cgroup/cpu,cpuacct/lab/web/"),
        by_path("/sys/fs/cgroup/lab/web"),
    ];
    for group in groups {
        let mut cgroup = Cgroup::new(&group, folder.path());
        second_of_one(&folder, 7);
        cgroup.look(second(1)).unwrap();
        second_of_one(&folder, 9);
        let found = cgroup.look(second(3)).unwrap();
        check(&found);
        assert_eq!(fact(&found, "version"), Some("1"));
    }
}

#[test]
fn without_a_quota_nothing_is_throttled_and_the_limit_is_the_machine() {
    let folder = Folder::new();
    common(&folder, TWO, "0::/web\n");
    let path = "/sys/fs/cgroup/web/cpu.stat";
    let mut cgroup = Cgroup::new(&Group::Path(PathBuf::from("/sys/fs/cgroup/web")), folder.path());
    folder.write(path, "usage_usec 0\nnr_periods 0\nnr_throttled 0\nthrottled_usec 0\n");
    cgroup.look(second(1)).unwrap();
    folder.write(path, "usage_usec 2000000\nnr_periods 0\nnr_throttled 0\nthrottled_usec 0\n");
    let found = cgroup.look(second(2)).unwrap();
    assert_eq!((value(&found, "", "cpu"), limit(&found, "", "cpu")), (2.0, Some(4.0)));
    assert!(reading(&found, "", "throttled").is_none());
    assert_eq!(fact(&found, "cpu quota"), Some("none"));
    assert!(reading(&found, "", "memory").is_none(), "a missing value is not 0");
}

#[test]
fn a_missing_group_is_named() {
    let folder = Folder::new();
    common(&folder, TWO, "0::/web\n");
    let mut cgroup = Cgroup::new(&Group::Path(PathBuf::from("/sys/fs/cgroup/none")), folder.path());
    assert_eq!(trouble(&mut cgroup, second(1)), "`/sys/fs/cgroup/none` is not a control group");
    folder.write("/sys/fs/cgroup/none/cpu.stat", "usage_usec 1\n");
    assert!(cgroup.look(second(2)).is_ok(), "it exists now");
}

/// A new group with a quota of 0.05 CPUs. Only root can create it, and only in a writable tree.
struct Made {
    folders: Vec<PathBuf>,
}

impl Made {
    fn new() -> Option<Made> {
        let name = format!("plimsoll-test-{}", std::process::id());
        let (one, two) = (Path::new("/sys/fs/cgroup/cpu"), Path::new("/sys/fs/cgroup"));
        let (trees, quota) = if one.join("cpu.cfs_quota_us").exists() {
            let both = vec![one.to_owned(), two.join("cpuacct")];
            (both, vec![("cpu.cfs_period_us", "100000"), ("cpu.cfs_quota_us", "5000")])
        } else {
            (vec![two.to_owned()], vec![("cpu.max", "5000 100000")])
        };
        let mut made = Made { folders: Vec::new() };
        for tree in trees {
            let folder = tree.join(&name);
            // Both trees may be the same, under two names.
            std::fs::create_dir(&folder)
                .or_else(|error| if folder.is_dir() { Ok(()) } else { Err(error) })
                .ok()?;
            made.folders.push(folder);
        }
        for (file, text) in quota {
            std::fs::write(made.folders[0].join(file), text).ok()?;
        }
        Some(made)
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        for folder in &self.folders {
            let _ = std::fs::remove_dir(folder);
        }
    }
}

#[test]
fn the_group_of_a_real_process_is_found_and_its_quota_throttles_it() {
    // Created before the servant, so that its directories are removed after it.
    let made = Made::new();
    let mut servant = Servant::start(None, "");
    let begin = Instant::now();
    let mut own = Cgroup::new(&Group::Of(Who::Pid(servant.pid())), Path::new("/"));
    own.look(now(begin)).unwrap();
    servant.order("burn", 0.05);
    assert!(value(&own.look(now(begin)).unwrap(), "", "cpu") > 0.0, "its group uses CPU");
    let Some(made) = &made else { return };
    for folder in &made.folders {
        std::fs::write(folder.join("cgroup.procs"), servant.pid().to_string()).unwrap();
    }
    for group in [Group::Path(made.folders[0].clone()), Group::Of(Who::Pid(servant.pid()))] {
        let mut cgroup = Cgroup::new(&group, Path::new("/"));
        let from = now(begin);
        cgroup.look(from).unwrap();
        servant.order("burn", 0.05);
        let to = now(begin);
        let found = cgroup.look(to).unwrap();
        assert_eq!(limit(&found, "", "cpu"), Some(0.05));
        let used = value(&found, "", "cpu") * to.since_s(from);
        assert!((0.045..0.1).contains(&used), "{used}");
        assert!(value(&found, "", "throttled") > 0.3, "{}", value(&found, "", "throttled"));
        assert!(value(&found, "", "throttled_time") > 0.1);
    }
}
