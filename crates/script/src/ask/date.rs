//! Dates in cookies, parsed leniently as RFC 6265 section 5.1.1 requires, because servers use many formats.

use plimsoll_plan::calendar::midnight_unix_s;

/// Returns seconds since 1970; `None` if a part is missing or out of range.
pub fn cookie_date(text: &[u8]) -> Option<i64> {
    let (mut time, mut day, mut month, mut year) = (None, None, None, None);
    for token in text.split(|byte| is_delimiter(*byte)).filter(|token| !token.is_empty()) {
        // The order of the tests is that of the RFC: the first number of one or two digits is the day.
        if time.is_none()
            && let Some(found) = hours_minutes_seconds(token)
        {
            time = Some(found);
        } else if day.is_none()
            && let Some((found, 1..=2)) = number(token)
        {
            day = Some(found);
        } else if month.is_none()
            && let Some(found) = month_of(token)
        {
            month = Some(found);
        } else if year.is_none()
            && let Some((found, 2..=4)) = number(token)
        {
            year = Some(match found {
                70..=99 => found + 1900,
                0..=69 => found + 2000,
                _ => found,
            });
        }
    }
    let ((hour, minute, second), day, month, year) = (time?, day?, month?, year?);
    if year < 1601 || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    // The RFC does not say how to handle dates such as February 30. They are rejected like a 25th hour.
    Some(midnight_unix_s(year, month, day)? + hour * 3600 + minute * 60 + second)
}

/// Returns whether a byte separates words. A colon does not, because it is part of a time.
fn is_delimiter(byte: u8) -> bool {
    matches!(byte, 0x09 | 0x20..=0x2f | 0x3b..=0x40 | 0x5b..=0x60 | 0x7b..=0x7e)
}

/// Returns the number at the beginning, and its number of digits.
fn number(token: &[u8]) -> Option<(i64, usize)> {
    let digits = token.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let text = str::from_utf8(&token[..digits]).ok()?;
    Some((text.parse().ok()?, digits))
}

/// Parses `8:49:37`, not followed by a digit.
fn hours_minutes_seconds(token: &[u8]) -> Option<(i64, i64, i64)> {
    let mut fields = token.splitn(3, |byte| *byte == b':');
    let mut field = |is_last: bool| {
        let field = fields.next()?;
        let (value, digits) = number(field)?;
        (digits <= 2 && (is_last || digits == field.len())).then_some(value)
    };
    Some((field(false)?, field(false)?, field(true)?))
}

/// Returns a month by its first three letters: `Nov`, `november`, `Novembre`.
fn month_of(token: &[u8]) -> Option<i64> {
    const NAMES: [&[u8; 3]; 12] =
        [b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov", b"dec"];
    let name = token.get(..3)?;
    NAMES.iter().position(|month| name.eq_ignore_ascii_case(*month)).map(|at| at as i64 + 1)
}
