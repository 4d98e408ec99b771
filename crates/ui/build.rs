//! Builds the scripts from `web/` with Node, once for all profiles, and records why if that is impossible; without
//! Node, everything else still builds. The work happens in `target/ui/KEY`, named after the content of the sources,
//! never in the source tree. Existing results are reused, even without Node.

use std::ffi::OsStr;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const WITHOUT: &str = "PLIMSOLL_WITHOUT_UI";
/// Requirement of the bundlers (`engines` of vite and rolldown): `^20.19.0 || >=22.12.0`.
const NODE_20: (u32, u32) = (20, 19);
const NODE_LATER: (u32, u32) = (22, 12);
/// Not part of the result, so changing these does not start the bundler.
const LEFT_OUT: [&str; 3] = ["node_modules", "fixture", "dist"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=PATH");
    println!("cargo::rerun-if-env-changed={WITHOUT}");
    println!("cargo::rerun-if-env-changed=CARGO_NET_OFFLINE");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default());
    let made = made(&out);
    let (is_without, odd) = without();
    if let Some(odd) = odd {
        println!("cargo::warning=invalid value {WITHOUT}={odd}: use 1 to build without the scripts, or 0");
    }
    if let Err(why) = &made
        && !is_without
    {
        println!("cargo::warning=building without the report's script and the console: {why}");
    }
    if let Err(e) = embed(&out, made) {
        println!("cargo::error=cannot write the result: {e}");
    }
}

/// Returns whether to build without the scripts, and an invalid value of the variable.
fn without() -> (bool, Option<String>) {
    let value = std::env::var_os(WITHOUT).map(|value| value.to_string_lossy().into_owned());
    match value.as_deref() {
        Some("1") => (true, None),
        None | Some("" | "0") => (false, None),
        // A single line, because cargo interprets the next one.
        Some(odd) => (false, Some(odd.chars().filter(|c| !c.is_control()).take(40).collect())),
    }
}

/// Why the scripts cannot be built, and how to get them; the second may be empty.
struct Missing {
    why: String,
    fix: String,
}

impl From<String> for Missing {
    fn from(why: String) -> Self {
        Missing { why, fix: String::new() }
    }
}

/// Formatted as a single line for cargo's warnings.
impl std::fmt::Display for Missing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.why)?;
        if self.fix.is_empty() { Ok(()) } else { write!(f, "; {}", self.fix) }
    }
}

/// Returns the folder with the finished scripts.
fn made(out: &Path) -> Result<PathBuf, Missing> {
    let web = Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("web");
    // Cargo watches whole folders, so `web` itself would include node_modules.
    for entry in names(&web)?.iter().filter(|name| !LEFT_OUT.contains(&name.as_str())) {
        println!("cargo::rerun-if-changed=web/{entry}");
    }
    if without().0 {
        let why = format!("this build was made with {WITHOUT}=1");
        return Err(Missing { why, fix: "build again without it".into() });
    }
    let mut sources = Vec::new();
    gather(&web, "", &mut sources)?;
    let work = shared(out).join("ui").join(key(&sources));
    let dist = work.join("dist");
    // Written last, under a lock, so a folder that contains it is complete.
    let finished = work.join("finished");
    if finished.is_file() {
        return Ok(dist);
    }
    needs_node()?;
    say(fs::create_dir_all(&work), "cannot create the work folder")?;
    let lock = say(fs::File::create(work.join("lock")), "cannot create the lock file")?;
    // Another profile may be building. The system releases the lock when a build is killed.
    say(lock.lock(), "cannot wait for another build")?;
    if finished.is_file() {
        return Ok(dist);
    }
    for (path, bytes) in &sources {
        let to = work.join(path);
        say(fs::create_dir_all(to.parent().unwrap_or(&work)), "cannot create the work folder")?;
        say(fs::write(&to, bytes), "cannot copy the sources")?;
    }
    let quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--include=dev", "--no-update-notifier"];
    // The npm cache first: most builds need no network, and an unresponsive network costs minutes.
    let kept = npm(&work, [&["ci"][..], &quiet, &["--offline"]].concat());
    if kept.is_err() {
        let is_offline =
            std::env::var_os("CARGO_NET_OFFLINE").is_some_and(|value| value == "true" || value == "1");
        if is_offline {
            return Err("cargo is offline, and the npm cache lacks some packages".to_owned().into());
        }
        // One retry after a second, so that a build without network does not wait long.
        let patience = [
            "--prefer-offline",
            "--fetch-timeout=10000",
            "--fetch-retries=1",
            "--fetch-retry-mintimeout=1000",
        ];
        npm(&work, [&["ci"][..], &quiet, &patience].concat())?;
    }
    npm(&work, vec!["run", "build"])?;
    // Frees 100 MB; other sources get another folder. Failing to remove them does no harm.
    let _ = fs::remove_dir_all(work.join("node_modules"));
    say(fs::write(&finished, "yes\n"), "cannot finish the work folder")?;
    Ok(dist)
}

fn needs_node() -> Result<(), Missing> {
    let fix = format!(
        "install Node {}.{} or newer (or {} since {}.{}) with npm, then `touch crates/ui/build.rs` and build again",
        NODE_LATER.0, NODE_LATER.1, NODE_20.0, NODE_20.0, NODE_20.1
    );
    let lacks = |why: String| Missing { why, fix: fix.clone() };
    let version = describe("node").ok_or_else(|| lacks("Node was not found".into()))?;
    describe("npm").ok_or_else(|| lacks("npm was not found".into()))?;
    let mut numbers = version.trim().trim_start_matches('v').split('.').map(|n| n.parse().unwrap_or(0));
    let found = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    let fits = found >= NODE_LATER || (found.0 == NODE_20.0 && found >= NODE_20);
    if fits { Ok(()) } else { Err(lacks(format!("Node {} cannot run the bundler", version.trim()))) }
}

