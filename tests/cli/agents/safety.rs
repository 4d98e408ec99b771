//! A server with TLS, keys, and permissions: who has a key does its part, and nothing else.

use super::server::{Server, ends};
use crate::support::{Output, Ruler, Running, Scratch, Tool};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use nkeys::KeyPair;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;

/// Files of `cluster init`, and a server that runs with them.
struct Safe {
    scratch: Scratch,
    server: Server,
    is_mutual: bool,
}

impl Safe {
    fn start(more: &[&str]) -> Safe {
        let scratch = Scratch::new();
        let folder = scratch.path("keys");
        let words = ["cluster", "init", &folder, "--host", "127.0.0.1", "--agents", "a,b"];
        let output = Tool::run(&[&words[..], more].concat()).expect_code(0);
        assert!(output.stdout.contains("--nkey a.nk"), "{}", output.stdout);
        let server = Server::start_in(&scratch.folder().join("keys"), &["-c", "server.conf"]);
        Safe { scratch, server, is_mutual: more.contains(&"--mutual-tls") }
    }

    fn file(&self, name: &str) -> String {
        self.scratch.path(&format!("keys/{name}"))
    }

    /// Flags of a client with the key of `name`.
    fn access(&self, name: &str) -> Vec<String> {
        let port = self.server.port;
        let mut words = vec![
            format!("--nats=tls://127.0.0.1:{port}"),
            format!("--nats-ca={}", self.file("ca.pem")),
            format!("--nkey={}", self.file(&format!("{name}.nk"))),
        ];
        if self.is_mutual {
            words.push(format!("--nats-cert={}", self.file(&format!("{name}.pem"))));
            words.push(format!("--nats-key={}", self.file(&format!("{name}.key"))));
        }
        words
    }

    fn tool(&self, words: &[&str], key: &str) -> Tool {
        let mut access = self.access(key);
        if words.contains(&"--agents") {
            access.push(format!("--signing-key={}", self.file("signing.nk")));
        }
        let access: Vec<&str> = access.iter().map(String::as_str).collect();
        Tool::new(&[words, &access].concat())
    }

    fn run(&self, words: &[&str], key: &str) -> Output {
        self.tool(words, key).start().wait()
    }

    fn agent(&self, name: &str, key: &str) -> Running {
        let signer = format!("--coordinator-key={}", self.file("signing.pub"));
        self.tool(&["agent", "--name", name, &signer], key).start()
    }

    fn names(&self) -> Vec<String> {
        let json = self.run(&["agents", "--json"], "coordinator").expect_code(0).json();
        let rows = json["agents"].as_array().unwrap().iter();
        rows.map(|row| row["name"].as_str().unwrap().to_owned()).collect()
    }

    fn wait_for(&self, names: &[&str]) {
        assert!((0..30).any(|_| self.names() == names), "agents {names:?} are connected");
    }
}

#[test]
fn keys_and_permissions_of_cluster_init_are_enough_for_a_load_over_tls() {
    let (ruler, safe) = (Ruler::start(&[]), Safe::start(&[]));
    let agents = [safe.agent("a", "a"), safe.agent("b", "b")];
    safe.wait_for(&["a", "b"]);
    // Also a load whose files travel, and whose clocks are measured.
    let target = ruler.url("").trim_end_matches('/').to_owned();
    let file = safe.scratch.file(
        "a.yaml",
        &format!("target: {target}\nscenarios:\n  s:\n    - get: /a\nload: {{ users: 2, iterations: 30 }}\n"),
    );
    let output = safe.run(&["run", &file, "--agents", "2", "--json"], "coordinator").expect_code(0);
    assert_eq!((output.json()["totals"]["requests"].as_u64(), ruler.requests()), (Some(30), 30));
    assert!(!output.stderr.contains("refused"), "{}", output.stderr);
    let doctor = safe.run(&["agents", "doctor", "--json"], "coordinator").expect_code(0).json();
    for row in doctor["agents"].as_array().unwrap() {
        assert_eq!(row["has_answered"], true, "{row}");
        assert!(row["clock_bound_ns"].as_u64().is_some(), "{row}");
    }
    for agent in agents {
        let output = ends(agent);
        assert!(output.code == 0 && !output.stderr.contains("refused"), "{}", output.stderr);
    }
}

