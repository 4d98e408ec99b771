//! Redirects: a caution when nothing else came back, and followed on demand.

use crate::support::{Ruler, Scratch, Tool};
use serde_json::Value;

const REDIRECT: &str = "/old?status=302&location=/new";

fn caution(said: &Value) -> Option<String> {
    let all = said["cautions"].as_array().unwrap();
    let found = all.iter().find(|caution| caution["code"] == "redirects_not_followed")?;
    Some(format!("{} | {}", found["evidence"].as_str().unwrap(), found["advice"].as_str().unwrap()))
}

#[test]
fn redirects_that_are_all_there_is_are_a_caution() {
    let ruler = Ruler::start(&[]);
    let said = Tool::run(&[&ruler.url(REDIRECT), "-n", "10", "--json"]).expect_code(0).json();
    let told = caution(&said).expect("there is nothing but redirects");
    for part in ["302 x 10, not followed", "led to /new", "--follow 3"] {
        assert!(told.contains(part), "`{part}` is not in `{told}`");
    }
    // A redirect is not a failure, and the failure examples do not include it.
    assert_eq!(said["failure_examples"].as_array().map(Vec::len), Some(0));
    let text = Tool::run(&[&ruler.url(REDIRECT), "-n", "10"]).expect_code(0).stdout;
    assert!(text.contains("302 x 10, not followed"), "{text}");

    // To another origin following would not help.
    let away = ruler.url("/old?status=301&location=http://127.0.0.1:1/new");
    let said = Tool::run(&[&away, "-n", "2", "--json"]).expect_code(0).json();
    let told = caution(&said).expect("there is nothing but redirects");
    assert!(told.contains("test http://127.0.0.1:1/new itself"), "{told}");
}

#[test]
fn there_is_no_caution_where_something_else_came_back_or_redirects_are_meant() {
    let ruler = Ruler::start(&[]);
    // One user, who sends them in turn: of ten users each would begin with the first.
    let both = [&ruler.url(REDIRECT), &ruler.url("/pick"), "-c", "1", "-n", "10", "--json"];
    assert_eq!(caution(&Tool::run(&both).expect_code(0).json()), None);
    let plain = Tool::run(&[&ruler.url("/pick"), "-n", "10", "--json"]).expect_code(0).json();
    assert_eq!(caution(&plain), None);
    let scratch = Scratch::new();
    let file = scratch.file(
        "a.yaml",
        &format!(
            "target: {}\nload: {{ users: 1, iterations: 3 }}\nscenarios:\n  one:\n    - get: \"{REDIRECT}\"\n      \
             check: {{ status: 302 }}\n",
            ruler.url("")
        ),
    );
    assert_eq!(caution(&Tool::run(&["run", &file, "--json"]).expect_code(0).json()), None);
}

#[test]
fn redirects_are_followed_on_demand_by_flag_and_by_a_pasted_curl_line() {
    let ruler = Ruler::start(&[]);
    let url = ruler.url(REDIRECT);
    let follow: &[&[&str]] = &[
        &[&url, "--follow", "3", "-c", "1", "-n", "10", "--json"],
        &["-c", "1", "-n", "10", "--json", "curl", "-sL", &url],
    ];
    for args in follow {
        let said = Tool::run(args).expect_code(0).json();
        assert_eq!(said["status_codes"]["302"], 5, "{args:?}: {}", said["status_codes"]);
        assert_eq!(said["status_codes"]["200"], 5, "{args:?}: {}", said["status_codes"]);
        assert_eq!(said["totals"]["redirects"], 5, "{args:?}");
        assert_eq!(caution(&said), None, "{args:?}");
    }
    assert_eq!(ruler.json("/_test-server/counters")["by_path"]["/new"], 10);
    // One that never ends is a failure, not a page.
    let round = ruler.url("/round?status=302&location=/round?status=302%26location=/round");
    let said = Tool::run(&[&round, "--follow", "0", "-n", "4", "--json"]).expect_code(0).json();
    assert!(caution(&said).is_some(), "{}", said["cautions"]);
}
