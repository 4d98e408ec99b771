//! Header fields and cookies of an answer, read where they lie.

/// The values of all fields called `name` (in any case), in their order, without the space around them.
pub(super) fn fields<'h>(head: &'h [u8], name: &str) -> impl Iterator<Item = &'h [u8]> {
    memchr::memchr_iter(b'\n', head).filter_map(move |end_of_line| {
        // The name stands right at the begin of the line and the colon right behind it (RFC 9112 section 5.1), so
        // that one look at a byte passes most lines.
        let line = &head[end_of_line + 1..];
        if line.get(name.len()) != Some(&b':') || !line[..name.len()].eq_ignore_ascii_case(name.as_bytes()) {
            return None;
        }
        let value = &line[name.len() + 1..];
        Some(value[..memchr::memchr(b'\n', value).unwrap_or(value.len())].trim_ascii())
    })
}

/// The values that this answer gives to the cookie `name`, in their order. Names of cookies have a case.
pub(super) fn cookies<'h>(head: &'h [u8], name: &str) -> impl Iterator<Item = &'h [u8]> {
    fields(head, "set-cookie").filter_map(move |field| {
        let pair = field.split(|sign| *sign == b';').next()?;
        let equals = memchr::memchr(b'=', pair)?;
        (pair[..equals].trim_ascii() == name.as_bytes()).then(|| pair[equals + 1..].trim_ascii())
    })
}
