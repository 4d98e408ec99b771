//! Files by name and content, flags that hold text, and mutated texts.

use plimsoll_build::body;
use plimsoll_build::header;
use plimsoll_front::{Kind, Overrides, detect, own, read, read_with, show};
use plimsoll_lines::curl;
use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;
use plimsoll_plan::seal::{Machine, seal};
use std::path::{Path, PathBuf};

/// A directory that is removed when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("plimsoll-front-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn refused(path: &Path) -> Diagnostic {
    read(path).unwrap_err().remove(0)
}

#[test]
fn the_extension_of_a_file_determines_its_kind() {
    for (name, kind) in [
        ("a.yaml", Kind::Own),
        ("a.YML", Kind::Own),
        ("s.js", Kind::Script),
        ("s.mjs", Kind::Script),
        ("s.ts", Kind::Script),
        ("p.jmx", Kind::TestPlan),
        ("r.har", Kind::NotYet("HAR recording")),
        ("w.lua", Kind::NotYet("wrk script")),
        ("notes.txt", Kind::Unknown),
        ("none", Kind::Unknown),
    ] {
        assert_eq!(detect(Path::new(name), None), kind, "{name}");
    }
}

#[test]
fn the_content_decides_if_the_name_does_not() {
    for (name, text, kind) in [
        ("x", "target: http://h\nscenarios:\n", Kind::Own),
        ("x.xml", "<?xml?><jmeterTestPlan>", Kind::TestPlan),
        ("x.json", "{\"log\": {\"entries\": []}}", Kind::NotYet("HAR recording")),
        ("x", "import http from 'k6/http';", Kind::Script),
        ("api.js", "require('http').createServer(() => {}).listen(80)", Kind::Unknown),
        ("load.js", "import http from \"k6/http\";", Kind::Script),
        ("load.ts", "export default function () {}", Kind::Script),
        ("x.yaml", "openapi: 3.1.0\n", Kind::NotYet("OpenAPI description")),
        ("x.yaml", "config:\n  target: http://h\nscenarios:\n", Kind::NotYet("Artillery script")),
        ("x.yaml", "target: http://h\nconfig: {}\nscenarios: {}\n", Kind::Own),
        ("x.txt", "hello", Kind::Unknown),
    ] {
        assert_eq!(detect(Path::new(name), Some(text)), kind, "{name}: {text}");
    }
}

#[test]
fn body_files_are_found_next_to_the_experiment() {
    let folder = Folder::new("good");
    folder.file("b.json", "{}");
    let path =
        folder.file("x.yaml", "target: http://h\nscenarios: { s: [ { post: /, body_file: b.json } ] }\n");
    assert_eq!(read(&path).unwrap().draft.requests[0].body.as_deref(), Some(&b"{}"[..]));
}

#[test]
fn values_from_the_command_line_and_the_environment_reach_a_file() {
    let folder = Folder::new("given");
    let path = folder.file(
        "x.yaml",
        "target: http://h\nvars: { p: /a }\nscenarios: { s: [ { get: \"${p}/${env.X}\" } ] }\n",
    );
    let env = |name: &str| (name == "X").then(|| "y".to_owned());
    let given =
        Overrides { set: vec![("p".into(), "/b".into())], env: Box::new(env), ..Overrides::default() };
    assert_eq!(read_with(&path, &given).unwrap().draft.requests[0].path, "/b/y");
    assert_eq!(format!("{given:?}"), "[\"p\"]");
}

#[test]
fn an_unsupported_format_is_named() {
    let folder = Folder::new("notyet");
    let path = folder.file("script.lua", "");
    let wrong = refused(&path);
    assert_eq!(wrong.message, format!("`{}` is a wrk script, which plimsoll cannot run yet", path.display()));
    assert_eq!(wrong.hint, "write it as an experiment file; `docs/how-to/come-from-wrk.md` shows how");
    let plan = refused(&folder.file("plan.jmx", "<jmeterTestPlan/>"));
    assert!(plan.message.contains("is a test plan of JMeter") && plan.hint.contains("`plimsoll run "));
    let api = folder.file("api.yaml", "openapi: 3.1.0\n");
    assert!(refused(&api).message.ends_with("is an OpenAPI description, which plimsoll cannot run yet"));
    assert!(refused(&folder.file("r.plim", "")).hint.contains("plimsoll report"));
    assert!(refused(&folder.file("x.txt", "hello")).message.starts_with("unknown format of `"));
}

#[test]
fn unreadable_files_are_reported_with_the_reason() {
    let folder = Folder::new("unreadable");
    assert!(refused(&folder.0.join("none.yaml")).message.contains("no such file"));
    assert!(refused(&folder.0).message.contains("is a directory"));
    let latin = folder.file("latin.yaml", b"name: x\ntarget: caf\xe9\n");
    let wrong = refused(&latin);
    assert!(matches!(wrong.place, Place::Text { line: 2, column: 12, .. }), "{wrong:?}");
    assert_eq!(
        (wrong.message.as_str(), wrong.hint.as_str()),
        ("invalid UTF-8 byte 0xe9", "save the file as UTF-8")
    );
    let wide = folder.file("wide.yaml", b"\xff\xfen\0a\0");
    assert!(matches!(refused(&wide).place, Place::Text { line: 1, column: 1, .. }));
}

