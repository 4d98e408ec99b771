//! Agents in the console: who is there, a load on them, and what it shows of each.

use crate::client::Console;
use crate::support::nats::{Server, ends};
use crate::support::{Ruler, Scratch, Tool, alone};
use serde_json::{Value, json};

fn job(console: &Console, id: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    let own = |all: &Value| all["jobs"].as_array().unwrap().iter().find(|job| job["id"] == id).cloned();
    let all = console.until("/api/jobs", |all| own(all).is_some_and(|job| is_so(&job)));
    own(&all).expect("it was there")
}

fn names(rows: &Value) -> Vec<&str> {
    rows.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect()
}

#[test]
fn a_load_on_agents_is_started_followed_and_controlled() {
    let _alone = alone();
    let (ruler, server) = (Ruler::start(&[]), Server::start());
    let keys = Scratch::new();
    Tool::run(&["cluster", "init", &keys.path("keys"), "--agents", "a"]).expect_code(0);
    let own = ["--coordinator-key", &keys.path("keys/signing.pub")];
    let first = server.agent("a", &[&own[..], &["--labels", "region=eu"]].concat());
    let agents = [first, server.agent("b", &own)];
    server.wait_for(2);
    // A server without users accepts every password.
    let nats = format!("--nats=nats://ann:s3cret@127.0.0.1:{}", server.port);
    let signing = format!("--signing-key={}", keys.path("keys/signing.nk"));
    let console = Console::of(Scratch::new(), &[&nats, &signing]);
    assert_eq!(console.json("/api/state")["has_agents"], true);
    let list = console.json("/api/agents");
    assert_eq!(names(&list["agents"]), ["a", "b"]);
    let first = &list["agents"][0];
    assert_eq!((&first["labels"]["region"], &first["has_answered"]), (&json!("eu"), &json!(true)));
    assert!(first["clock_bound_ns"].as_u64().is_some() && !first["checks"].as_array().unwrap().is_empty());

    let order = json!({ "kind": "form", "url": ruler.url("/"), "load": "clients_per_second", "clients": 100,
        "duration_s": 60, "agents": "a,b" });
    let reply = console.change("POST", "/api/start", &order);
    assert_eq!(reply.status, 200, "{}", reply.text());
    let id = reply.json()["job"].as_str().unwrap().to_owned();
    let running = job(&console, &id, |job| job["state"] == "running");
    assert!(!running.to_string().contains("s3cret"), "{running}");
    let mut watching = console.watch(&id);
    let mut next = |wanted: &str, is_so: &dyn Fn(&Value) -> bool| loop {
        let (name, event) = watching.next().expect("the stream continues");
        if name == wanted && is_so(&event) {
            break event;
        }
    };
    let rate = |row: &Value| row["rate_per_s"].as_f64().unwrap_or_default();
    let is_loading = |event: &Value| {
        let rows = event["agents"].as_array().unwrap();
        rows.len() == 2 && rows.iter().all(|row| rate(row) >= 45.0)
    };
    let event = next("agents", &is_loading);
    assert_eq!(names(&event["agents"]), ["a", "b"]);
    for row in event["agents"].as_array().unwrap() {
        assert!(row["requests"].as_u64().unwrap() > 0 && row["clock_bound_ns"].as_u64().is_some(), "{row}");
    }
    // The charts and figures are those of both.
    next("row", &|row| row["tiles"]["rate_per_s"].as_f64().unwrap_or_default() >= 95.0);

    let control = |what: &str, body: Value| {
        let reply = console.change("POST", &format!("/api/jobs/{id}/{what}"), &body);
        assert_eq!(reply.status, 200, "{what}: {}", reply.text());
    };
    control("annotate", json!({ "text": "deployed 1.4" }));
    control("pause", json!({}));
    job(&console, &id, |job| job["state"] == "paused");
    next("row", &|row| row["tiles"]["rate_per_s"] == 0.0);
    control("resume", json!({}));
    job(&console, &id, |job| job["state"] == "running");
    control("level", json!({ "factor": 2.0 }));
    next("row", &|row| row["values"]["timeline"]["offered"].as_f64().unwrap_or_default() >= 190.0);
    control("stop", json!({}));
    let ended = job(&console, &id, |job| job["state"] == "ended" || job["state"] == "failed");
    assert_eq!(ended["state"], "ended", "{ended}");
    let run = ended["run"].as_str().unwrap();
    let entry = console.entries().into_iter().find(|entry| entry["id"] == run).expect("it is listed");
    let report = Tool::run(&["report", entry["path"].as_str().unwrap(), "--json"]).json();
    assert_eq!(report["generators"].as_array().map(Vec::len), Some(2));
    let events = report["events"].as_array().unwrap();
    assert_eq!(events.iter().filter(|event| event["text"] == "deployed 1.4").count(), 1, "{events:?}");
    agents.into_iter().for_each(|agent| assert_eq!(ends(agent).code, 0));
}

#[test]
fn a_console_without_a_server_says_so() {
    let console = Console::start();
    assert_eq!(console.json("/api/state")["has_agents"], false);
    let reply = console.get("/api/agents");
    assert_eq!(reply.status, 409, "{}", reply.text());
    let order = json!({ "kind": "form", "url": "http://127.0.0.1:1/", "load": "maintained", "clients": 1,
        "duration_s": 1, "agents": "2" });
    let reply = console.change("POST", "/api/start", &order);
    assert_eq!(reply.status, 409, "{}", reply.text());
    assert!(reply.text().contains("no NATS server"), "{}", reply.text());
    // A server that does not answer is a sentence, too.
    let console = Console::of(Scratch::new(), &["--nats=nats://127.0.0.1:1"]);
    let reply = console.get("/api/agents");
    assert_eq!(reply.status, 409);
    assert!(reply.text().contains("cannot connect to the NATS server"), "{}", reply.text());
}
