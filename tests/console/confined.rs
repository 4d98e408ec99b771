//! Pasted experiments run as the user who started the console, and may only use files in its folders.

use crate::client::Console;
use crate::support::{Ruler, Scratch, alone};
use serde_json::{Value, json};

fn text(ruler: &Ruler, more: &str) -> String {
    format!(
        "target: {}\nscenarios: {{ one: [ {{ post: /, body: x }} ] }}\nload: {{ users: 1, duration: 1s }}\n{more}",
        ruler.url("")
    )
}

fn pasted(text: &str) -> Value {
    json!({ "kind": "text", "text": text })
}

#[test]
fn a_pasted_experiment_runs_no_program_and_reads_neither_environment_nor_files_outside_of_the_folders() {
    let _alone = alone();
    let (ruler, outside) = (Ruler::start(&[]), Scratch::new());
    let console = Console::start();
    let made = outside.path("made");
    let secret = outside.file("secret.csv", "a\n1\n");
    let runs = console.state.folder().join("plimsoll/runs");
    std::fs::create_dir_all(&runs).unwrap();
    std::fs::write(runs.join("rows.csv"), "a\n1\n").unwrap();
    let inside = runs.join("rows.csv").display().to_string();
    let up = format!("{}/../../../../../../../../{secret}", runs.display());
    let with_file = |file: &str| format!("data: {{ rows: {{ file: \"{file}\" }} }}\n");
    for (more, word) in [
        (format!("monitors: [ {{ command: [touch, \"{made}\"] }} ]\n"), "runs a program"),
        (format!("monitors: [ {{ command: \"touch {made}\" }} ]\n"), "runs a program"),
        (
            format!("monitors: [ {{ nginx: {{ access_log: \"{secret}\" }} }} ]\n"),
            "outside the console's directories",
        ),
        (with_file(&secret), "outside the console's directories"),
        (with_file(&up), "outside the console's directories"),
        // A request could send the value to a server of the author's choice.
        ("vars: { home: \"${env.HOME}\" }\n".into(), "environment"),
        ("vars: { home: \"${secret.HOME}\" }\n".into(), "environment"),
    ] {
        let text = text(&ruler, &more);
        for (path, order) in [("/api/start", pasted(&text)), ("/api/check", json!({ "text": text }))] {
            let reply = console.change("POST", path, &order);
            let said = reply.text();
            assert!(said.contains(word) && said.contains("F037"), "{path} {more}: {said}");
            assert!(path == "/api/check" || reply.status == 422, "{more}: {}", reply.status);
        }
    }
    assert!(!std::path::Path::new(&made).exists(), "nothing was run");
    let reply = console.change("POST", "/api/check", &json!({ "text": text(&ruler, &with_file(&inside)) }));
    assert_eq!(reply.json()["is_valid"], true, "files in the folders may be read: {}", reply.text());
    assert_eq!(ruler.requests(), 0);
}

#[test]
fn who_starts_the_console_may_allow_commands() {
    let _alone = alone();
    let ruler = Ruler::start(&[]);
    let console = Console::of(Scratch::new(), &["--allow-commands"]);
    let more = "monitors: [ { command: [echo, \"a 1\"] } ]\n";
    let reply = console.change("POST", "/api/check", &json!({ "text": text(&ruler, more) }));
    assert_eq!(reply.json()["is_valid"], true, "{}", reply.text());
}
