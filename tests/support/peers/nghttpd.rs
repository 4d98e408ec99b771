//! `nghttpd`: HTTP/2 by libnghttp2, whose log has a line for each frame.

use super::child::{Child, text};
use crate::support::Scratch;
use std::process::Command;

/// Prints where the server listens, which takes a free port and does not say which, and ends it when stdin ends.
const GUARD: &str = r#"exec 3<&0
nghttpd "$@" >"$0" 2>&1 3<&- & server=$!
{ cat <&3 >/dev/null; kill -TERM $server 2>/dev/null; } &
exec 3<&-
while kill -0 $server && [ -z "$address" ]; do
  address=$(ss -Hltnp | awk -v server="pid=$server," 'index($0, server) { print $4 }')
  [ -n "$address" ] || sleep 0.02
done
echo "listening on $address"
wait $server"#;

pub struct Nghttpd {
    child: Child,
    scratch: Scratch,
}

impl Nghttpd {
    /// Starts one without TLS that serves `file`, with these further arguments.
    pub fn start(name: &str, content: &str, args: &[&str]) -> Self {
        let scratch = Scratch::new();
        let file = scratch.file(name, content);
        let folder = std::path::Path::new(&file).parent().expect("a file is in a folder").to_owned();
        let mut command = Command::new("sh");
        command.args(["-c", GUARD, &scratch.path("frames"), "--no-tls", "-v", "-a", "127.0.0.1", "-d"]);
        command.arg(folder).args(args).arg("0");
        Self { child: Child::start(command, "nghttpd", "nghttp2-server"), scratch }
    }

    pub fn url(&self, path: &str) -> String {
        self.child.url(path)
    }

    /// Returns how many frames of this type it has received.
    pub fn received(&self, frame: &str) -> usize {
        let is_one = |line: &&str| line.contains("recv") && line.contains(frame) && line.contains("frame");
        text(&self.scratch, "frames").lines().filter(is_one).count()
    }
}
