//! Real servers by other people, as children: nginx, nghttpd, Node, Go, Jetty, and an event-stream library from npm.
//! Each is on a free port, is waited for until it can be connected to, and ends with its value, or with the test if
//! that is killed.
//!
//! A program that is missing fails the test with the sentence that says how to get it.

mod child;
mod get;
mod nghttpd;
mod nginx;
mod pki;

pub use get::{Answer, exchange};
pub use nghttpd::Nghttpd;
pub use nginx::{LogLine, Nginx, Options};
pub use pki::{LOCAL, Pki};

use child::Child;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Returns the folder of their sources.
fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testbed/peers")
}

/// Returns the folder of their builds, which all test runs of one target folder share.
fn cache() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("peers");
    std::fs::create_dir_all(&folder).expect("the target folder is writable");
    folder
}

/// A script of `testbed/peers/node`, such as `server.mjs`.
pub struct Node {
    child: Child,
}

impl Node {
    pub fn start(script: &str) -> Self {
        Self::start_with(script, &[])
    }

    pub fn start_with(script: &str, args: &[&str]) -> Self {
        let mut command = Command::new("node");
        command.arg(sources().join("node").join(script)).args(args);
        Self { child: Child::start(command, "node", "nodejs") }
    }

    pub fn address(&self) -> SocketAddr {
        self.child.address()
    }

    pub fn url(&self, path: &str) -> String {
        self.child.url(path)
    }

    /// `/stats`: what it counted itself.
    pub fn stats(&self) -> serde_json::Value {
        get::get(self.address(), "/stats").json()
    }
}

/// A Go program of `testbed/peers`, such as `go`.
pub struct GoServer {
    child: Child,
}

impl GoServer {
    pub fn start(folder: &str) -> Self {
        Self::start_with(folder, &[])
    }

    pub fn start_with(folder: &str, args: &[&str]) -> Self {
        // Go looks itself whether anything changed; once a process is enough to ask.
        static BUILT: OnceLock<PathBuf> = OnceLock::new();
        static CALLS: OnceLock<PathBuf> = OnceLock::new();
        static CASES: OnceLock<PathBuf> = OnceLock::new();
        let program = match folder {
            "go" => BUILT.get_or_init(|| build(folder)).clone(),
            "grpc" => CALLS.get_or_init(|| build(folder)).clone(),
            "interop" => CASES.get_or_init(|| build(folder)).clone(),
            _ => build(folder),
        };
        let mut command = Command::new(program);
        command.args(args);
        Self { child: Child::start(command, "go", "golang-go") }
    }

    pub fn address(&self) -> SocketAddr {
        self.child.address()
    }

    pub fn url(&self, path: &str) -> String {
        self.child.url(path)
    }

    /// `/stats`: what it counted itself.
    pub fn stats(&self) -> serde_json::Value {
        get::get(self.address(), "/stats").json()
    }
}

fn build(folder: &str) -> PathBuf {
    // Built aside and renamed, because two test programs may do this at once and one of them may be running it.
    let (aside, program) =
        (cache().join(format!("{folder}-{}", std::process::id())), cache().join(format!("{folder}-server")));
    let mut command = Command::new("go");
    command.args(["build", "-o"]).arg(&aside).arg(".").current_dir(sources().join(folder));
    // No other toolchain is downloaded, and modules only where `go.sum` pins them.
    command.env("GOTOOLCHAIN", "local").env("GOFLAGS", "-buildvcs=false -mod=readonly");
    if !sources().join(folder).join("go.sum").is_file() {
        command.env("GOPROXY", "off");
    }
    child::run(command, "go", "golang-go");
    std::fs::rename(&aside, &program).expect("both lie in the target folder");
    program
}

/// `testbed/peers/sse`: an event-stream server by a library from npm.
pub struct SseServer {
    child: Child,
}

impl SseServer {
    pub fn start() -> Self {
        static INSTALLED: OnceLock<PathBuf> = OnceLock::new();
        let mut command = Command::new("node");
        command.arg(INSTALLED.get_or_init(|| install("sse")).join("server.mjs"));
        Self { child: Child::start(command, "node", "nodejs") }
    }

    pub fn address(&self) -> SocketAddr {
        self.child.address()
    }

    pub fn url(&self, path: &str) -> String {
        self.child.url(path)
    }

    /// `/stats`: what it counted itself.
    pub fn stats(&self) -> serde_json::Value {
        get::get(self.address(), "/stats").json()
    }
}

