//! Authentication and GraphQL in experiment files: what they become, and what is rejected.

use plimsoll_front::{Overrides, own};
use plimsoll_plan::Draft;
use plimsoll_plan::answer::Subject;
use plimsoll_plan::auth::Auth;
use plimsoll_plan::script::{Node, Script};
use plimsoll_plan::seal::names::describe;
use std::path::Path;

fn read(text: &str) -> Result<Draft, Vec<String>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let env = |name: &str| (name == "KEY").then(|| "s3same".to_owned());
    let given = Overrides { set: Vec::new(), env: Box::new(env), keep_to: None, reflect: None };
    match own::parse_with(text, "test.yaml", folder, &given) {
        Ok(located) => Ok(located.draft),
        Err(all) => Err(all.into_iter().map(|d| format!("{}: {}; {}", d.code, d.message, d.hint)).collect()),
    }
}

fn script(text: &str) -> Script {
    match read(text) {
        Ok(draft) => draft.script.expect("it needs an interpreter"),
        Err(all) => panic!("{text}\n{all:#?}"),
    }
}

fn names(script: &Script) -> Vec<&str> {
    script.asks.iter().map(|ask| ask.name.as_str()).collect()
}

#[test]
fn requests_with_the_same_digest_share_the_row_of_their_challenges() {
    let script = script(
        "target: http://h\nauth: { digest: { user: u, password: \"${secret.KEY}\" } }\n\
         scenarios: { s: [ { get: /a }, { get: /b }, { get: /c, auth: none }, \
         { get: /d, auth: { digest: { user: other, password: p } } } ] }\n",
    );
    assert_eq!(
        names(&script),
        ["digest challenge", "GET /a", "GET /b", "GET /c", "digest challenge (2)", "GET /d"]
    );
    let challenges: Vec<(u32, u32)> = script
        .auths
        .iter()
        .map(|(ask, auth)| match auth {
            Auth::Digest(login) => (*ask, login.challenge),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(challenges, [(1, 0), (2, 0), (5, 4)]);
}

#[test]
fn a_token_is_requested_once_in_setup_for_all_requests() {
    let script = script(
        "target: http://h\nheaders: { X: y }\n\
         auth: { oauth2: { grant: client_credentials, token_url: http://login/token, client_id: app, \
         client_secret: \"${secret.KEY}\", scope: \"read write\" } }\n\
         setup: [ { get: /s } ]\nscenarios: { s: [ { get: /a }, { get: /b } ] }\n",
    );
    assert_eq!(names(&script), ["oauth2 token", "GET /s", "GET /a", "GET /b"]);
    assert!(matches!(script.setup[..], [Node::Ask(0), Node::Ask(1)]), "{:?}", script.setup);
    let token = &script.asks[0];
    assert_eq!((token.method.as_str(), token.scenario, token.origin), ("POST", None, 1));
    let body = describe(token.body.as_ref().expect("it has a form"), &script);
    assert_eq!(body, "grant_type=client_credentials&scope=read+write");
    assert_eq!(token.headers.len(), 2, "its type and its authentication: {:?}", token.headers);
    assert_eq!(describe(&script.asks[2].headers[1].1, &script), "Bearer ${oauth2.access_token}");
    assert_eq!(script.tokens.len(), 1);
    assert!(script.tokens[0].refresh.is_none(), "a client has no refresh token");
}

#[test]
fn the_password_grant_names_its_user_and_may_use_a_refresh_token() {
    let script = script(
        "target: http://h\nscenarios: { s: [ { get: /a, auth: { oauth2: { grant: password, token_url: /token, \
         client_id: app, username: \"a&b\", password: p, client_auth: body, client_secret: c } } } ] }\n",
    );
    assert_eq!(names(&script), ["oauth2 token", "oauth2 refresh", "GET /a"]);
    let body = describe(script.asks[0].body.as_ref().expect("it has a form"), &script);
    assert_eq!(body, "grant_type=password&client_id=app&client_secret=c&username=a%26b&password=p");
    let body = describe(script.asks[1].body.as_ref().expect("it has a form"), &script);
    assert_eq!(body, "grant_type=refresh_token&refresh_token=${oauth2.refresh_token}");
}

#[test]
fn a_graphql_request_sends_its_query_or_its_hash() {
    let one = |graphql: &str| {
        let script = script(&format!(
            "target: http://h\nscenarios: {{ s: [ {{ post: /g, graphql: {{ {graphql} }} }} ] }}\n"
        ));
        let body = describe(script.asks[0].body.as_ref().expect("it has a body"), &script);
        (body, script)
    };
    let (body, script) =
        one("query: \"query A($i: ID) { a(i: $i) }\", operation: A, variables: { i: \"${uuid}\", n: 3 }");
    assert_eq!(
        body,
        r#"{"query":"query A($i: ID) { a(i: $i) }","operationName":"A","variables":{"i":"${uuid}","n":3}}"#
    );
    assert_eq!(script.asks[0].checks[0].name, "no GraphQL errors");
    assert_eq!(script.asks[0].checks[0].on, Subject::NoGraphqlErrors);
    // Neither a check nor an expression makes this request special, but its fallback does.
    let (body, script) = one("query: \"{__typename}\", persisted: true, errors: allow");
    // The hash of `{__typename}` that the documentation of Apollo Server shows.
    let hash = "ecf4edb46db40b5132295c0291d62fb65d6759a9eedfa4d5d612dd5ec54a6b38";
    let extensions = format!(r#""extensions":{{"persistedQuery":{{"version":1,"sha256Hash":"{hash}"}}}}"#);
    assert_eq!(body, format!("{{{extensions}}}"));
    let whole = script.graphql[0].with_query.as_ref().expect("it has a fallback");
    assert_eq!(describe(whole, &script), format!(r#"{{"query":"{{__typename}}",{extensions}}}"#));
    assert!(script.asks[0].checks.is_empty());
    let (body, _) = one("query_file: tests/files/shop.graphql");
    assert!(body.starts_with(r##"{"query":"# items\nquery Items("##), "{body}");
}

#[test]
fn what_cannot_work_is_rejected_with_a_fix() {
    let auth =
        |auth: &str| format!("target: http://h\nscenarios: {{ s: [ {{ get: /, auth: {{ {auth} }} }} ] }}\n");
    let graphql = |keys: &str| format!("target: http://h\nscenarios: {{ s: [ {{ {keys} }} ] }}\n");
    let rows = [
        (auth("ntlm: { user: u, password: p }"), "F012: `ntlm` is not supported yet; use `basic`, `digest`,"),
        (auth("negotiate: {}"), "F012: `negotiate` is not supported yet"),
        (
            auth("digest: { user: u, password: \"${secret.NONE}\" }"),
            "F024: environment variable `NONE` is not set",
        ),
        (auth("digest: { user: u }"), "F016: incomplete `digest`: "),
        (auth("basic: { user: u, password: p }, bearer: t"), "F014: invalid `auth`"),
        (
            auth("jwt: { algorithm: HS256, key_file: tests/files/key.pem, claims: { a: b } }"),
            "F016: incomplete `jwt`",
        ),
        (auth("jwt: { algorithm: HS512, key: k, claims: { a: b } }"), "F014: invalid `algorithm`"),
        (
            auth("jwt: { algorithm: RS256, key_file: tests/files/users.csv, claims: { a: b } }"),
            "F015: `tests/files/users.csv` is not a PEM file",
        ),
        (auth("jwt: { algorithm: HS256, key: k }"), "F016: incomplete `jwt`"),
        (auth("oauth2: { grant: implicit, token_url: /t, client_id: a }"), "F014: invalid `grant`"),
        (auth("oauth2: { grant: password, token_url: /t, client_id: a }"), "F016: incomplete `oauth2`"),
        (
            auth("oauth2: { grant: client_credentials, token_url: /t, client_id: \"${user}\" }"),
            "F017: the credentials of `oauth2` must be fixed",
        ),
        (auth("aws_sigv4: { access_key: a, secret_key: b, region: c }"), "F016: incomplete `aws_sigv4`"),
        (graphql("get: /g, graphql: { query: \"{a}\" }"), "F017: `graphql` requires `post`, not `get`"),
        (graphql("post: /g, graphql: { query: \"{a\" }"), "F028: invalid GraphQL document: unclosed `{`"),
        (graphql("post: /g, graphql: { query: \"{a}}\" }"), "F028: invalid GraphQL document: unexpected `}`"),
        (
            graphql("post: /g, graphql: { query: \"{a(b: [1)]}\" }"),
            "F028: invalid GraphQL document: `)` closes `[`",
        ),
        (
            graphql("post: /g, graphql: { query: 'qery A {a(b: \"x\")}' }"),
            "F028: invalid GraphQL document: unexpected `qery`",
        ),
        (
            graphql("post: /g, graphql: { query: \"query A {a} query B {b}\" }"),
            "F016: the document has several operations; choose one with `operation`: `A` or `B`",
        ),
        (
            graphql("post: /g, graphql: { query: \"query A {a}\", operation: C }"),
            "F021: unknown operation `C`; use `A`",
        ),
        (
            graphql("post: /g, graphql: { query: \"subscription {a}\" }"),
            "F016: a subscription requires `stream`",
        ),
        (
            graphql("post: /g, stream: true, graphql: { query: \"subscription {a}\", transport: websocket }"),
            "F017: `transport: websocket` requires a `connect` step",
        ),
        (
            graphql("connect: /g, graphql: { query: \"subscription {a}\", transport: sse }"),
            "F017: `transport: sse` does not apply to `connect`",
        ),
        (
            graphql("connect: /g, graphql: { query: \"{a}\", persisted: true }"),
            "F017: `persisted` does not apply to an operation over a WebSocket",
        ),
        (
            graphql("connect: /g, subprotocols: graphql-ws, graphql: { query: \"{a}\" }"),
            "F017: `graphql` speaks the subprotocol `graphql-transport-ws`",
        ),
        (
            graphql("post: /g, graphql: { query: \"{a}\", init: { a: 1 } }"),
            "F017: `init` applies only to an operation over a WebSocket",
        ),
        (
            graphql("post: /g, json: {}, graphql: { query: \"{a}\" }"),
            "F017: `json` and `graphql` both set the body",
        ),
        (
            graphql("get: /g, stream: true, auth: { digest: { user: u, password: p } }"),
            "F017: `digest` does not apply to a stream",
        ),
    ];
    for (text, expected) in rows {
        let all = read(&text).expect_err(&text);
        assert!(all.len() == 1 && all[0].starts_with(expected), "{text}\n{all:#?}");
    }
}