#[test]
fn a_body_is_its_text_or_a_file() {
    let folder = Folder::new("body");
    folder.file("b.bin", b"\x00\xff");
    assert_eq!(body::from_flag("a=1", &folder.0), Ok(b"a=1".to_vec()));
    assert_eq!(body::from_flag("", &folder.0), Ok(Vec::new()));
    assert_eq!(body::from_flag("@b.bin", &folder.0), Ok(b"\x00\xff".to_vec()));
    assert_eq!(body::from_flag("@@x", &folder.0), Ok(b"@x".to_vec()));
    for (bad, part) in [
        ("@none", "no such file"),
        ("@", "missing file name"),
        ("@-", "standard input"),
        ("@.", "is a directory"),
    ] {
        let sentence = body::from_flag(bad, &folder.0).unwrap_err().to_string();
        assert!(sentence.contains(part), "{bad}: {sentence}");
    }
}

#[test]
fn a_header_is_a_name_a_colon_and_a_value() {
    let pair = |n: &str, v: &str| Ok((n.to_owned(), v.to_owned()));
    assert_eq!(header::parse("Accept:text/html"), pair("Accept", "text/html"));
    assert_eq!(header::parse("X-Time: \t12:30 "), pair("X-Time", "12:30"));
    assert_eq!(header::parse("X-Empty:"), pair("X-Empty", ""));
    for (bad, part) in [
        ("Bearer sesame", "missing colon"),
        (": x", "missing header name"),
        ("A B: x", "' '"),
        ("A: x\r\nB: y", "'\\r'"),
        ("A: x\n", "'\\n'"),
    ] {
        let sentence = header::parse(bad).unwrap_err().to_string();
        assert!(sentence.contains(part) && !sentence.contains("sesame"), "{bad}: {sentence}");
    }
}

/// xorshift64*: the same mutations in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % n.max(1)
    }
}

/// Removes, doubles, swaps, and inserts pieces.
fn mutated(text: &str, dice: &mut Dice) -> String {
    const PIECES: &[&str] = &[
        "'",
        "\"",
        "{",
        "}",
        "[",
        "]",
        ":",
        ": ",
        "- ",
        "\n",
        "\t",
        " ",
        "&a ",
        "*a",
        "!x ",
        "|",
        ">",
        "#",
        "~",
        "%",
        "@",
        "\\",
        "$'",
        "\\u",
        "\u{0}",
        "\u{feff}",
        "é",
        "😀",
        "0",
        "-1",
        "1e999",
        "${x}",
        "? ",
        "${users.email}",
        "${random_int(1, 6)}",
        "${secret.X}",
        "$${",
        "{{x}}",
        "${",
        "}",
        "==",
        "/",
        "over",
        "x1.5",
        "$.a[",
        "(",
        "0s",
        "http://",
        "gaps",
        "<<: ",
        "---\n",
        "...\n",
        ",",
        "$",
        "`",
        "=",
    ];
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..=dice.below(5) {
        let (at, long) = (dice.below(chars.len()), dice.below(12));
        let end = (at + long).min(chars.len());
        match dice.below(4) {
            0 => drop(chars.drain(at..end)),
            1 => {
                let piece = chars[at..end].to_vec();
                let to = dice.below(chars.len());
                chars.splice(to..to, piece);
            }
            _ => drop(chars.splice(at..at, PIECES[dice.below(PIECES.len())].chars())),
        }
    }
    chars.into_iter().collect()
}

/// The number of mutations: `PLIMSOLL_FUZZ_CASES`, or a number that takes a few seconds.
fn cases() -> usize {
    std::env::var("PLIMSOLL_FUZZ_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(5_000)
}

#[test]
fn mutated_texts_cause_no_panic_and_every_mistake_is_inside_the_text() {
    const CURL: &str = include_str!("full.curl");
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let own_text = |text: &str| (text.to_owned(), here.to_owned());
    let mut texts = vec![
        own_text(include_str!("full.yaml")),
        own_text(include_str!("everything.yaml")),
        own_text(&include_str!("keys.txt").replace("\n== ", "\n# ")),
    ];
    // The snippets of all keys together are not a valid experiment, but each of their words is worth a mutation.
    let whole = texts.len() - 1;
    for entry in std::fs::read_dir(here.join("../../examples")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "yaml") {
            texts.push((std::fs::read_to_string(&path).unwrap(), path.parent().unwrap().to_owned()));
        }
    }
    let given = Overrides {
        set: Vec::new(),
        env: Box::new(|name| (name != "UNSET").then(|| "value".to_owned())),
        ..Overrides::default()
    };
    let parse = |text: &str, folder: &Path| own::study(text, "f", folder, &given);
    for (number, (text, folder)) in texts.iter().enumerate() {
        // A file of several experiments is not one experiment, but its words are worth a mutation, too.
        let is_several = text.contains("\nparts:");
        assert!(parse(text, folder).is_ok() || number == whole || is_several, "{text}");
    }
    assert!(curl::parse(&[CURL.to_owned()]).is_ok());
    let mut dice = Dice(20);
    let mut refused = 0;
    for case in 0..cases() {
        let (text, folder) = &texts[case % texts.len()];
        let text = mutated(text, &mut dice);
        match parse(&text, folder) {
            // Accepted texts are sealed and shown without a panic.
            Ok(study) => {
                for cell in study.cells {
                    if let Ok(plan) = seal(cell.located.draft, Machine { cpus: 2, seed: 1 }) {
                        assert!(show(&plan).ends_with('\n'));
                    }
                }
            }
            Err(all) => {
                refused += 1;
                assert!(!all.is_empty());
                for d in all {
                    let Place::Text { line, column, .. } = d.place else { panic!("{d:?}\n{text}") };
                    let inside = line >= 1 && column >= 1 && line as usize <= text.lines().count() + 1;
                    assert!(inside, "{line}:{column}\n{text}");
                    assert!(!d.message.is_empty());
                }
            }
        }
        if let Err(all) = curl::parse(&[mutated(CURL, &mut dice)]) {
            assert!(!all.is_empty());
        }
    }
    assert!(refused > cases() / 2, "only {refused} of {} mutations were refused", cases());
}