#[test]
fn a_key_does_only_its_own_part() {
    let (ruler, safe) = (Ruler::start(&[]), Safe::start(&[]));
    let agent = safe.agent("a", "a");
    safe.wait_for(&["a"]);
    // With the key of another agent, it hears no orders.
    let rogue = safe.agent("b", "a");
    let load = |key: &str| {
        let words = [&ruler.url("/"), "-n", "5", "-c", "1", "--agents", "a"];
        safe.run(&words, key)
    };
    let output = load("b").expect_code(1);
    assert!(output.stderr.contains("the NATS server refused"), "{}", output.stderr);
    assert!(output.stderr.contains("credentials of a coordinator"), "{}", output.stderr);
    assert_eq!(ruler.requests(), 0);
    assert_eq!(safe.names(), ["a"]);
    let output = ends(rogue);
    assert!(output.stderr.contains("the NATS server refused"), "{}", output.stderr);
    // An agent does not see who else is there.
    safe.run(&["agents"], "a").expect_code(1);
    load("coordinator").expect_code(0);
    assert_eq!(ends(agent).code, 0);
}

#[test]
fn an_agent_joins_while_the_server_runs() {
    for more in [&[][..], &["--mutual-tls"]] {
        let (ruler, safe) = (Ruler::start(&[]), Safe::start(more));
        let first = safe.agent("a", "a");
        safe.wait_for(&["a"]);
        let folder = safe.scratch.path("keys");
        let output = Tool::run(&["cluster", "add", &folder, "--agents", "c"]).expect_code(0);
        assert!(output.stdout.contains("--nkey c.nk"), "{}", output.stdout);
        assert_eq!(output.stdout.contains("expire on"), !more.is_empty(), "{}", output.stdout);
        safe.server.signal("HUP");
        let second = safe.agent("c", "c");
        safe.wait_for(&["a", "c"]);
        let load = [&ruler.url("/"), "-n", "10", "-c", "2", "--agents", "a,c"];
        safe.run(&load, "coordinator").expect_code(0);
        assert_eq!(ruler.requests(), 10);
        assert_eq!((ends(first).code, ends(second).code), (0, 0));
        let again = Tool::run(&["cluster", "add", &folder, "--agents", "c"]).expect_code(2);
        assert!(again.stderr.contains("the name `c` is used twice"), "{}", again.stderr);
    }
    let output = Tool::run(&["cluster", "add", "/nowhere", "--agents", "c"]).expect_code(1);
    assert!(output.stderr.contains("cannot read"), "{}", output.stderr);
}

#[test]
fn who_has_no_key_or_does_not_know_the_server_is_refused_with_a_sentence() {
    let safe = Safe::start(&["--mutual-tls"]);
    let agent = safe.agent("a", "a");
    safe.wait_for(&["a"]);
    let all = safe.access("coordinator");
    let without = |left_out: &[&str]| {
        let words = all.iter().map(String::as_str);
        let words = words.filter(|word| !left_out.iter().any(|name| word.starts_with(name)));
        Tool::run(&["agents"].into_iter().chain(words).collect::<Vec<_>>())
    };
    without(&["--none"]).expect_code(0);
    let output = without(&["--nkey"]).expect_code(1);
    assert!(output.stderr.contains("rejected the credentials"), "{}", output.stderr);
    let output = without(&["--nats-ca"]).expect_code(1);
    assert!(output.stderr.contains("cannot connect to the NATS server"), "{}", output.stderr);
    assert!(output.stderr.contains("of its authority: `--nats-ca ca.pem`"), "{}", output.stderr);
    let output = without(&["--nats-cert", "--nats-key"]).expect_code(1);
    assert!(output.stderr.contains("NATS server"), "{}", output.stderr);
    // Keys of another setup.
    let other = Safe::start(&["--mutual-tls"]);
    let nkey = format!("--nkey={}", other.file("coordinator.nk"));
    let mut words: Vec<&str> =
        all.iter().map(String::as_str).filter(|word| !word.starts_with("--nkey")).collect();
    words.extend([nkey.as_str(), "agents"]);
    let output = Tool::run(&words.into_iter().rev().collect::<Vec<_>>()).expect_code(1);
    assert!(output.stderr.contains("rejected the credentials"), "{}", output.stderr);
    assert_eq!(ends(agent).code, 0);
}

