//! Every form of `import`, live bindings, cycles, and where specifiers lead.

use crate::support::{at, bundle, factory_with, frame, single};
use plimsoll_bundle::{Entry, Format, Target, load};

#[test]
fn a_value_that_is_final_is_taken_once() {
    for (text, before) in [
        ("import 'k6/http'", "__require(0);"),
        ("import {} from 'k6/http'", "__require(0);"),
        ("import http from 'k6/http'", "const {default: http} = __require(0);"),
        ("import { get } from 'k6/http'", "const {get} = __require(0);"),
        ("import { get as g, 'a b' as ab } from 'k6/http'", "const {get: g, \"a b\": ab} = __require(0);"),
        ("import * as http from 'k6/http'", "const __m0 = __require(0), http = __m0;"),
        ("import http, { get } from 'k6/http'", "const {default: http, get} = __require(0);"),
        (
            "import http, * as all from 'k6/http'",
            "const __m0 = __require(0), http = __m0.default, all = __m0;",
        ),
        (
            "import a from 'k6'; import b from 'k6/http'; import { c } from 'k6'",
            "const {default: a, c} = __require(0); const {default: b} = __require(1);",
        ),
    ] {
        let (found, ..) = frame(&single(&format!("{text};/*code*/")).modules[0].factory);
        let found = found.trim_end_matches([';', ' ']);
        assert_eq!(found, before.trim_end_matches(';'), "{text}");
    }
}

const COUNTER: &str = "export let n = 0; export function inc() { n++; }";

/// Returns the code of a main module that imports `n` and `inc` of the counter; both may change.
fn live(code: &str) -> String {
    let lib = format!("{COUNTER} inc = 1;");
    let factory = factory_with(&lib, &format!("import {{ n, inc }} from './lib.js';/*code*/{code}"));
    frame(&factory).1
}

#[test]
fn a_value_that_may_change_is_read_where_it_is_used() {
    for (code, expected) in [
        ("f(n)", "f(__m0.n)"),
        ("f({ n })", "f({ n: __m0.n })"),
        ("f({ n: n, m: n })", "f({ n: __m0.n, m: __m0.n })"),
        ("f(typeof n, `${n}`, [...n])", "f(typeof __m0.n, `${__m0.n}`, [...__m0.n])"),
        ("const { a = n } = b;", "const { a = __m0.n } = b;"),
        ("new n()", "new __m0.n()"),
        ("class A extends n { x = n }", "class A extends __m0.n { x = __m0.n }"),
        ("n.n.n(n)", "__m0.n.n.n(__m0.n)"),
        ("const f = (n) => n; { let inc; inc() }", "const f = (n) => n; { let inc; inc() }"),
    ] {
        assert_eq!(live(code), expected);
    }
}

#[test]
fn a_called_import_has_no_this_and_joins_no_line_above() {
    for (code, expected) in [
        ("a = inc()", "a = (0, __m0.inc)()"),
        ("a = inc?.()", "a = (0, __m0.inc)?.()"),
        ("a = (inc)()", "a = ((0, __m0.inc))()"),
        ("a = inc`x`", "a = (0, __m0.inc)`x`"),
        ("a = b\ninc()", "a = b\n;(0, __m0.inc)()"),
        ("a = b\ninc().then.x()", "a = b\n;(0, __m0.inc)().then.x()"),
        ("if (a) inc(); else inc()", "if (a) (0, __m0.inc)(); else (0, __m0.inc)()"),
        ("for (;;)\ninc()", "for (;;)\n(0, __m0.inc)()"),
        ("switch (a) { case 1: b\ninc() }", "switch (a) { case 1: b\n;(0, __m0.inc)() }"),
        ("() => { a\ninc() }", "() => { a\n;(0, __m0.inc)() }"),
        ("new inc().x", "new __m0.inc().x"),
    ] {
        assert_eq!(live(code), expected);
    }
}

#[test]
fn modules_of_a_cycle_see_each_other_as_they_are() {
    let files = [
        ("main.js", "import { b } from './b.js'; export const a = 1; export function f() { return b() }"),
        ("b.js", "import { a, f } from './main.js'; export function b() { return a + f }"),
    ];
    let bundle = bundle(&files);
    assert_eq!(bundle.modules.len(), 2);
    // Functions are there at once, values have getters, and references read through.
    assert!(bundle.modules[0].factory.starts_with(
        "(function (__exports, __require, __module, __meta) {'use strict'; __exports.f = f; \
         Object.defineProperties(__exports, {a: {get: () => a, enumerable: true}}); const __m0 = __require(0); "
    ));
    assert!(bundle.modules[1].factory.contains("return __m0.a + __m0.f"));
}

