//! Commands in a report can be copied from a window of any width.

use crate::output::fixtures;
use plimsoll_analysis::caution::Kind;
use plimsoll_output::line::wrap;
use plimsoll_output::{Look, terminal, terminal::Detail};

/// The commands of a report, as a shell reads them: a trailing `\` continues a line, any other line end ends a command.
/// `front` is the width of labels in front of each line.
fn commands(text: &str) -> Vec<Vec<String>> {
    let unlabelled: Vec<&str> = text
        .lines()
        .map(|line| line.trim_matches([' ', '│']).trim_start_matches("why ").trim_start_matches("next "))
        .map(str::trim)
        .collect();
    let joined = unlabelled.join("\n").replace("\\\n", "");
    let mut found = Vec::new();
    for (at, part) in joined.split('`').enumerate().filter(|(at, _)| at % 2 == 1) {
        let is_command = ["plimsoll ", "sysctl ", "curl ", "--"].iter().any(|word| part.starts_with(word));
        if is_command {
            assert!(!part.contains('\n'), "command {at} is broken: {part:?}\n{text}");
            found.push(words(part));
        }
    }
    found
}

/// Splits words as a POSIX shell does.
fn words(command: &str) -> Vec<String> {
    let (mut all, mut quoted) = (vec![String::new()], false);
    for c in command.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => all.push(String::new()),
            c => all.last_mut().unwrap().push(c),
        }
    }
    all.retain(|word| !word.is_empty());
    all
}

#[test]
fn each_command_of_a_report_is_copied_whole_at_any_width() {
    let long = format!("runs/{}.plim", "a-service-with-a-long-name-".repeat(4));
    let blank = "runs/before and after.plim".to_owned();
    let mut seen = 0;
    for (name, mut s) in fixtures::all() {
        // An advice contains a command with quotes in it.
        s.cautions.push(Kind::LowEphemeralPorts.example().raise());
        for file in [&long, &blank] {
            let at = |width| {
                let look = Look { color: false, width, unicode: true };
                commands(&terminal::summary(&s, &look, Detail::Full, Some(file)))
            };
            let wide = at(120);
            seen += wide.len();
            for width in [40, 60, 80, 100] {
                assert_eq!(at(width), wide, "{name} at {width}");
            }
        }
    }
    assert!(seen > 20, "{seen} commands");
}

#[test]
fn a_command_wider_than_the_window_continues_after_a_backslash() {
    let text =
        "Then run it again and compare: `plimsoll compare runs/today.plim 'runs/last week.plim' --json`.";
    assert_eq!(
        wrap(text, 40),
        [
            "Then run it again and compare:",
            "`plimsoll compare runs/today.plim \\",
            "'runs/last week.plim' --json`."
        ]
    );
    // A word of a command is never broken, even if it is wider than the window; other words may be.
    let word = "x".repeat(50);
    assert_eq!(wrap(&format!("`plimsoll report {word}`"), 30), ["`plimsoll report \\", &format!("{word}`")]);
    assert_eq!(wrap(&format!("see `{word}`"), 30).len(), 3);
    // A command that fits stays on one line.
    assert_eq!(wrap("Look for it: `plimsoll find URL`.", 25), ["Look for it:", "`plimsoll find URL`."]);
}

#[test]
fn a_number_keeps_its_percent_sign() {
    assert_eq!(wrap("the share of errors is 0%.", 25), ["the share of errors is", "0%."]);
}
