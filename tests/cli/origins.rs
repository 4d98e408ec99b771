//! Several origins in one run: each is named once, permitted and tested before the load, and has its own row.

use crate::support::{Ruler, Scratch, Tool};

/// Two services, and a file that loads both; `steps` go to them.
struct Shop {
    pages: Ruler,
    users: Ruler,
    scratch: Scratch,
}

impl Shop {
    fn new() -> Self {
        Self { pages: Ruler::start(&[]), users: Ruler::start(&["--delay", "20ms"]), scratch: Scratch::new() }
    }

    fn file(&self, steps: &str) -> String {
        let text = format!(
            "target: {}\norigins: {{ users: {}/v1 }}\nload: {{ users: 2, iterations: 10 }}\nscenarios:\n  \
             shop:\n{steps}",
            self.pages.url(""),
            self.users.url("")
        );
        self.scratch.file("shop.yaml", &text)
    }
}

#[test]
fn each_origin_of_a_file_is_loaded_and_has_its_row() {
    let shop = Shop::new();
    let steps = format!(
        "    - get: /\n    - {{ get: /me, origin: users }}\n    - get: {}\nthresholds:\n  - \"response_time{{tag: \
         origin=users}} max < 60s\"\n",
        shop.users.url("/direct")
    );
    let (file, page) = (shop.file(&steps), shop.scratch.path("page.html"));
    let output = Tool::run(&["run", &file, "--json", "--html", &page]).expect_code(0);
    let said = output.json();
    let rows: Vec<(&str, u64)> = said["by_origin"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["name"].as_str().unwrap(), row["requests"].as_u64().unwrap()))
        .collect();
    let pages = shop.pages.address().to_string();
    assert_eq!(rows, [(pages.as_str(), 10), ("users", 20)]);
    let paths = &shop.users.counters()["by_path"];
    assert_eq!((&paths["/v1/me"], &paths["/direct"], shop.pages.requests()), (&10.into(), &10.into(), 10));
    assert!(shop.users.last_request().contains(&format!("Host: {}\r\n", shop.users.address())));
    // Two users with a connection to each, and the trial before the load.
    assert_eq!((shop.pages.accepted(), shop.users.accepted()), (3, 3));
    assert_eq!(said["environments"][0]["more_origins"].as_array().map(Vec::len), Some(1));
    // The slow one's times are in its own row alone.
    let least_ns = |row: usize| said["by_origin"][row]["response_time"]["min_ns"].as_u64().expect("a time");
    assert!(least_ns(0) < 20_000_000 && least_ns(1) >= 20_000_000, "{}", said["by_origin"]);

    let html = std::fs::read_to_string(page).unwrap();
    assert!(html.contains("<h3>Origins</h3>") && html.contains("users: http://"), "the page names them");
    let text = Tool::run(&["run", &file]).expect_code(0).stdout;
    let table = text.split("\nOrigins").nth(1).expect("the terminal has the table");
    assert!(table.contains("users") && table.contains(&pages), "{table}");
}

#[test]
fn urls_of_several_origins_are_sent_in_turn() {
    let shop = Shop::new();
    let urls = [shop.pages.url("/a"), shop.users.url("/b")];
    let said = Tool::run(&[&urls[0], &urls[1], "-c", "1", "-n", "8", "--json"]).expect_code(0).json();
    assert_eq!((shop.pages.requests(), shop.users.requests()), (4, 4));
    assert_eq!(said["by_origin"].as_array().map(Vec::len), Some(2));
    assert_eq!(said["requests"][1]["name"], format!("GET {}/b", shop.users.address()));
}

#[test]
fn a_redirect_to_another_origin_of_the_run_is_followed_and_to_any_other_is_not() {
    let shop = Shop::new();
    let led = |to: String| format!("    - get: \"/old?status=307&location={to}\"\n      redirects: 3\n");
    let file = shop.file(&format!("{}    - {{ get: /me, origin: users }}\n", led(shop.users.url("/landed"))));
    let said = Tool::run(&["run", &file, "--json"]).expect_code(0).json();
    assert_eq!(shop.users.counters()["by_path"]["/landed"], 10);
    assert_eq!((&said["requests"][0]["redirects"], &said["totals"]["errors"]), (&10.into(), &0.into()));

    let away = Ruler::start(&[]);
    let file = shop.file(&led(away.url("/landed")));
    Tool::run(&["run", &file, "-q"]).expect_code(0);
    assert_eq!(away.requests(), 0, "it was not permitted");
}

#[test]
fn nothing_is_sent_when_one_of_them_is_not_there_or_never_a_target() {
    let shop = Shop::new();
    let of = |other: &str| {
        let text = format!(
            "target: {}\norigins: {{ other: {other} }}\nload: {{ users: 1, iterations: 1 }}\nscenarios: {{ a: [ get: \
             / ] }}\n",
            shop.pages.url("")
        );
        shop.scratch.file("a.yaml", &text)
    };
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let said = Tool::run(&["run", &of(&format!("http://{gone}"))]).expect_code(1).stderr;
    assert!(said.contains(&format!("nothing listens on `{gone}`")), "{said}");
    let said = Tool::run(&["run", &of("http://169.254.169.254")]).expect_code(4).stderr;
    assert!(said.contains("`169.254.169.254` cannot be loaded, even with permission"), "{said}");
    assert_eq!(shop.pages.requests(), 0);
}

#[test]
fn names_of_origins_are_looked_at_before_the_load() {
    let scratch = Scratch::new();
    let text = "target: http://127.0.0.1:1\norigins: { users: http://127.0.0.1:2, target: http://127.0.0.1:3, again: \
                http://127.0.0.1:2 }\nscenarios:\n  a:\n    - { get: /, origin: other }\n    - { get: \
                \"http://127.0.0.1:1/x\", origin: users }\n    - { get: /, origin: target }\n";
    let said = Tool::run(&["check", &scratch.file("a.yaml", text)]).expect_code(2).stderr;
    for part in [
        "`target` is reserved for the URL under `target`",
        "`users` and `again` are the same origin",
        "unknown origin `other`",
        "use `users`, or `target`",
        "the URL is on `127.0.0.1:1`, but `origin` names `127.0.0.1:2`",
    ] {
        assert!(said.contains(part), "`{part}` is not in\n{said}");
    }
    assert_eq!(said.matches("error[").count(), 4, "{said}");
}
