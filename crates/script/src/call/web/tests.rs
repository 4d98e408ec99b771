//! Bodies in Base64.

use super::decode;

#[test]
fn parts_may_be_encoded_alone() {
    let mut bytes = Vec::new();
    for (text, expected) in
        [("", Some("")), ("b25l", Some("one")), ("b24=bGU=", Some("onle")), ("bw==b25lbw==", Some("ooneo"))]
    {
        let decoded = decode(text.as_bytes(), &mut bytes).is_ok();
        assert_eq!(decoded.then_some(&bytes[..]), expected.map(str::as_bytes), "{text}");
    }
    for invalid in ["b", "b25", "b24=b", "====", "b=5l", "b25l\n", "-_==", "=b25l"] {
        assert_eq!(decode(invalid.as_bytes(), &mut bytes), Err(()), "{invalid}");
    }
}
