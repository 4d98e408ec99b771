//! Numbers as users write them: `1500`, `1_500`, `1,500`, or `1.5`.

use crate::Problem;

/// Parses a number above 0. Commas and underscores are valid only before groups of three digits: in many countries,
/// `1,5` means 1.5, and reading it as 15 would be wrong by a factor of 10.
///
/// # Errors
/// Returns an error if the text is not a number above 0, or is ambiguous.
pub fn number(text: &str) -> Result<f64, Problem> {
    let trimmed = text.trim();
    let (whole, fraction) = trimmed.split_once('.').map_or((trimmed, None), |(w, f)| (w, Some(f)));
    let is_mark = |c: char| matches!(c, ',' | '_');
    let mut marks = whole.chars().filter(|c| is_mark(*c));
    let first = marks.next();
    let is_mixed = marks.any(|mark| Some(mark) != first);
    let is_group = |group: &str| group.len() == 3 && group.bytes().all(|b| b.is_ascii_digit());
    let mut groups = whole.split(is_mark);
    let is_first = groups.next().is_some_and(|group| (1..=3).contains(&group.len()));
    let is_grouped = first.is_none() || !is_mixed && is_first && groups.all(is_group);
    if !is_grouped || fraction.is_some_and(|fraction| fraction.contains(is_mark)) {
        // One comma without a point means a fraction. Any other guess could be wrong by a factor of 1,000.
        let is_fraction = fraction.is_none() && trimmed.matches(is_mark).eq([","]);
        let help = match is_fraction {
            true => format!("write `{}`", trimmed.replace(',', ".")),
            false => "write only digits, with a point before a fraction".to_owned(),
        };
        return Err(Problem::new(
            format!("ambiguous number `{text}`: commas must separate groups of three digits"),
            help,
        ));
    }
    match trimmed.replace(is_mark, "").parse::<f64>() {
        Ok(n) if n.is_finite() && n > 0.0 => Ok(n),
        _ => Err(Problem::new(
            format!("invalid number `{text}`: expected a number above 0"),
            "write a number such as `50` or `1.5`",
        )),
    }
}
