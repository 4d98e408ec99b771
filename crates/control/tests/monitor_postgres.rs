//! The PostgreSQL monitor: connections, waits, reads, writes, and the slowest statements, and its errors if the server
//! is down, hangs, or rejects it.

use crate::certificate::{Certificate, trusting};
use crate::servers::{
    DEADLINE, Looking, Scratch, Server, deaf, fact, free_port, freeze, limit, silent, thaw, value,
};
use plimsoll_control::monitor::Trust;
use plimsoll_plan::value::Secret;
use plimsoll_plan::watch::{Source, Unit};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::OnceLock;

/// A cluster for one test.
struct Cluster {
    data: PathBuf,
    port: u16,
    _scratch: Scratch,
}

/// PostgreSQL refuses to run as root, and the distribution has a user for it.
fn as_who() -> &'static [&'static str] {
    static ROOT: OnceLock<bool> = OnceLock::new();
    let root = *ROOT.get_or_init(|| {
        let id = Command::new("id").arg("-u").output().expect("`id` is here");
        id.stdout.starts_with(b"0\n")
    });
    if root { &["--reuid=postgres", "--regid=postgres", "--init-groups"] } else { &[] }
}

fn program(name: &str) -> String {
    let found = Command::new("sh")
        .args([
            "-c",
            &format!("ls -d /usr/lib/postgresql/*/bin/{name} 2>/dev/null | tail -1; command -v {name}"),
        ])
        .output()
        .expect("`sh` is here");
    let text = String::from_utf8_lossy(&found.stdout).into_owned();
    text.lines().next().expect("PostgreSQL is here (package postgresql)").to_owned()
}

impl Cluster {
    /// Creates the user `lab` with all rights; `auth` is the authentication method for loopback.
    fn new(auth: &str) -> Cluster {
        let scratch = Scratch::new();
        let data = scratch.path().join("data");
        let password = scratch.path().join("password");
        std::fs::write(&password, "correct'horse@/1\n").unwrap();
        if !as_who().is_empty() {
            let folder = scratch.path().to_str().unwrap();
            assert!(Command::new("chown").args(["-R", "postgres:", folder]).status().unwrap().success());
        }
        let mut initdb = Command::new("setpriv");
        initdb.args(as_who()).arg("--").arg(program("initdb"));
        initdb.args(["-U", "lab", "--no-sync", "--locale=C", "-E", "UTF8", "-A", auth]);
        initdb.arg(format!("--pwfile={}", password.display())).arg("-D").arg(&data);
        let output = initdb.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Cluster { data, port: free_port(), _scratch: scratch }
    }

    fn start(&self, settings: &[&str]) -> Server {
        let (program, port) = (program("postgres"), self.port.to_string());
        let mut words = vec![program.as_str(), "-D", self.data.to_str().unwrap(), "-p", &port];
        let own =
            ["listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off", "max_connections=20"];
        for setting in own.iter().chain(settings) {
            words.extend(["-c", setting]);
        }
        // QUIT ends the server immediately, and it releases its shared memory.
        Server::start(as_who(), &words, "QUIT", "database system is ready to accept connections")
    }

    fn looking(&self) -> Looking {
        looking(&format!("postgres://lab@127.0.0.1:{}/postgres", self.port))
    }

    fn session(&self) -> Session {
        let mut psql = Command::new("psql");
        psql.args(["-X", "-q", "-A", "-t", "-U", "lab", "-d", "postgres", "-h", "127.0.0.1"]);
        psql.args(["-p", &self.port.to_string()]).env("PGPASSWORD", "correct'horse@/1");
        let mut child = psql.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("psql is here");
        let answers = BufReader::new(child.stdout.take().unwrap());
        Session { child, answers }
    }
}

fn looking(address: &str) -> Looking {
    Looking::at(Source::Postgres(Secret::new(address)))
}

/// A client with a persistent connection.
struct Session {
    child: Child,
    answers: BufReader<ChildStdout>,
}

