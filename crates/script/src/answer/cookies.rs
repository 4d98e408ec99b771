//! Cookies of a response, read in place.

use plimsoll_plan::head::Head;

/// Returns the values that the response sets for the cookie `name`, in their order. Cookie names are case-sensitive.
pub(super) fn set_by<'h>(head: Head<'h>, name: &str) -> impl Iterator<Item = &'h [u8]> {
    head.fields("set-cookie").filter_map(move |field| {
        let pair = field.split(|sign| *sign == b';').next()?;
        let equals = memchr::memchr(b'=', pair)?;
        (pair[..equals].trim_ascii() == name.as_bytes()).then(|| pair[equals + 1..].trim_ascii())
    })
}
