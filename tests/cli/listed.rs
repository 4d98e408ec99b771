//! Several requests on one command line: URLs, and lists of them; and the target of a file replaced.

use crate::support::{Ruler, Scratch, Tool};

fn rows(said: &serde_json::Value) -> Vec<(String, u64)> {
    let rows = said["requests"].as_array().unwrap();
    rows.iter()
        .map(|row| (row["name"].as_str().unwrap().to_owned(), row["requests"].as_u64().unwrap()))
        .collect()
}

#[test]
fn several_urls_are_sent_in_turn_each_with_its_row() {
    let ruler = Ruler::start(&[]);
    let (a, b) = (ruler.url("/a"), ruler.url("/b"));
    let said = Tool::run(&[&a, &b, &a, "-c", "1", "-n", "9", "--json"]).expect_code(0).json();
    assert_eq!(rows(&said), [("GET /a".into(), 3), ("GET /b".into(), 3), ("GET /a (2)".into(), 3)]);
    let counters = ruler.counters();
    assert_eq!((&counters["by_path"]["/a"], &counters["by_path"]["/b"]), (&6.into(), &3.into()));
}

#[test]
fn a_list_of_urls_is_sent_in_turn() {
    let (ruler, scratch) = (Ruler::start(&[]), Scratch::new());
    scratch.file("order.json", "{\"n\": 1}");
    let text = format!(
        "GET {}\n\nPOST {}\nContent-Type: application/json\n@order.json\n",
        ruler.url("/a"),
        ruler.url("/orders")
    );
    let list = scratch.file("list.txt", &text);
    let said = Tool::run(&["--urls", &list, "-c", "1", "-n", "6", "--json"]).expect_code(0).json();
    assert_eq!(rows(&said), [("GET /a".into(), 3), ("POST /orders".into(), 3)]);
    let sent = ruler.last_request();
    assert!(sent.starts_with("POST /orders ") && sent.ends_with("{\"n\": 1}"), "{sent}");
    assert!(sent.contains("Content-Type: application/json\r\n"), "{sent}");

    let (before, other) = (ruler.requests(), Ruler::start(&[]));
    let two = scratch.file("two.txt", &format!("GET {}\nGET {}\n", ruler.url("/a"), other.url("/b")));
    Tool::run(&["--urls", &two, "-c", "1", "-n", "6", "-q"]).expect_code(0);
    assert_eq!((ruler.requests() - before, other.requests()), (3, 3));
}

#[test]
fn a_target_on_the_command_line_replaces_that_of_the_file() {
    let (ruler, scratch) = (Ruler::start(&[]), Scratch::new());
    let steps = "load: { users: 1, requests: 4 }\nscenarios:\n  one:\n    - get: /a\n    - get: /b\n";
    let file = scratch.file("a.yaml", &format!("target: http://127.0.0.1:1\n{steps}"));
    Tool::run(&["run", &file, "--target", &ruler.url(""), "-q"]).expect_code(0);
    assert_eq!(ruler.requests(), 4);
    assert!(ruler.last_request().contains(&format!("Host: {}\r\n", ruler.address())));

    let path = Tool::run(&["run", &file, "--target", &ruler.url("/v2")]).expect_code(2);
    assert!(
        path.stderr.contains("a target is an origin") && path.stderr.contains("--target http://"),
        "{}",
        path.stderr
    );
    let variants = scratch.file(
        "v.yaml",
        &format!(
            "target: http://127.0.0.1:1\n{steps}variants:\n  old: {{ target: http://127.0.0.1:2 }}\n  new: {{ target: \
             http://127.0.0.1:3 }}\n"
        ),
    );
    let several = Tool::run(&["run", &variants, "--target", &ruler.url("")]).expect_code(2);
    assert!(several.stderr.contains("several targets"), "{}", several.stderr);
    assert_eq!(ruler.requests(), 4);
}

#[test]
fn thousands_are_written_short_and_too_many_users_are_lowered() {
    let ruler = Ruler::start(&[]);
    let said = Tool::run(&[&ruler.url("/"), "-n", "1k", "-c", "4", "--json"]).expect_code(0).json();
    assert_eq!((&said["totals"]["requests"], ruler.requests()), (&1_000.into(), 1_000));
    for args in [&["-n", "5", "-c", "10"][..], &["-n", "5"]] {
        let output = Tool::run(&[&[ruler.url("/").as_str(), "--json"], args].concat()).expect_code(0);
        assert_eq!(output.json()["plan"]["connections"], 5, "{args:?}");
        assert_eq!(output.stderr.contains("`-c 10` is lowered"), args.len() == 4, "{}", output.stderr);
    }
}
