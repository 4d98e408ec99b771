//! What a server says about itself: its schemas by reflection, and its health.

use crate::help::count;
use crate::provoke::no_faults;
use crate::support::peers::{GoServer, Pki};
use crate::support::{Scratch, Tool};
use std::path::Path;

const STEPS: &str = "{ one: [ { grpc: echo.v1.Echo/Send, message: { a_string: hello, at: 2026-01-31T12:00:00Z }, \
                     check: { json: { $.a_string: hello } } } ] }";

fn experiment(scratch: &Scratch, target: &str, grpc: &str, more: &str) -> String {
    let load = "{ users: 2, requests: 20 }";
    let text = format!("target: {target}\ngrpc: {grpc}\nscenarios: {STEPS}\nload: {load}\n{more}\n");
    scratch.file("experiment.yaml", &text)
}

fn proto() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testbed/peers/grpc/echo.proto").display().to_string()
}

#[test]
fn schemas_come_from_the_server_by_either_version_of_reflection() {
    for version in ["v1", "v1alpha"] {
        let server = GoServer::start_with("grpc", &["-reflection", version]);
        let scratch = Scratch::new();
        let file = experiment(&scratch, &server.url(""), "{ reflection: true }", "");
        let said =
            Tool::run(&["run", &file, "--json", "--out", &scratch.path("run.plim")]).expect_code(0).json();
        no_faults(&said);
        // Reflection is not a part of the load.
        assert_eq!(
            [count(&said, "/totals/requests"), count(&server.stats(), "/calls")],
            [20, 20],
            "{version}"
        );
        // A field that the schema lacks is a mistake of the file, and nothing is sent.
        let wrong = scratch.file(
            "wrong.yaml",
            &std::fs::read_to_string(&file).unwrap().replace("a_string: hello, at", "strin: x, at"),
        );
        let output = Tool::run(&["run", &wrong]).expect_code(2);
        assert!(output.stderr.contains("has no field `strin`"), "{}", output.stderr);
        assert_eq!(count(&server.stats(), "/calls"), 20);
    }
}

#[test]
fn reflection_is_asked_with_the_metadata_of_the_file() {
    let server = GoServer::start_with("grpc", &["-token", "Bearer abc"]);
    let scratch = Scratch::new();
    let with = "{ reflection: { metadata: { authorization: \"Bearer ${secret.TOKEN}\" } } }";
    let file = experiment(&scratch, &server.url(""), with, "");
    let run = |token: &str| Tool::new(&["run", &file, "--json"]).env("TOKEN", token).start().wait();
    no_faults(&run("abc").expect_code(0).json());
    let output = run("other-token").expect_code(1);
    assert!(output.stderr.contains("UNAUTHENTICATED: a token is required"), "{}", output.stderr);
    assert!(!output.stderr.contains("other-token"), "{}", output.stderr);
    let without = experiment(&scratch, &server.url(""), "{ reflection: true }", "");
    let output = Tool::run(&["run", &without]).expect_code(1);
    assert!(output.stderr.contains("UNAUTHENTICATED"), "{}", output.stderr);
    assert_eq!(count(&server.stats(), "/calls"), 20);
}

#[test]
fn a_server_without_reflection_says_how_to_go_on() {
    let server = GoServer::start_with("grpc", &["-reflection", "none"]);
    let scratch = Scratch::new();
    let file = experiment(&scratch, &server.url(""), "{ reflection: true }", "");
    let output = Tool::run(&["run", &file]).expect_code(1);
    assert!(output.stderr.contains("does not offer server reflection (UNIMPLEMENTED)"), "{}", output.stderr);
    assert!(output.stderr.contains("help: enable reflection in the server"), "{}", output.stderr);
    // `check` sends nothing.
    let output = Tool::run(&["check", &file]).expect_code(2);
    assert!(output.stderr.contains("`reflection` asks the server for its schemas"), "{}", output.stderr);
}

