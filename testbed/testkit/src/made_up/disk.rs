//! Small disks: a tmpfs in a private mount namespace, in which the test program runs a second time.

use super::Folder;
use std::path::Path;
use std::process::Command;

/// Variable with the path of the disk in the inner process.
const DISK: &str = "PLIMSOLL_TEST_DISK";

/// Runs `inside` on a new disk of `size_kib`, in another process that runs only the test with the name `test`.
pub fn on_a_disk(test: &str, size_kib: u32, inside: impl FnOnce(&Path)) {
    if let Some(disk) = std::env::var_os(DISK) {
        return inside(Path::new(&disk));
    }
    let folder = Folder::new(test);
    let is_root = std::fs::metadata("/proc/self/ns/mnt").is_ok() && id("-u") == "0";
    let script = format!(
        "mount -t tmpfs -o size={size_kib}k tmpfs \"${DISK}\" || exit 77
         exec \"$0\" --exact {test} --nocapture --test-threads=1"
    );
    let output = Command::new("unshare")
        .args(if is_root { ["--mount"].as_slice() } else { ["--mount", "--map-root-user"].as_slice() })
        .args(["sh", "-c", &script])
        .arg(std::env::current_exe().unwrap())
        .env(DISK, folder.path())
        .output()
        .expect("`unshare` (util-linux) is required for a small disk");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    print!("{text}");
    assert!(
        output.status.code() != Some(77) && !text.contains("unshare failed"),
        "no small disk could be mounted for this test: it needs root or user namespaces \
         (`sysctl kernel.unprivileged_userns_clone`, `kernel.apparmor_restrict_unprivileged_userns`)"
    );
    assert!(output.status.success() && text.contains("1 passed"), "see above");
}

fn id(flag: &str) -> String {
    let output = Command::new("id").arg(flag).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().into()
}

/// Makes the disk read-only.
pub fn write_protect(disk: &Path) {
    let status = Command::new("mount").args(["-o", "remount,ro"]).arg(disk).status().unwrap();
    assert!(status.success());
}