#[test]
fn keys_are_for_their_owner_and_never_replaced() {
    let scratch = Scratch::new();
    let folder = scratch.path("keys");
    let init = |more: &[&str]| Tool::run(&[&["cluster", "init"], more].concat());
    init(&[&folder, "--agents", "a", "--host", "nats.test"]).expect_code(0);
    let mode = |name: &str| {
        std::fs::metadata(scratch.path(&format!("keys/{name}"))).unwrap().permissions().mode() & 0o777
    };
    for name in ["a.nk", "coordinator.nk", "server.key", "signing.nk"] {
        assert_eq!(mode(name), 0o600, "{name}");
    }
    assert_eq!(mode(""), 0o700);
    let seed = std::fs::read_to_string(scratch.path("keys/a.nk")).unwrap();
    let cases: [(&[&str], &str); 9] = [
        (&["x", "--agents", "server"], "`server` is the name of another file"),
        (&["x", "--agents", "a", "--days", "0"], "invalid number of days `0`"),
        (&["x", "--agents", "a", "--days", "4000"], "invalid number of days `4000`"),
        (&[&folder, "--agents", "a"], "exists already"),
        (&[], "missing directory"),
        (&["x"], "missing names of the agents"),
        (&["x", "--agents", "a,a"], "the name `a` is used twice"),
        (&["x", "--agents", "a b"], "invalid name of an agent `a b`"),
        (&["x", "--agents", "a", "--port", "0"], "invalid port"),
    ];
    for (more, said) in cases {
        let output = init(more).expect_code(2);
        assert!(output.stderr.contains(said), "{more:?}: {}", output.stderr);
    }
    assert_eq!(std::fs::read_to_string(scratch.path("keys/a.nk")).unwrap(), seed);
}

/// A token as `nsc` signs it.
fn token(claims: &Value, issuer: &KeyPair) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let text = format!("{}.{}", part(&json!({ "typ": "JWT", "alg": "ed25519-nkey" })), part(claims));
    let signature = issuer.sign(text.as_bytes()).expect("the key can sign");
    format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature))
}

#[test]
fn a_credentials_file_of_an_account_is_accepted() {
    let (ruler, scratch) = (Ruler::start(&[]), Scratch::new());
    let (operator, account, user) = (KeyPair::new_operator(), KeyPair::new_account(), KeyPair::new_user());
    let claims = |name: &str, of: &KeyPair, by: &KeyPair, nats: Value| {
        let (sub, iss) = (of.public_key(), by.public_key());
        json!({ "jti": name, "iat": 1_700_000_000, "iss": iss, "sub": sub, "name": name, "nats": nats })
    };
    let operator_token = token(
        &claims("operator", &operator, &operator, json!({ "type": "operator", "version": 2 })),
        &operator,
    );
    let limits = json!({ "subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": true,
        "conn": -1, "leaf": -1 });
    let nats = json!({ "type": "account", "version": 2, "limits": limits });
    let account_token = token(&claims("account", &account, &operator, nats), &operator);
    let nats =
        json!({ "type": "user", "version": 2, "subs": -1, "data": -1, "payload": -1, "pub": {}, "sub": {} });
    let user_token = token(&claims("user", &user, &account, nats), &account);
    scratch.file(
        "server.conf",
        &format!(
            "operator: \"{operator_token}\"\nresolver: MEMORY\nresolver_preload: {{ {}: \"{account_token}\" }}\n",
            account.public_key()
        ),
    );
    let creds = scratch.file(
        "agent.creds",
        &format!(
            "-----BEGIN NATS USER JWT-----\n{user_token}\n------END NATS USER JWT------\n\n\
             -----BEGIN USER NKEY SEED-----\n{}\n------END USER NKEY SEED------\n",
            user.seed().expect("a seed")
        ),
    );
    let server = Server::start_in(scratch.folder(), &["-c", "server.conf"]);
    let agent = server.agent("a", &["--creds", &creds]);
    let load = |creds: &str| {
        let words = [&ruler.url("/"), "-n", "5", "-c", "1", "--agents", "a", "--wait-for-agents", "20s"];
        Tool::run(&[&words[..], &["--nats", &server.url(), "--creds", creds]].concat())
    };
    load(&creds).expect_code(0);
    assert_eq!(ruler.requests(), 5);
    let other = scratch.file(
        "other.creds",
        &std::fs::read_to_string(&creds)
            .unwrap()
            .replace(&user.seed().expect("a seed"), &KeyPair::new_user().seed().expect("a seed")),
    );
    let output = load(&other).expect_code(1);
    assert!(output.stderr.contains("rejected the credentials"), "{}", output.stderr);
    assert_eq!((ruler.requests(), ends(agent).code), (5, 0));
}
