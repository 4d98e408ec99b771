//! `agents doctor`: what is wrong on which machine, before a load.

use super::server::{Server, ends};
use crate::support::Tool;
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

fn doctor(server: &Server, more: &[&str]) -> crate::support::Output {
    Tool::run(&[&["agents", "doctor", "--nats", &server.url()], more].concat()).expect_code(0)
}

fn check<'a>(agent: &'a Value, name: &str) -> &'a Value {
    let checks = agent["checks"].as_array().expect("each agent has checks");
    checks
        .iter()
        .find(|check| check["name"] == name)
        .unwrap_or_else(|| panic!("`{name}` is checked: {agent}"))
}

#[test]
fn every_agent_is_checked_and_those_of_one_machine_are_named() {
    let server = Server::start();
    let agents =
        [server.agent("a", &["--labels", "region=eu"]), server.agent("b", &["--allow", "shop.test"])];
    server.wait_for(2);
    let json = doctor(&server, &["--json"]).json();
    let rows = json["agents"].as_array().unwrap();
    assert_eq!((rows.len(), &rows[0]["name"], &rows[0]["labels"]["region"]), (2, &"a".into(), &"eu".into()));
    for row in rows {
        assert_eq!(row["has_answered"], true, "{row}");
        assert!(row["clock_bound_ns"].as_u64().unwrap() < 1_000_000_000, "{row}");
        assert_eq!(check(row, "version")["state"], "good");
        // Those of `plimsoll doctor`.
        for name in ["open files", "ephemeral ports", "cores", "memory", "kernel"] {
            assert!(check(row, name)["value"].is_string());
        }
    }
    assert_eq!(check(&rows[0], "machine")["value"], "shared with `b`");
    assert_eq!(check(&rows[1], "public hosts")["value"], "shop.test");
    let text = doctor(&server, &[]).stdout;
    assert!(text.contains("agent a on ") && text.contains("agent b on "), "{text}");
    assert!(text.contains("shared with `a`"), "{text}");
    agents.into_iter().for_each(|agent| assert_eq!(ends(agent).code, 0));
    let text = doctor(&server, &[]).stdout;
    assert!(text.contains("0 agents connected"), "{text}");
}

/// Gives signs of life as an agent of another version, and answers nothing else.
fn old_agent(server: &Server) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", server.port)).expect("the server listens");
    let mut lines = BufReader::new(stream.try_clone().expect("a socket")).lines();
    let mut out = stream.try_clone().expect("a socket");
    out.write_all(b"CONNECT {\"verbose\":false}\r\nSUB plimsoll.v1.roll_call 1\r\nPING\r\n").unwrap();
    let is_pong = |line: &std::io::Result<String>| line.as_ref().is_ok_and(|line| line.trim() == "PONG");
    lines.by_ref().find(is_pong).expect("the server answers").expect("a line");
    std::thread::spawn(move || {
        let beat = r#"{"identity":{"name":"old","instance":"x","protocol":1,"version":"0.0.1","host":"attic","cpus":1,
            "open_files":256,"labels":{}},"number":1,"run":null,"stage":{"name":"free"},"clock":null,
            "begin_ns":null,"steered":0,"backlog":0}"#;
        for line in lines.map_while(Result::ok) {
            let answer = match line.trim() {
                "PING" => "PONG\r\n".to_owned(),
                head if head.starts_with("MSG ") => {
                    format!("PUB plimsoll.v1.agent.old.beat {}\r\n{beat}\r\n", beat.len())
                }
                _ => continue,
            };
            if out.write_all(answer.as_bytes()).is_err() {
                return;
            }
        }
    });
    stream
}

#[test]
fn an_agent_of_another_version_is_named_by_the_list_the_checks_and_a_load() {
    let server = Server::start();
    let old = old_agent(&server);
    assert_eq!(server.agents()[0]["version"], "0.0.1");
    let json = doctor(&server, &["--json"]).json();
    let row = &json["agents"][0];
    assert_eq!((&row["has_answered"], &row["clock_bound_ns"]), (&false.into(), &Value::Null));
    assert_eq!(check(row, "version")["state"], "bad");
    assert_eq!(check(row, "answer")["state"], "bad");
    let words = ["http://127.0.0.1:1/", "-d", "1s", "--nats", &server.url(), "--agents", "1"];
    let output = Tool::run(&words).expect_code(1);
    assert!(output.stderr.contains("agent `old` has version 0.0.1"), "{}", output.stderr);
    drop(old);
}
