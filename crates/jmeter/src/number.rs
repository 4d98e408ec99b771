//! Integers as Java's `DecimalFormat` writes them.

/// Returns a number as a pattern such as `000`, `#,##0`, or `'n'0000` shows it; without a pattern, its digits.
pub fn format(number: i64, pattern: &str) -> String {
    let pattern = pattern.split(';').next().unwrap_or_default();
    if pattern.is_empty() {
        return number.to_string();
    }
    let (mut before, mut after) = (String::new(), String::new());
    let (mut zeros, mut decimals, mut group) = (0usize, 0usize, None);
    let (mut is_quoted, mut is_decimal, mut has_digits) = (false, false, false);
    for sign in pattern.chars() {
        match sign {
            '\'' => is_quoted = !is_quoted,
            '0' if !is_quoted && is_decimal => decimals += 1,
            '0' if !is_quoted => {
                zeros += 1;
                has_digits = true;
                group = group.map(|digits: usize| digits + 1);
            }
            '#' if !is_quoted => {
                has_digits = true;
                group = group.map(|digits: usize| digits + 1);
            }
            ',' if !is_quoted => group = Some(0),
            '.' if !is_quoted => (is_decimal, has_digits) = (true, true),
            other if has_digits => after.push(other),
            other => before.push(other),
        }
    }
    let digits = format!("{:0>zeros$}", number.unsigned_abs());
    let digits = match group.filter(|size| *size > 0) {
        None => digits,
        Some(size) => {
            let mut out = String::new();
            for (at, digit) in digits.chars().enumerate() {
                if at > 0 && (digits.len() - at).is_multiple_of(size) {
                    out.push(',');
                }
                out.push(digit);
            }
            out
        }
    };
    let sign = if number < 0 { "-" } else { "" };
    let fraction = if decimals > 0 { format!(".{}", "0".repeat(decimals)) } else { String::new() };
    format!("{sign}{before}{digits}{fraction}{after}")
}
