//! Dates in cookies, read as leniently as RFC 6265 section 5.1.1 asks: servers write them in every form there is.

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
    // The RFC leaves days such as 30 February to the reader; they are as wrong as a 25th hour.
    let valid = (1..=month_days(year, month)).contains(&day) && year >= 1601;
    if !valid || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    Some(days_since_1970(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second)
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

fn month_days(year: i64, month: i64) -> i64 {
    let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from the civil date, proleptic Gregorian: years are counted from March, so that the leap day is a year's last
/// (H. Hinnant, "chrono-compatible low-level date algorithms", `days_from_civil`). `year` is not negative.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year / 400, year % 400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}
