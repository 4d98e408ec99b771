//! Texts with variables and functions.

use plimsoll_jmx::text::{Part, Pos, Text};

fn parts(source: &str) -> Vec<Part> {
    Text::new(source, Pos::default()).unwrap().parts
}

fn literal(text: &str) -> Part {
    Part::Literal(text.to_owned())
}

fn variable(name: &str) -> Part {
    Part::Variable(name.to_owned())
}

#[test]
fn a_text_consists_of_literals_and_variables() {
    assert_eq!(parts(""), []);
    assert_eq!(parts("a b"), [literal("a b")]);
    assert_eq!(parts("/u/${id}?x=${q}"), [literal("/u/"), variable("id"), literal("?x="), variable("q")]);
    assert_eq!(parts("$id {x} $${a}"), [literal("$id {x} $"), variable("a")]);
}

#[test]
fn backslashes_disappear_only_in_texts_with_variables() {
    assert_eq!(parts(r"\d+\,\$"), [literal(r"\d+\,\$")]);
    assert_eq!(parts(r"\d\,\$\\${a}"), [literal(r"\d,$\"), variable("a")]);
    assert_eq!(parts(r"\${a}${b}"), [literal("${a}"), variable("b")]);
}

#[test]
fn a_call_has_arguments_which_are_texts() {
    let [Part::Call(call)] = &parts(r"${__time(yyyy-MM-dd'T'HH:mm:ss\,SSS,${name})}")[..] else { panic!() };
    assert_eq!(call.name, "__time");
    assert_eq!(call.arguments[0].fixed(), Some("yyyy-MM-dd'T'HH:mm:ss,SSS"));
    assert_eq!(call.arguments[1].parts, [variable("name")]);
    let [Part::Call(call)] = &parts("${__UUID}")[..] else { panic!() };
    assert!(call.arguments.is_empty());
    let [Part::Call(call)] = &parts("${__UUID()}")[..] else { panic!() };
    assert!(call.arguments.is_empty());
    let [Part::Call(call)] = &parts("${__P(a,)}")[..] else { panic!() };
    assert_eq!(call.arguments.len(), 2);
}

#[test]
fn parentheses_and_calls_may_be_nested_in_arguments() {
    let [Part::Call(call)] = &parts(r#"${__jexl3("${a}" == "1" && (1 > 0),x)}"#)[..] else { panic!() };
    assert_eq!(&*call.arguments[0].source, r#""${a}" == "1" && (1 > 0)"#);
    assert_eq!(call.arguments[1].fixed(), Some("x"));
    let [Part::Call(call)] = &parts("${__intSum(${__P(a,1)},2)}")[..] else { panic!() };
    assert!(matches!(&call.arguments[0].parts[..], [Part::Call(inner)] if inner.name == "__P"));
}

#[test]
fn an_unknown_function_is_a_variable() {
    assert_eq!(parts("${__none(1)}"), [variable("__none(1)")]);
    assert_eq!(parts("x${open"), [literal("xopen")]);
    assert!(Text::new("${__P(a)b}", Pos::default()).is_err());
}
