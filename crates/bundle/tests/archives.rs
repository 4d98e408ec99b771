//! k6 archives.

use crate::support::{Engine, Memory, describe};
use plimsoll_bundle::{Bundle, Entry, Files, load};
use plimsoll_plan::Diagnostic;
use std::path::Path;

const METADATA: &str = r#"{"type":"js","options":{"vus":3},"filename":"file:///data/a%20b/main.js",
    "pwd":"file:///data/a%20b/",
    "env":{"HOST":"example.com"},"k6version":"2.2.0"}"#;

fn tar(files: &[(&str, &str)]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, text) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, name, text.as_bytes()).unwrap();
    }
    builder.into_inner().unwrap()
}

fn read(files: &[(&str, &str)]) -> Result<Bundle, Vec<Diagnostic>> {
    load(Entry::Archive(tar(files)), &Memory::of(&[("/data/a b/outside.js", "")]), &Engine)
}

#[test]
fn an_archive_is_a_bundle_with_options_environment_and_files() {
    let bundle = read(&[
        ("metadata.json", METADATA),
        ("data", "unused"),
        (
            "file/data/a b/main.js",
            "import './lib/a.js'; import 'https://example.com/x/b.js'; export default 1",
        ),
        ("file/data/a b/lib/a.js", "import '../data.json'"),
        ("file/data/a b/data.json", "[]"),
        ("https/example.com/x/b.js", "import './c.js'"),
        ("https/example.com/x/c.js", ""),
    ])
    .unwrap();
    let names: Vec<&str> = bundle.modules.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["main.js", "lib/a.js", "https://example.com/x/b.js", "https://example.com/x/c.js"]);
    let archive = bundle.archive.unwrap();
    assert_eq!(archive.options["vus"], 3);
    assert_eq!(archive.env["HOST"], "example.com");
    assert_eq!(archive.folder, Path::new("/data/a b"));
    assert_eq!(archive.read(Path::new("data.json")).unwrap(), b"[]");
    assert_eq!(archive.read(Path::new("/data/a b/lib/../data.json")).unwrap(), b"[]");
}

#[test]
fn the_script_may_be_in_data_alone() {
    let bundle = read(&[("metadata.json", METADATA), ("data", "export default 1")]).unwrap();
    assert_eq!(
        (bundle.modules[0].name.as_str(), bundle.usage.exports[0].name.as_str()),
        ("main.js", "default")
    );
}

#[test]
fn an_archive_reads_only_its_own_files() {
    let wrong = read(&[("metadata.json", METADATA), ("data", "import './outside.js'")]).unwrap_err();
    assert_eq!(
        describe(&wrong),
        "K001 /data/a b/main.js:1:8 no such file: `/data/a b/outside.js`; check the path"
    );
    let wrong = read(&[("metadata.json", METADATA), ("data", "import 'https://a.test/b.js'")]).unwrap_err();
    assert_eq!(
        describe(&wrong),
        "K004 /data/a b/main.js:1:8 the archive does not contain the remote module `https://a.test/b.js`; make the \
         archive again with `k6 archive`"
    );
}

#[test]
fn what_is_not_an_archive_is_refused() {
    let message = |files: &[(&str, &str)]| describe(&read(files).unwrap_err());
    assert_eq!(
        message(&[("data", "")]),
        "K012 Whole the archive has no `metadata.json`; make it with `k6 archive`"
    );
    assert!(
        message(&[("metadata.json", "{")]).starts_with("K012 Whole invalid `metadata.json` in the archive: ")
    );
    assert!(
        message(&[("metadata.json", "{}")])
            .starts_with("K012 Whole `metadata.json` in the archive has no `filename`")
    );
    let other = r#"{"type":"har","filename":"a"}"#;
    assert_eq!(
        message(&[("metadata.json", other)]),
        "K012 Whole unsupported type `har` of the archive; expected `js`"
    );
    assert!(
        message(&[("metadata.json", METADATA)])
            .starts_with("K012 Whole the archive does not contain its script")
    );
    let wrong = load(Entry::Archive(b"no archive".repeat(99)), &Memory::of(&[]), &Engine).unwrap_err();
    assert!(describe(&wrong).starts_with("K012 Whole invalid archive: "), "{}", describe(&wrong));
}