/// `testbed/peers/websocket`: a WebSocket server over HTTP/1.1 and HTTP/2 by Node and a library from npm.
pub struct SocketServer {
    child: Child,
}

impl SocketServer {
    pub fn start(args: &[&str]) -> Self {
        static INSTALLED: OnceLock<PathBuf> = OnceLock::new();
        let mut command = Command::new("node");
        command.arg(INSTALLED.get_or_init(|| install("websocket")).join("server.mjs")).args(args);
        Self { child: Child::start(command, "node", "nodejs") }
    }

    pub fn address(&self) -> SocketAddr {
        self.child.address()
    }

    /// `/stats`: what it counted itself.
    pub fn stats(&self) -> serde_json::Value {
        get::get(self.address(), "/stats").json()
    }
}

/// `testbed/peers/jetty`: HTTP/2 and WebSockets by Jetty, from Maven Central.
pub struct Jetty {
    child: Child,
    pki: Pki,
}

impl Jetty {
    pub fn start() -> Self {
        static LIBRARIES: OnceLock<PathBuf> = OnceLock::new();
        let pki = Pki::new(LOCAL);
        let (certificate, key) = pki.server();
        let mut command = Command::new("java");
        command.arg("-cp").arg(LIBRARIES.get_or_init(libraries).join("*"));
        command.arg(sources().join("jetty/Server.java")).arg(certificate).arg(key);
        Self { child: Child::start(command, "java", "default-jdk-headless"), pki }
    }

    pub fn url(&self, path: &str) -> String {
        self.child.url(path)
    }

    /// Of its port with TLS.
    pub fn https_url(&self, path: &str) -> String {
        format!("https://localhost:{}{path}", self.stats()["tls_port"])
    }

    pub fn ca_file(&self) -> PathBuf {
        self.pki.ca_file()
    }

    pub fn address(&self) -> SocketAddr {
        self.child.address()
    }

    /// `/stats`: what it counted itself.
    pub fn stats(&self) -> serde_json::Value {
        get::get(self.address(), "/stats").json()
    }
}

/// Copies the libraries of Jetty's `pom.xml` into a folder that is named after it.
fn libraries() -> PathBuf {
    let project = sources().join("jetty/pom.xml");
    let mut hasher = DefaultHasher::new();
    std::fs::read(&project).expect("the checkout is whole").hash(&mut hasher);
    let folder = cache().join(format!("jetty-{:016x}", hasher.finish()));
    if folder.is_dir() {
        return folder;
    }
    let aside = cache().join(format!("jetty-{}", std::process::id()));
    let mut command = Command::new("mvn");
    command.args(["--batch-mode", "--quiet", "--file"]).arg(&project).arg("dependency:copy-dependencies");
    command.arg(format!("-DoutputDirectory={}", aside.display()));
    child::run(command, "mvn", "maven");
    // If another test program was quicker, its folder is as good as this one.
    if std::fs::rename(&aside, &folder).is_err() {
        let _ = std::fs::remove_dir_all(&aside);
    }
    folder
}

/// Installs after the lock file into a folder that is named after all that goes into it.
fn install(peer: &str) -> PathBuf {
    let entries = std::fs::read_dir(sources().join(peer)).expect("the checkout is whole");
    let names = entries.map(|entry| entry.expect("the folder is readable").file_name());
    let mut names: Vec<_> = names.filter_map(|name| name.into_string().ok()).collect();
    names.retain(|name| name.ends_with(".json") || name.ends_with(".mjs"));
    names.sort();
    let read = |name: &String| std::fs::read(sources().join(peer).join(name)).expect("the checkout is whole");
    let mut hasher = DefaultHasher::new();
    names.iter().map(read).collect::<Vec<_>>().hash(&mut hasher);
    let folder = cache().join(format!("{peer}-{:016x}", hasher.finish()));
    if folder.join("node_modules").is_dir() {
        return folder;
    }
    let aside = cache().join(format!("{peer}-{}", std::process::id()));
    std::fs::create_dir_all(&aside).expect("the target folder is writable");
    for name in &names {
        std::fs::write(aside.join(name), read(name)).expect("the target folder is writable");
    }
    let mut command = Command::new("npm");
    command.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]).current_dir(&aside);
    child::run(command, "npm", "npm");
    // If another test program was quicker, its folder is as good as this one.
    if std::fs::rename(&aside, &folder).is_err() {
        let _ = std::fs::remove_dir_all(&aside);
    }
    assert!(folder.join("node_modules").is_dir(), "`npm ci` left no node_modules in {}", folder.display());
    folder
}
