//! A network of a test's own: the test starts itself again inside a new network namespace, where any address
//! can be local and nothing can leave the machine.

use super::turn::Turn;
use std::os::unix::fs::MetadataExt;
use std::process::Command;

/// Set inside to the name of the test.
const INSIDE: &str = "PLIMSOLL_TEST_INSIDE";

/// The test for which this process was started again by [`inside`].
pub fn inside_of() -> Option<String> {
    std::env::var(INSIDE).ok()
}

/// Runs `body` inside a network namespace. `test` is the caller's full name, such as `permission::a_test`;
/// `setup` is a shell script that prepares the network there, with `lo` up already, such as `ip addr add
/// 203.0.113.5/32 dev lo`. `turn` is [`super::alone`] or [`super::run_alongside`]: the network is the test's own, the
/// CPUs are not, and whom it shares those with only this process knows, so the body takes none.
pub fn inside(test: &str, setup: &str, turn: fn() -> Turn, body: impl FnOnce()) {
    if inside_of().is_some_and(|name| name == test) {
        return body();
    }
    let _turn = turn();
    let is_root = std::fs::metadata("/proc/self").expect("/proc is mounted").uid() == 0;
    let myself = std::env::current_exe().expect("a test knows its own program");
    let script = format!(
        "set -e\nip link set lo up\n{setup}\nexec \"$0\" --exact {test} --include-ignored --nocapture --test-threads 1"
    );
    let output = Command::new("unshare")
        .args([if is_root { "-n" } else { "-rn" }, "sh", "-c", &script])
        .arg(myself)
        .env(INSIDE, test)
        .output()
        .expect("`unshare` (util-linux) is needed and `cargo xtask needs` would install it");
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{test} failed inside its network namespace (which needs root or user namespaces):\n{text}"
    );
}

/// Runs `body` with a new, small disk (a tmpfs of `size_kib` KiB) in a mount namespace; otherwise like [`inside`].
pub fn on_a_disk(test: &str, size_kib: u32, turn: fn() -> Turn, body: impl FnOnce(&std::path::Path)) {
    const DISK: &str = "PLIMSOLL_TEST_DISK";
    if let Some(disk) = std::env::var_os(DISK).filter(|_| inside_of().is_some_and(|name| name == test)) {
        return body(std::path::Path::new(&disk));
    }
    let _turn = turn();
    let scratch = super::Scratch::new();
    let is_root = std::fs::metadata("/proc/self").expect("/proc is mounted").uid() == 0;
    let myself = std::env::current_exe().expect("a test knows its own program");
    let script = format!(
        "set -e\nmount -t tmpfs -o size={size_kib}k tmpfs \"${DISK}\"\nexec \"$0\" --exact {test} \
         --include-ignored --nocapture --test-threads 1"
    );
    let output = Command::new("unshare")
        .args([if is_root { "-m" } else { "-rm" }, "sh", "-c", &script])
        .arg(myself)
        .env(INSIDE, test)
        .env(DISK, scratch.folder())
        .output()
        .expect("`unshare` (util-linux) is needed and `cargo xtask needs` would install it");
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{test} failed inside its mount namespace (which needs root or user namespaces):\n{text}"
    );
}
