//! A plain number of a size, as people write it: `1500`, `1_500`, `1,500` or `1.5`.

use crate::Problem;

/// Parses a number above 0. Commas and underscores stand before groups of three digits only: in half of the world
/// `1,5` is one and a half, and taken as 15 it would be wrong by ten.
///
/// # Errors
/// A sentence with the mend.
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
        // One comma and no point: a fraction was meant. Of anything else a guess could be wrong by a thousand.
        let is_fraction = fraction.is_none() && trimmed.matches(is_mark).eq([","]);
        let mend = match is_fraction {
            true => format!("write `{}`", trimmed.replace(',', ".")),
            false => "write digits alone, with a point in front of a fraction".to_owned(),
        };
        return Err(Problem::new(
            format!("`{text}` may mean several numbers: commas stand before groups of three digits"),
            mend,
        ));
    }
    match trimmed.replace(is_mark, "").parse::<f64>() {
        Ok(n) if n.is_finite() && n > 0.0 => Ok(n),
        _ => {
            Err(Problem::new(format!("`{text}` is no number above 0"), "expected one such as `50` or `1.5`"))
        }
    }
}
