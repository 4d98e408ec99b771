//! Attacks on the console: a page in the same browser, a host name that points to it, a file in its folder.

use crate::client::{Console, with_a_run};
use crate::support::{Ruler, alone};
use serde_json::{Value, json};
use std::os::unix::fs::symlink;

#[test]
fn a_name_that_was_made_to_point_here_gets_nothing() {
    let console = Console::start();
    let port = console.address.rsplit(':').next().unwrap();
    let cookie = ("Cookie", console.cookie());
    for host in [
        format!("127.0.0.1.evil.example:{port}"),
        format!("localhost.evil.example:{port}"),
        format!("localhost.:{port}"),
        format!("evil.example@127.0.0.1:{port}"),
        format!("0.0.0.0:{port}"),
        format!("127.0.0.1:{port}:{port}"),
        String::new(),
    ] {
        for path in ["/", "/api/runs", "/login", "/style.css", &format!("/?token={}", console.token)] {
            let reply = console.send("GET", path, &[("Host", &host), cookie], "");
            assert_eq!(reply.status, 421, "{host} {path}");
            assert_eq!(reply.header("set-cookie"), None);
        }
    }
    let two = [("Host", console.address.as_str()), ("Host", "evil.example"), cookie];
    assert!(matches!(console.send("GET", "/api/runs", &two, "").status, 400 | 421));
}

#[test]
fn what_changes_something_is_never_a_link() {
    let console = Console::start();
    for path in ["/api/start", "/api/check", "/api/jobs/job-1/stop", "/api/runs/0/annotations"] {
        assert_eq!(console.get(path).status, 405, "{path}");
    }
    // A form of another page: not JSON, and from another origin; and a preflight request gets no permission.
    let origin = format!("http://{}", console.address);
    let cookie = ("Cookie", console.cookie());
    let key = ("X-Plimsoll-Key", console.key());
    for kind in ["application/x-www-form-urlencoded", "multipart/form-data", "text/plain", ""] {
        let headers = [cookie, key, ("Origin", origin.as_str()), ("Content-Type", kind)];
        assert_eq!(console.send("POST", "/api/start", &headers, "{}").status, 403, "{kind}");
    }
    let headers = [cookie, key, ("Origin", "http://127.0.0.1:1"), ("Access-Control-Request-Method", "POST")];
    let reply = console.send("OPTIONS", "/api/start", &headers, "");
    assert_eq!(reply.status, 403);
    assert_eq!(reply.header("access-control-allow-origin"), None);
}

#[test]
fn a_server_on_another_port_reads_nothing_although_the_cookie_comes_along() {
    let (state, _) = with_a_run();
    let console = Console::with(state);
    let id = console.entries()[0]["id"].as_str().unwrap().to_owned();
    let get = |path: &str, site: &str| {
        let headers = [("Cookie", console.cookie()), ("Sec-Fetch-Site", site)];
        console.send("GET", path, &headers, "")
    };
    for path in ["/api/runs", &format!("/api/live/{id}"), &format!("/runs/{id}/file")] {
        for site in ["same-site", "cross-site"] {
            assert_eq!(get(path, site).status, 403, "{path} {site}");
        }
    }
    assert_eq!(get("/api/runs", "same-origin").status, 200);
    // A page that is served can be neither framed nor read by another site.
    let page = get(&format!("/runs/{id}"), "same-site");
    assert_eq!(page.header("cross-origin-resource-policy"), Some("same-origin"));
    assert_eq!(page.header("x-frame-options"), Some("DENY"));
    assert_eq!(page.header("access-control-allow-origin"), None);
    assert!(page.header("content-security-policy").unwrap().contains("frame-ancestors 'none'"));
}

