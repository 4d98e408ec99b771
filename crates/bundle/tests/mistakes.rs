//! Mistakes in scripts: each with its code, its place, and a fix.

use crate::support::{Engine, Memory, describe, try_bundle};
use plimsoll_bundle::{Entry, load};

#[track_caller]
fn refuse(files: &[(&str, &str)], expected: &str) {
    assert_eq!(describe(&try_bundle(files).unwrap_err()), expected);
}

#[track_caller]
fn refuse_main(text: &str, expected: &str) {
    refuse(&[("main.js", text), ("lib.js", "export const a = 1"), ("data.json", "{}")], expected);
}

#[test]
fn imports_that_lead_nowhere_are_refused_with_their_place() {
    let text = "import a from './gone.js';\n  import b from './lib';\nimport 'lodash';\nimport \
    'https://example.com/a.js';\n\
                export * from 'k6/browser';\nimport 'k6/nope';\nimport 'file://host/a.js'";
    refuse_main(
        text,
        "K001 main.js:1:15 no such file: `gone.js`; check the path\n\
         K001 main.js:2:17 no such file: `lib`; write `./lib.js`: extensions are not guessed\n\
         K003 main.js:3:8 `lodash` is a package, and packages are not installed for a script; bundle it with the \
         script (esbuild, Rollup, webpack), or import a file: `./name.js`\n\
         K004 main.js:4:8 `https://example.com/a.js` is a remote module, and plimsoll downloads no code; download the \
         file and import it by its path, or use `--allow-remote`\n\
         K005 main.js:6:8 unknown built-in module `k6/nope`; check its name\n\
         K001 main.js:7:8 invalid file address `file://host/a.js`; write `file:///` and an absolute path\n\
         K005 main.js:5:15 `k6/browser` is not supported; use `k6/http`",
    );
}

#[test]
fn syntax_errors_are_refused_with_their_place() {
    refuse_main("let a = 1;\nlet ä = , b;", "K002 main.js:2:9 syntax error: unexpected token");
    refuse_main("export {};\nreturn 1", "K002 main.js:2:1 syntax error: `return` outside of a function");
    refuse(
        &[("main.js", "import './lib.js'"), ("lib.js", "let a; let a;")],
        "K002 lib.js:1:5 syntax error: identifier `a` has already been declared",
    );
    let broken =
        [("main.js", "import './a.js'; import './b.js'; import './a.js'"), ("a.js", "("), ("b.js", ")")];
    let wrong = describe(&try_bundle(&broken).unwrap_err());
    let places: Vec<&str> = wrong.lines().map(|line| line.split(" syntax").next().unwrap()).collect();
    assert_eq!(places, ["K002 a.js:1:2", "K002 b.js:1:1"]);
}

#[test]
fn imports_of_names_that_do_not_exist_are_refused() {
    refuse_main(
        "import { b } from './lib.js';\nexport { c } from './lib.js'; import d from './lib.js'; import { e } \
        from './data.json'",
        "K006 main.js:1:10 `./lib.js` has no export `b`; it exports `a`\n\
         K006 main.js:2:38 `./lib.js` has no export `default`; it exports `a`\n\
         K006 main.js:2:66 `./data.json` has no export `e`; import the whole file: `import data from …`\n\
         K006 main.js:2:10 `./lib.js` has no export `c`; it exports `a`",
    );
    let files = [
        ("main.js", "import { x } from './star.js'"),
        ("star.js", "export * from './a.js'; export * from './b.js'"),
        ("a.js", "export const x = 1, y = 1"),
        ("b.js", "export const x = 1"),
    ];
    refuse(&files, "K006 main.js:1:10 `./star.js` has two different exports `x`; it exports `y`");
}

#[test]
fn imported_names_cannot_be_assigned() {
    for text in ["a = 1", "a++", "[a] = b", "({ a } = b)", "for (a of b) {}", "() => { a += 1 }"] {
        let text = format!("import {{ a }} from './lib.js'; {text}");
        let wrong =
            describe(&try_bundle(&[("main.js", &text), ("lib.js", "export const a = 1")]).unwrap_err());
        assert!(
            wrong.starts_with("K007 main.js:1:") && wrong.contains("cannot assign to the imported name `a`"),
            "{wrong}"
        );
    }
}

#[test]
fn computed_specifiers_are_refused() {
    refuse_main(
        "export {};\nimport(a)",
        "K008 main.js:2:1 the argument of `import()` must be a text without `${…}`; write the path in quotes",
    );
    refuse_main(
        "var a = require(`./${b}`)",
        "K008 main.js:1:9 the argument of `require` must be a text without `${…}`; write the path in quotes",
    );
}

#[test]
fn a_module_can_only_wait_where_something_waits_for_it() {
    let files = [("main.js", "import './b.js'; await 1"), ("b.js", "import './main.js'")];
    refuse(
        &files,
        "K009 main.js:1:18 `await` outside of a function in a module that imports itself through others; \
                    move it into a function, or remove the cycle of imports",
    );
    let files = [("main.js", "require('./b.js')"), ("b.js", "export default await 1")];
    refuse(&files, "K009 main.js:1:9 `require` cannot wait for `./b.js`, which awaits; use `import`");
}

#[test]
fn syntax_that_is_not_supported_is_refused_by_name() {
    let jsx = "JSX is not supported; compile it to JavaScript with a bundler";
    refuse(&[("main.tsx", "a")], &format!("K010 main.tsx:1:1 {jsx}"));
    refuse(&[("main.js", "export default <a/>;")], &format!("K010 main.js:1:16 {jsx}"));
    refuse(
        &[("main.ts", "@a class B {}")],
        "K010 main.ts:1:1 decorators are not supported; call the decorating function, or compile the script \
        with a bundler",
    );
    refuse_main(
        "import a from './data.json' with { type: 'text' }",
        "K010 main.js:1:36 unsupported import attribute `type: text`; use `with { type: 'json' }`",
    );
}

#[test]
fn files_that_are_not_text_or_json_are_refused() {
    refuse(
        &[("main.js", "import './a.json'"), ("a.json", "{\n \"a\": 1,\n}")],
        "K011 a.json:3:1 invalid JSON: key must be a string",
    );
    let mut files = Memory::of(&[]);
    files.0.insert("main.js".into(), b"a\n b\xff".to_vec());
    let wrong = load(Entry::Path("main.js".into()), &files, &Engine).unwrap_err();
    assert_eq!(describe(&wrong), "K001 main.js:2:3 invalid UTF-8 byte 0xff; save the file as UTF-8");
    let wrong = load(Entry::Path("gone.js".into()), &files, &Engine).unwrap_err();
    assert_eq!(describe(&wrong), "K001 Whole no such file: `gone.js`; check the path");
}
