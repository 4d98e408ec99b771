//! Text format of Prometheus metrics: format 0.0.4 and OpenMetrics 1.0, as far as they have the same content.
//! Histograms and summaries become plain samples: buckets, sums, and counts.

use std::collections::HashMap;

/// One line of a page.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    pub name: String,
    /// Sorted by name.
    pub labels: Vec<(String, String)>,
    /// Any number, including NaN and infinities.
    pub value: f64,
    /// Whether it only increases: a counter, or the buckets, sum, and count of a histogram or a summary.
    pub rises: bool,
}

impl Sample {
    pub fn label(&self, name: &str) -> Option<&str> {
        self.labels.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// Returns `{a="b",c="d"}`, or nothing without labels.
    pub fn part(&self) -> String {
        part(self.labels.iter().map(|(name, value)| (name.as_str(), value.as_str())))
    }
}

/// Returns `{a="b",c="d"}` for sorted labels, or nothing if there are none.
pub fn part<'a>(labels: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let all: Vec<String> = labels.map(|(name, value)| format!("{name}={value:?}")).collect();
    if all.is_empty() { String::new() } else { format!("{{{}}}", all.join(",")) }
}

/// Type of a family according to `# TYPE`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Counter,
    /// Its samples have `_bucket`, `_sum`, or `_count` after the family's name.
    Composed,
    Other,
}

/// Parses all samples of a page. As in Prometheus, one invalid line invalidates the page.
///
/// # Errors
/// Returns `line N is not a sample: WHY` without the line itself, which may contain anything.
pub fn parse(text: &str) -> Result<Vec<Sample>, String> {
    let mut kinds = HashMap::new();
    let mut samples = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.trim_matches([' ', '\t', '\r']);
        if line == "# EOF" {
            break;
        }
        if let Some(comment) = line.strip_prefix('#') {
            let mut words = comment.split_ascii_whitespace();
            if let (Some("TYPE"), Some(family), Some(kind)) = (words.next(), words.next(), words.next()) {
                kinds.insert(family.trim_matches('"'), kind_of(kind));
            }
        } else if !line.is_empty() {
            let sample = sample(line).map_err(|why| format!("line {} is not a sample: {why}", at + 1))?;
            samples.push(sample);
        }
    }
    for sample in &mut samples {
        sample.rises = rises(&sample.name, &kinds);
    }
    Ok(samples)
}

fn kind_of(word: &str) -> Kind {
    match word {
        "counter" => Kind::Counter,
        "histogram" | "summary" => Kind::Composed,
        _ => Kind::Other,
    }
}

fn rises(name: &str, kinds: &HashMap<&str, Kind>) -> bool {
    // A summary's own name is that of its quantiles.
    if let Some(kind) = kinds.get(name) {
        return *kind == Kind::Counter;
    }
    for end in ["_bucket", "_sum", "_count"] {
        if name.strip_suffix(end).and_then(|family| kinds.get(family)) == Some(&Kind::Composed) {
            return true;
        }
    }
    // The family's name in OpenMetrics lacks this suffix of its samples. Without a type, only the name is available.
    name.ends_with("_total")
}

/// Parses `name{label="value",...} number [timestamp] [# exemplar]`; since Prometheus 3 also `{"name",label="value"}
/// number`.
fn sample(line: &str) -> Result<Sample, &'static str> {
    let end = line.find(['{', ' ', '\t']).ok_or("the number is missing")?;
    let (mut name, mut rest) = (line[..end].to_owned(), line[end..].trim_start_matches([' ', '\t']));
    let mut labels = Vec::new();
    if let Some(inside) = rest.strip_prefix('{') {
        rest = inside;
        loop {
            rest = rest.trim_start_matches([' ', '\t']);
            if let Some(after) = rest.strip_prefix('}') {
                rest = after;
                break;
            }
            let (key, after) = if rest.starts_with('"') {
                quoted(rest)?
            } else {
                let end = rest.find(['=', ' ', '\t', ',', '}']).ok_or("a label does not end")?;
                (rest[..end].to_owned(), &rest[end..])
            };
            rest = after.trim_start_matches([' ', '\t']);
            if let Some(after) = rest.strip_prefix('=') {
                let (value, after) = quoted(after.trim_start_matches([' ', '\t']))?;
                labels.push((key, value));
                rest = after.trim_start_matches([' ', '\t']);
            } else if name.is_empty() {
                name = key;
            } else {
                return Err("a label has no value");
            }
            match rest.strip_prefix(',') {
                Some(after) => rest = after,
                None if rest.starts_with('}') => {}
                None => return Err("labels are not separated by commas"),
            }
        }
    }
    if name.is_empty() {
        return Err("the name is missing");
    }
    // A lone `#` begins an exemplar, a sample of a sample.
    let rest = rest.split(" # ").next().unwrap_or_default();
    let mut words = rest.split_ascii_whitespace();
    let value = words.next().and_then(|word| word.parse().ok()).ok_or("its value is not a number")?;
    // The timestamp, in milliseconds or, in OpenMetrics, in fractional seconds, is ignored; a sample has its own
    // time.
    if words.next().is_some_and(|word| word.parse::<f64>().is_err()) || words.next().is_some() {
        return Err("its value is not followed by a timestamp");
    }
    labels.sort();
    Ok(Sample { name, labels, value, rises: false })
}

/// Parses quoted text with `\\`, `\"`, and `\n`, and returns it with the rest of the line.
fn quoted(text: &str) -> Result<(String, &str), &'static str> {
    let inside = text.strip_prefix('"').ok_or("a label's value is not in quotes")?;
    let mut out = String::new();
    let mut chars = inside.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Ok((out, &inside[at + 1..])),
            '\\' => match chars.next() {
                Some((_, 'n')) => out.push('\n'),
                Some((_, c)) => out.push(c),
                None => break,
            },
            _ => out.push(c),
        }
    }
    Err("a quoted text does not end")
}
