//! Scripts that ask a Redis server for data. Expected values are those of k6 1.8.1, the last version with this module,
//! unless said otherwise.

use crate::support::peers::{LOCAL, Pki};
use crate::support::{Ruler, Scratch, Tool};
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, TcpListener};
use std::process::{Child, Command, Stdio};

/// A server that ends with this value.
struct Redis {
    child: Child,
    port: u16,
}

impl Redis {
    fn start(options: &[&str]) -> Redis {
        Redis::start_on("--port", options)
    }

    /// Starts a server whose option `port` gets a free port.
    fn start_on(option: &str, options: &[&str]) -> Redis {
        // Another process may take the port first.
        for _ in 0..5 {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
            let port = listener.local_addr().expect("an address").port();
            drop(listener);
            let own = ["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", option, &port.to_string()];
            let child = Command::new("redis-server").args(own).args(options).stdout(Stdio::piped()).spawn();
            let mut child = child.expect("redis-server: apt-get install redis-server");
            let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines().map_while(Result::ok);
            if lines.take_while(|line| !line.contains("exiting")).any(|line| line.contains("Ready to accept"))
            {
                return Redis { child, port };
            }
            child.wait().expect("its end");
        }
        panic!("redis-server does not start");
    }

    fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a function body with `client` and `log`, a function that writes a value or why there is none.
fn logged(url: &str, body: &str) -> Vec<String> {
    let scratch = Scratch::new();
    let script = format!(
        "import redis from 'k6/experimental/redis';\n\
         const client = new redis.Client(__ENV.REDIS);\n\
         const show = (value) => console.log(`> ${{typeof value}} ${{JSON.stringify(value)}}`);\n\
         const log = (promise) => promise.then(show, (why) => console.log(`> rejected ${{why}}`));\n\
         export default async function () {{\n{body}\n}}\n"
    );
    let file = scratch.file("load.js", &script);
    let output = Tool::run(&["k6", "run", "--quiet", "--no-color", "-e", &format!("REDIS={url}"), &file]);
    assert_eq!(output.code, 0, "{}{}", output.stdout, output.stderr);
    let text = format!("{}{}", output.stdout, output.stderr);
    let lines = text.lines().filter_map(|line| line.split_once("msg=\"> "));
    lines.map(|(_, rest)| rest.rsplit_once("\" source=").expect("a source").0.replace("\\\"", "\"")).collect()
}

#[track_caller]
fn shows(url: &str, calls: &[(&str, &str)]) {
    let body: Vec<String> = calls.iter().map(|(call, _)| format!("await log({call});")).collect();
    let expected: Vec<&str> = calls.iter().map(|(_, shown)| *shown).collect();
    assert_eq!(logged(url, &body.join("\n")), expected);
}

#[test]
fn each_command_has_the_result_of_k6() {
    let redis = Redis::start(&[]);
    shows(
        &redis.url(),
        &[
            ("client.randomKey()", "rejected redis: nil"),
            ("client.set('a', 'x', 0)", "string \"OK\""),
            ("client.randomKey()", "string \"a\""),
            ("client.set('truth', true)", "string \"OK\""),
            ("client.get('truth')", "string \"1\""),
            ("client.set('large', 1e21, 10)", "string \"OK\""),
            ("client.get('large')", "string \"1000000000000000000000\""),
            ("client.set('small', 1e-7, 2.9)", "string \"OK\""),
            ("client.get('small')", "string \"0.0000001\""),
            ("client.ttl('small')", "number 2"),
            ("client.set('n', 5, -5)", "string \"OK\""),
            // k6 returns these in nanoseconds.
            ("client.ttl('n')", "number -1"),
            ("client.ttl('none')", "number -2"),
            ("client.get('none')", "rejected redis: nil"),
            ("client.getSet('a', 'y')", "string \"x\""),
            ("client.getDel('a')", "string \"y\""),
            ("client.exists('a', 'n', 'n')", "number 2"),
            ("client.incr('n')", "number 6"),
            ("client.incrBy('n', 4)", "number 10"),
            ("client.decr('n')", "number 9"),
            ("client.decrBy('n', 3)", "number 6"),
            ("client.mget('n', 'none')", "object [\"6\",null]"),
            ("client.expire('n', 100)", "boolean true"),
            ("client.persist('n')", "boolean true"),
            ("client.persist('n')", "boolean false"),
            ("client.del('n', 'small', 'none')", "number 2"),
            ("client.rpush('list', 'b', 1, true)", "number 3"),
            ("client.lpush('list', 'a', 'a')", "number 5"),
            ("client.lrange('list', 0, -1)", "object [\"a\",\"a\",\"b\",\"1\",\"1\"]"),
            ("client.lrem('list', 1, 'a')", "number 1"),
            ("client.lset('list', 0, 'z')", "string \"OK\""),
            ("client.lindex('list', 0)", "string \"z\""),
            ("client.lindex('list', 9)", "rejected redis: nil"),
            ("client.llen('list')", "number 4"),
            ("client.lpop('list')", "string \"z\""),
            ("client.rpop('list')", "string \"1\""),
            ("client.lpop('none')", "rejected redis: nil"),
            ("client.lset('none', 0, 'x')", "rejected ERR no such key"),
            ("client.hset('hash', 'f', 1)", "number 1"),
            ("client.hsetnx('hash', 'f', 'v')", "boolean false"),
            ("client.hsetnx('hash', 'g', 'v')", "boolean true"),
            ("client.hget('hash', 'f')", "string \"1\""),
            ("client.hget('hash', 'none')", "rejected redis: nil"),
            ("client.hincrby('hash', 'f', 2)", "number 3"),
            ("client.hgetall('hash')", "object {\"f\":\"3\",\"g\":\"v\"}"),
            ("client.hgetall('none')", "object {}"),
            ("client.hkeys('hash')", "object [\"f\",\"g\"]"),
            ("client.hvals('hash')", "object [\"3\",\"v\"]"),
            ("client.hlen('hash')", "number 2"),
            ("client.hdel('hash', 'f', 'none')", "number 1"),
            ("client.sadd('set', 'a', 2, 'a')", "number 2"),
            ("client.sismember('set', 2)", "boolean true"),
            ("client.sismember('set', 3)", "boolean false"),
            ("client.srem('set', 2, 3)", "number 1"),
            ("client.smembers('set')", "object [\"a\"]"),
            ("client.srandmember('set')", "string \"a\""),
            ("client.spop('set')", "string \"a\""),
            ("client.spop('set')", "rejected redis: nil"),
            ("client.sendCommand('HGETALL', 'hash')", "object [\"g\",\"v\"]"),
            ("client.sendCommand('MGET', 'none')", "object [null]"),
            ("client.sendCommand('GET', 'none')", "rejected redis: nil"),
            ("client.sendCommand('ECHO', 'ä')", "string \"ä\""),
            ("client.del()", "rejected ERR wrong number of arguments for 'del' command"),
            (
                "client.incr('list')",
                "rejected WRONGTYPE Operation against a key holding the wrong kind of value",
            ),
            (
                "client.set('a', {}, 0)",
                "rejected unsupported type provided for argument at index 1, supported types are string, number, \
                 and boolean",
            ),
            (
                "client.lpush('list', 1, [2])",
                "rejected unsupported type provided for argument at index 2, supported types are string, number, \
                 and boolean",
            ),
        ],
    );
}

#[test]
fn users_feed_requests_from_a_database_that_setup_has_filled() {
    let (redis, scratch, server) = (Redis::start(&[]), Scratch::new(), Ruler::start(&[]));
    let script = "import redis from 'k6/experimental/redis';\nimport http from 'k6/http';\n\
        import { check } from 'k6';\n\
        export const options = { vus: 20, iterations: 300 };\n\
        const client = new redis.Client({ socket: { host: '127.0.0.1', port: Number(__ENV.PORT), poolSize: 2 }, \
        database: 3, clientName: 'load' });\n\
        export async function setup() {\n\
        await client.sadd('ids', ...Array.from({ length: 300 }, (_, id) => id));\n\
        }\n\
        export default async function () {\n\
        const [id, rank] = await Promise.all([client.spop('ids'), client.incr('taken')]);\n\
        const response = http.get(`${__ENV.BASE}/users/${id}`);\n\
        check(response, { 'is 200': (r) => r.status === 200 && rank <= 300 });\n\
        }\n\
        export async function teardown() {\n\
        const left = await client.exists('ids');\n\
        const name = await client.sendCommand('CLIENT', 'GETNAME');\n\
        if (left !== 0 || await client.get('taken') !== '300' || name !== 'load') throw new Error(`left ${left}`);\n\
        }\n";
    let file = scratch.file("load.js", script);
    let base = server.url("").trim_end_matches('/').to_owned();
    let (base, port) = (format!("BASE={base}"), format!("PORT={}", redis.port));
    let output = Tool::run(&["run", &file, "--set", &base, "--set", &port, "--json"]);
    assert_eq!(output.code, 0, "{}", output.stdout);
    let json = output.json();
    assert_eq!(json["totals"]["requests"], 300, "{}", output.stdout);
    assert_eq!(server.requests(), 300);
}

#[test]
fn a_password_a_database_and_tls_are_used() {
    let pki = Pki::new(LOCAL);
    let ((certificate, key), ca) = (pki.server(), pki.ca_file());
    let (certificate, key, ca) =
        (certificate.display().to_string(), key.display().to_string(), ca.display().to_string());
    let options = [
        "--port",
        "0",
        "--tls-auth-clients",
        "no",
        "--requirepass",
        "s:c",
        "--tls-cert-file",
        &certificate,
        "--tls-key-file",
        &key,
        "--tls-ca-cert-file",
        &ca,
    ];
    let redis = Redis::start_on("--tls-port", &options);
    let body = |login: &str, tls: &str| {
        format!(
            "const other = new redis.Client({{ socket: {{ host: 'localhost', port: {}, tls: {tls} }}, {login} }});\n\
             await log(other.set('a', 1, 0));",
            redis.port
        )
    };
    let pem = std::fs::read_to_string(&ca).expect("a certificate");
    let tls = format!("{{ ca: [{}] }}", serde_json::json!(pem));
    let unused = "redis://127.0.0.1:1";
    assert_eq!(logged(unused, &body("password: 's:c', database: 2", &tls)), ["string \"OK\""]);
    assert_eq!(
        logged(unused, &body("password: 'wrong'", &tls)),
        ["rejected WRONGPASS invalid username-password pair or user is disabled."]
    );
    assert_eq!(logged(unused, &body("maxRetries: -1", &tls)), ["rejected NOAUTH Authentication required."]);
    let untrusted = logged(unused, &body("maxRetries: -1", "{}"));
    assert!(untrusted[0].contains("certificate"), "{untrusted:?}");
    let url = format!("rediss://:s%3Ac@localhost:{}/2", redis.port);
    let untrusted = logged(&url, "await log(client.get('a'));");
    assert!(untrusted[0].contains("certificate"), "{untrusted:?}");
}

#[test]
fn a_server_that_is_not_there_rejects_and_a_host_that_is_not_permitted_does_too() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let port = listener.local_addr().expect("an address").port();
    drop(listener);
    let calls = "await log(client.get('a')); await log(client.get('b'));";
    let refused = "rejected connection refused";
    assert_eq!(logged(&format!("redis://127.0.0.1:{port}?max_retries=1"), calls), [refused, refused]);
    let public = logged("redis://192.0.2.1:6379", "await log(client.get('a'));");
    assert!(public[0].contains("rejected") && public[0].contains("192.0.2.1"), "{public:?}");
    // Nothing replies: the listener only takes the connection.
    let silent = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let url = format!(
        "redis://{}?read_timeout=50ms&write_timeout=50ms&max_retries=-1",
        silent.local_addr().expect("one")
    );
    assert_eq!(logged(&url, "await log(client.get('a'));"), ["rejected no reply in time"]);
}