/// Returns the output of `--version`, if the program can be run.
fn describe(program: &str) -> Option<String> {
    let output = Command::new(program).arg("--version").stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

fn npm(work: &Path, arguments: Vec<&str>) -> Result<(), Missing> {
    let again = "then `touch crates/ui/build.rs` and build again";
    // A production environment would omit the bundler. Output of npm must not reach cargo, which interprets it.
    let run = Command::new("npm")
        .args(&arguments)
        .current_dir(work)
        .env_remove("NODE_ENV")
        .stdin(Stdio::null())
        .output()
        .map_err(|e| Missing { why: format!("cannot start npm: {e}"), fix: again.into() })?;
    if run.status.success() {
        return Ok(());
    }
    let _ = fs::write(work.join("npm.log"), [&run.stdout[..], &run.stderr].concat());
    let log = work.join("npm.log");
    let verb = arguments.iter().take(2).copied().collect::<Vec<_>>().join(" ");
    let verb = verb.trim_end_matches(" --ignore-scripts");
    let why = "it needs the npm registry the first time";
    let why = format!("`npm {verb}` failed ({why}, see `{}`)", log.display());
    Err(Missing { why, fix: format!("fix this, {again}") })
}

/// Returns the folder that all profiles share: the one that cargo has tagged as its own, or the one above
/// `PROFILE/build/NAME/out`.
fn shared(out: &Path) -> &Path {
    let tagged = out.ancestors().find(|folder| folder.join("CACHEDIR.TAG").is_file());
    let usual = || out.ancestors().nth(2).filter(|folder| folder.ends_with("build"))?.ancestors().nth(2);
    tagged.or_else(usual).unwrap_or(out)
}

/// Sorted, because the order within a folder differs between machines.
fn names(folder: &Path) -> Result<Vec<String>, String> {
    let entries = say(fs::read_dir(folder), "cannot list the sources")?;
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    names.sort();
    Ok(names)
}

fn gather(folder: &Path, prefix: &str, into: &mut Vec<(String, Vec<u8>)>) -> Result<(), String> {
    for name in names(folder)? {
        let path = folder.join(&name);
        if LEFT_OUT.contains(&name.as_str()) || name.ends_with(".test.ts") {
            continue;
        }
        let inside = format!("{prefix}{name}");
        if path.is_dir() {
            gather(&path, &format!("{inside}/"), into)?;
        } else {
            into.push((inside, say(fs::read(&path), "cannot read a source")?));
        }
    }
    Ok(())
}

/// FNV-1a, 128 bit (Fowler, Noll, Vo). Nothing attacks the name of a build folder, and a build without dependencies
/// is fast.
fn key(sources: &[(String, Vec<u8>)]) -> String {
    let mut hash: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    let mut eat = |bytes: &[u8]| {
        for byte in (bytes.len() as u64).to_le_bytes().iter().chain(bytes) {
            hash = (hash ^ u128::from(*byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        }
    };
    // The build commands determine the result as well.
    eat(include_bytes!("build.rs"));
    for (path, bytes) in sources {
        eat(path.as_bytes());
        eat(bytes);
    }
    format!("{hash:032x}")
}

/// Copies the files to `OUT_DIR`, because the shared folder may be removed while this crate still counts as built.
fn embed(out: &Path, made: Result<PathBuf, Missing>) -> std::io::Result<()> {
    let (mut script, mut console, mut missing) = ("None".to_owned(), String::new(), "None".to_owned());
    match made {
        Err(Missing { why, fix }) => missing = format!("Some(Missing {{ why: {why:?}, fix: {fix:?} }})"),
        Ok(dist) => {
            fs::copy(dist.join("report/report.js"), out.join("report.js"))?;
            script = r#"Some(include_str!(concat!(env!("OUT_DIR"), "/report.js")))"#.to_owned();
            let mut files = Vec::new();
            gather(&dist.join("console"), "", &mut files).map_err(std::io::Error::other)?;
            for (path, bytes) in files {
                let to = out.join("console").join(&path);
                fs::create_dir_all(to.parent().unwrap_or(out))?;
                fs::write(&to, bytes)?;
                let mime = mime(Path::new(&path));
                let _ = writeln!(
                    console,
                    "    File {{ path: {path:?}, mime: {mime:?}, bytes: \
                     include_bytes!(concat!(env!(\"OUT_DIR\"), {:?})) }},",
                    format!("/console/{path}")
                );
            }
        }
    }
    let made = format!(
        "const REPORT_SCRIPT: Option<&str> = {script};\nconst CONSOLE_FILES: &[File] = &[\n{console}];\n\
         const MISSING: Option<Missing> = {missing};\n"
    );
    fs::write(out.join("made.rs"), made)
}

fn mime(path: &Path) -> &'static str {
    match path.extension().and_then(OsStr::to_str) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("json") => "application/json",
        Some("png") => "image/png",
        Some("woff2") => "font/woff2",
        _ => "application/octet-stream",
    }
}

fn say<T>(result: std::io::Result<T>, what: &str) -> Result<T, String> {
    result.map_err(|e| format!("{what}: {e}"))
}
