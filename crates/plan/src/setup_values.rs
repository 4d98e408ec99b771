//! The values of setup as bytes, for load generators that do not run it: of each, its length plus one (4 bytes,
//! little-endian; 0 for none), then the value.

/// Returns values as bytes.
pub fn encode<'a>(values: impl Iterator<Item = Option<&'a [u8]>>) -> Vec<u8> {
    let mut out = Vec::new();
    for value in values {
        let length = value.map_or(0, |value| value.len() as u32 + 1);
        out.extend(length.to_le_bytes());
        out.extend(value.unwrap_or_default());
    }
    out
}

/// Returns the values of bytes, or `None` if they are cut off.
pub fn decode(mut bytes: &[u8]) -> Option<Vec<Option<&[u8]>>> {
    let mut values = Vec::new();
    while !bytes.is_empty() {
        let (length, rest) = bytes.split_first_chunk::<4>()?;
        let length = u32::from_le_bytes(*length) as usize;
        let (value, rest) = rest.split_at_checked(length.saturating_sub(1))?;
        values.push((length > 0).then_some(value));
        bytes = rest;
    }
    Some(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_survive_the_way() {
        let values: Vec<Option<&[u8]>> = vec![Some(b"token"), None, Some(b""), Some(&[0; 300])];
        let bytes = encode(values.iter().copied());
        assert_eq!(decode(&bytes), Some(values));
        assert_eq!(decode(&[]), Some(Vec::new()));
        assert_eq!(decode(&bytes[..bytes.len() - 1]), None, "cut off");
    }
}
