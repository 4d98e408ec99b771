//! Location of a control group's files: version 1 has a tree per controller, version 2 one for all, and a machine may
//! have both (cgroups(7)).

use crate::monitor::files::Files;
use std::path::Path;

/// Folders of one group.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// Version 2.
    pub unified: Option<Folder>,
    /// Version 1, by controller.
    pub single: Vec<(String, Folder)>,
}

/// One group in one tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    pub path: String,
    /// Mount point of the tree.
    pub top: String,
}

/// One tree.
struct Mount {
    point: String,
    /// Group at `point`, which in a container is often not the root group.
    root: String,
    /// Controllers, in version 1 only.
    controllers: Option<Vec<String>>,
}

impl Folder {
    /// Returns this group and its ancestors, innermost first; the limits of all of them apply.
    pub fn upward(&self) -> impl Iterator<Item = &str> {
        let mut next = Some(self.path.as_str());
        std::iter::from_fn(move || {
            let here = next?;
            next = here.rsplit_once('/').map(|(above, _)| above).filter(|above| above.starts_with(&self.top));
            Some(here)
        })
    }
}

impl Place {
    /// Returns the group of a process.
    pub fn of(files: &mut Files, pid: u32) -> Option<Place> {
        let mounts = mounts(files)?;
        let groups = files.text(&format!("/proc/{pid}/cgroup"))?;
        let mut place = Place::default();
        // Format: `number:controllers:path`.
        for (controllers, path) in groups.lines().filter_map(|line| line.split_once(':')?.1.split_once(':')) {
            if controllers.is_empty() {
                let mount = mounts.iter().find(|mount| mount.controllers.is_none());
                place.unified = mount.map(|mount| mount.folder(path));
                continue;
            }
            for controller in controllers.split(',') {
                if let Some(mount) = mounts.iter().find(|mount| mount.has(controller)) {
                    place.single.push((controller.to_owned(), mount.folder(path)));
                }
            }
        }
        Some(place)
    }

    /// Returns the group of a folder such as `/sys/fs/cgroup/web`, or, in version 1, `/sys/fs/cgroup/cpu/web`, whose
    /// other controllers have the same name.
    pub fn at(files: &mut Files, path: &Path) -> Option<Place> {
        let mounts = mounts(files)?;
        let path = path.to_str()?.trim_end_matches('/');
        let below = |mount: &Mount| {
            path.strip_prefix(&mount.point)
                .filter(|rest| rest.is_empty() || rest.starts_with('/'))
                .map(str::to_owned)
        };
        let inner =
            mounts.iter().filter(|mount| below(mount).is_some()).max_by_key(|mount| mount.point.len());
        let name = match inner {
            Some(mount) if mount.controllers.is_none() => {
                let folder = Folder { path: path.to_owned(), top: mount.point.clone() };
                let there = files.path(path).is_dir();
                return there.then(|| Place { unified: Some(folder), single: Vec::new() });
            }
            Some(mount) => below(mount)?,
            // Version 1 without a controller's name.
            None => path.strip_prefix("/sys/fs/cgroup")?.to_owned(),
        };
        let mut place = Place::default();
        for mount in &mounts {
            let folder = Folder { path: format!("{}{name}", mount.point), top: mount.point.clone() };
            if files.path(&folder.path).is_dir() {
                for controller in mount.controllers.iter().flatten() {
                    place.single.push((controller.clone(), folder.clone()));
                }
            }
        }
        (!place.single.is_empty()).then_some(place)
    }

    pub fn controller(&self, name: &str) -> Option<&Folder> {
        self.single.iter().find(|(controller, _)| controller == name).map(|(_, folder)| folder)
    }

    /// Returns the CPU time limit of the group in cores, if there is one.
    pub fn cpu_limit(&self, files: &mut Files) -> Option<f64> {
        let mut least: Option<f64> = None;
        let mut take = |cores: f64| {
            if cores.is_finite() && cores > 0.0 {
                least = Some(least.map_or(cores, |least| least.min(cores)));
            }
        };
        for folder in self.unified.iter().flat_map(Folder::upward) {
            // `max 100000`, or quota and period in µs.
            if let Some((quota, period)) = files.text(&format!("{folder}/cpu.max")).and_then(two) {
                take(quota / period);
            }
        }
        for folder in self.controller("cpu").into_iter().flat_map(Folder::upward) {
            // A quota of -1 means no limit.
            if let Some(quota) = files.number(&format!("{folder}/cpu.cfs_quota_us"))
                && let Some(period) = files.number(&format!("{folder}/cpu.cfs_period_us"))
            {
                take(quota / period);
            }
        }
        least
    }

    /// Returns the memory limit of the group in bytes, if there is one.
    pub fn memory_limit(&self, files: &mut Files) -> Option<f64> {
        let two = self.unified.iter().flat_map(Folder::upward).map(|folder| format!("{folder}/memory.max"));
        let one = self.controller("memory").into_iter().flat_map(Folder::upward);
        let one = one.map(|folder| format!("{folder}/memory.limit_in_bytes"));
        two.chain(one)
            .filter_map(|file| files.number(&file))
            .filter(|bytes| *bytes < UNLIMITED)
            .reduce(f64::min)
    }
}

/// Version 1 writes "no limit" as the largest multiple of a page in a signed word; real memory is below half of that.
const UNLIMITED: f64 = (1u64 << 62) as f64;

fn two(text: &str) -> Option<(f64, f64)> {
    let (first, second) = text.trim().split_once(' ')?;
    Some((first.parse().ok()?, second.parse().ok()?))
}

impl Mount {
    fn has(&self, controller: &str) -> bool {
        self.controllers.iter().flatten().any(|own| own == controller)
    }

    fn folder(&self, group: &str) -> Folder {
        // In a container, the path may be the one that the host uses.
        let rest = if self.root == "/" { group } else { group.strip_prefix(&self.root).unwrap_or(group) };
        let path = format!("{}{}", self.point, rest.trim_end_matches('/'));
        Folder { path, top: self.point.clone() }
    }
}

/// Returns all cgroup mounts from lines `36 35 0:29 /root /point options - type source super-options` (proc(5)).
fn mounts(files: &mut Files) -> Option<Vec<Mount>> {
    let text = files.text("/proc/self/mountinfo")?;
    let mount = |line: &str| {
        let (place, kind) = line.split_once(" - ")?;
        let place: Vec<&str> = place.split(' ').collect();
        let (root, point) = (place.get(3)?.to_string(), place.get(4)?.to_string());
        let kind: Vec<&str> = kind.split(' ').collect();
        let controllers = match *kind.first()? {
            "cgroup2" => None,
            // The list may include options that are not controllers (`rw`), which are never looked up.
            "cgroup" => Some(kind.get(2)?.split(',').map(str::to_owned).collect()),
            _ => return None,
        };
        Some(Mount { point, root, controllers })
    };
    Some(text.lines().filter_map(mount).collect())
}