/// A server on another port of this host gets the cookie, and can put anything into a request.
#[test]
fn a_cookie_alone_starts_nothing_and_changes_nothing() {
    let (state, file) = with_a_run();
    let console = Console::with(state);
    let entry = console.entries().remove(0);
    let origin = format!("http://{}", console.address);
    let (_, other) = console.enter();
    let annotations = json!({ "tags": ["x"], "note": "", "version": entry["annotations_version"] });
    let order = json!({ "kind": "form", "url": "http://127.0.0.1:1/", "load": "maintained", "clients": 1,
                        "duration_s": 1 });
    let changes = [
        ("PUT", format!("/api/runs/{}/annotations", entry["id"].as_str().unwrap()), annotations),
        ("POST", "/api/start".to_owned(), order),
        ("POST", "/api/key".to_owned(), json!({})),
        ("POST", "/api/check".to_owned(), json!({ "text": "" })),
        ("POST", "/api/jobs/job-1/stop".to_owned(), json!({})),
    ];
    let cookie = console.cookie().split_once('=').unwrap().1;
    let send = |key: Option<&str>, (method, path, body): &(&str, String, Value)| {
        let mut headers = vec![("Cookie", console.cookie()), ("Origin", &origin)];
        headers.push(("Content-Type", "application/json"));
        headers.extend(key.map(|key| ("X-Plimsoll-Key", key)));
        console.send(method, path, &headers, &body.to_string())
    };
    // None, the cookie itself, that of another session, a part of the own one.
    for key in [None, Some(""), Some(cookie), Some(other.as_str()), Some(&console.key()[1..])] {
        for change in &changes {
            let reply = send(key, change);
            assert_eq!(reply.status, 403, "{key:?} {}", change.1);
            assert!(reply.text().contains("the session key is missing or wrong"), "{}", reply.text());
        }
    }
    assert!(console.json("/api/jobs")["jobs"].as_array().unwrap().is_empty());
    assert!(!file.with_file_name("a.plim.annotations.json").exists());
    // No resource that requires only the cookie contains the key.
    for path in ["/", "/index.html", "/api/state", "/api/runs", "/api/jobs", "/?token=0"] {
        let reply = console.get(path);
        assert!(!reply.text().contains(console.key()) && !reply.head.contains(console.key()), "{path}");
    }
    assert_eq!(send(Some(console.key()), &changes[0]).status, 200);
    // So a page can check which of two keys is valid.
    assert_eq!(send(Some(console.key()), &changes[2]).status, 204);
}

