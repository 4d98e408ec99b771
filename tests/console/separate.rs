//! Files outside of the listed folders, and names that try to reach them.

use crate::client::Console;
use crate::support::{Ruler, Scratch, Tool, alone};
use serde_json::{Value, json};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// A folder that is shown and one that is not, with a run in each.
fn two_folders() -> (Scratch, PathBuf, PathBuf) {
    let scratch = Scratch::new();
    let [inside, outside] = ["inside", "outside"].map(|name| scratch.folder().join(name).join("a.plim"));
    let ruler = Ruler::start(&[]);
    let _alone = alone();
    for (file, name) in [(&inside, "listed-run"), (&outside, "unlisted-run")] {
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("the scratch folder is writable");
        let file = file.to_str().expect("a plain path");
        Tool::run(&[&ruler.url("/"), "-n", "20", "-q", "-o", file, "--name", name]).expect_code(0);
    }
    (scratch, inside, outside)
}

fn open_folder(inside: &Path, scratch: Scratch) -> Console {
    let folder = inside.parent().and_then(Path::to_str).expect("a plain path").to_owned();
    Console::of(scratch, &[&folder])
}

/// FNV-1a with 64 bits: the ID of a path is not secret.
fn id_of(path: &Path) -> String {
    let bytes = path.as_os_str().as_encoded_bytes().iter();
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}

fn names(listing: &Value) -> Vec<&str> {
    listing["entries"].as_array().expect("a list").iter().filter_map(|entry| entry["name"].as_str()).collect()
}

#[test]
fn links_that_lead_out_are_refused_and_said() {
    let (scratch, inside, outside) = two_folders();
    let alongside = |name: &str| inside.with_file_name(name);
    symlink(&outside, alongside("out.plim")).expect("a link");
    symlink(&inside, alongside("own.plim")).expect("a link");
    symlink(outside.parent().expect("a folder"), alongside("folder")).expect("a link");
    // The page of an experiment reads all runs in its folder.
    for list in ["experiment.json", "parts.json"] {
        let folder = alongside(list.trim_end_matches(".json"));
        std::fs::create_dir(&folder).expect("a folder");
        std::fs::write(folder.join(list), "{}").expect("a file");
        symlink(&outside, folder.join("out.plim")).expect("a link");
    }
    let away = alongside("away");
    std::fs::create_dir(&away).expect("a folder");
    let list = r#"{"version":1,"name":"x","parts":[{"name":"a","folder":"../../outside"}]}"#;
    std::fs::write(away.join("parts.json"), list).expect("a file");
    let console = open_folder(&inside, scratch);
    let listing = console.json("/api/runs");
    assert_eq!(names(&listing), ["listed-run", "listed-run"], "{listing}");
    let told = listing["unreadable"].to_string();
    assert_eq!(told.matches("the link leads out of the listed directories").count(), 3, "{told}");
    assert!(told.contains("not a directory below it"), "{told}");
    for path in [alongside("out.plim"), alongside("experiment"), away, alongside("folder/a.plim"), outside] {
        let id = id_of(&path);
        for address in [
            format!("/runs/{id}"),
            format!("/runs/{id}/file"),
            format!("/api/live/{id}"),
            format!("/compare?a={id}&b={}", id_of(&inside)),
        ] {
            let reply = console.get(&address);
            assert_eq!(reply.status, 404, "{} {address}", path.display());
            assert!(!reply.text().contains("unlisted-run"), "{address}");
        }
    }
}

#[test]
fn a_link_that_takes_the_place_of_a_run_is_refused_at_once() {
    let (scratch, inside, outside) = two_folders();
    let console = open_folder(&inside, scratch);
    assert_eq!(names(&console.json("/api/runs")), ["listed-run"]);
    let id = id_of(&inside);
    assert_eq!(console.get(&format!("/runs/{id}")).status, 200);
    std::fs::remove_file(&inside).expect("the scratch folder is writable");
    symlink(&outside, &inside).expect("a link");
    for address in [format!("/runs/{id}"), format!("/runs/{id}/file"), format!("/compare?a={id}&b={id}")] {
        let reply = console.get(&address);
        assert_eq!(reply.status, 404, "{address}");
        assert!(reply.text().contains("leads out"), "{}", reply.text());
    }
    let reply = console.change(
        "PUT",
        &format!("/api/runs/{id}/annotations"),
        &json!({
            "tags": ["x"], "note": "", "version": "0"
        }),
    );
    assert_eq!(reply.status, 404, "{}", reply.text());
}

