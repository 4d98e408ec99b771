//! Operators of scripts.

use super::Language;
use super::value::Value;
use std::cmp::Ordering;

/// An operator with two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    /// The right value is a pattern that is found, or a list with the left value (`=~`).
    Matches,
    /// Not so (`!~`).
    Lacks,
    /// The right pattern matches everything (`==~`).
    MatchesAll,
    /// `<<`: appends to a file.
    Append,
}

impl Operator {
    /// Returns the comparison of a sign.
    pub fn comparison(sign: &str) -> Option<Operator> {
        Some(match sign {
            "==" | "===" => Operator::Equal,
            "!=" | "!==" => Operator::Unequal,
            "<" => Operator::Less,
            "<=" => Operator::LessOrEqual,
            ">" => Operator::Greater,
            ">=" => Operator::GreaterOrEqual,
            "=~" => Operator::Matches,
            "!~" => Operator::Lacks,
            "==~" => Operator::MatchesAll,
            _ => return None,
        })
    }
}

/// Applies an operator other than [`Operator::Append`] and those of patterns.
///
/// # Errors
/// Returns why the values do not suit it.
pub fn apply(operator: Operator, left: Value, right: Value, language: Language) -> Result<Value, String> {
    let (left, right) = (left.plain(), right.plain());
    let order = |accepts: fn(Ordering) -> bool| {
        compare(&left, &right, language).map(|order| Value::Bool(order.is_some_and(accepts)))
    };
    match operator {
        Operator::Equal => Ok(Value::Bool(equal(&left, &right, language))),
        Operator::Unequal => Ok(Value::Bool(!equal(&left, &right, language))),
        Operator::Less => order(Ordering::is_lt),
        Operator::LessOrEqual => order(Ordering::is_le),
        Operator::Greater => order(Ordering::is_gt),
        Operator::GreaterOrEqual => order(Ordering::is_ge),
        Operator::Add => add(left, right, language),
        _ => calculate(operator, &left, &right, language),
    }
}

/// Returns whether two values are equal.
pub fn equal(left: &Value, right: &Value, language: Language) -> bool {
    if left.is_null() || right.is_null() {
        return left.is_null() && right.is_null();
    }
    if left.is_number() && right.is_number() {
        return left.number() == right.number();
    }
    match (left, right) {
        (Value::Bool(one), Value::Bool(other)) => one == other,
        (Value::Text(one), Value::Text(other)) => one == other,
        (Value::List(one), Value::List(other)) => {
            one.len() == other.len()
                && one.iter().zip(&**other).all(|(one, other)| equal(one, other, language))
        }
        _ if language.is_loose() => match (left.number(), right.number()) {
            (Some(one), Some(other)) => one == other,
            _ => left.to_text(language) == right.to_text(language),
        },
        _ => false,
    }
}

/// Compares two values; `None` if one of them is not a number.
fn compare(left: &Value, right: &Value, language: Language) -> Result<Option<Ordering>, String> {
    match (left, right) {
        (Value::Text(one), Value::Text(other)) => Ok(Some(one.cmp(other))),
        _ => match (left.number(), right.number()) {
            (Some(one), Some(other)) => Ok(one.partial_cmp(&other)),
            _ if language.is_loose() => Ok(None),
            _ => {
                Err(format!("cannot compare `{}` and `{}`", left.to_text(language), right.to_text(language)))
            }
        },
    }
}

fn add(left: Value, right: Value, language: Language) -> Result<Value, String> {
    let is_text = |value: &Value| matches!(value, Value::Text(_));
    // JEXL adds a number and a text that is one.
    let both_texts = is_text(&left) && is_text(&right);
    let both_numbers =
        language == Language::Jexl && !both_texts && left.number().is_some() && right.number().is_some();
    if (is_text(&left) || is_text(&right)) && !both_numbers {
        return Ok(Value::Text((left.to_text(language) + &right.to_text(language)).into()));
    }
    if let (Value::List(one), _) = (&left, &right) {
        let mut all = (**one).clone();
        match right {
            Value::List(other) => all.extend(other.iter().cloned()),
            other => all.push(other),
        }
        return Ok(Value::List(all.into()));
    }
    calculate(Operator::Add, &left, &right, language)
}

fn calculate(operator: Operator, left: &Value, right: &Value, language: Language) -> Result<Value, String> {
    let whole = |value: &Value| match value {
        Value::Int(number) => Some(*number),
        Value::Text(text) if language.is_loose() => text.trim().parse().ok(),
        _ => None,
    };
    let wrong =
        || format!("cannot calculate with `{}` and `{}`", left.to_text(language), right.to_text(language));
    if let (Some(one), Some(other)) = (whole(left), whole(right)) {
        let value = match operator {
            Operator::Add => one.wrapping_add(other),
            Operator::Subtract => one.wrapping_sub(other),
            Operator::Multiply => one.wrapping_mul(other),
            Operator::Divide | Operator::Remainder if other == 0 => return Err("division by zero".to_owned()),
            Operator::Divide => {
                let is_exact = one.wrapping_rem(other) == 0;
                if !is_exact && matches!(language, Language::Groovy | Language::JavaScript) {
                    return Ok(Value::Number(one as f64 / other as f64));
                }
                one.wrapping_div(other)
            }
            Operator::Remainder => one.wrapping_rem(other),
            _ => return Err(wrong()),
        };
        return Ok(Value::Int(value));
    }
    let number = |value: &Value| match value {
        Value::Text(_) if !language.is_loose() => None,
        other => other.number(),
    };
    let (Some(one), Some(other)) = (number(left), number(right)) else { return Err(wrong()) };
    Ok(Value::Number(match operator {
        Operator::Add => one + other,
        Operator::Subtract => one - other,
        Operator::Multiply => one * other,
        Operator::Divide => one / other,
        Operator::Remainder => one % other,
        _ => return Err(wrong()),
    }))
}
