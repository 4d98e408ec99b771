//! CommonJS modules, and what ES modules and CommonJS modules see of each other.

use crate::support::{bundle, describe, frame, single, try_bundle};
use plimsoll_bundle::{Format, Target};

#[test]
fn a_commonjs_module_keeps_its_code_and_its_mode() {
    let sloppy = single("var a = require('k6/http');\nmodule.exports = a;");
    assert_eq!(sloppy.modules[0].format, Format::CommonJs);
    assert_eq!(
        sloppy.modules[0].factory,
        "(function (__exports, require, module, __meta) {var a = require(0);\nmodule.exports = a;\n; \
         if (module.peek) module.peek = () => [a];})"
    );
    let strict = single("'use strict'; exports.a = this;");
    assert_eq!(
        strict.modules[0].factory,
        "(function (exports, __require, __module, __meta) {'use strict'; exports.a = this;\n;})"
    );
}

#[test]
fn syntax_decides_the_format_unless_the_extension_does() {
    for (name, text, format) in [
        ("a.js", "export {}", Format::Es),
        ("a.js", "import.meta", Format::Es),
        ("a.js", "module.exports = 1", Format::CommonJs),
        ("a.js", "f()", Format::CommonJs),
        ("a.js", "import('./a.js')", Format::CommonJs),
        ("a.mjs", "f()", Format::Es),
        ("a.cjs", "f()", Format::CommonJs),
        ("a", "export {}", Format::Es),
    ] {
        assert_eq!(bundle(&[(name, text)]).modules[0].format, format, "{name} {text}");
    }
    // A CommonJS module may return early and use what strict code may not.
    bundle(&[("a.cjs", "if (a) return; with (a) {} var await, yield; 010")]);
}

#[test]
fn an_es_module_sees_the_exports_of_a_commonjs_module() {
    let files = [
        ("main.js", "import d, { a } from './c.cjs'; import * as all from './c.cjs';/*code*/"),
        ("c.cjs", "exports.a = 1"),
    ];
    let (before, ..) = frame(&bundle(&files).modules[0].factory);
    assert_eq!(
        before.trim_end_matches([';', ' ']),
        "const __m0 = __require(0), d = (__m0 && __m0.__esModule && 'default' in __m0 ? __m0.default : __m0), a \
        = __m0.a, \
         all = (__m0 && __m0.__esModule ? __m0 : Object.assign({}, __m0, {default: __m0}))"
    );
}

#[test]
fn a_commonjs_module_sees_the_namespace_of_an_es_module() {
    let files =
        [("main.cjs", "require('./a.js').a"), ("a.js", "export const a = 1"), ("b.js", "export const b = 1")];
    let required = bundle(&files).modules[1].factory.clone();
    let marker = "Object.defineProperty(__exports, '__esModule', {value: true});";
    assert!(required.contains(marker), "{required}");
    let files = [("main.js", "import './a.js'"), ("a.js", "export const a = 1")];
    assert!(!bundle(&files).modules[1].factory.contains(marker));
}

#[test]
fn require_works_in_es_modules_too() {
    let files = [
        (
            "main.js",
            "import 'k6';/*code*/const a = require('./a.json'), f = typeof require, o = { require };",
        ),
        ("a.json", "{}"),
    ];
    let (_, code, _) = frame(&bundle(&files).modules[0].factory);
    assert_eq!(code, "const a = __require(1), f = typeof __require, o = { require: __require };");
}

#[test]
fn a_module_that_may_never_be_asked_for_is_missing_only_then() {
    let text = "var a; if (typeof process == 'object') a = require('crypto');\ntry { require(`fs`) } catch {} \
    f(() => require('./x'))";
    let bundle = single(text);
    let missing = |index: usize| match &bundle.modules[0].imports[index].target {
        Target::Unavailable(message) => message.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(missing(0), "`crypto` is a package, and packages are not installed for a script");
    assert_eq!(missing(2), "no such file: `x`");
    let wrong = try_bundle(&[("main.js", "exports.a = require('crypto').x(1)")]).unwrap_err();
    assert!(describe(&wrong).starts_with("K003 main.js:1:21 `crypto`"), "{}", describe(&wrong));
}

#[test]
fn exports_of_a_commonjs_module_are_found_in_its_assignments() {
    for (text, names) in [
        ("exports.setup = 1; exports.default = f; module.exports.options = {}", "setup default options"),
        ("module.exports = { options: 1, 'default': 2, teardown() {}, ...x }", "options default teardown"),
        ("Object.defineProperty(exports, '__esModule', {}); Object.defineProperty(exports, \"a\", {})", "a"),
        ("function f(exports) { exports.a = 1 }", ""),
    ] {
        let usage = single(text).usage;
        let found: Vec<&str> = usage.exports.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(found.join(" "), names, "{text}");
    }
}
