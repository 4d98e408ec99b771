//! Limits of the control group of this process, for both cgroup versions. The tightest group up to the root counts.

/// Reads a file; returns `None` if it is missing.
type Read<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Returns the CPU time limit in cores, if there is one. `own_groups` is the content of `/proc/self/cgroup`.
pub fn cpu_quota(own_groups: &str, read: Read<'_>) -> Option<f64> {
    let two = folders(own_groups, "").filter_map(|folder| {
        // `max 100000`, or quota and period in µs.
        let text = read(&format!("{folder}/cpu.max"))?;
        let (quota, period) = text.split_once(' ')?;
        Some(quota.parse::<f64>().ok()? / period.trim().parse::<f64>().ok()?)
    });
    let one = folders(own_groups, "cpu").filter_map(|folder| {
        // -1 means no limit.
        let quota: f64 = read(&format!("{folder}/cpu.cfs_quota_us"))?.parse().ok()?;
        let period: f64 = read(&format!("{folder}/cpu.cfs_period_us"))?.parse().ok()?;
        (quota > 0.0).then_some(quota / period)
    });
    two.chain(one).filter(|cores| cores.is_finite()).reduce(f64::min)
}

/// Returns the memory limit in bytes, if there is one.
pub fn memory_limit(own_groups: &str, read: Read<'_>) -> Option<u64> {
    let two =
        folders(own_groups, "").filter_map(|folder| read(&format!("{folder}/memory.max"))?.parse().ok());
    let one = folders(own_groups, "memory")
        .filter_map(|folder| read(&format!("{folder}/memory.limit_in_bytes"))?.parse().ok());
    two.chain(one).min()
}

/// Returns the folders of the process's group and its ancestors, for one controller of version 1, or for version 2
/// (`""`). Lines of `/proc/self/cgroup` are `number:controllers:path` (cgroups(7)).
fn folders(own_groups: &str, controller: &str) -> impl Iterator<Item = String> {
    let line = own_groups.lines().find_map(|line| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        controllers
            .split(',')
            .any(|name| name == controller)
            .then(|| (controllers.to_owned(), path.to_owned()))
    });
    let mut all = Vec::new();
    if let Some((controllers, path)) = line {
        let mount = if controllers.is_empty() {
            "/sys/fs/cgroup".to_owned()
        } else {
            format!("/sys/fs/cgroup/{controllers}")
        };
        let mut path = path.trim_end_matches('/').to_owned();
        loop {
            all.push(format!("{mount}{path}"));
            let Some(cut) = path.rfind('/') else { break };
            path.truncate(cut);
        }
    }
    all.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(list: &'static [(&str, &str)]) -> impl Fn(&str) -> Option<String> {
        move |path| list.iter().find(|f| f.0 == path).map(|f| f.1.to_owned())
    }

    #[test]
    fn version_2_takes_the_tightest_group_on_the_way_up() {
        let read = files(&[
            ("/sys/fs/cgroup/a/b/cpu.max", "max 100000"),
            ("/sys/fs/cgroup/a/cpu.max", "150000 100000"),
            ("/sys/fs/cgroup/a/b/memory.max", "1000"),
            ("/sys/fs/cgroup/a/memory.max", "max"),
        ]);
        assert_eq!(cpu_quota("0::/a/b\n", &read), Some(1.5));
        assert_eq!(memory_limit("0::/a/b\n", &read), Some(1_000));
    }

    #[test]
    fn version_1_has_a_folder_per_controller() {
        let groups = "4:memory:/x\n3:cpu,cpuacct:/x\n";
        let read = files(&[
            ("/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", "50000"),
            ("/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us", "100000"),
            ("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1"),
            ("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000"),
            ("/sys/fs/cgroup/memory/x/memory.limit_in_bytes", "2000"),
        ]);
        assert_eq!(cpu_quota(groups, &read), Some(0.5));
        assert_eq!(memory_limit(groups, &read), Some(2_000));
    }

    #[test]
    fn no_group_no_limit() {
        assert_eq!((cpu_quota("", &|_| None), memory_limit("0::/\n", &|_| None)), (None, None));
    }
}
