//! `experiments/NAME/predictions.json`: predictions from before the measurement, which are compared with its report. A
//! prediction that did not hold stays in the file, and the experiment's README explains it.

use serde::Deserialize;
use serde_json::Value;

/// Below this scale, runs are so short that the wider bounds apply.
pub const SMALL: f64 = 0.2;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prediction {
    /// Short and permanent: READMEs refer to it.
    pub id: String,
    /// The predicted value, and the reason.
    pub text: String,
    /// Name of the part; None for an experiment without parts.
    pub part: Option<String>,
    /// Pointer into the JSON report of the part.
    pub value: String,
    /// Divides the value.
    pub over: Option<String>,
    /// Both ends included.
    between: Option<[f64; 2]>,
    smallest_scale_between: Option<[f64; 2]>,
    /// Text that the JSON must contain, such as the name of a finding in a list.
    contains: Option<Words>,
    equals: Option<Value>,
    /// Below this scale, runs are too short to show it: it is reported, but not checked.
    from_scale: Option<f64>,
    /// The explanation of a prediction that turned out wrong: with it, `lab test` accepts a value outside of the
    /// bounds, but never a missing value.
    pub answer: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Words {
    One(String),
    OneOf(Vec<String>),
}

/// A row of the table.
#[derive(Debug, PartialEq, Eq)]
pub struct Row {
    pub id: String,
    pub part: String,
    pub text: String,
    pub predicted: String,
    pub seen: String,
    /// A value was measured. If not, `seen` says why, and an `answer` does not excuse it.
    pub measured: bool,
    pub held: bool,
}

pub fn parse(text: &str) -> Result<Vec<Prediction>, String> {
    let list: Vec<Prediction> = serde_json::from_str(text).map_err(|e| format!("predictions.json: {e}"))?;
    for p in &list {
        let rules = [p.between.is_some(), p.contains.is_some(), p.equals.is_some()];
        if rules.iter().filter(|given| **given).count() != 1 {
            return Err(format!(
                "predictions.json: `{}` needs exactly one of `between`, `contains`, `equals`",
                p.id
            ));
        }
        if p.between.is_none() && (p.over.is_some() || p.smallest_scale_between.is_some()) {
            return Err(format!(
                "predictions.json: `{}`: `over` and `smallest_scale_between` go with `between`",
                p.id
            ));
        }
        for [low, high] in p.between.iter().chain(&p.smallest_scale_between) {
            if low > high {
                return Err(format!("predictions.json: `{}`: `{low}` is above `{high}`", p.id));
            }
        }
        if let Some(bound) = p.between.iter().flatten().find(|bound| !says(&p.text, **bound)) {
            return Err(format!(
                "predictions.json: `{}`: the bound {} is not in its text: the text must state both bounds",
                p.id,
                number(*bound)
            ));
        }
    }
    Ok(list)
}

impl Prediction {
    /// Compares the prediction with the JSON report of its part.
    pub fn judge(&self, report: &Value, scale: f64) -> Row {
        let (predicted, seen) = (self.predicted(scale), self.observe(report));
        if let Some(from) = self.from_scale.filter(|from| scale < *from) {
            let predicted = format!("{predicted}, at scale {from} or larger");
            return Row {
                held: true,
                measured: true,
                ..self.row(predicted, "not checked in a shorter run".into(), scale)
            };
        }
        let (shown, held) = match seen {
            Err(sentence) => return self.without(&sentence, scale),
            Ok(Seen::Number(n)) => (number(n), self.bounds(scale).is_some_and(|[l, h]| l <= n && n <= h)),
            Ok(Seen::Json(value)) => {
                let text = value.as_str().map_or(value.to_string(), String::from);
                let held = match &self.equals {
                    Some(expected) => same(value, expected),
                    None => self.found(&text).is_some(),
                };
                (around(&text, self.found(&text)), held)
            }
        };
        Row { held, measured: true, ..self.row(predicted, shown, scale) }
    }

    /// Returns the first of the words that the text contains.
    fn found<'a>(&'a self, text: &str) -> Option<&'a str> {
        match self.contains.as_ref()? {
            Words::One(word) => text.contains(word.as_str()).then_some(word),
            Words::OneOf(words) => words.iter().find(|word| text.contains(word.as_str())).map(String::as_str),
        }
    }

    /// Returns the text of the prediction, and at a small scale its wider range.
    fn sentence(&self, scale: f64) -> String {
        match self
            .smallest_scale_between
            .filter(|_| scale < SMALL && self.from_scale.is_none_or(|from| scale >= from))
        {
            Some([low, high]) => format!(
                "{}; in runs this short, in which the start and the noise of one second matter more: {} to {}",
                self.text,
                number(low),
                number(high)
            ),
            None => self.text.clone(),
        }
    }

    /// Returns the row of a prediction without a measured value.
    pub fn without(&self, why: &str, scale: f64) -> Row {
        self.row(self.predicted(scale), why.to_string(), scale)
    }

    fn row(&self, predicted: String, seen: String, scale: f64) -> Row {
        let part = self.part.clone().unwrap_or_default();
        Row {
            id: self.id.clone(),
            part,
            text: self.sentence(scale),
            predicted,
            seen,
            measured: false,
            held: false,
        }
    }

    fn bounds(&self, scale: f64) -> Option<[f64; 2]> {
        self.smallest_scale_between.filter(|_| scale < SMALL).or(self.between)
    }

    fn predicted(&self, scale: f64) -> String {
        match (&self.contains, &self.equals) {
            (Some(Words::One(word)), _) => format!("contains `{word}`"),
            (Some(Words::OneOf(words)), _) => format!("contains one of `{}`", words.join("`, `")),
            (None, Some(value)) => value.to_string(),
            (None, None) => match self.bounds(scale) {
                Some([low, high]) => format!("{} to {}", number(low), number(high)),
                None => "nothing".into(),
            },
        }
    }

    fn observe<'a>(&self, report: &'a Value) -> Result<Seen<'a>, String> {
        let at = |pointer: &str| {
            report.pointer(pointer).ok_or_else(|| format!("the report has nothing at `{pointer}`"))
        };
        let value = at(&self.value)?;
        if self.between.is_none() {
            return Ok(Seen::Json(value));
        }
        let figure = |value: &Value, pointer: &str| {
            value
                .as_f64()
                .ok_or_else(|| format!("`{pointer}` is not a number: {}", short(&value.to_string())))
        };
        let above = figure(value, &self.value)?;
        let Some(over) = &self.over else { return Ok(Seen::Number(above)) };
        let below = figure(at(over)?, over)?;
        if below == 0.0 { Err(format!("`{over}` is 0")) } else { Ok(Seen::Number(above / below)) }
    }
}

