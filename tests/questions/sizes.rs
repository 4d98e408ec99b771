//! `plimsoll size` as its users type it.

use crate::support::Tool;

/// 100,000 a month are 277.8 an hour of 12 hours a day; each stays for 5 minutes: 23.15 at the same time.
#[test]
fn visitors_become_users_with_every_step_of_the_calculation() {
    let args = ["size", "--visitors", "100000/month", "--session", "5min", "--active", "12h"];
    let said = Tool::run(&args).expect_code(0).stdout;
    assert!(said.contains("277.8") && said.contains("23.1"), "{said}");
    let mut json = args.to_vec();
    json.push("--json");
    let said = Tool::run(&json).expect_code(0).stdout;
    assert!(said.contains("23.14"), "{said}");
}

#[test]
fn too_little_to_go_by_is_refused_with_what_is_missing() {
    for args in [&["size"][..], &["size", "--session", "5min"], &["size", "--visitors", "many/month"]] {
        let refused = Tool::run(args).expect_code(2);
        assert!(!refused.stderr.is_empty() && refused.stdout.is_empty(), "{args:?}");
    }
}

#[test]
fn what_could_be_misread_is_refused_and_not_guessed() {
    let visits = ["size", "--visitors", "100000/month", "--session", "5min"];
    for (more, part) in [
        (&["--peak", "1,5"][..], "`1.5`"),
        (&["--pages", "1,0000"], "groups of three"),
        (&["--response", "300ms"], "`--response` has no effect"),
    ] {
        let refused = Tool::run(&[&visits[..], more].concat()).expect_code(2);
        assert!(refused.stderr.contains(part) && refused.stdout.is_empty(), "{more:?}: {}", refused.stderr);
    }
    let said = Tool::run(&["size", "--users", "1,500", "--think", "10s", "--json"]).json();
    assert_eq!(said["rate_per_s"], 150.0, "{said}");
}
