//! Command lines of the tools, with their placeholders.

pub const OWN_PLAIN: &str = "{url} -c {conns} -d {secs}s --quiet --out {out}";
pub const OWN_READ: &str = "{url} -c {conns} -d {secs}s --read-bodies --quiet --out {out}";
/// With buffers of given sizes, in addition to the one that depends on the machine's cache.
pub const OWN_READ_SMALL: &str =
    "{url} -c {conns} -d {secs}s --read-bodies --limit read_buffer_bytes=64k --quiet --out {out}";
pub const OWN_READ_LARGE: &str =
    "{url} -c {conns} -d {secs}s --read-bodies --limit read_buffer_bytes=256k --quiet --out {out}";
pub const OWN_OPEN: &str = "{url} -r {rate} --max-connections {conns} -d {secs}s --quiet --out {out}";
// The stream never ends: without its own timeout, every request would time out and be retried.
pub const OWN_IDLE: &str = "{url} -c {conns} -d 120s --timeout 300s --quiet --out {out}";

/// The experiment file of the bench contains the steps, the duration, and the users.
pub const OWN_FILE: &str = "run {file} --quiet --out {out}";
/// The same for one iteration of one user: what a start costs without a load.
pub const OWN_FILE_ONCE: &str = "run {once} --quiet --out {out}";
/// A script of k6, in both tools.
pub const OWN_SCRIPT: &str = "run {script} -c {conns} -d {secs}s --set URL={url} --quiet --out {out}";
pub const OWN_SCRIPT_ONCE: &str = "run {script} -c 1 -n 1 --set URL={url} --quiet --out {out}";
pub const OWN_SCRIPT_OPEN: &str = "run {here}/k6-rate.js --set URL={url} --set RATE={rate} --set SECS={secs} \
                               --set VUS={conns} --quiet --out {out}";
pub const OWN_SCRIPT_HELD: &str =
    "run {here}/k6-hold.js --set URL={url} --set VUS={conns} --set SECS=300 --quiet --out {out}";
pub const K6_SCRIPT: &str = "run -q --no-usage-report --vus {conns} --duration {secs}s -e URL={url} {script}";
pub const K6_SCRIPT_ONCE: &str = "run -q --no-usage-report --vus 1 --iterations 1 -e URL={url} {script}";
/// A script of wrk, in both tools.
pub const OWN_LUA: &str = "wrk -t1 -c{conns} -d{secs}s -s {lua} --save {out} {url}";
pub const BASE_LUA: &str = "-t1 -c{conns} -d{secs}s -s {lua} {url}";
/// A test plan, in both tools.
pub const OWN_PLAN: &str =
    "run {here}/plan-get.jmx -J port={port} -J users={conns} -J secs={secs} --quiet --out {out}";
pub const OWN_PLAN_ONCE: &str = "run {here}/plan-get.jmx -J port={port} -J loops=1 --quiet --out {out}";
pub const JMETER_PLAN: &str =
    "-jar {jmeter} -n -t {here}/plan-get.jmx -j {scrap} -Jport={port} -Jusers={conns} -Jsecs={secs}";
pub const JMETER_PLAN_ONCE: &str =
    "-jar {jmeter} -n -t {here}/plan-get.jmx -j {scrap} -Jport={port} -Jloops=1";
pub const OWN_HTTP2_OPEN: &str =
    "{url} --http2 -r {rate} --max-connections {conns} --streams {streams} -d {secs}s --quiet --out {out}";
pub const OWN_HTTP2_HELD: &str =
    "{url} --http2 -c {conns} --streams {streams} -d 120s --timeout 300s --quiet --out {out}";
/// The base of HTTP/2.
pub const H2LOAD: &str = "-t1 -c {conns} -m {streams} -D {secs} {url}";
pub const H2LOAD_ONCE: &str = "-t1 -c 1 -m 1 -n 1 {url}";
pub const H2LOAD_OPEN: &str = "-t1 -c {conns} -m {streams} --rps {rate_each} -D {secs} {url}";
pub const H2LOAD_HELD: &str = "-t1 -c {conns} -m {streams} -n {streams_all} {url}";
/// The client of `bench/examples/websocket_echo.rs`.
pub const ECHO: &str = "{address} {conns} {secs}";
pub const ECHO_ONCE: &str = "{address} 1 0";
pub const GHZ: &str = "--insecure --proto {here}/call.proto --call echo.v1.Echo/Send -d {message} \
                   --connections {conns} -c {streams_all} -n 0 -z {secs}s --cpus 1 -O summary {address}";
pub const GHZ_ONCE: &str = "--insecure --proto {here}/call.proto --call echo.v1.Echo/Send -d {message} -c 1 -n 1 \
                        --cpus 1 -O summary {address}";

/// The client of `bench/tonic`.
pub const TONIC_CALLS: &str = "{address} {conns} {streams} {secs}";
pub const TONIC_ONCE: &str = "{address} 1 1 0";

pub const BASE_CLOSING: &str = "-t1 -c{conns} -d{secs}s -H {close} {url}";
/// The base's closest equivalent to a templated POST: a script.
pub const BASE_SCRIPTED: &str = "-t1 -c{conns} -d{secs}s -s {here}/wrk-post.lua {url}";

/// The message of a gRPC call: 32 bytes with the number of its field.
pub const MESSAGE: &str = r#"{"a_string":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}"#;
