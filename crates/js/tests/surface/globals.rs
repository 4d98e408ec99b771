//! Global objects besides those of JavaScript.

use super::lines::lines;

#[test]
fn encodes_and_decodes_texts() {
    let body = "console.log([...new TextEncoder().encode('hé€😀')].join()); \
                const d = new TextDecoder(); console.log(d.decode(new Uint8Array([0xef, 0xbb, 0xbf, 104, \
                0xff])), d.encoding); \
                console.log(d.decode(new Uint8Array([0xe2, 0x82]), { stream: true }) + d.decode(new \
                Uint8Array([0xac]))); \
                console.log(new TextDecoder('latin1').decode(new Uint8Array([0xe9, 0x80])), \
                  new TextDecoder('utf-16le').decode(new Uint8Array([0x3d, 0xd8, 0x00, 0xde]))); \
                try { new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([255])) } catch (e) { \
                console.log(e.name) } \
                try { new TextDecoder('big5') } catch (e) { console.log(e.name, e.message) }";
    assert_eq!(
        lines(&[], body),
        [
            "104,195,169,226,130,172,240,159,152,128",
            "h\u{fffd} utf-8",
            "€",
            "é€ 😀",
            "TypeError",
            "RangeError the encoding `big5` is not supported",
        ]
    );
}

#[test]
fn converts_binary_texts() {
    let body = "console.log(btoa('h\\xff'), atob('aP8=') === 'h\\xff', atob(' YQ ') , btoa('')); \
                try { btoa('€') } catch (e) { console.log(e.name) } try { atob('a') } catch (e) { \
                console.log(e.name) }";
    assert_eq!(lines(&[], body), ["aP8= true a ", "InvalidCharacterError", "InvalidCharacterError"]);
}

#[test]
fn clones_values_with_cycles() {
    let body = "const a = { d: new Date(5), m: new Map([[1, { x: 1 }]]), s: new Set([2]), r: /x/g, u: new \
            Uint8Array([1, 2]), n: [1, , 3] }; \
                a.self = a; const b = structuredClone(a); \
                console.log(b !== a, b.self === b, b.d.getTime(), b.m.get(1).x, b.s.has(2), b.r.flags, \
                b.u.join(), b.n.length, 1 in b.n); \
                b.m.get(1).x = 9; console.log(a.m.get(1).x); \
                try { structuredClone({ f: () => 1 }) } catch (e) { console.log(e.name, e.message) }";
    assert_eq!(
        lines(&[], body),
        ["true true 5 1 true g 1,2 3 false", "1", "DataCloneError a function cannot be cloned"]
    );
}

#[test]
fn has_random_values_clocks_and_microtasks() {
    let body = "const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/; \
            console.log(uuid.test(crypto.randomUUID())); \
                const v = crypto.getRandomValues(new Uint32Array(8)); console.log(v.length, v.some((one) => one \
                > 65535)); \
                try { crypto.getRandomValues(new Float64Array(1)) } catch (e) { console.log(e.name) } \
                const t = performance.now(); await new Promise((done) => setTimeout(done, 20)); \
                console.log(performance.now() - t, performance.timeOrigin); \
                queueMicrotask(() => console.log('micro')); await null; console.log(typeof global, typeof window);";
    assert_eq!(
        lines(&[], body),
        ["true", "8 true", "TypeMismatchError", "20 1800000000000", "micro", "object undefined",]
    );
}
