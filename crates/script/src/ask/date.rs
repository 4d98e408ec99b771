//! Dates in cookies, read as leniently as RFC 6265 section 5.1.1 asks: servers write them in every form there is.

use plimsoll_plan::calendar::midnight_unix_s;

/// Seconds since 1970; `None` when a part is missing or out of range.
pub(super) fn cookie_date(text: &[u8]) -> Option<i64> {
    let (mut time, mut day, mut month, mut year) = (None, None, None, None);
    for token in text.split(|byte| is_delimiter(*byte)).filter(|token| !token.is_empty()) {
        // The order of the questions is the RFC's: the first number of one or two digits is the day.
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
    // The RFC leaves days such as 30 February to the reader; they are as wrong as a 25th hour.
    Some(midnight_unix_s(year, month, day)? + hour * 3600 + minute * 60 + second)
}

/// Everything between words but the colon, which holds a time together.
fn is_delimiter(byte: u8) -> bool {
    matches!(byte, 0x09 | 0x20..=0x2f | 0x3b..=0x40 | 0x5b..=0x60 | 0x7b..=0x7e)
}

/// The digits in front, and how many there are.
fn number(token: &[u8]) -> Option<(i64, usize)> {
    let digits = token.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let text = str::from_utf8(&token[..digits]).ok()?;
    Some((text.parse().ok()?, digits))
}

/// `8:49:37`, with anything but a digit behind it.
fn hours_minutes_seconds(token: &[u8]) -> Option<(i64, i64, i64)> {
    let mut fields = token.splitn(3, |byte| *byte == b':');
    let mut field = |is_last: bool| {
        let field = fields.next()?;
        let (value, digits) = number(field)?;
        (digits <= 2 && (is_last || digits == field.len())).then_some(value)
    };
    Some((field(false)?, field(false)?, field(true)?))
}

/// By its first three letters: `Nov`, `november`, `Novembre`.
fn month_of(token: &[u8]) -> Option<i64> {
    const NAMES: [&[u8; 3]; 12] =
        [b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov", b"dec"];
    let name = token.get(..3)?;
    NAMES.iter().position(|month| name.eq_ignore_ascii_case(*month)).map(|at| at as i64 + 1)
}
