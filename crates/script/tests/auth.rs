//! Authentication: digest (RFC 7616), signature version 4 of Amazon Web Services, and JSON Web Tokens.

use plimsoll_plan::head::Head;
use plimsoll_script::auth::digest::Challenge;
use plimsoll_script::auth::jwt::{Signer, Verifier};
use plimsoll_script::auth::sigv4::{Credentials, sign};

fn challenge(fields: &str) -> Result<Challenge, String> {
    let head = format!("HTTP/1.1 401 Unauthorized\r\n{fields}\r\n");
    Challenge::of(Head::new(head.as_bytes()))
}

fn response(value: &str) -> &str {
    let (_, rest) = value.split_once("response=\"").expect("it has a response");
    rest.split_once('"').expect("it ends").0
}

/// RFC 7616 section 3.9.1.
#[test]
fn digest_answers_the_challenges_of_the_standard_as_the_standard_does() {
    let common = "realm=\"http-auth@example.org\", qop=\"auth, auth-int\", \
                  nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", \
                  opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\"";
    let cnonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ";
    let user = (&b"Mufasa"[..], &b"Circle of Life"[..]);
    let mut md5 =
        challenge(&format!("WWW-Authenticate: Digest {common}, algorithm=MD5\r\n")).expect("it is one");
    let value = md5.authorization(user, ("GET", "/dir/index.html"), cnonce);
    assert_eq!(response(&value), "8ca523f5e9506fed4657c9700eebdbec");
    assert!(value.contains("nc=00000001") && value.contains("opaque=\"FQhe/"), "{value}");
    // A server that offers both gets the stronger one.
    let both = format!(
        "WWW-Authenticate: Digest {common}, algorithm=MD5\r\nWWW-Authenticate: Digest {common}, algorithm=SHA-256\r\n"
    );
    let mut sha = challenge(&both).expect("it is one");
    let value = sha.authorization(user, ("GET", "/dir/index.html"), cnonce);
    assert_eq!(response(&value), "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1");
    assert!(value.contains("algorithm=SHA-256"), "{value}");
    assert!(sha.authorization(user, ("GET", "/"), cnonce).contains("nc=00000002"), "each use counts");
}

/// RFC 2069 section 2.4, with the corrected response of RFC erratum 749.
#[test]
fn digest_without_a_quality_of_protection_is_that_of_the_first_standard() {
    let mut old = challenge(
        "WWW-Authenticate: Digest realm=\"testrealm@host.com\", nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\", \
         opaque=\"5ccc069c403ebaf9f0171e9517f40e41\"\r\n",
    )
    .expect("it is one");
    let value = old.authorization((b"Mufasa", b"CircleOfLife"), ("GET", "/dir/index.html"), "x");
    assert_eq!(response(&value), "1949323746fe6a43ef61f9606e7febea");
    assert!(!value.contains("nc=") && !value.contains("algorithm="), "{value}");
}

#[test]
fn a_session_key_depends_on_the_nonces() {
    // Computed with hashlib of Python.
    let mut session = challenge(
        "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\", algorithm=MD5-sess, stale=TRUE\r\n",
    )
    .expect("it is one");
    assert!(session.is_stale);
    let value = session.authorization((b"u", b"p"), ("POST", "/x?a=1"), "c");
    assert_eq!(response(&value), "4847cea1461db67b940b3863ddc903c9");
    let mut session = challenge(
        "WWW-Authenticate: Basic realm=\"x\", Digest realm=\"r\", nonce=\"n\", qop=auth, algorithm=SHA-256-sess\r\n",
    )
    .expect("it is one");
    let value = session.authorization((b"u", b"p"), ("POST", "/x?a=1"), "c");
    assert_eq!(response(&value), "bde02200982e08ac3a4055273259179f6d3d544511670d1977ede8d8aaef5166");
}

