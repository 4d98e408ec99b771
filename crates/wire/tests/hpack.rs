//! HPACK: the examples of RFC 7541, every kind of invalid block, and stories of an encoder that fills and shrinks the
//! table.

mod code;
mod encodes;
mod examples;
mod invalid;
mod libnghttp2;
mod stories;

use plimsoll_wire::hpack::{Decoder, Error, Scratch};

type Pair = (Vec<u8>, Vec<u8>);

/// Decodes one block to pairs.
fn decode(decoder: &mut Decoder, block: &[u8]) -> Result<Vec<Pair>, Error> {
    let mut pairs = Vec::new();
    decoder.decode(block, &mut Scratch::default(), |name, value| {
        pairs.push((name.to_vec(), value.to_vec()));
        true
    })?;
    Ok(pairs)
}

fn pair(name: &str, value: &str) -> Pair {
    (name.as_bytes().to_vec(), value.as_bytes().to_vec())
}

fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<char> = text.chars().filter(|digit| !digit.is_whitespace()).collect();
    digits.chunks(2).map(|byte| u8::from_str_radix(&byte.iter().collect::<String>(), 16).unwrap()).collect()
}
