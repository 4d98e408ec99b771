//! Functions in texts.

use crate::simulator::{Folder, run, run_in, text};
use crate::xml::{get, group, plan};

/// Returns the values of a text in some iterations of one thread.
fn values(text_of: &str, loops: u32) -> Vec<String> {
    let trace = run(
        &plan(&[("name", "Jo"), ("A_1", "first")], &group(1, loops, &get("A", &format!("/{text_of}"), ""))),
        |_| text(200, ""),
    );
    trace.paths().iter().map(|path| path[1..].to_owned()).collect()
}

fn value(text_of: &str) -> String {
    values(text_of, 1).concat()
}

#[test]
fn functions_of_texts_and_numbers() {
    assert_eq!(value("${__V(A_${__threadNum})}"), "first");
    assert_eq!(value("${__intSum(1,2,39)}"), "42");
    assert_eq!(value("${__longSum(1,2,total)}-${total}"), "3-3");
    assert_eq!(value("${__changeCase(abC,UPPER,)}"), "ABC");
    assert_eq!(value("${__urlencode(a b&c)}"), "a+b%26c");
    assert_eq!(value("${__digest(MD5,hello,,,)}"), "5d41402abc4b2a76b9719d911017c592");
    assert_eq!(value("${__char(0x41,66)}"), "AB");
    assert_eq!(value("${__isVarDefined(name)}-${__isVarDefined(other)}"), "true-false");
    assert_eq!(value("${__split(a-b,part,-)}.${part_n}.${part_2}"), "a-b.2.b");
    assert_eq!(value("${__eval(${name})}-${__evalVar(name)}"), "Jo-Jo");
    assert_eq!(value("${__threadGroupName}-${__samplerName}-${__TestPlanName}"), "Group-A-plan.jmx");
    assert_eq!(value("${__base64Encode(hello)}"), "aGVsbG8=");
}

#[test]
fn counters_of_functions_keep_their_state() {
    assert_eq!(values("${__counter(TRUE,)}-${__counter(FALSE,n)}-${n}", 3), ["1-1-1", "2-2-2", "3-3-3"]);
}

#[test]
fn times_have_the_patterns_of_java() {
    // 1,800,000,000 s after 1970 is 2027-01-15 08:00:00 UTC.
    assert_eq!(value("${__time(,)}"), "1800000000000");
    assert_eq!(value("${__time(/1000,)}"), "1800000000");
    assert!(value("${__time(yyyy-MM-dd'T'mm:ss.SSS,)}").starts_with("2027-01-15T"));
    assert_eq!(value("${__timeShift(yyyy-MM-dd,2024-02-28,P2D,,)}"), "2024-03-01");
    assert_eq!(value("${__dateTimeConvert(01 02 2024,dd MM yyyy,EEE-MMM,)}"), "Thu-Feb");
}

#[test]
fn random_values_are_in_their_ranges() {
    for number in values("${__Random(3,5,)}", 30) {
        assert!(("3"..="5").contains(&number.as_str()));
    }
    let letters = value("${__RandomString(12,ab,)}");
    assert!(letters.len() == 12 && letters.chars().all(|c| c == 'a' || c == 'b'));
    let ids = values("${__UUID}", 2);
    assert!(ids[0].len() == 36 && ids[0].as_bytes()[14] == b'4' && ids[0] != ids[1]);
}

#[test]
fn properties_come_from_the_command_line() {
    let below = get("A", "/${__P(a)}-${__P(b,usual)}-${__property(c)}-${__P(d)}", "");
    let trace =
        run_in(&Folder::new(&[]), &plan(&[], &group(1, 1, &below)), &[("a", "given")], |_| text(200, ""));
    assert_eq!(trace.paths(), ["/given-usual-c-1"]);
}

#[test]
fn files_are_read_line_by_line_or_by_column() {
    let folder = Folder::new(&[("rows.txt", "a,1\nb,2\n")]);
    let path = folder.0.join("rows.txt").display().to_string();
    let below = get(
        "A",
        &format!(
            "/${{__CSVRead({path},0)}}-${{__CSVRead({path},1)}}${{__CSVRead({path},next)}}-\
             ${{__StringFromFile({path},,,)}}"
        ),
        "",
    );
    let trace = run_in(&folder, &plan(&[], &group(1, 3, &below)), &[], |_| text(200, ""));
    assert_eq!(trace.paths(), ["/a-1-a,1", "/b-2-b,2", "/a-1-a,1"]);
}

#[test]
fn variables_are_evaluated_once_and_see_earlier_elements() {
    let trace = run(&plan(&[("id", "${__UUID}")], &group(2, 2, &get("A", "/${id}", ""))), |_| text(200, ""));
    let mut paths = trace.paths();
    paths.dedup();
    assert_eq!(paths.len(), 1);
}