#[test]
fn what_is_not_a_digest_is_named() {
    let why = |fields: &str| challenge(fields).expect_err("it is not one");
    assert_eq!(why(""), "the response has no header `WWW-Authenticate`");
    assert_eq!(
        why("WWW-Authenticate: NTLM\r\nWWW-Authenticate: Negotiate\r\n"),
        "the server offers `NTLM` and `Negotiate`, but no digest that plimsoll supports"
    );
    let token = why("WWW-Authenticate: Negotiate YII=\r\n");
    assert!(token.contains("`Negotiate`"), "{token}");
    assert!(why("WWW-Authenticate: Digest realm=\"r\"\r\n").contains("an incomplete `Digest`"));
    let other = why("WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", algorithm=SHA-512-256\r\n");
    assert!(other.contains("`Digest` with the algorithm `SHA-512-256`"), "{other}");
    let other = why("WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth-int\"\r\n");
    assert!(other.contains("quality of protection `auth-int`"), "{other}");
    // Broken fields must end, too.
    for fields in ["=", ",,,", "Digest \"", "Digest realm=\"\\", "a=b", "Digest =", "Digest a=,b==c,\"d\""] {
        let _ = challenge(&format!("WWW-Authenticate: {fields}\r\n"));
    }
}

/// 2015-08-30T12:36:00Z, the time of the published examples.
const SIGNED_NS: u64 = 1_440_938_160_000_000_000;

fn signed(request: &str, service: &str, token: Option<&str>) -> String {
    let mut out = b"before".to_vec();
    out.extend_from_slice(request.as_bytes());
    let credentials = Credentials {
        access_key: b"AKIDEXAMPLE",
        secret_key: b"wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
        session_token: token.map(str::as_bytes),
        region: b"us-east-1",
        service: service.as_bytes(),
    };
    sign(&mut out, 6, &credentials, SIGNED_NS).expect("the credentials may be sent");
    let text = String::from_utf8(out).expect("it is text");
    let value = text.lines().find_map(|line| line.strip_prefix("Authorization: ")).expect("it is signed");
    assert!(text.contains("\r\nX-Amz-Date: 20150830T123600Z\r\n"), "{text}");
    value.to_owned()
}

/// The first, the second, and the fourth are examples that Amazon publishes (`get-vanilla`,
/// `get-vanilla-query-order-key-case`, `post-x-www-form-urlencoded`); all were computed with botocore 1.44.
#[test]
fn signatures_are_those_of_the_published_examples_and_of_botocore() {
    let scope = |service: &str| format!("Credential=AKIDEXAMPLE/20150830/us-east-1/{service}/aws4_request");
    let host = "Host: example.amazonaws.com\r\n";
    let rows = [
        (
            format!("GET / HTTP/1.1\r\n{host}\r\n"),
            "host;x-amz-date",
            "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
        ),
        (
            format!("GET /?Param2=value2&Param1=value1 HTTP/1.1\r\n{host}\r\n"),
            "host;x-amz-date",
            "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
        ),
        (
            format!("GET /a%20b/./c/../d//e?x=1%202&x=0&y HTTP/1.1\r\n{host}Accept: */*\r\n\r\n"),
            "host;x-amz-date",
            "0038188293f41289a33d92250adbd1bd09d3a85eef81394d43e88f482417c50e",
        ),
        (
            format!(
                "POST / HTTP/1.1\r\n{host}Content-Type: application/x-www-form-urlencoded\r\n\
                 Content-Length: 13\r\n\r\nParam1=value1"
            ),
            "content-type;host;x-amz-date",
            "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
        ),
    ];
    for (request, headers, signature) in rows {
        assert_eq!(
            signed(&request, "service", None),
            format!("AWS4-HMAC-SHA256 {}, SignedHeaders={headers}, Signature={signature}", scope("service"))
        );
    }
    let with_token = signed(&format!("GET / HTTP/1.1\r\n{host}\r\n"), "service", Some("SESSION/TOKEN=="));
    assert!(
        with_token.ends_with("ce4ff2787e5fcfae68d4301194fb6a58b4277b1ffe31570591e8753bb03a19ad"),
        "{with_token}"
    );
    let s3 = signed(
        &format!("PUT /b%C3%BCcket/a..b HTTP/1.1\r\n{host}Content-Length: 5\r\n\r\nhello"),
        "s3",
        None,
    );
    assert!(s3.contains(&scope("s3")) && s3.contains("host;x-amz-content-sha256;x-amz-date"), "{s3}");
    assert!(s3.ends_with("d93b5178c5559ea6e4d8538c66b5febef97ace0e34a8c2b45700beab5941cdee"), "{s3}");
}

const RSA: &str = include_str!("keys/rsa.pem");
const RSA_PUBLIC: &str = include_str!("keys/rsa.pub.pem");
const EC: &str = include_str!("keys/ec.pem");
const EC_PUBLIC: &str = include_str!("keys/ec.pub.pem");
/// 100 s before the tokens expire.
const VALID_NS: u64 = 1_769_860_800_000_000_000;

/// The tokens were made with PyJWT 2.x.
#[test]
fn tokens_of_another_library_are_accepted_until_they_expire() {
    let hmac = || Verifier::Hmac(b"k-4711-0123456789-0123456789-0123".to_vec());
    let rows = [
        (hmac(), include_str!("keys/HS256.jwt")),
        (Verifier::rsa(RSA_PUBLIC).expect("it is a key"), include_str!("keys/RS256.jwt")),
        (Verifier::ecdsa(EC_PUBLIC).expect("it is a key"), include_str!("keys/ES256.jwt")),
    ];
    for (verifier, token) in &rows {
        let claims = verifier.claims(token.as_bytes(), VALID_NS).expect("it is valid");
        assert_eq!(String::from_utf8_lossy(&claims), r#"{"iss":"shop","sub":"7","exp":1769860900}"#);
        let late = verifier.claims(token.as_bytes(), VALID_NS + 100_000_000_000);
        assert_eq!(late, Err("it expired 0 s ago".to_owned()));
        // Changed claims, a changed signature, and another algorithm.
        let (head, rest) = token.split_once('.').expect("it has parts");
        let (claims, signature) = rest.split_once('.').expect("it has parts");
        let other = "eyJpc3MiOiJzaG9wIiwic3ViIjoiOCIsImV4cCI6MTc2OTg2MDkwMH0";
        assert_eq!(other.len(), claims.len());
        for wrong in [
            format!("{head}.{other}.{signature}"),
            format!("{head}.{claims}.{}", signature.replace('A', "B")),
        ] {
            if wrong != *token {
                assert_eq!(
                    verifier.claims(wrong.as_bytes(), VALID_NS),
                    Err("its signature is wrong".to_owned())
                );
            }
        }
        let none = format!("eyJhbGciOiJub25lIn0.{claims}.");
        let why = verifier.claims(none.as_bytes(), VALID_NS).expect_err("it is unsigned");
        assert!(why.starts_with("it is signed with `none`"), "{why}");
        assert!(verifier.claims(b"a.b", VALID_NS).is_err() && verifier.claims(b"", VALID_NS).is_err());
    }
    assert!(rows[1].0.claims(rows[2].1.as_bytes(), VALID_NS).is_err(), "the key decides the algorithm");
}

#[test]
fn signatures_of_own_keys_are_accepted_by_their_public_halves() {
    let token = |signer: &Signer, head: &str| {
        let message = format!("{head}.e30");
        let signature = signer.sign(message.as_bytes()).expect("it signs");
        format!("{message}.{}", url_safe(&signature))
    };
    let rsa = token(&Signer::rsa(RSA).expect("it is a key"), "eyJhbGciOiJSUzI1NiJ9");
    assert!(Verifier::rsa(RSA_PUBLIC).expect("it is a key").claims(rsa.as_bytes(), 0).is_ok());
    let ec = token(&Signer::ecdsa(EC).expect("it is a key"), "eyJhbGciOiJFUzI1NiJ9");
    assert!(Verifier::ecdsa(EC_PUBLIC).expect("it is a key").claims(ec.as_bytes(), 0).is_ok());
}

#[test]
fn a_key_of_another_kind_is_rejected() {
    assert_eq!(Signer::rsa(EC).err().as_deref(), Some("`PRIVATE KEY` is not a private RSA key"));
    assert_eq!(Signer::ecdsa(RSA).err().as_deref(), Some("`PRIVATE KEY` is not a private key on P-256"));
    assert_eq!(Signer::rsa("secret").err().as_deref(), Some("the key is not a PEM text"));
    assert!(Verifier::rsa(RSA).err().is_some_and(|why| why.starts_with("`PRIVATE KEY` is not a public key")));
}

fn url_safe(bytes: &[u8]) -> String {
    use base64::Engine;
    base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes)
}