impl Session {
    /// Does not wait for the response.
    fn send(&mut self, sql: &str) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{sql}\n\\echo done").unwrap();
    }

    /// Returns the lines of the response.
    fn done(&mut self) -> Vec<String> {
        let lines = self.answers.by_ref().lines().map(Result::unwrap);
        lines.take_while(|line| line != "done").collect()
    }

    fn run(&mut self, sql: &str) -> Vec<String> {
        self.send(sql);
        self.done()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

#[test]
fn connections_are_counted_by_state_and_wait() {
    let cluster = Cluster::new("trust");
    let _server = cluster.start(&["synchronous_commit=off"]);
    let mut looking = cluster.looking();
    let first = looking.sees();
    assert_eq!(value(&first, "", "connections"), Some(1.0), "its own");
    assert_eq!(limit(&first, "", "connections"), Some(17.0), "3 of the 20 are kept for superusers");
    assert_eq!(value(&first, "active", "connections"), Some(0.0));
    assert_eq!(value(&first, "", "longest_transaction"), Some(0.0));
    assert_eq!(fact(&first, "max_connections"), Some("20"));
    assert_eq!(fact(&first, "synchronous_commit"), Some("off"));
    assert_eq!(fact(&first, "fsync"), Some("off"));
    assert!(fact(&first, "server_version").unwrap().starts_with(|c: char| c.is_ascii_digit()));
    assert_eq!(fact(&first, "pg_stat_statements"), Some("not installed"));
    assert!(value(&first, "", "database_size").unwrap() > 1e6);
    assert_eq!(value(&first, "", "commits"), None, "a rate needs two looks");

    let (mut idle, mut holder, mut waiter) = (cluster.session(), cluster.session(), cluster.session());
    idle.run("CREATE TABLE t (n int);");
    holder.run("BEGIN;\nLOCK TABLE t;");
    waiter.send("SELECT count(*) FROM t;");
    let found = looking.until("waiting client", |found| value(found, "", "locks_waiting") == Some(1.0));
    assert_eq!(value(&found, "", "connections"), Some(4.0));
    assert_eq!(value(&found, "active", "connections"), Some(1.0));
    assert_eq!(value(&found, "idle", "connections"), Some(1.0));
    assert_eq!(value(&found, "idle in transaction", "connections"), Some(1.0));
    assert_eq!(value(&found, "Lock", "waiting"), Some(1.0));
    assert!(value(&found, "", "longest_transaction").unwrap() > 0.0);
    holder.run("COMMIT;");
    waiter.done();
    let found = looking.until("rest", |found| value(found, "", "locks_waiting") == Some(0.0));
    assert_eq!(value(&found, "Lock", "waiting"), Some(0.0), "a state that was seen once is reported as 0");

    // A user without the rights of `pg_monitor` sees that other sessions exist, but not what they do.
    idle.run("CREATE ROLE lesser LOGIN;");
    let mut lesser =
        self::looking(&format!("host=127.0.0.1 port={} user=lesser dbname=postgres", cluster.port));
    let found = lesser.sees();
    assert_eq!(value(&found, "not visible", "connections"), Some(4.0), "{found:?}");
    assert_eq!(value(&found, "", "connections"), Some(5.0));
}

#[test]
fn reads_and_writes_equal_the_growth_of_the_counters() {
    let cluster = Cluster::new("trust");
    let _server = cluster.start(&[]);
    let mut session = cluster.session();
    session.run("CREATE TABLE t (n int);\nSELECT pg_stat_force_next_flush();");
    let mut looking = cluster.looking();
    looking.sees();
    session.run("INSERT INTO t SELECT generate_series(1, 1000);\nUPDATE t SET n = 0 WHERE n <= 30;");
    session.run("DELETE FROM t WHERE n = 0;\nBEGIN;\nROLLBACK;\nSELECT pg_stat_force_next_flush();");
    // The samples are a second apart on the simulated clock, so the sum of the rates is the growth.
    let mut sums = [0.0; 3];
    let deadline = std::time::Instant::now() + DEADLINE;
    while sums != [1000.0, 30.0, 30.0] {
        let found = looking.sees();
        for (sum, name) in sums.iter_mut().zip(["rows_inserted", "rows_updated", "rows_deleted"]) {
            *sum += value(&found, "", name).unwrap();
        }
        assert!(std::time::Instant::now() < deadline, "{sums:?}");
    }
    session.run("CHECKPOINT;");
    let found = looking.until("checkpoint", |found| value(found, "requested", "checkpoints") == Some(1.0));
    assert!(value(&found, "", "checkpoint_written").unwrap() >= 8192.0);
    assert_eq!(value(&found, "timed", "checkpoints"), Some(0.0));
    session.run("SELECT count(*) FROM t;\nSELECT pg_stat_force_next_flush();");
    let found = looking.until("read block", |found| value(found, "", "blocks_hit").unwrap() > 0.0);
    let share = value(&found, "", "cache_hit_share").unwrap();
    assert!((0.0..=1.0).contains(&share) && share > 0.5, "{share}");
    let hit = found.readings.iter().find(|r| r.metric == "blocks_hit").unwrap();
    assert_eq!(hit.unit, Unit::PerS);
    // Values that are expensive to read appear in every tenth sample.
    let sizes = (0..20).filter(|_| value(&looking.sees(), "", "database_size").is_some()).count();
    assert_eq!(sizes, 2);
}

#[test]
fn the_slowest_statements_are_shown_without_their_literals() {
    let cluster = Cluster::new("trust");
    let server = cluster.start(&["shared_preload_libraries=pg_stat_statements"]);
    let mut session = cluster.session();
    session.run("CREATE SCHEMA \"Own\";\nCREATE EXTENSION pg_stat_statements SCHEMA \"Own\";");
    session.run("CREATE TABLE t AS SELECT generate_series(1, 20000) n;\nSELECT count(*) FROM t;");
    let mut looking = cluster.looking();
    let first = looking.sees();
    assert_eq!(fact(&first, "pg_stat_statements"), Some("installed"));
    for n in 0..20 {
        session.run(&format!("SELECT sum(n)\n  FROM t WHERE n % 7 = 1 AND 'mellon{n}' <> '';"));
    }
    session.run("SELECT count(*) FROM t WHERE n = 4711;\nALTER ROLE lab PASSWORD 'mellon';");
    let found = looking.look().unwrap();
    let part = "SELECT sum(n) FROM t WHERE n % $1 = $2 AND $3 <> $4";
    assert_eq!(value(&found, part, "statement_calls"), Some(20.0), "{found:?}");
    let mean = value(&found, part, "statement_mean_time").unwrap();
    assert!(mean > 1e-5 && mean < 1.0, "{mean} s for 20,000 rows");
    assert_eq!(value(&found, "SELECT count(*) FROM t WHERE n = $1", "statement_calls"), Some(1.0));
    assert_eq!(value(&found, "SELECT count(*) FROM t", "statement_calls"), None, "it ran before the run");
    let shares = found.readings.iter().filter(|r| r.metric == "statement_time_share");
    assert!((0.5..=1.0 + 1e-9).contains(&shares.map(|r| r.value).sum::<f64>()), "{found:?}");
    let text = format!("{found:?}");
    assert!(text.contains("\"ALTER\"") && !text.contains("mellon") && !text.contains("plimsoll"), "{text}");
    // Without calls, the rate is 0, and there is neither a mean nor a share.
    let quiet = looking.look().unwrap();
    assert_eq!(value(&quiet, part, "statement_calls"), Some(0.0));
    assert_eq!(value(&quiet, part, "statement_mean_time"), None);
    // At most ten statements are reported, and the one with the most time is always among them.
    for n in 0..30 {
        session.run(&format!("SELECT {} FROM t LIMIT 1;", vec!["max(n)"; n + 1].join("+")));
        let found = looking.sees();
        let statements = found.readings.iter().filter(|r| r.metric == "statement_calls");
        assert!((3..=10).contains(&statements.clone().count()), "{found:?}");
        assert!(statements.into_iter().all(|r| r.part.chars().count() <= 60 + 24), "{found:?}");
    }
    session.run("SELECT max(a) FROM generate_series(1, 1000000) a;");
    let found = looking.sees();
    let part = "SELECT max(a) FROM generate_series($1, $2) a";
    assert_eq!(value(&found, part, "statement_calls"), Some(1.0), "{found:?}");
    assert!(value(&found, part, "statement_time_share").unwrap() > 0.9, "{found:?}");

    // Installed but not loaded by the server: everything else is still measured.
    drop(session);
    server.stop();
    let _server = cluster.start(&[]);
    let found = looking.sees();
    assert!(fact(&found, "pg_stat_statements").unwrap().contains("shared_preload_libraries"), "{found:?}");
    assert!(value(&found, "", "connections").is_some());
}

#[test]
fn a_password_is_sent_and_never_shown() {
    let cluster = Cluster::new("scram-sha-256");
    let _server = cluster.start(&[]);
    let place = format!("127.0.0.1:{}", cluster.port);
    looking(&format!("postgres://lab:correct%27horse%40%2F1@{place}/postgres")).sees();
    let wrong = looking(&format!("postgres://lab:mellon@{place}/postgres")).fails();
    assert_eq!(
        wrong,
        format!("cannot query PostgreSQL at `{place}`: password authentication failed for user \"lab\"")
    );
    let none = looking(&format!("postgres://lab@{place}/postgres")).fails();
    assert!(none.contains("password"), "{none}");
    let tls = looking(&format!("postgres://lab:mellon@{place}/postgres?sslmode=require")).fails();
    assert!(tls.contains("does not support TLS") && !tls.contains("mellon"), "{tls}");
    for garbled in ["postgres://lab:mellon@h:port/db", "host=h pass word=mellon", "mellon"] {
        let why = looking(garbled).fails();
        assert!(why.starts_with("a PostgreSQL address looks like") && !why.contains("mellon"), "{why}");
    }
}

#[test]
fn a_dead_or_hanging_server_fails_in_time_and_is_sampled_again_once_it_is_back() {
    let cluster = Cluster::new("trust");
    let server = cluster.start(&[]);
    let mut looking = cluster.looking();
    let says =
        |host: &str, port: u16, why: &str| format!("cannot query PostgreSQL at `{host}:{port}`: {why}");
    let late = says("127.0.0.1", cluster.port, "no response in time");
    looking.sees();
    let mut session = cluster.session();
    let own = session.run("SELECT pid FROM pg_stat_activity WHERE application_name = 'plimsoll';");
    let own = own[0].parse().unwrap();
    // The server process of the monitor stops; a new connection gets another process.
    freeze(own);
    assert_eq!(looking.fails(), late);
    looking.sees();
    thaw(own);
    // The server no longer accepts connections.
    server.freeze();
    let mut other = cluster.looking();
    assert_eq!(other.fails(), late);
    server.thaw();
    other.sees();
    drop(session);
    server.stop();
    assert_ne!(looking.fails(), "");
    assert_eq!(looking.fails(), says("127.0.0.1", cluster.port, "connection refused"));
    let _server = cluster.start(&[]);
    looking.sees();
    let (_listener, port) = silent();
    let why = self::looking(&format!("postgres://lab@127.0.0.1:{port}/lab")).fails();
    assert_eq!(why, says("127.0.0.1", port, "no response in time"));
    let (_listener, _held, port) = deaf();
    let why = self::looking(&format!("postgres://lab@localhost:{port}/lab")).fails();
    assert_eq!(why, says("localhost", port, "no response in time"));
}

#[test]
fn a_server_with_tls_is_sampled_and_its_certificate_is_checked_on_request() {
    let (cluster, certificate) = (Cluster::new("scram-sha-256"), Certificate::new());
    let (file, key) = certificate.files(&cluster._scratch);
    // The key file must be readable by its owner only.
    let own = format!("chmod 600 {key}", key = key.display());
    assert!(Command::new("sh").args(["-c", &own]).status().unwrap().success());
    if !as_who().is_empty() {
        let files = [&file, &key];
        assert!(Command::new("chown").arg("postgres:").args(files).status().unwrap().success());
    }
    let settings = [
        "ssl=on".to_owned(),
        format!("ssl_cert_file={}", file.display()),
        format!("ssl_key_file={}", key.display()),
    ];
    let _server = cluster.start(&settings.each_ref().map(String::as_str));
    let at = |host: &str, mode: &str, trust: &Trust| {
        let address =
            format!("postgres://lab:correct%27horse%40%2F1@{host}:{}/postgres?sslmode={mode}", cluster.port);
        Looking::trusting(Source::Postgres(Secret::new(&address)), trust)
    };
    let encrypted = || {
        let sql = "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) \
                   WHERE application_name = 'plimsoll';";
        cluster.session().run(sql)
    };
    let mut looking = at("127.0.0.1", "verify-full", &certificate.trust());
    looking.sees();
    assert_eq!(encrypted(), ["t"]);
    looking.sees();
    drop(looking);
    let unchecked = &mut at("127.0.0.1", "require", &Default::default());
    unchecked.sees();
    at("127.0.0.1", "verify-full", &trusting()).sees();
    for (host, trust) in [("127.0.0.1", &Default::default()), ("localhost", &certificate.trust())] {
        let why = at(host, "verify-full", trust).fails();
        assert!(why.contains(&format!("`{host}:{}`", cluster.port)) && why.contains("certificate"), "{why}");
        assert!(!why.contains("horse"), "{why}");
    }
    // The same in the other form of the address, and the error for an unknown mode.
    let words = |mode: &str| {
        let port = cluster.port;
        let address =
            format!("host=127.0.0.1 port={port} user=lab password='correct\\'horse@/1' dbname=postgres");
        let source = Source::Postgres(Secret::new(&format!("{address} sslmode={mode}")));
        Looking::trusting(source, &certificate.trust())
    };
    words("verify-full").sees();
    assert!(words("verify-ca").fails().starts_with("a PostgreSQL address looks like"));
    let mut plain = at("127.0.0.1", "prefer", &certificate.trust());
    plain.sees();
    let two = encrypted();
    assert!(two.contains(&"f".to_owned()), "to prefer TLS is to go without: {two:?}");
}