#[test]
fn services_and_types_are_listed_and_described() {
    let server = GoServer::start("grpc");
    let host = server.address().to_string();
    let listed = Tool::run(&["grpc", "list", &host]).expect_code(0);
    let methods = ["Send", "Collect", "Repeat", "Chat"].map(|name| format!("  echo.v1.Echo/{name}\n"));
    assert_eq!(listed.stdout, format!("echo.v1.Echo\n{}", methods.concat()));
    let from_file = Tool::run(&["grpc", "list", "--proto", &proto()]).expect_code(0);
    assert_eq!(from_file.stdout, listed.stdout);
    let described = Tool::run(&["grpc", "describe", &host, "echo.v1.Echo/Chat"]).expect_code(0);
    let expected = "rpc Chat (stream echo.v1.Item) returns (stream echo.v1.Item);\n\nmessage echo.v1.Item {\n  int64 \
    id = 1;\n  \
                    string name = 2;\n  repeated string tags = 3;\n  echo.v1.Color color = 4;\n}\n\n\
                    # a message of echo.v1.Echo/Chat as JSON\n{\n  \"id\": 0,\n  \"name\": \"\",\n  \"tags\": \
                    [\"\"],\n  \
                    \"color\": \"COLOR_UNSPECIFIED\"\n}\n";
    assert_eq!(described.stdout, expected);
    let same = Tool::run(&["grpc", "describe", "--proto", &proto(), "echo.v1.Echo/Chat"]).expect_code(0);
    assert_eq!(same.stdout, expected);
    let unknown = Tool::run(&["grpc", "describe", &host, "echo.v1.Echo/Chatt"]).expect_code(2);
    assert!(unknown.stderr.contains("did you mean `echo.v1.Echo/Chat`?"), "{}", unknown.stderr);
}

#[test]
fn an_example_is_a_message_that_the_method_takes() {
    let server = GoServer::start("grpc");
    let scratch = Scratch::new();
    let described =
        Tool::run(&["grpc", "describe", &server.address().to_string(), "echo.v1.Echo/Send"]).expect_code(0);
    let (_, example) = described.stdout.split_once("as JSON\n").expect("there is an example");
    // `Any` needs a type that exists.
    let message = example.replace("package.Message", "echo.v1.Item");
    let one_line: String = message.lines().map(str::trim).collect();
    let text = format!(
        "target: {}\ngrpc: {{ reflection: true }}\nscenarios: {{ one: [ {{ grpc: echo.v1.Echo/Send, message: \
        {one_line} }} ] }}\n\
         load: {{ users: 1, requests: 1 }}\n",
        server.url("")
    );
    let file = scratch.file("experiment.yaml", &text);
    no_faults(&Tool::run(&["run", &file, "--json"]).expect_code(0).json());
    // What was saved replaces the server.
    let saved = scratch.path("echo.pb");
    Tool::run(&["grpc", "list", &server.address().to_string(), "--save", &saved]).expect_code(0);
    let file =
        scratch.file("saved.yaml", &text.replace("{ reflection: true }", "{ descriptor_sets: echo.pb }"));
    Tool::run(&["check", &file]).expect_code(0);
}

#[test]
fn a_server_over_tls_is_asked_with_the_settings_of_the_load() {
    let certificates = Pki::new("DNS:localhost,IP:127.0.0.1");
    let (certificate, key) = certificates.server();
    let (certificate, key) = (certificate.display().to_string(), key.display().to_string());
    let server = GoServer::start_with("grpc", &["-certificate", &certificate, "-key", &key]);
    let ca = certificates.ca_file().display().to_string();
    let url = format!("https://{}", server.address());
    let listed = Tool::run(&["grpc", "list", &url, "--ca", &ca]).expect_code(0);
    assert!(listed.stdout.contains("echo.v1.Echo/Chat"), "{}", listed.stdout);
    let scratch = Scratch::new();
    let file =
        experiment(&scratch, &url, "{ reflection: true, health: true }", &format!("tls: {{ ca: {ca} }}"));
    no_faults(&Tool::run(&["run", &file, "--json"]).expect_code(0).json());
    // Untrusted, as every other connection would be.
    let output = Tool::run(&["grpc", "list", &url]).expect_code(1);
    assert!(output.stderr.contains("cannot ask"), "{}", output.stderr);
}

#[test]
fn a_load_begins_when_the_server_is_healthy() {
    let grpc = format!("{{ protos: {}, health: true }}", proto());
    let scratch = Scratch::new();
    let late = GoServer::start_with("grpc", &["-serves-after", "1s"]);
    let file = experiment(&scratch, &late.url(""), &grpc, "");
    let output = Tool::run(&["run", &file]).expect_code(1);
    assert!(output.stderr.contains("was not ready: its health is NOT_SERVING"), "{}", output.stderr);
    assert_eq!(count(&late.stats(), "/calls"), 0);
    no_faults(&Tool::run(&["run", &file, "--json", "--wait-for-ready", "30s"]).expect_code(0).json());
    let without = GoServer::start_with("grpc", &["-healthy=false"]);
    let file = experiment(&scratch, &without.url(""), &grpc, "");
    let output = Tool::run(&["run", &file, "--wait-for-ready", "30s"]).expect_code(1);
    assert!(output.stderr.contains("it has no health service (UNIMPLEMENTED)"), "{}", output.stderr);
}
