//! Functions of dates and times, in the time zone of the machine.

use super::without_value;
use crate::date;
use crate::scope::Scope;
use crate::template::Call;
use jiff::{SignedDuration, ZonedDateTime};

pub fn time(call: &Call, scope: &mut Scope<'_>) -> String {
    let format = call.argument(0, scope);
    let value = match format.as_str() {
        "" => scope.unix_ms().to_string(),
        "YMD" => now(scope, "yyyyMMdd"),
        "HMS" => now(scope, "HHmmss"),
        "YMDHMS" => now(scope, "yyyyMMdd-HHmmss"),
        divisor if divisor.starts_with('/') => match divisor[1..].parse::<i64>() {
            Ok(divisor) if divisor > 0 => (scope.unix_ms() / divisor).to_string(),
            _ => return without_value(scope, "__time", &format!("invalid format `{format}`")),
        },
        pattern => now(scope, pattern),
    };
    call.store(1, &value, scope);
    value
}

/// Returns the current time as a pattern shows it.
pub fn now(scope: &Scope<'_>, pattern: &str) -> String {
    dated(pattern, &date::at(scope.at.unix_ns, &scope.run.zone))
}

fn dated(pattern: &str, at: &ZonedDateTime) -> String {
    let mut out = String::new();
    date::write(pattern, at, &mut out);
    out
}

/// `__timeShift(format, date, shift, [locale,] variable)`: the shift is a duration of ISO 8601, such as `P2DT3H`.
pub fn shifted(call: &Call, scope: &mut Scope<'_>) -> String {
    let format = call.argument(0, scope);
    let (format, given) = (format.trim(), call.argument(1, scope));
    let (given, shift) = (given.trim(), call.argument(2, scope));
    let current = date::at(scope.at.unix_ns, &scope.run.zone);
    let mut at = current.clone();
    if !given.is_empty() {
        let read = match format {
            "" => given.parse().ok().map(|ms: i64| date::at(ms.max(0) as u64 * 1_000_000, &scope.run.zone)),
            pattern => date::read(pattern, given, &scope.run.zone, &current),
        };
        match read {
            Some(read) => at = read,
            None => {
                scope.run.warn_once(&format!("__timeShift: `{given}` does not have the format `{format}`"))
            }
        }
    }
    if !shift.trim().is_empty() {
        match iso_duration(shift.trim()).and_then(|by| at.checked_add(by).ok()) {
            Some(moved) => at = moved,
            None => scope.run.warn_once(&format!("__timeShift: invalid duration `{shift}`")),
        }
    }
    let value = match format {
        "" => at.timestamp().as_millisecond().to_string(),
        pattern => dated(pattern, &at),
    };
    let last = if call.arguments.len() >= 5 { 4 } else { 3 };
    call.store(last, &value, scope);
    value
}

/// Reads a duration as Java does: days, hours, minutes, and seconds, each with a sign. A day has 24 hours.
fn iso_duration(text: &str) -> Option<SignedDuration> {
    let (is_negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let upper = text.to_ascii_uppercase();
    let body = upper.strip_prefix('P')?;
    let (days, clock) = body.split_once('T').unwrap_or((body, ""));
    let mut ms = 0f64;
    let mut has_any = false;
    for (part, units) in
        [(days, &[('D', 86_400_000.0)][..]), (clock, &[('H', 3_600_000.0), ('M', 60_000.0), ('S', 1000.0)])]
    {
        let mut rest = part;
        for (unit, factor) in units {
            if let Some((number, after)) = rest.split_once(*unit) {
                ms += number.parse::<f64>().ok()? * factor;
                (rest, has_any) = (after, true);
            }
        }
        if !rest.is_empty() {
            return None;
        }
    }
    let ms = if is_negative { -ms } else { ms };
    has_any.then(|| SignedDuration::from_millis(ms.round() as i64))
}

/// `__RandomDate(format, begin, end, locale, variable)`: a day before the end.
pub fn random_date(call: &Call, scope: &mut Scope<'_>) -> String {
    let format = call.argument(0, scope);
    let format = if format.trim().is_empty() { "yyyy-MM-dd" } else { format.trim() };
    let zone = scope.run.zone.clone();
    let current = date::at(scope.at.unix_ns, &zone);
    let begin = call.argument(1, scope);
    let begin = match begin.trim() {
        "" => Some(current.clone()),
        text => date::read(format, text, &zone, &current),
    };
    let end = call.argument(2, scope);
    let (Some(begin), Some(end)) = (begin, date::read(format, end.trim(), &zone, &current)) else {
        return without_value(scope, "__RandomDate", &format!("a date does not have the format `{format}`"));
    };
    const DAY_S: i64 = 86_400;
    let days = (end.timestamp().as_second() - begin.timestamp().as_second()) / DAY_S;
    if days <= 0 {
        return without_value(scope, "__RandomDate", "the end must be after the beginning");
    }
    let day = scope.between(0, days - 1);
    let moved = begin.checked_add(jiff::Span::new().days(day)).unwrap_or(begin);
    let value = dated(format, &moved);
    call.store(4, &value, scope);
    value
}

/// `__dateTimeConvert(date, from, to, variable)`.
pub fn converted(call: &Call, scope: &mut Scope<'_>) -> String {
    let (given, from, to) = (call.argument(0, scope), call.argument(1, scope), call.argument(2, scope));
    let current = date::at(scope.at.unix_ns, &scope.run.zone);
    let read = match from.trim() {
        "" => {
            given.trim().parse().ok().map(|ms: i64| date::at(ms.max(0) as u64 * 1_000_000, &scope.run.zone))
        }
        pattern => date::read(pattern, given.trim(), &scope.run.zone, &current),
    };
    let Some(read) = read else {
        return without_value(
            scope,
            "__dateTimeConvert",
            &format!("`{given}` does not have the format `{from}`"),
        );
    };
    let value = dated(to.trim(), &read);
    call.store(3, &value, scope);
    value
}
