//! Positions in a factory lead back to the user's source.

use crate::support::{at, bundle, factory_with, single};
use plimsoll_bundle::Module;

/// Returns where a text of the factory came from, by its first occurrence.
fn origin(module: &Module, text: &str) -> (u32, u32) {
    let byte = module.factory.find(text).unwrap_or_else(|| panic!("no {text} in {}", module.factory));
    let before = &module.factory[..byte];
    let line = before.matches('\n').count() as u32 + 1;
    let column = before.rsplit('\n').next().unwrap().len() as u32 + 1;
    module.original(line, column)
}

#[test]
fn javascript_keeps_its_lines_and_columns() {
    let text = "#!/usr/bin/env k6\nimport {\n  get,\n} from 'k6/http';\n\nexport const ä = 'ö'; throwA();\n\
                export default function () {\n  throwB();\n}\n/* 𝒳 */ throwC()";
    let bundle = single(text);
    let module = &bundle.modules[0];
    assert_eq!(origin(module, "throwA"), (6, 23));
    assert_eq!(origin(module, "throwB"), (8, 3));
    assert_eq!(origin(module, "throwC"), (10, 9));
    let line_of = |text: &str, word: &str| text[..text.find(word).unwrap()].matches('\n').count();
    for word in ["throwA", "throwB", "throwC"] {
        assert_eq!(line_of(&module.factory, word), line_of(text, word));
    }
    assert_eq!(at(&module.place(8, 3)), "main.js:8:3");
}

#[test]
fn replaced_code_leads_to_its_beginning() {
    let lib = "export let n = 0; n = 1";
    let files = [("main.js", "import { n } from './lib.js'; f(n, throwA())"), ("lib.js", lib)];
    let module = &bundle(&files).modules[0];
    assert_eq!(origin(module, "__m0.n"), (1, 33));
    assert_eq!(origin(module, "m0.n"), (1, 33));
    assert_eq!(origin(module, "throwA"), (1, 36));
    assert!(factory_with(lib, files[0].1).contains("f(__m0.n, throwA())"));
}

#[test]
fn typescript_leads_back_to_its_source() {
    let text = "interface A {\n  a: string;\n}\n\nfunction f(a: A): void {\n  const ä: number = 1; throwA(a!);\n}\n\
                export default <T,>(x: T) => { throwB(x as any) }";
    let bundle = bundle(&[("main.ts", text)]);
    let module = &bundle.modules[0];
    assert_eq!(origin(module, "throwA"), (6, 24));
    assert_eq!(origin(module, "throwB"), (8, 32));
}

#[test]
fn positions_outside_of_the_factory_lead_to_an_end() {
    let bundle = single("a\nb");
    let module = &bundle.modules[0];
    assert_eq!(module.original(0, 0), (1, 1));
    assert_eq!(module.original(99, 99), (2, 2));
    assert_eq!(module.original(1, 9999), (1, 2));
}