enum Seen<'a> {
    Number(f64),
    Json(&'a Value),
}

/// Returns whether a sentence states a bound: as a number, as a percentage, or for times in ns, in us, ms, or s. A
/// lower bound of 0 needs no number: "below 200 ms", "none".
fn says(text: &str, bound: f64) -> bool {
    const NOTHING: [&str; 8] =
        ["below ", "less than ", "at most ", "up to ", "no ", "none", "nothing", "no more "];
    if bound == 0.0 && NOTHING.iter().any(|word| text.contains(word)) {
        return true;
    }
    let is_part = |c: char| c.is_ascii_digit() || c == '.' || c == ',';
    let figures: Vec<f64> = text
        .split(|c| !is_part(c))
        .filter_map(|word| word.trim_matches(['.', ',']).replace(',', "").parse().ok())
        .collect();
    let is_said = |value: f64| figures.iter().any(|figure| (figure - value).abs() <= value.abs() * 1e-9);
    let times = [1e3, 1e6, 1e9].map(|unit| bound / unit);
    is_said(bound) || is_said(bound * 100.0) || (bound >= 1e6 && times.into_iter().any(is_said))
}

/// Compares two values; 1 and 1.0 are equal.
fn same(seen: &Value, expected: &Value) -> bool {
    seen == expected || (seen.is_number() && seen.as_f64() == expected.as_f64())
}

