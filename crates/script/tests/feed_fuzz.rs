//! Files that are easy to misread, compared with two reference readers: the crates `csv` and `serde_json`.
//!
//! `PLIMSOLL_FUZZ_CASES=1000000 cargo test -p plimsoll-script --test surface feed_fuzz` runs more cases.

use crate::feed_support::{Scratch, below, cases, csv, json, machine, slot};
use plimsoll_plan::data::{Feeder, Format};
use plimsoll_script::feed::{Feeds, Rows};
use plimsoll_stats::random::SplitMix64;
use std::sync::Arc;

type Records = Vec<Vec<Vec<u8>>>;

fn ours(feeder: &Feeder) -> Result<Records, String> {
    let feeds =
        Arc::new(Feeds::open(std::slice::from_ref(feeder), 1, machine(1, 1)).map_err(|e| e.to_string())?);
    let mut rows = Rows::new(&feeds, slot(0, 1));
    let count = feeds.row_count(0).expect("it is open");
    Ok((0..count)
        .map(|_| {
            rows.new_iteration();
            let value = |column| {
                let mut out = Vec::new();
                rows.value(0, column as u16, &mut out).expect("each row has each column");
                out
            };
            (0..feeder.columns.len()).map(value).collect()
        })
        .collect())
}

/// Reads strictly, with the same number of fields in each record, as plimsoll does. The first record may be the header.
fn reference(bytes: &[u8], delimiter: u8) -> Result<Records, csv::Error> {
    // The reference reads a byte order mark before a quote as text of the first field; plimsoll skips it.
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut reader = csv::ReaderBuilder::new().has_headers(false).delimiter(delimiter).from_reader(text);
    reader.byte_records().map(|record| Ok(record?.iter().map(<[u8]>::to_vec).collect())).collect()
}

fn names(count: usize) -> Vec<String> {
    (0..count).map(|n| format!("c{n}")).collect()
}

fn feeder(file: &Scratch, delimiter: u8, header: Option<Vec<String>>, columns: Vec<String>) -> Feeder {
    Feeder { format: Format::Csv { delimiter, header }, columns, ..csv(file, &[]) }
}

fn pick<'a>(random: &mut SplitMix64, from: &[&'a [u8]]) -> &'a [u8] {
    from[below(random, from.len())]
}

#[test]
fn valid_files_with_unusual_fields_are_read_as_by_the_reference() {
    const PIECES: &[&[u8]] = &[
        b"a",
        b"bc",
        b",",
        b";",
        b"\"",
        b"\"\"",
        b"\n",
        b"\r\n",
        b" ",
        b"\t",
        b"\xc3\xa9",
        b"\xff",
        b"\0",
        b"'",
    ];
    cases(3_000, |random| {
        let delimiter = [b',', b';', b'\t', b'|'][below(random, 4)];
        let width = 1 + below(random, 5);
        let line_end: &[u8] = pick(random, &[b"\n", b"\r\n"]);
        let with_header = below(random, 2) == 0;
        let mut records: Records = Vec::new();
        let mut file = Vec::new();
        if below(random, 4) == 0 {
            file.extend_from_slice(b"\xef\xbb\xbf");
        }
        if with_header {
            file.extend_from_slice(names(width).join(&char::from(delimiter).to_string()).as_bytes());
            file.extend_from_slice(line_end);
        }
        let count = 1 + below(random, 12);
        for row in 0..count {
            let mut record = Vec::new();
            for column in 0..width {
                let pieces = below(random, 4);
                let value: Vec<u8> = (0..pieces).flat_map(|_| pick(random, PIECES).to_vec()).collect();
                let bare = !value.iter().any(|byte| b"\"\r\n".contains(byte) || *byte == delimiter);
                // A line with one empty field would not be a row.
                let bare = bare && !(width == 1 && value.is_empty()) && below(random, 3) > 0;
                if column > 0 {
                    file.push(delimiter);
                }
                if bare {
                    file.extend_from_slice(&value);
                } else {
                    let doubled = value.iter().flat_map(|&b| if b == b'"' { vec![b, b] } else { vec![b] });
                    file.push(b'"');
                    file.extend(doubled);
                    file.push(b'"');
                }
                record.push(value);
            }
            records.push(record);
            if row + 1 < count || below(random, 2) == 0 {
                file.extend_from_slice(line_end);
                if below(random, 5) == 0 {
                    file.extend_from_slice(line_end);
                }
            }
        }
        let header = (!with_header).then(|| names(width));
        let read = ours(&feeder(&Scratch::new(&file), delimiter, header, names(width)));
        assert_eq!(read.as_ref(), Ok(&records), "{:?}", String::from_utf8_lossy(&file));
        let mut theirs = reference(&file, delimiter).expect("the file is valid");
        theirs.drain(..usize::from(with_header));
        assert_eq!(theirs, records, "{:?}", String::from_utf8_lossy(&file));
    });
}