#[test]
fn the_token_stays_in_no_address() {
    let console = Console::start();
    let printed = format!("/?token={}", console.token);
    let again = console.get(&printed);
    for reply in [console.send("GET", &printed, &[], ""), again] {
        assert_eq!(reply.status, 303, "{}", reply.head);
        let to = reply.header("location").expect("it leads on");
        assert!(to.starts_with("/#key=") && !to.contains(&console.token), "{to}");
        assert_eq!(reply.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(reply.header("cache-control"), Some("no-store"));
    }
    // Nor in anything that is served, and other addresses take none.
    for path in ["/", "/api/state", "/api/jobs", "/index.html"] {
        assert!(!console.get(path).text().contains(&console.token), "{path}");
    }
    let reply = console.send("GET", &format!("/api/live/job-1?token={}", console.token), &[], "");
    assert_eq!(reply.status, 401);
}

#[test]
fn streams_require_a_login() {
    let (state, _) = with_a_run();
    let console = Console::with(state);
    let id = console.entries()[0]["id"].as_str().unwrap().to_owned();
    for path in [format!("/api/live/{id}"), format!("/runs/{id}"), format!("/runs/{id}/file")] {
        for headers in [vec![], vec![("Cookie", "plimsoll-1=0"), ("Accept", "text/event-stream")]] {
            let reply = console.send("GET", &path, &headers, "");
            assert_eq!(reply.status, 401, "{path}");
            assert!(!reply.text().contains("a.plim"), "{}", reply.text());
        }
    }
    assert_eq!(console.send("HEAD", &format!("/api/live/{id}"), &[], "").status, 401);
}

#[test]
fn links_in_a_folder_of_runs_give_nothing_else_away() {
    let (state, file) = with_a_run();
    let secret = state.file("secret", "root:x:0:0\n");
    symlink(&secret, file.with_file_name("b.plim")).unwrap();
    symlink("/dev/zero", file.with_file_name("c.plim")).unwrap();
    symlink("/", file.with_file_name("all")).unwrap();
    symlink(&secret, file.with_file_name("a.plim.annotations.json")).unwrap();
    let console = Console::with(state);
    let listing = console.json("/api/runs");
    assert_eq!(listing["entries"].as_array().unwrap().len(), 1, "{listing}");
    assert!(!listing.to_string().contains("root:"), "{listing}");
    // IDs are hashes of paths, so they are not secret: FNV-1a with 64 bits.
    let id_of = |name: &str| {
        let path = file.with_file_name(name);
        let bytes = path.as_os_str().as_encoded_bytes().iter();
        let hash = bytes.fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
        format!("{hash:016x}")
    };
    let own = listing["entries"][0]["id"].as_str().unwrap();
    assert_eq!(own, id_of("a.plim"), "the ids of this test are those of the console");
    for (name, status) in [("b.plim", 404), ("c.plim", 404), ("all", 404), ("all/etc/passwd", 404)] {
        let reply = console.get(&format!("/runs/{}/file", id_of(name)));
        assert_eq!(reply.status, status, "{name}: {}", reply.head);
        assert!(!reply.text().contains("root:"), "{name}");
    }
    // Annotations that are a link are neither read nor written.
    let put = || console.annotate(own, &json!(["x"]), "");
    assert_eq!(put().status, 409);
    let alongside = |ending: &str| file.with_file_name(format!("a.plim.annotations.json{ending}"));
    std::fs::remove_file(alongside("")).unwrap();
    symlink(&secret, alongside(".new")).unwrap();
    assert_eq!(put().status, 200);
    assert_eq!(std::fs::read_to_string(&secret).unwrap(), "root:x:0:0\n");
    assert!(alongside("").symlink_metadata().unwrap().is_file());
}

#[test]
fn remarks_of_others_are_read_with_care() {
    let (state, file) = with_a_run();
    let annotations = file.with_file_name("a.plim.annotations.json");
    let console = Console::with(state);
    let text = |tags: Value, note: &str| json!({ "version": 1, "tags": tags, "note": note }).to_string();
    for (hostile, why) in [
        ("[".repeat(60_000), "contains no annotations"),
        (text(json!([]), &"n".repeat(70_000)), "at most 65536 bytes"),
        (text(json!(vec!["t"; 3]), &"n".repeat(8_001)), "at most 8000 characters"),
        (text(json!(["t".repeat(65)]), ""), "at most 64 characters"),
        (text(json!((0..33).map(|n| n.to_string()).collect::<Vec<_>>()), ""), "at most 32 tags"),
        (text(json!({ "a": 1 }), ""), "contains no annotations"),
        ("{\"version\":-1,\"tags\":[],\"note\":\"\"}".into(), "contains no annotations"),
        ("\u{0}\u{feff}".into(), "contains no annotations"),
    ] {
        std::fs::write(&annotations, &hostile).unwrap();
        let listing = console.json("/api/runs");
        assert_eq!(listing["entries"][0]["tags"], json!([]));
        let said = listing["unreadable"][0]["reason"].as_str().unwrap_or_default();
        assert!(said.contains(why) && said.len() < 1_000, "{said}");
    }
    std::fs::write(&annotations, text(json!(["<img src=x onerror=alert(1)>"]), "\u{202e}</script>")).unwrap();
    let listing = console.json("/api/runs");
    assert_eq!(listing["entries"][0]["tags"], json!(["<img src=x onerror=alert(1)>"]));
    // JSON that a browser takes for a page would be one.
    let reply = console.get("/api/runs");
    assert_eq!(reply.header("content-type"), Some("application/json"));
    assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
}

#[test]
fn only_experiment_files_are_read_as_such() {
    let console = Console::start();
    let fifo = console.state.path("pipe.yaml");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status().expect("`mkfifo` can be started");
    assert!(made.success());
    let secret = console.state.file("secret", "password: hunter2\n");
    let large = console.state.file("large.yaml", &"# nothing\n".repeat(200_000));
    let zero = console.state.path("zero.yaml");
    symlink("/dev/zero", &zero).unwrap();
    for path in [&secret, &fifo, &zero, &large, "/etc/passwd", "--help", "", &console.state.path("none.yaml")]
    {
        for (address, body) in
            [("/api/check", json!({ "file": path })), ("/api/start", json!({ "kind": "file", "path": path }))]
        {
            let reply = console.change("POST", address, &body);
            assert_eq!(reply.status, 400, "{address} {path}: {}", reply.text());
            assert!(!reply.text().contains("hunter2") && !reply.text().contains("root:"), "{}", reply.text());
        }
    }
    assert!(console.json("/api/jobs")["jobs"].as_array().unwrap().is_empty());
}

/// A logged-in user may use data files, as in a terminal, but messages about mistakes do not contain their content.
#[test]
fn what_is_said_of_a_pasted_text_shows_nothing_of_other_files() {
    let _alone = alone();
    let ruler = Ruler::start(&[]);
    let console = Console::start();
    let secret = console.state.file("secret", "user\nhunter2\n");
    let text = |line: &str| {
        format!(
            "target: {}\n{line}\nscenarios: {{ one: [ get: / ] }}\nload: {{ users: 1, duration: 1s }}\n",
            ruler.url("")
        )
    };
    for line in [
        format!("include: {secret}"),
        format!("x: !include {secret}"),
        format!("data: {{ users: {{ file: {secret}.yaml }} }}"),
        "x: &a [*a]".to_owned(),
    ] {
        let reply = console.change("POST", "/api/check", &json!({ "text": text(&line) }));
        assert_eq!(reply.json()["is_valid"], false, "{line}: {}", reply.text());
        assert!(!reply.text().contains("hunter2"), "{}", reply.text());
        let reply = console.change("POST", "/api/start", &json!({ "kind": "text", "text": text(&line) }));
        assert_eq!(reply.status, 422, "{line}: {}", reply.text());
    }
    assert_eq!(ruler.requests(), 0);
}