/// Formats a number with four significant digits: more are noise, and fewer could hide on which side of a bound it is.
fn number(n: f64) -> String {
    if n == 0.0 || !n.is_finite() {
        return n.to_string();
    }
    let digits = (3 - n.abs().log10().floor() as i32).clamp(0, 9) as usize;
    let text = format!("{n:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

fn short(text: &str) -> String {
    let flat = text.replace('\n', " ");
    if flat.chars().count() <= 120 {
        flat
    } else {
        format!("{}...", flat.chars().take(120).collect::<String>())
    }
}

/// Shortens a long text so that it starts shortly before the word.
fn around(text: &str, word: Option<&str>) -> String {
    let at = word.and_then(|word| text.find(word)).unwrap_or_default();
    let before = text[..at].char_indices().rev().nth(40).map_or(0, |(i, _)| i);
    if text.chars().count() <= 120 || before == 0 {
        short(text)
    } else {
        format!("...{}", short(&text[before..]))
    }
}

/// Returns the table for the terminal and for Markdown.
pub fn table(rows: &[Row]) -> String {
    let mut text = String::from("| prediction | part | predicted | seen | held |\n|---|---|---|---|---|\n");
    for row in rows {
        let cell = |text: &str| text.replace('|', "\\|");
        let held = if row.held { "yes" } else { "**no**" };
        text.push_str(&format!(
            "| {}: {} | {} | {} | {} | {held} |\n",
            row.id,
            cell(&row.text),
            row.part,
            cell(&row.predicted),
            cell(&row.seen)
        ));
    }
    let held = rows.iter().filter(|row| row.held).count();
    text.push_str(&format!("\n{held} of {} predictions held.\n", rows.len()));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn judged(rule: Value, scale: f64) -> Row {
        let text = "below 1, 50 to 60, 61 to 70, 0.5 to 0.55";
        let mut full = json!({"id": "a", "text": text, "part": "p", "value": "/x"});
        for (key, value) in rule.as_object().expect("an object") {
            full[key] = value.clone();
        }
        let list = parse(&json!([full]).to_string()).expect("a good prediction");
        list[0].judge(&json!({"x": 60.0, "y": 100, "z": 0, "w": ["errors", "client"]}), scale)
    }

    #[test]
    fn a_number_or_a_ratio_is_compared_with_its_bounds() {
        assert!(judged(json!({"between": [50, 60]}), 1.0).held);
        assert!(!judged(json!({"between": [61, 70]}), 1.0).held);
        let row = judged(json!({"over": "/y", "between": [0.5, 0.55]}), 1.0);
        assert_eq!((row.predicted.as_str(), row.seen.as_str(), row.held), ("0.5 to 0.55", "0.6", false));
    }

    #[test]
    fn the_wider_bounds_apply_only_at_a_small_scale() {
        let rule = json!({"over": "/y", "between": [0.5, 0.55], "smallest_scale_between": [0.3, 0.9]});
        assert!(judged(rule.clone(), 0.05).held);
        assert!(!judged(rule, 0.2).held);
    }

    #[test]
    fn a_text_must_state_both_bounds_of_its_range() {
        for (text, low, high) in [
            ("200 connections carry 0.7 to 1.4 times as much", 0.7, 1.4),
            ("the rate is 1,150 to 1,350/s.", 1_150.0, 1_350.0),
            ("5 to 60% of all attempts fail", 0.05, 0.6),
            ("the median is below 200 ms", 0.0, 200e6),
            ("p99 is between 1 and 8 s", 1e9, 8e9),
        ] {
            assert!(says(text, low) && says(text, high), "{text}");
            assert!(!says(text, high * 1.5), "{text}");
        }
        assert!(!says("the median is 200 ms", 0.0) && !says("1.70 times", 0.7) && !says("10.7 times", 0.7));
        let wide = r#"[{"id": "a", "text": "below 200 ms", "value": "/x", "between": [0, 1e9]}]"#;
        let sentence = parse(wide).unwrap_err();
        assert!(sentence.contains("the bound 1000000000 is not in its text"), "{sentence}");
    }

    #[test]
    fn the_sentence_includes_the_wider_range_of_short_runs() {
        let rule = json!({"between": [50, 60], "smallest_scale_between": [20, 90]});
        assert!(judged(rule.clone(), 0.05).text.ends_with(": 20 to 90"));
        assert!(judged(rule, 1.0).text.ends_with("0.55"));
    }

    #[test]
    fn words_and_values_are_found_or_not() {
        assert!(judged(json!({"value": "/w", "contains": "client"}), 1.0).held);
        assert!(judged(json!({"value": "/w", "contains": ["server", "errors"]}), 1.0).held);
        assert!(!judged(json!({"value": "/w", "contains": "server"}), 1.0).held);
        assert!(judged(json!({"equals": 60}), 1.0).held && !judged(json!({"equals": 61}), 1.0).held);
    }

    #[test]
    fn a_prediction_without_a_value_did_not_hold() {
        let row = judged(json!({"value": "/none", "between": [0, 1]}), 1.0);
        assert_eq!((row.seen.as_str(), row.held), ("the report has nothing at `/none`", false));
        assert!(!row.measured && judged(json!({"between": [61, 70]}), 1.0).measured);
        assert_eq!(judged(json!({"over": "/z", "between": [0, 1]}), 1.0).seen, "`/z` is 0");
        assert!(judged(json!({"value": "/w", "between": [0, 1]}), 1.0).seen.contains("is not a number"));
    }

    #[test]
    fn a_prediction_has_exactly_one_rule() {
        let two = r#"[{"id": "a", "text": "t", "value": "/x", "between": [0, 1], "equals": 1}]"#;
        assert!(parse(two).unwrap_err().contains("exactly one of"));
        let none = r#"[{"id": "a", "text": "t", "value": "/x"}]"#;
        assert!(parse(none).unwrap_err().contains("exactly one of"));
        assert!(parse(r#"[{"id": "a", "text": "t", "value": "/x", "betwen": [0, 1]}]"#).is_err());
        let turned = r#"[{"id": "a", "text": "t", "value": "/x", "between": [2, 1]}]"#;
        assert!(parse(turned).unwrap_err().contains("`2` is above `1`"));
    }

    #[test]
    fn a_long_text_is_shortened_around_the_word() {
        let text = format!("{}full_link{}", "a".repeat(300), "b".repeat(300));
        let shown = around(&text, Some("full_link"));
        assert!(shown.starts_with("...aaa") && shown.contains("full_link") && shown.len() < 140, "{shown}");
        assert_eq!(around("short", Some("short")), "short");
    }

    #[test]
    fn numbers_have_four_significant_digits() {
        let shown: Vec<String> = [0.5, 1234.56, 0.00012345, 0.0, 99.999].map(number).to_vec();
        assert_eq!(shown, ["0.5", "1235", "0.0001234", "0", "100"]);
    }
}