#[test]
fn accepted_bytes_are_read_as_by_the_reference() {
    // No lone carriage return: it ends a record for the reference, but not in RFC 4180.
    const PIECES: &[&[u8]] =
        &[b"a", b"b", b",", b",", b"\"", b"\"\"", b"\",\"", b"\n", b"\r\n", b"\n\n", b" "];
    cases(20_000, |random| {
        let count = below(random, 24);
        let file: Vec<u8> = (0..count).flat_map(|_| pick(random, PIECES).to_vec()).collect();
        let theirs = reference(&file, b',');
        let width = match &theirs {
            Ok(records) => records.first().map_or(1, Vec::len),
            Err(_) => 1 + below(random, 3),
        };
        match (ours(&feeder(&Scratch::new(&file), b',', Some(names(width)), names(width))), theirs) {
            (Ok(read), Ok(theirs)) => assert_eq!(read, theirs, "{:?}", String::from_utf8_lossy(&file)),
            (Ok(read), Err(error)) => panic!("{read:?} of a rejected file: {error}"),
            (Err(sentence), Ok(theirs)) => {
                // The reference is more lenient than the RFC.
                let strict = ["unclosed quote", "unexpected text after a closing quote"];
                let known = strict.iter().any(|flaw| sentence.contains(flaw));
                assert!(known || theirs.is_empty(), "{:?}: {sentence}", String::from_utf8_lossy(&file));
            }
            (Err(_), Err(_)) => {}
        }
    });
}

/// JSON that is usually valid, with an occasional invalid piece.
fn some_json(random: &mut SplitMix64, levels: usize, out: &mut String) {
    const STRINGS: &[&str] = &[
        "\"\"",
        "\"k\"",
        "\"\\u006b\"",
        "\"a.k\"",
        "\"\\\"\"",
        "\"\\\\\"",
        "\"é\\ud83d\\ude00\"",
        "\"{\\n\"",
        "\"\\ud83d\"",
    ];
    const SCALARS: &[&str] =
        &["0", "-1", "1.5", "2e3", "3E-2", "true", "false", "null", "01", "-", "1.", "\t7"];
    const SPACES: &[&str] = &["", "", "", " ", "\t", " \r "];
    let space = |random: &mut SplitMix64| SPACES[below(random, SPACES.len())];
    let string = |random: &mut SplitMix64| {
        let most = STRINGS.len() - usize::from(below(random, 8) > 0);
        STRINGS[below(random, most)]
    };
    let object = levels == 4;
    match if object { 0 } else { below(random, 4) } {
        kind @ (0 | 1) if levels > 0 => {
            out.push(if kind == 0 { '{' } else { '[' });
            let items = below(random, 4);
            for item in 0..items {
                if item > 0 {
                    out.push(',');
                }
                out.push_str(space(random));
                if kind == 0 {
                    out.push_str(if below(random, 3) == 0 { string(random) } else { "\"k\"" });
                    out.push_str(space(random));
                    out.push(':');
                    out.push_str(space(random));
                }
                some_json(random, levels - 1, out);
                out.push_str(space(random));
            }
            out.push(if kind == 0 { '}' } else { ']' });
        }
        2 => out.push_str(string(random)),
        _ => {
            let most = SCALARS.len() - if below(random, 8) > 0 { 4 } else { 0 };
            out.push_str(SCALARS[below(random, most)]);
        }
    }
}

#[test]
fn json_is_accepted_as_by_the_reference_with_the_same_values() {
    use serde_json::Value;
    let [mut accepted, mut found] = [0, 0].map(std::sync::atomic::AtomicU32::new);
    cases(20_000, |random| {
        let mut line = String::new();
        some_json(random, 4, &mut line);
        if below(random, 4) == 0 {
            let at = below(random, line.len());
            if line.is_char_boundary(at) {
                line.insert_str(at, ["}", "\"", ",", "\\", ":", "x", "]"][below(random, 7)]);
            }
        }
        let file = Scratch::new(&line);
        let theirs: Result<Value, _> = serde_json::from_str(&line);
        let opened = ours(&json(&file, &[])).is_ok();
        assert_eq!(opened, theirs.as_ref().is_ok_and(Value::is_object), "{line:?}");
        let Ok(theirs) = theirs else { return };
        accepted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        for path in ["k", "a.k", "k.k", "k.a.k"] {
            let expected = lookup(&theirs, path);
            match (ours(&json(&file, &[path])), expected) {
                (Err(sentence), None) => assert!(sentence.contains("missing key"), "{sentence}"),
                (Ok(rows), Some(Value::String(text))) => assert_eq!(rows, [[text.as_bytes()]], "{line:?}"),
                (Ok(rows), Some(value)) => {
                    let read: Value = serde_json::from_slice(&rows[0][0]).expect("it is a JSON text");
                    assert_eq!(&read, value, "{line:?}");
                    found.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                }
                (read, expected) => panic!("{line:?} {path}: {read:?}, expected {expected:?}"),
            }
        }
    });
    // The test proves nothing if few cases are valid.
    let (accepted, found) = (*accepted.get_mut(), *found.get_mut());
    assert!(accepted > 100 && found > 100 || std::env::var_os("PLIMSOLL_FUZZ_SEED").is_some());
}

fn lookup<'v>(value: &'v serde_json::Value, path: &str) -> Option<&'v serde_json::Value> {
    let object = value.as_object()?;
    let nested =
        || path.match_indices('.').find_map(|(dot, _)| lookup(object.get(&path[..dot])?, &path[dot + 1..]));
    object.get(path).or_else(nested)
}
