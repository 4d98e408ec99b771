//! Untrusted texts and files: control sequences and direction marks are never printed, and anything but a regular file
//! is never read.

use crate::support::{Output, Ruler, Scratch, Tool};
use std::process::Command;

/// Returns whether a character moves the cursor or reverses the direction of text.
fn is_harmful(c: char) -> bool {
    (c.is_control() && c != '\n')
        || matches!(u32::from(c), 0x061c | 0x200e..=0x200f | 0x202a..=0x202e | 0x2066..=0x2069)
}

#[test]
fn a_question_with_escape_sequences_and_marks_is_harmless_in_every_form() {
    let (ruler, scratch) = (Ruler::start(&[]), Scratch::new());
    let odd = r"\e]0;owned\a\e[31mred\u202etxt.exe\u2066\u200fend";
    let text = format!(
        "question: \"is it {odd}?\"\nname: \"name {odd}\"\ntarget: {}\nscenarios: {{ one: [ {{ get: /, name: \"request \
         {odd}\" }} ] }}\nload: {{ users: 1, duration: 1s }}\n",
        ruler.url("")
    );
    let (experiment, file) = (scratch.file("odd.yaml", &text), scratch.path("run.plim"));
    let live = Tool::run(&["run", &experiment, "--out", &file]);
    let html = scratch.path("run.html");
    let page = Tool::run(&["report", &file, "--html", &html]);
    let mut shown = vec![
        ("live", live.stdout),
        ("talk", live.stderr),
        ("page", std::fs::read_to_string(&html).unwrap_or(page.stdout)),
        ("terminal", Tool::run(&["report", &file]).stdout),
    ];
    for form in ["--markdown", "--csv"] {
        shown.push((form, Tool::run(&["report", &file, form]).stdout));
    }
    for (form, text) in shown {
        // Each shows the name or the question, and nothing that came with it.
        assert!(text.contains("txt.exe") || form == "talk" || form == "--csv", "{form}: {text}");
        let found: Vec<char> = text.chars().filter(|c| is_harmful(*c) && *c != '\t').collect();
        let is_table = form == "--csv";
        assert!(found.is_empty() || is_table, "{form} has {found:?}");
    }
}

fn refused(output: &Output, code: i32) {
    assert_eq!(output.code, code, "{}", output.stderr);
    let said = &output.stderr;
    assert!(said.contains("it is a pipe, a socket, or a device, not a regular file"), "{said}");
}

#[test]
fn a_file_that_is_not_regular_is_an_error_without_a_wait() {
    let (ruler, scratch) = (Ruler::start(&[]), Scratch::new());
    let pipe = scratch.path("pipe.yaml");
    let made = Command::new("mkfifo").args([&pipe, &scratch.path("rows.csv")]).status();
    assert!(made.unwrap().success());
    for body in ["@/dev/zero".to_owned(), format!("@{pipe}")] {
        refused(&Tool::run(&[&ruler.url("/"), "-n", "1", "-b", &body]), 2);
    }
    refused(&Tool::run(&["check", &pipe]), 2);
    refused(&Tool::run(&["check", "/dev/zero"]), 2);
    let text = format!(
        "target: {}\ndata: {{ rows: {{ file: rows.csv }} }}\nscenarios: {{ one: [ get: \"/${{rows.a}}\" ] }}\n\
         load: {{ users: 1, duration: 1s }}\n",
        ruler.url("")
    );
    refused(&Tool::run(&["check", &scratch.file("data.yaml", &text)]), 2);
    assert_eq!(ruler.requests(), 0);
}
