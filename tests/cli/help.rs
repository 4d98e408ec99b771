//! Help, version, and the pages made from the tables.

use crate::support::Tool;

#[test]
fn a_bare_call_helps_briefly_and_is_a_usage_error() {
    let output = Tool::run(&[]).expect_code(2);
    assert_eq!(output.stdout, "");
    assert!(output.stderr.contains("plimsoll http://127.0.0.1:8080/ -c 100 -d 15s"), "{}", output.stderr);
    assert!(output.stderr.lines().count() < 25);
}

#[test]
fn help_names_every_command_and_every_exit_code() {
    for args in [&["--help"][..], &["-h"], &["help"]] {
        let output = Tool::run(args).expect_code(0);
        for word in [
            "run FILE.yaml",
            "curl",
            "report",
            "merge",
            "demo",
            "doctor",
            "--stages",
            "--threshold",
            "130",
            "99",
            "test-server",
            "completions",
            "runs list|show|prune",
            "Send load",
        ] {
            assert!(output.stdout.contains(word), "{word}");
        }
        assert!(!output.stdout.contains("docs-dump"), "hidden commands are shown");
    }
}

#[test]
fn every_command_has_its_own_help() {
    for (verb, word) in [
        ("run", "FILE.yaml"),
        ("report", "--markdown"),
        ("merge", "--out"),
        ("demo", "half a minute"),
        ("doctor", "limits"),
        ("curl", "--data-raw"),
    ] {
        for args in [[verb, "--help"], ["help", verb]] {
            let output = Tool::run(&args).expect_code(0);
            assert!(output.stdout.contains(word), "{args:?}:\n{}", output.stdout);
        }
    }
}

#[test]
fn help_shows_required_arguments_and_the_defaults_of_each_command() {
    let help = |verb: &str| Tool::run(&[verb, "--help"]).expect_code(0).stdout.replace("\n", " ");
    let flat = |verb: &str| help(verb).split_whitespace().collect::<Vec<_>>().join(" ");
    for (verb, argument) in
        [("run", "<FILE>"), ("report", "<FILE|DIR>"), ("audit", "<FILE>..."), ("explain", "[CODE]")]
    {
        assert!(flat(verb).contains(&format!("Arguments: {argument}")), "{verb}");
    }
    assert!(flat("run").contains("[default: the file's value, or 50]"));
    let find = flat("find");
    assert!(find.contains("--out <DIR>") && find.contains("--max-connections"));
    // A search refuses these flags.
    for flag in ["--duration", "--rate ", "--connections", "--junit", "--stages"] {
        assert!(!find.contains(&format!(" {flag}")), "{flag}");
    }
}

#[test]
fn the_version_is_one_line() {
    for flag in ["-V", "--version", "version"] {
        let output = Tool::run(&[flag]).expect_code(0);
        assert_eq!(output.stdout, format!("plimsoll {}\n", env!("CARGO_PKG_VERSION")));
    }
}

#[test]
fn doctor_shows_the_limits_and_passes() {
    let output = Tool::run(&["doctor"]).expect_code(0);
    for word in ["open files", "ephemeral ports", "cores", "memory", "clock", "kernel", "steal"] {
        assert!(output.stdout.contains(word), "{word}:\n{}", output.stdout);
    }
    assert_eq!(output.stderr, "");
}

#[test]
fn the_reference_pages_are_one_json_list_and_do_not_depend_on_the_window() {
    let output = Tool::run(&["docs-dump"]).expect_code(0);
    let pages = output.json();
    let pages = pages.as_array().unwrap();
    assert!(pages.len() >= 6);
    for page in pages {
        let text = page["text"].as_str().unwrap();
        assert!(
            page["path"].as_str().unwrap().ends_with(".md") && text.contains("\n# ") && text.ends_with('\n')
        );
        assert!(!text.contains(" \n"), "blanks at the end of a line");
    }
    let narrow = Tool::new(&["docs-dump"]).env("COLUMNS", "60").start().wait();
    assert_eq!(narrow.stdout, output.stdout);
}

#[test]
fn the_reference_has_a_section_for_each_command_that_the_help_names() {
    let page = include_str!("../../docs/reference/command-line.md");
    let help = Tool::run(&["--help"]).expect_code(0).stdout;
    let (_, commands) = help.split_once("Commands:\n").unwrap();
    let named: Vec<&str> = commands
        .lines()
        .take_while(|line| !line.is_empty())
        // Between them stand the titles of the groups.
        .filter_map(|line| line.trim_start().strip_prefix("plimsoll ")?.split(' ').next())
        .collect();
    assert!(named.contains(&"find") && named.contains(&"serve"), "{named:?}");
    for name in named {
        assert!(page.contains(&format!("\n## `plimsoll {name}`\n")), "{name} has no section");
    }
}
