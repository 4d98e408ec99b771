//! All values at a place, in their order.

use plimsoll_body::{Unreadable, Values};
use plimsoll_plan::head::Head;

const BODY: &[u8] = br#"{"a":[{"id":1},{"id":"two"},{"id":null}],"b":{"id":4.50}}"#;

fn all(values: Result<Values, String>, body: &[u8]) -> Vec<String> {
    values.unwrap().all(Head::default(), body).unwrap()
}

#[test]
fn a_path_returns_every_node_with_its_text() {
    assert_eq!(all(Values::json("$..id"), BODY), ["1", "two", "null", "4.50"]);
    assert_eq!(all(Values::json("$.b.id"), BODY), ["4.50"]);
    assert!(all(Values::json("$.c"), BODY).is_empty());
}

#[test]
fn a_jmespath_returns_the_elements_of_a_list() {
    assert_eq!(all(Values::jmes("a[*].id"), BODY), ["1", "two"]);
    assert_eq!(all(Values::jmes("b"), BODY), [r#"{"id":4.5}"#]);
    assert!(all(Values::jmes("c"), BODY).is_empty());
}

#[test]
fn markup_returns_nodes_in_document_order() {
    let page = b"<ul><li class=x>one</li><li>two</li></ul><p>2</p>";
    assert_eq!(all(Values::css("li", None), page), ["one", "two"]);
    assert_eq!(all(Values::css("li", Some("class")), page), ["x"]);
    assert_eq!(all(Values::xpath("//li"), page), ["one", "two"]);
    assert_eq!(all(Values::xpath("count(//li)"), page), ["2"]);
}

#[test]
fn another_kind_of_body_has_no_values() {
    let found = Values::json("$.a").unwrap().all(Head::default(), b"<p>");
    assert_eq!(found, Err(Unreadable("the body is not JSON")));
}