#[test]
fn names_of_every_kind_lead_nowhere() {
    let (scratch, inside, outside) = two_folders();
    let console = open_folder(&inside, scratch);
    let out = outside.to_str().expect("a plain path");
    let up = "..%2f".repeat(20);
    let names = [
        "%00".to_owned(),
        format!("{}%00", id_of(&inside)),
        format!("{up}etc%2fpasswd"),
        format!("%2e%2e/%2e%2e/{out}"),
        out.replace('/', "%2f"),
        "..%5c..%5coutside".to_owned(),
        "%ff%fe".to_owned(),
        "a".repeat(9_000),
        "%252e%252e%252f".to_owned(),
    ];
    for name in &names {
        for address in [
            format!("/runs/{name}"),
            format!("/runs/{name}/file"),
            format!("/api/live/{name}"),
            format!("/compare?a={name}&b={name}"),
            format!("/{name}"),
        ] {
            let reply = console.get(&address);
            assert!(matches!(reply.status, 400 | 404), "{address}: {}", reply.status);
            assert!(!reply.text().contains("unlisted-run") && !reply.text().contains("root:"), "{address}");
        }
        for address in [format!("/api/jobs/{name}/stop"), format!("/api/jobs/job-1/{name}")] {
            let reply = console.change("POST", &address, &json!({}));
            assert!(matches!(reply.status, 400 | 404), "{address}: {}", reply.status);
        }
    }
    // More than a head may have: it is refused before it is read, so that the refusal may be lost with the connection.
    let mut stream = console.connect();
    let sent =
        write!(stream, "GET /runs/{} HTTP/1.1\r\nHost: {}\r\n\r\n", "a".repeat(100_000), console.address);
    let mut said = String::new();
    let heard = stream.read_to_string(&mut said);
    let is_closed =
        |e: &std::io::Error| matches!(e.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset);
    assert!([sent.err(), heard.err()].iter().flatten().all(is_closed), "{said}");
    let is_refused = ["HTTP/1.1 414", "HTTP/1.1 431"].iter().any(|start| said.starts_with(start));
    assert!(said.is_empty() || is_refused, "{said}");
    for path in ["a\u{0}.yaml".to_owned(), format!("{}.yaml", "a".repeat(300)), "a/".repeat(5_000) + "b.yaml"]
    {
        let reply = console.change("POST", "/api/start", &json!({ "kind": "file", "path": path }));
        assert_eq!(reply.status, 400, "{}", reply.text());
    }
    assert_eq!(names.len(), 9);
    assert_eq!(self::names(&console.json("/api/runs")), ["listed-run"]);
}

/// A file with a name of 255 bytes leaves no room for a longer name, and a name may contain bytes that no header may.
#[test]
fn files_with_the_longest_and_the_oddest_names_are_shown() {
    let (scratch, inside, _) = two_folders();
    let long = inside.with_file_name(format!("{}.plim", "n".repeat(250)));
    let odd = inside.with_file_name("a\r\nset-cookie: b=c\"; filename=\"x.plim");
    for file in [&long, &odd] {
        std::fs::copy(&inside, file).expect("a copy");
    }
    let console = open_folder(&inside, scratch);
    let listing = console.json("/api/runs");
    assert_eq!((names(&listing).len(), listing["unreadable"].to_string()), (3, "[]".to_owned()));
    for file in [&long, &odd] {
        let reply = console.get(&format!("/runs/{}/file", id_of(file)));
        assert_eq!((reply.status, reply.header("set-cookie")), (200, None), "{}", reply.head);
        assert_eq!(console.get(&format!("/runs/{}", id_of(file))).status, 200);
    }
    let reply = console.annotate(&id_of(&long), &json!(["x"]), "");
    assert_eq!(reply.status, 409, "{}", reply.text());
    assert!(reply.json()["error"].as_str().expect("a sentence").contains("cannot write"), "{}", reply.text());
}
