//! Several experiments in one file: what each of them is, what `--set` and `--part` reach, and where mistakes stand.

use plimsoll_front::{Overrides, Part, own};
use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;
use plimsoll_plan::seal::{Machine, seal};
use std::path::Path;

const FILE: &str = "\
name: cards
question: How much does it carry?
vars: { base: 41, scale: 1, size: small }
time_scale: \"${scale}\"
target: \"http://127.0.0.1:${base}01\"
scenarios: { pick: [ { get: \"/${size}\" } ] }
thresholds: [ \"response_time p99 < 100ms\" ]
variants: { plain: , hop: { target: \"http://127.0.0.1:${base}02\" } }
repeat: 2
parts:
  sweep:
    question: Where does the rate stop rising?
    load: { users: [1, 10, 100], duration: 60s }
    repeat: 3
  line:
    vars: { size: large }
    find: { vary: rate, max_time: 4m }
    variants: { hop: { target: \"http://127.0.0.1:${base}03\" } }
    repeat: 1
";

fn overrides(set: &[(&str, &str)]) -> Overrides {
    let set = set.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Overrides { set, env: Box::new(|_| None), ..Overrides::default() }
}

fn read(text: &str, set: &[(&str, &str)], only: &[&str]) -> Result<Vec<Part>, Vec<Diagnostic>> {
    let only: Vec<String> = only.iter().map(|name| (*name).to_owned()).collect();
    own::parts(text, "folder/probe.yaml", Path::new("folder"), &overrides(set), &only)
}

#[track_caller]
fn good(text: &str, set: &[(&str, &str)], only: &[&str]) -> Vec<Part> {
    read(text, set, only).unwrap_or_else(|all| panic!("{text}\n{all:#?}"))
}

fn lines(all: &[Diagnostic]) -> Vec<String> {
    let line = |d: &Diagnostic| {
        let place = match &d.place {
            Place::Text { line, column, .. } => format!("{line}:{column}"),
            Place::Flag(flag) => flag.clone(),
            place => format!("{place:?}"),
        };
        format!("{place} {}: {}; {}", d.code, d.message, d.hint)
    };
    all.iter().map(line).collect()
}

#[test]
fn each_part_is_the_file_with_its_own_keys_over_it() {
    let parts = good(FILE, &[], &[]);
    let [sweep, line] = parts.as_slice() else { panic!("{}", parts.len()) };
    assert_eq!((sweep.name.as_deref(), sweep.number), (Some("sweep"), 1));
    assert_eq!((line.name.as_deref(), line.number), (Some("line"), 2));
    let (one, other) = (&sweep.study.experiment, &line.study.experiment);
    assert_eq!((one.name.as_str(), other.name.as_str()), ("cards / sweep", "cards / line"));
    assert_eq!(
        (one.question.as_str(), other.question.as_str()),
        ("Where does the rate stop rising?", "How much does it carry?")
    );
    assert_eq!((one.repeat, other.repeat), (3, 1));
    assert!(one.find.is_none() && other.find.is_some());
    assert_eq!((sweep.study.cells.len(), line.study.cells.len()), (6, 2), "two variants, three levels");
    let target =
        |part: &Part, cell: usize| part.study.cells[cell].located.draft.target.clone().unwrap().authority();
    assert_eq!((target(sweep, 3), target(line, 1)), ("127.0.0.1:4102".into(), "127.0.0.1:4103".into()));
    let path = |part: &Part| part.study.cells[0].located.draft.requests[0].path.clone();
    assert_eq!((path(sweep), path(line)), ("/small".into(), "/large".into()));
    for cell in parts.iter().flat_map(|part| &part.study.cells) {
        assert_eq!(cell.located.draft.thresholds.len(), 1);
        assert!(seal(cell.located.draft.clone(), Machine { cpus: 2, seed: 7 }).is_ok());
    }
}

#[test]
fn a_file_without_parts_is_one_part_without_a_name() {
    let text = "target: http://h\nscenarios: { s: [ { get: / } ] }\n";
    let parts = good(text, &[], &[]);
    assert!(parts.len() == 1 && parts[0].name.is_none() && parts[0].study.experiment.name == "probe");
    let wrong = lines(&read(text, &[], &["sweep"]).unwrap_err());
    assert_eq!(wrong, ["--part F036: unknown part `sweep`; remove `--part` (the file has no `parts`)"]);
}

#[test]
fn one_of_the_parts_keeps_its_number() {
    let parts = good(FILE, &[], &["line"]);
    assert_eq!((parts.len(), parts[0].number), (1, 2));
    let wrong = lines(&read(FILE, &[], &["lime", "other", "line"]).unwrap_err());
    assert_eq!(
        wrong,
        [
            "--part F036: unknown part `lime`; did you mean `line`?",
            "--part F036: unknown part `other`; use one of `sweep` or `line`",
        ]
    );
}

#[test]
fn a_name_that_one_part_knows_may_be_set_and_narrows_it() {
    let parts = good(FILE, &[("users", "10")], &[]);
    assert_eq!((parts[0].study.cells.len(), parts[1].study.cells.len()), (2, 2));
    // Also where the part that knows it is not run.
    assert_eq!(good(FILE, &[("users", "10")], &["line"]).len(), 1);
    let own = FILE.replace("vars: { size: large }", "vars: { size: large, depth: 3 }");
    assert_eq!(good(&own, &[("depth", "4")], &["sweep"]).len(), 1);
    let wrong = lines(&read(FILE, &[("user", "10")], &[]).unwrap_err());
    assert_eq!(wrong.len(), 1, "once, not once a part: {wrong:#?}");
    assert!(wrong[0].contains("F029") && wrong[0].contains("`user`"), "{wrong:?}");
    let wrong = lines(&read(FILE, &[("users", "11")], &[]).unwrap_err());
    assert!(wrong.len() == 1 && wrong[0].contains("unknown value for `users`"), "{wrong:?}");
}

#[test]
fn a_scale_shortens_a_part_and_leaves_the_other() {
    let parts = good(FILE, &[("scale", "0.05"), ("users", "1"), ("variant", "hop")], &[]);
    let draft = &parts[0].study.cells[0].located.draft;
    assert_eq!((draft.load.duration_ns, draft.scale), (Some(3_000_000_000), Some(0.05)));
    assert_eq!(parts[1].study.experiment.find.as_ref().unwrap().max_time_ns, Some(12_000_000_000));
    let own = FILE.replace("    repeat: 1\n", "    repeat: 1\n    time_scale: 0.5\n");
    let parts = good(&own, &[("scale", "0.05")], &[]);
    assert_eq!(parts[1].study.experiment.find.as_ref().unwrap().max_time_ns, Some(120_000_000_000));
}

#[test]
fn mistakes_of_all_parts_come_at_once_each_once_where_they_stand() {
    let text = "target: http://h\nscenarios: { s: [ { get: / } ] }\ntimeout: soon\nparts:\n  a: { loda: 1 }\n  \
                b: { load: { users: x } }\n  \"c d\": { name: x, parts: { e: } }\n  f: 3\n";
    let wrong = lines(&read(text, &[], &[]).unwrap_err());
    let begins: Vec<&str> = wrong.iter().map(|line| line.split(": ").next().unwrap()).collect();
    assert_eq!(
        begins,
        ["3:10 F015", "5:8 F011", "6:23 F014", "7:3 F036", "7:12 F018", "7:21 F018", "8:6 F014"],
        "{wrong:#?}"
    );
    let empty = "target: http://h\nscenarios: { s: [ { get: / } ] }\nparts: {}\n";
    assert!(lines(&read(empty, &[], &[]).unwrap_err())[0].contains("`parts` is empty"));
}

#[test]
fn a_command_that_makes_one_experiment_picks_none_of_several() {
    for wrong in [
        own::study(FILE, "f", Path::new(""), &overrides(&[])).unwrap_err(),
        own::parse_with(FILE, "f", Path::new(""), &overrides(&[])).unwrap_err(),
    ] {
        let told = lines(&wrong);
        assert!(
            told.len() == 1 && told[0].starts_with("10:1 F036: ") && told[0].contains("--part NAME"),
            "{told:?}"
        );
    }
}

#[test]
fn what_cannot_be_scaled_or_shared_is_refused_where_it_stands() {
    let head = "target: http://h\nscenarios: { s: [ { get: / } ] }\n";
    for (more, place, said) in [
        ("time_scale: 0", "3:13 F015", "invalid time scale"),
        ("time_scale: [1, 2]", "3:13 F014", "a number such as"),
        ("generators: 0", "3:13 F015", "1–64"),
        ("generators: 100", "3:13 F015", "1–64"),
        (
            "load: { replay: { file: tests/files/gaps.txt, format: intervals } }\ntime_scale: 0.5",
            "4:1 F017",
            "`replay`",
        ),
    ] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let all = own::parts(&format!("{head}{more}\n"), "f", folder, &overrides(&[]), &[]).expect_err(more);
        let told = lines(&all);
        assert!(told.len() == 1 && told[0].starts_with(place) && told[0].contains(said), "{more}: {told:?}");
    }
    let recorded = format!(
        "{head}load: {{ replay: {{ file: tests/files/gaps.txt, format: intervals }} }}\ntime_scale: 1\n"
    );
    assert!(own::parts(&recorded, "f", Path::new(env!("CARGO_MANIFEST_DIR")), &overrides(&[]), &[]).is_ok());
}
