//! The gRPC server of `testbed/peers/grpc`, which the scripts in `tests/k6/grpc` call. It ends when its standard input
//! does.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The folder of the scripts that need the server.
pub const FOLDER: &str = "grpc/";

/// A running server.
pub struct Calls {
    server: Child,
    /// Host and port.
    pub address: String,
}

impl Calls {
    /// Builds and starts the server.
    ///
    /// # Errors
    /// Returns a sentence if Go cannot build it, or if it does not start.
    pub fn start(root: &Path, target: &Path) -> Result<Calls, String> {
        let program = target.join("k6diff/grpc-server");
        let mut build = Command::new("go");
        build.args(["build", "-o"]).arg(&program).arg(".").current_dir(root.join("testbed/peers/grpc"));
        build.env("GOTOOLCHAIN", "local").env("GOFLAGS", "-buildvcs=false -mod=readonly");
        let built = build.status().map_err(|e| format!("cannot run `go build`: {e}"))?;
        if !built.success() {
            return Err("`go build` of `testbed/peers/grpc` has failed".into());
        }
        let mut server = Command::new(&program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|e| format!("cannot start `{}`: {e}", program.display()))?;
        let mut line = String::new();
        let read = server.stdout.take().map(|stdout| BufReader::new(stdout).read_line(&mut line));
        let address = line.trim().strip_prefix("listening on ").map(str::to_owned);
        match (read, address) {
            (Some(Ok(_)), Some(address)) => Ok(Calls { server, address }),
            _ => Err("the gRPC server did not say where it listens".into()),
        }
    }
}

impl Drop for Calls {
    fn drop(&mut self) {
        drop(self.server.stdin.take());
        // If it has ended already, there is nothing to wait for.
        let _ = self.server.wait();
    }
}