#[test]
fn every_import_of_a_file_leads_to_one_module() {
    let files = [
        (
            "tests/main.js",
            "import './a.js'; import '../tests/./a.js'; import 'file:///lib/b%20c.js'; import '/lib/b c.js'",
        ),
        ("tests/a.js", "import '../shared/c.js'"),
        ("shared/c.js", ""),
        ("/lib/b c.js", ""),
    ];
    let bundle = bundle(&files);
    let names: Vec<&str> = bundle.modules.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["main.js", "a.js", "/lib/b c.js", "../shared/c.js"]);
    let paths: Vec<_> = bundle.modules.iter().map(|one| one.path.display().to_string()).collect();
    assert_eq!(paths, ["tests/main.js", "tests/a.js", "/lib/b c.js", "shared/c.js"]);
    let targets: Vec<&Target> = bundle.modules[0].imports.iter().map(|one| &one.target).collect();
    assert_eq!(targets, [&Target::Module(1), &Target::Module(1), &Target::Module(2), &Target::Module(2)]);
    assert_eq!(at(&bundle.modules[0].imports[1].place), "tests/main.js:1:25");
}

#[test]
fn built_in_modules_come_from_the_engine() {
    let bundle = single("import 'k6'; import { uuidv4 } from 'https://jslib.k6.io/k6-utils/1.4.0/index.js'");
    let targets: Vec<&Target> = bundle.modules[0].imports.iter().map(|one| &one.target).collect();
    assert_eq!(targets, [&Target::Builtin("k6".into()), &Target::Builtin("k6-utils".into())]);
}

#[test]
fn a_json_file_is_a_default_export() {
    let files = [
        (
            "main.js",
            "import a from './a.json'; import * as b from './a.json' with { type: 'json' }; require('./a.json')",
        ),
        ("a.json", "\u{feff}[1]"),
    ];
    let bundle = bundle(&files);
    assert_eq!(
        (bundle.json.len(), bundle.json[0].text.as_str(), bundle.json[0].name.as_str()),
        (1, "[1]", "a.json")
    );
    assert!(bundle.modules[0].imports.iter().all(|one| one.target == Target::Json(0)));
    let factory = &bundle.modules[0].factory;
    assert!(factory.contains("const __m0 = __require(0), a = __m0, b = ({default: __m0});"), "{factory}");
    assert!(factory.contains("__require(0)"), "{factory}");
}

#[test]
fn import_meta_and_dynamic_imports_are_calls_of_the_factory() {
    let code = "import.meta.url;\nimport(\n'./lib.js'\n).then(f)";
    let factory = factory_with("export const a = 1", &format!("/*code*/{code}"));
    assert_eq!(frame(&factory).1, "__meta.url;\nPromise.resolve().then(() => __require(0))\n\n.then(f)");
    // What is only imported so does not run before the module.
    assert_eq!(frame(&factory).0, "");
}

#[test]
fn a_module_that_awaits_is_asynchronous_and_so_are_those_that_import_it() {
    let files = [
        ("main.js", "import { a } from './a.js'; import { b } from './b.js'"),
        ("a.js", "export { a } from './c.js'"),
        ("b.js", "export const b = async () => await 1"),
        ("c.js", "export const a = await 1"),
    ];
    let bundle = bundle(&files);
    let asynchronous: Vec<bool> = bundle.modules.iter().map(|one| one.is_async).collect();
    assert_eq!(asynchronous, [true, true, false, true]);
    let factory = &bundle.modules[0].factory;
    assert!(factory.starts_with("(async function"), "{factory}");
    assert!(factory.contains("const {a} = await __require(0); const {b} = __require(1);"), "{factory}");
}

#[test]
fn a_text_is_loaded_without_a_file() {
    let entry = Entry::Text { name: "-".into(), text: "import './a.js'; export default 1".into() };
    let files = crate::support::Memory::of(&[("a.js", "")]);
    let bundle = load(entry, &files, &crate::support::Engine).unwrap();
    assert_eq!(
        (bundle.modules[0].name.as_str(), bundle.modules[0].format, bundle.modules.len()),
        ("-", Format::Es, 2)
    );
}
