//! Damaged sources are refused or loaded; they never stop the program. What loads is a valid factory.

use crate::support::{Engine, Memory, try_bundle};
use plimsoll_bundle::{Entry, load};

const SOURCES: &[(&str, &str)] = &[
    (
        "a.js",
        "import http, { get as g } from 'k6/http';\nimport * as ns from './lib.js';\nimport { n, inc } from \
        './lib.js';\n\
         export * from './lib.js'; export { n as 'x y' } from './lib.js';\n\
         export const options = { vus: 1, ä: `a${`b${n}`}` };\nlet a = n\ninc()\ninc`x`;\n\
         export default async function* () { \
         for await (const { body, ...r } of await g(`http://a/${n}`)) yield* r?.[n]; }\n\
         class A extends ns.A { static #p = /[a-z]+(?<x>y)/u; static { inc(); } get [n]() { return { n, inc } } }\n\
         const m = import.meta.url, \
         d = import('./lib.js'), { B, ...e } = __ENV; label: for (;;) break label;",
    ),
    (
        "b.cjs",
        "'use strict'; var a = require('./lib.js'), _h = _interopRequireDefault(require('k6/http'));\n\
         Object.defineProperty(exports, '__esModule', { value: true }); exports.x = function f() { \
         return typeof require };\n\
         module.exports = { a, b: _h.default.get('http://x/'), c: open('d', 'b') }; try { require('gone') } catch {}",
    ),
    (
        "c.ts",
        "import { Options, type T } from 'k6/options'; import http from 'k6/http';\n\
         enum E { A = 1, B = 'b' as any } namespace N { export const x: number = E.A; }\n\
         abstract class C<T extends object> \
         { constructor(private readonly a?: T, ...b: string[]) {} declare c: T; abstract d(): void; }\n\
         export const options: Options = { x: <any>1, y: N.x! } \
         satisfies object; function f(this: C<any>): asserts this is T;\n\
         function f() {} export default function (): void { http.get<string>('http://a/'); }",
    ),
];

const LIB: &str = "export let n = 0; export function inc() { n++ } export class A {}";

/// A generator of numbers (xorshift), so that a failure can be repeated.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
}

const PIECES: &[&str] = &[
    "(",
    ")",
    "{",
    "}",
    "`",
    "${",
    "'",
    "/",
    "*/",
    "//",
    ";",
    "\n",
    "=>",
    "export ",
    "import ",
    "default ",
    "await ",
    "async ",
    "function ",
    "class ",
    "@",
    "#",
    "?.",
    "...",
    "<",
    ">",
    ": ",
    "= ",
    "\u{2028}",
    "\u{feff}",
    "𝒳",
    "0",
    "n",
    "inc",
    "\\",
];

fn damaged(source: &str, numbers: &mut Numbers) -> String {
    let mut letters: Vec<char> = source.chars().collect();
    for _ in 0..=numbers.below(3) {
        let at = numbers.below(letters.len());
        match numbers.below(5) {
            0 => letters.truncate(at),
            1 => {
                letters.drain(at..(at + numbers.below(12)).min(letters.len()));
            }
            2 => {
                let piece = PIECES[numbers.below(PIECES.len())];
                letters.splice(at..at, piece.chars());
            }
            3 => {
                let from = numbers.below(letters.len());
                let copy: Vec<char> = letters[from..(from + 20).min(letters.len())].to_vec();
                letters.splice(at..at, copy);
            }
            _ => {
                let other = numbers.below(letters.len());
                if at < letters.len() && other < letters.len() {
                    letters.swap(at, other);
                }
            }
        }
    }
    letters.into_iter().collect()
}

#[test]
fn damaged_sources_never_stop_the_program() {
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let (mut loaded, mut refused) = (0, 0);
    for round in 0..2_000 {
        let (name, source) = SOURCES[round % SOURCES.len()];
        let text = damaged(source, &mut numbers);
        match try_bundle(&[(name, &text), ("lib.js", LIB)]) {
            Ok(bundle) => {
                loaded += 1;
                for module in &bundle.modules {
                    let lines = module.factory.matches('\n').count() as u32 + 1;
                    for line in 0..=lines + 1 {
                        module.original(line, numbers.below(80) as u32);
                    }
                }
            }
            Err(wrong) => {
                refused += 1;
                assert!(!wrong.is_empty(), "{text}");
            }
        }
    }
    assert!(loaded > 100 && refused > 100, "{loaded} loaded, {refused} refused");
}

#[test]
fn deeply_nested_sources_never_stop_the_program() {
    for (before, repeated, middle, after) in [
        ("", "[", "", "]"),
        ("a = ", "1 + ", "1", ""),
        ("", "f(", "", ")"),
        ("a", ".b()", "", ""),
        ("", "() => ", "1", ""),
    ] {
        let text = format!("{before}{}{middle}{}", repeated.repeat(5_000), after.repeat(5_000));
        let bundle = load(Entry::Text { name: "a.ts".into(), text }, &Memory::of(&[]), &Engine);
        assert!(bundle.is_ok(), "{repeated}");
    }
}

#[test]
fn damaged_archives_never_stop_the_program() {
    let mut numbers = Numbers(7);
    let mut bytes: Vec<u8> = (0..4_096).map(|_| numbers.below(256) as u8).collect();
    for _ in 0..200 {
        let at = numbers.below(bytes.len());
        bytes[at] = numbers.below(256) as u8;
        assert!(load(Entry::Archive(bytes.clone()), &Memory::of(&[]), &Engine).is_err());
    }
}

#[test]
fn the_undamaged_sources_load() {
    for (name, source) in SOURCES {
        if let Err(wrong) = try_bundle(&[(name, source), ("lib.js", LIB)]) {
            panic!("{name}: {}", crate::support::describe(&wrong));
        }
    }
}
