//! Every form of `export`, and what becomes of it.

use crate::support::{bundle, factory_with, frame, single};

/// Returns what precedes the code, the code, and what follows it without the code for `peek`.
fn parts(text: &str) -> (String, String, String) {
    let bundle = single(&format!("/*code*/{text}"));
    let (before, code, after) = frame(&bundle.modules[0].factory);
    let after = after.split("if (__module.peek)").next().unwrap_or_default().trim().to_owned();
    (before, code, after)
}

#[test]
fn every_form_of_export_keeps_its_code_and_its_value() {
    for (text, before, code, after) in [
        ("export const a = 1;", "", "const a = 1;", "__exports.a = a;"),
        ("export let a = 1, b = 2;", "", "let a = 1, b = 2;", "__exports.a = a; __exports.b = b;"),
        (
            "export var { a, b: [c = 1, ...d], ...e } = f();",
            "",
            "var { a, b: [c = 1, ...d], ...e } = f();",
            "__exports.a = a; __exports.c = c; __exports.d = d; __exports.e = e;",
        ),
        ("export function f() {}", "__exports.f = f;", "function f() {}", ""),
        ("export async function* f() {}", "__exports.f = f;", "async function* f() {}", ""),
        ("export class A {}", "", "class A {}", "__exports.A = A;"),
        ("const a = 1; export { a };", "", "const a = 1; ;", "__exports.a = a;"),
        (
            "const a = 1; export { a as b, a as default };",
            "",
            "const a = 1; ;",
            "__exports.b = a; __exports.default = a;",
        ),
        ("const a = 1; export { a as 'a b' };", "", "const a = 1; ;", "__exports[\"a b\"] = a;"),
        ("export default 1 + 2;", "", "const __default =  1 + 2;", "__exports.default = __default;"),
        (
            "const a = 1; export default a;",
            "",
            "const a = 1; const __default =  a;",
            "__exports.default = __default;",
        ),
        ("export default function f() {}", "__exports.default = f;", "function f() {}", ""),
        ("export default class A {}", "", "class A {}", "__exports.default = A;"),
        (
            "const __default = 1; export default 2",
            "",
            "const __default = 1; const __default_ =  2",
            "__exports.default = __default_;",
        ),
    ] {
        assert_eq!(parts(text), (before.into(), code.into(), after.into()), "{text}");
    }
}

#[test]
fn an_anonymous_default_export_is_named_default() {
    let name = "Object.defineProperty(__default, 'name', {value: 'default', configurable: true});";
    let hoisted = format!("__exports.default = __default; {name}");
    let late = format!("{name} __exports.default = __default;");
    for (text, before, code, after) in [
        ("export default function () {}", &*hoisted, "function  __default() {}", ""),
        ("export default async function* () {}", &*hoisted, "async function*  __default() {}", ""),
        ("export default () => 1", "", "const __default =  () => 1", &*late),
        ("export /* a */ default // b\n (class {})", "", "const __default =  // b\n (class {})", &*late),
        ("export default class { m() {} }", "", "const __default = class { m() {} };", &*late),
        (
            "export default class { static name = 'x' }",
            "",
            "const __default = class { static name = 'x' };",
            "__exports.default = __default;",
        ),
    ] {
        assert_eq!(parts(text), (before.into(), code.into(), after.into()), "{text}");
    }
}

#[test]
fn a_variable_that_changes_is_exported_by_a_getter() {
    for text in [
        "export let n = 0; n = 1;",
        "export let n = 0; function f() { n++ }",
        "export function n() {} n = 1;",
    ] {
        let (before, _, after) = parts(text);
        assert_eq!(
            before, "Object.defineProperties(__exports, {n: {get: () => n, enumerable: true}});",
            "{text}"
        );
        assert_eq!(after, "");
    }
    // The same without a change.
    assert_eq!(parts("export let n = 0; function f() { return n }").0, "");
}

#[test]
fn exports_of_other_modules_are_taken_after_their_evaluation() {
    let lib = "export const a = 1, b = 2; export default 3; export let n = 0; n = 1;";
    let exported = |text: &str| {
        let (before, ..) = frame(&factory_with(lib, &format!("{text}/*code*/")));
        before.trim_end_matches([';', ' ']).to_owned()
    };
    assert_eq!(
        exported("export { a, b as c } from './lib.js'"),
        "const __m0 = __require(0); __exports.a = __m0.a; __exports.c = __m0.b"
    );
    assert_eq!(
        exported("export { default } from './lib.js'"),
        "const __m0 = __require(0); __exports.default = __m0.default"
    );
    assert_eq!(
        exported("export * as all from './lib.js'"),
        "const __m0 = __require(0); __exports.all = __m0"
    );
    assert_eq!(
        exported("import { a } from './lib.js'; export { a };").split("; ;").next().unwrap(),
        "const __m0 = __require(0), a = __m0.a; __exports.a = __m0.a"
    );
    // The default export does not belong to the star, and a name of the module hides that of the star.
    assert_eq!(
        exported("export * from './lib.js'; export const b = 5;").split("; ;").next().unwrap(),
        "Object.defineProperties(__exports, {n: {get: () => __m0.n, enumerable: true}}); const __m0 = __require(0); \
         __exports.a = __m0.a"
    );
}

#[test]
fn names_that_two_stars_export_differently_are_nobodys() {
    let files = [
        ("main.js", "export * from './a.js'; export * from './b.js';"),
        ("a.js", "export const x = 1, y = 1; export { z } from './c.js'"),
        ("b.js", "export const x = 2; export { z } from './c.js'"),
        ("c.js", "export const z = 1"),
    ];
    assert_eq!(bundle(&files).modules[0].exports, ["y", "z"]);
}

#[test]
fn names_of_the_factory_give_way_to_names_of_the_module() {
    let bundle = single("const __exports = 1, __module = 2, __require = 3, __meta = 4; export { __exports }");
    let factory = &bundle.modules[0].factory;
    assert!(factory.starts_with("(function (__exports_, __require_, __module_, __meta_) {"), "{factory}");
    assert!(factory.contains("__exports_.__exports = __exports;"), "{factory}");
}

#[test]
fn the_variables_of_the_top_level_can_be_seen_on_request() {
    let bundle = single(
        "import http from 'k6/http'; const a = 1; let { b, c: [d] } = x; var e; function f() { let g } class H {}",
    );
    let factory = &bundle.modules[0].factory;
    assert!(factory.ends_with("\n; if (__module.peek) __module.peek = () => [a, b, d, e];})"), "{factory}");
}
