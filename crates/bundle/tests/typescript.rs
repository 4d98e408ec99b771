//! TypeScript: types disappear, and what is more than a type becomes JavaScript.

use crate::support::{bundle, describe, try_bundle};
use plimsoll_bundle::{Format, Target};

fn code(text: &str) -> String {
    let factory = bundle(&[("main.ts", text)]).modules[0].factory.clone();
    factory.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn types_disappear() {
    for (text, expected) in [
        ("export const a: number = 1 as any satisfies unknown;", "const a = 1;"),
        (
            "export function f<T extends object>(this: T, a?: T): a is T { return a! }",
            "function f(a) { return a; }",
        ),
        (
            "export abstract class A<T> implements B { private a?: T; declare b: T; abstract m(): void }",
            "class A { a; }",
        ),
        ("export function f(a: string): void; export function f(a: any) {}", "function f(a) {}"),
        ("export const f = async <T,>(a: T): Promise<T> => a", "const f = async (a) => a;"),
    ] {
        assert!(code(text).contains(expected), "{}", code(text));
    }
    for text in [
        "interface A { a: 1 }",
        "type A = 1;",
        "declare const a: 1;",
        "declare module 'a' {}",
        "export type { B } from './gone.ts'",
    ] {
        assert!(code(&format!("{text}\nexport {{}}")).ends_with("{'use strict'; ; ;})"), "{}", code(text));
    }
}

#[test]
fn enumerations_namespaces_and_parameter_properties_are_code() {
    let text = code(
        "export enum A { X, Y = 5, Z } namespace N { export const a = 1 } class C { constructor(private a = 1) {} }",
    );
    for part in [
        "A[A[\"X\"] = 0] = \"X\";",
        "A[A[\"Z\"] = 6] = \"Z\";",
        "const a = _N.a = 1;",
        "this.a = a;",
        "__exports.A = A;",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn imports_that_only_types_use_are_gone() {
    let files = [
        (
            "main.ts",
            "import { Options } from 'k6/options'; import type { A } from './gone.ts'; import http, { type B } \
            from 'k6/http';\n\
                     import { unused } from './gone.ts'; import './side.ts';\n\
                     export const options: Options = {}; http.get('http://a/');",
        ),
        ("side.ts", "export {}"),
    ];
    let bundle = bundle(&files);
    let specifiers: Vec<&str> = bundle.modules[0].imports.iter().map(|one| one.specifier.as_str()).collect();
    assert_eq!(specifiers, ["k6/http", "./side.ts"]);
}

#[test]
fn a_type_may_be_exported_again_without_saying_so() {
    let files = [
        (
            "main.ts",
            "export { A, b } from './lib.ts'; import { A as C, b } from './lib.ts'; export { C, b as c }",
        ),
        ("lib.ts", "export interface A {} export const b = 1"),
    ];
    let loaded = bundle(&files);
    assert_eq!(loaded.modules[0].exports, ["b", "c"]);
    let names: Vec<&str> = loaded.usage.exports.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["b", "c"]);
}

#[test]
fn typescript_may_be_commonjs_and_import_javascript() {
    let files = [
        ("main.cts", "const a: any = require('./a.js'); module.exports = a"),
        ("a.js", "export const b = 1"),
    ];
    let bundle = bundle(&files);
    assert_eq!((bundle.modules[0].format, bundle.modules[1].format), (Format::CommonJs, Format::Es));
    assert_eq!(bundle.modules[0].imports[0].target, Target::Module(1));
}

#[test]
fn mistakes_in_typescript_have_their_place() {
    let wrong = try_bundle(&[("main.ts", "interface A {}\nconst a: = 1")]).unwrap_err();
    assert!(describe(&wrong).starts_with("K002 main.ts:2:10 syntax error: "), "{}", describe(&wrong));
    let wrong =
        try_bundle(&[("main.ts", "type A = 1;\n\n  import { a } from './gone.ts'; a()")]).unwrap_err();
    assert!(describe(&wrong).starts_with("K001 main.ts:3:21 no such file"), "{}", describe(&wrong));
}