#[test]
fn a_connection_that_broke_is_replaced() {
    let redis = Redis::start(&[]);
    let calls = "await log(client.set('a', 1, 0));\n\
        const other = new redis.Client(__ENV.REDIS);\n\
        await other.sendCommand('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');\n\
        await log(client.get('a'));";
    assert_eq!(logged(&redis.url(), calls), ["string \"OK\"", "string \"1\""]);
}

#[test]
fn invalid_settings_are_exceptions_of_the_init_part() {
    let scratch = Scratch::new();
    for (settings, message) in [
        ("", "must specify one argument"),
        ("5", "invalid options type: number; expected string or object"),
        ("'http://a'", "invalid options; reason: redis: invalid URL scheme: http"),
        ("'redis://a/x'", "invalid options; reason: redis: invalid database number: \"x\""),
        ("'redis://a?nope=1'", "invalid options; reason: redis: unexpected option: nope"),
        ("{}", "invalid options; reason: empty socket options"),
        ("{ socket: { host: 'a', port: 1, nope: 1 } }", "invalid options; reason: unknown field \"nope\""),
        ("{ cluster: { nodes: ['redis://a'] } }", "clusters of Redis are not supported"),
        ("{ masterName: 'm', socket: {} }", "sentinels of Redis are not supported"),
        ("{ socket: { host: 'a', port: 1, minIdleConns: 2 } }", "`minIdleConns` is not supported"),
        ("'unix:///run/redis.sock'", "Unix domain sockets are not supported"),
    ] {
        let script = format!(
            "import redis from 'k6/x/redis';\nnew redis.Client({settings});\nexport default function () {{}}\n"
        );
        let file = scratch.file("load.js", &script);
        let output = Tool::run(&["k6", "run", &file]);
        assert_eq!(output.code, 107, "{settings}: {}", output.stderr);
        assert!(output.stderr.contains(message), "{settings}: {}", output.stderr);
        assert!(output.stderr.contains("load.js:2"), "{settings}: {}", output.stderr);
    }
}

#[test]
fn commands_of_the_init_part_are_refused() {
    let scratch = Scratch::new();
    let script = "import redis from 'k6/experimental/redis';\n\
        const client = new redis.Client('redis://127.0.0.1:1');\n\
        await client.get('a');\nexport default function () {}\n";
    let file = scratch.file("load.js", script);
    let output = Tool::run(&["k6", "run", &file]);
    assert_eq!(output.code, 107, "{}", output.stderr);
    assert!(output.stderr.contains("a Redis command cannot be called in the init part"), "{}", output.stderr);
}
