//! Experimental modules of k6, and `k6/secrets`.

use super::lines::lines;
use super::run::{Trace, factory, json, run_script, settings};
use plimsoll_js::{Isolation, Secret};

fn run(init: &str, body: &str, users: u32) -> Trace {
    let body = format!("{init}; exports.default = async () => {{ await null; {body} }};");
    let mut own = settings();
    own.isolation = Isolation::Runtime;
    let modules = vec![factory(&["k6/experimental/fs", "k6/experimental/csv"], &body)];
    run_script(modules, users, 1, own, |_| json(200, ""))
}

#[test]
fn reads_files_in_pieces() {
    let init = "let file; m0.open('rows.csv').then((one) => { file = one }); \
                let why; m0.open('none.txt').catch((e) => { why = e.message.split(':')[0] })";
    let body = "const b = new Uint8Array(6), text = (n) => new TextDecoder().decode(b.subarray(0, n)); \
            console.log(why, JSON.stringify(await file.stat())); \
                console.log(await file.read(b), text(6)); console.log(await file.seek(-4, m0.SeekMode.End), \
                text(await file.read(b)).trim(), await file.read(b)); \
                console.log(await file.seek(1, m0.SeekMode.Start), text(await file.read(b))); await \
                file.seek(-9, 0).catch((e) => console.log(e.message)); \
                await m0.open('rows.csv').catch((e) => console.log(e.message))";
    assert_eq!(
        run(init, body, 1).console,
        [
            "info: cannot open `none.txt` {\"name\":\"rows.csv\",\"size\":32}",
            "info: 6 name,a",
            "info: 28 ,41 null",
            "info: 1 ame,ag",
            "info: seek() must stay within the file",
            "info: files can only be opened in the init part of a script",
        ]
    );
}

#[test]
fn parses_csv_files_once_for_all_users() {
    let init = "let file; m0.open('rows.csv').then((one) => { file = one })";
    let body = "const c = m1.default, all = await c.parse(file, { skipFirstLine: true }); console.log(__VU, \
            all.length, all[1].join(';')); \
                console.log(JSON.stringify((await c.parse(file, { asObjects: true }))[1]), (await c.parse(file, \
                { fromLine: 1, toLine: 2 })).length); \
                const p = new c.Parser(file), seen = []; for (;;) { const { done, value } = await p.next(); if \
                (done) { seen.push(value.length); break } seen.push(value[0]) } console.log(seen.join()); \
                await c.parse(file, { header: true }).catch((e) => console.log(e.message))";
    let trace = run(init, body, 2);
    let one = |user: u32| {
        vec![
            format!("info: {user} 3 Ja,ne;25"),
            "info: {\"name\":\"Ja,ne\",\"age\":\"25\"} 2".into(),
            "info: name,Jo,Ja,ne,Zo,0".into(),
            "info: csv: unknown option `header`".into(),
        ]
    };
    assert_eq!(trace.console, [one(1), one(2)].concat());
}

#[test]
fn reads_streams() {
    let body = "const { ReadableStream } = m0; let n = 0; \
                const s = new ReadableStream({ pull(c) { n++; if (n > 3) c.close(); else c.enqueue(n) } }); \
                const r = s.getReader(); console.log(s.locked, JSON.stringify(await r.read()), \
                JSON.stringify(await r.read())); \
                console.log((await r.read()).value, (await r.read()).done); await r.closed; r.releaseLock(); \
                console.log(s.locked); \
                const seen = []; for await (const one of new ReadableStream({ start(c) { c.enqueue('a'); \
                c.enqueue('b'); c.close() } })) seen.push(one); console.log(seen.join()); \
                const bad = new ReadableStream({ start(c) { c.error(new Error('broken')) } }).getReader(); await \
                bad.read().catch((e) => console.log(e.message)); \
                let why; const t = new ReadableStream({ cancel(reason) { why = reason } }); await \
                t.cancel('enough'); console.log(why); \
                try { s.tee() } catch (e) { console.log(e.message) }";
    assert_eq!(
        lines(&["k6/experimental/streams"], body),
        [
            "true {\"value\":1,\"done\":false} {\"value\":2,\"done\":false}",
            "3 true",
            "false",
            "a,b",
            "broken",
            "enough",
            "ReadableStream.tee() is not supported",
        ]
    );
}

#[test]
fn returns_secrets_and_hides_them_in_the_console() {
    let body = "exports.default = async () => { const s = m0.default; console.log(await s.get('key') === 'hun' + \
            'ter2', await s.source('vault').get('other')); \
                console.log('the key is ' + await s.get('key')); for (const one of [s.get('none'), \
                s.source('x').get('key')]) await one.catch((e) => console.log(e.message)) };";
    let secret = |source: &str, name: &str, value: &str| Secret {
        source: source.into(),
        name: name.into(),
        value: value.into(),
    };
    let run = |secrets| {
        let mut own = settings();
        own.isolation = Isolation::Runtime;
        own.secrets = secrets;
        run_script(vec![factory(&["k6/secrets"], body)], 1, 1, own, |_| json(200, "")).console
    };
    assert_eq!(
        run(vec![secret("file", "key", "hunter2"), secret("vault", "other", "s3cret")]),
        [
            "info: true ***SECRET_REDACTED***",
            "info: the key is ***SECRET_REDACTED***",
            "info: unknown secret `none` in the source `file`",
            "info: unknown source of secrets `x`",
        ]
    );
    let console = run(Vec::new());
    assert!(console[0].contains("there are no secrets: the run has no source of secrets"), "{console:?}");
}

#[test]
fn web_cryptography_is_also_a_module() {
    let body = "console.log(m0.crypto === crypto, m0.default.crypto.randomUUID().length)";
    assert_eq!(lines(&["k6/experimental/webcrypto"], body), ["true 36"]);
}
