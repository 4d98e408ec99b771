//! Static methods of classes.

use super::{Machine, Result_};
use crate::script::Language;
use crate::script::method::is_static;
use crate::script::value::{Object, Value};

impl Machine<'_, '_, '_> {
    pub(super) fn call_static(&mut self, class: &str, name: &str, arguments: &[Value]) -> Result_ {
        let language = self.language();
        debug_assert!(is_static(class, name), "checked before the run");
        let first = arguments.first().cloned().unwrap_or(Value::Null).plain();
        let shown = first.to_text(language);
        let text = |text: &str| Ok(Value::text(text));
        let number = || first.number().ok_or_else(|| format!("`{shown}` is not a number"));
        match (class, name) {
            ("String", "valueOf") | ("Integer" | "Long" | "Double" | "Float" | "Boolean", "toString") => {
                text(&shown)
            }
            ("String", "format") => {
                text(&formatted(&shown, arguments.get(1..).unwrap_or_default(), language)?)
            }
            ("String", "join") => {
                let rest: Vec<String> = match arguments.get(1) {
                    Some(Value::List(all)) => all.iter().map(|one| one.to_text(language)).collect(),
                    _ => arguments.iter().skip(1).map(|one| one.to_text(language)).collect(),
                };
                text(&rest.join(&shown))
            }
            ("Integer" | "Long", _) => match first.integer() {
                Some(number) => Ok(Value::Int(number)),
                None => Err(format!("For input string: \"{shown}\"")),
            },
            ("Double" | "Float", _) => Ok(Value::Number(number()?)),
            ("Boolean", _) => Ok(Value::Bool(shown.eq_ignore_ascii_case("true"))),
            ("Math", "random") => Ok(Value::Number(self.context.scope.fraction())),
            ("Math", "round") => Ok(Value::Int((number()? + 0.5).floor() as i64)),
            ("Math", "floor") => Ok(Value::Number(number()?.floor())),
            ("Math", "ceil") => Ok(Value::Number(number()?.ceil())),
            ("Math", "sqrt") => Ok(Value::Number(number()?.sqrt())),
            ("Math", "abs") => match first {
                Value::Int(number) => Ok(Value::Int(number.wrapping_abs())),
                _ => Ok(Value::Number(number()?.abs())),
            },
            ("Math", _) => {
                let one = number()?;
                let other = arguments.get(1).and_then(Value::number).unwrap_or_default();
                let value = match name {
                    "max" => one.max(other),
                    "min" => one.min(other),
                    _ => one.powf(other),
                };
                let is_whole = matches!((&first, arguments.get(1)), (Value::Int(_), Some(Value::Int(_))))
                    && name != "pow";
                Ok(if is_whole { Value::Int(value as i64) } else { Value::Number(value) })
            }
            ("System", "currentTimeMillis") => Ok(Value::Int(self.context.scope.unix_ms())),
            ("System", "nanoTime") => Ok(Value::Int(self.context.scope.at.run_ns as i64)),
            ("Instant", _) => Ok(Value::Object(Object::Date(self.context.scope.unix_ms()))),
            ("System", "getenv") => {
                Ok(std::env::var(&shown).map_or(Value::Null, |value| Value::text(&value)))
            }
            ("System", "lineSeparator") => text("\n"),
            ("System" | "JMeterUtils", _) => {
                let found = match class {
                    "System" => of_java(&shown),
                    _ => None,
                };
                let found = found.or_else(|| self.context.scope.run.property(&shown));
                let found = found.map(|value| Value::text(&value));
                Ok(found.or_else(|| arguments.get(1).cloned()).unwrap_or(Value::Null))
            }
            ("UUID", _) => text(&crate::function::uuid(self.context.scope)),
            ("Thread", _) => Ok(Value::Object(Object::Thread)),
            ("ThreadLocalRandom", _) => Ok(Value::Object(Object::Random)),
            ("Base64", "encodeBase64String") => self.call(&first, "encodeBase64", Vec::new()),
            ("DigestUtils", _) => {
                let algorithm = name.trim_end_matches("Hex");
                text(&crate::function::digest(algorithm, shown.as_bytes()).ok_or("an unknown digest")?)
            }
            ("URLEncoder", _) => text(&crate::function::url_encoded(&shown)),
            ("URLDecoder", _) => text(&crate::function::url_decoded(&shown)),
            ("StringUtils", "isEmpty") => Ok(Value::Bool(first.is_null() || shown.is_empty())),
            ("StringUtils", "isBlank") => Ok(Value::Bool(first.is_null() || shown.trim().is_empty())),
            ("StringUtils", "isNotEmpty") => Ok(Value::Bool(!first.is_null() && !shown.is_empty())),
            ("StringUtils", "isNotBlank") => Ok(Value::Bool(!first.is_null() && !shown.trim().is_empty())),
            ("StringUtils", _) => {
                let one = arguments.get(1).map(|one| one.to_text(language)).unwrap_or_default();
                let other = arguments.get(2).map(|one| one.to_text(language)).unwrap_or_default();
                Ok(match name {
                    "substringBefore" => {
                        Value::text(shown.split_once(&one).map_or(&shown, |(before, _)| before))
                    }
                    "substringAfter" => Value::text(shown.split_once(&one).map_or("", |(_, after)| after)),
                    _ => {
                        let after = shown.split_once(&one).map(|(_, after)| after);
                        after
                            .and_then(|after| after.split_once(&other))
                            .map_or(Value::Null, |(inside, _)| Value::text(inside))
                    }
                })
            }
            _ => Err(format!("`{class}.{name}()` is not supported")),
        }
    }
}

/// Returns a property of Java that scripts around files use.
fn of_java(name: &str) -> Option<String> {
    let of_env = |name: &str| std::env::var(name).ok();
    match name {
        "line.separator" => Some("\n".to_owned()),
        "file.separator" => Some("/".to_owned()),
        "path.separator" => Some(":".to_owned()),
        "java.io.tmpdir" => Some("/tmp".to_owned()),
        "os.name" => Some("Linux".to_owned()),
        "user.dir" => std::env::current_dir().ok().map(|folder| folder.display().to_string()),
        "user.home" => of_env("HOME"),
        "user.name" => of_env("USER"),
        _ => None,
    }
}

/// Formats values as Java's `String.format` does, as far as `%s`, `%d`, `%f`, `%x`, `%n`, and `%%` go.
fn formatted(format: &str, values: &[Value], language: Language) -> Result<String, String> {
    let mut out = String::new();
    let mut values = values.iter();
    let mut signs = format.chars().peekable();
    while let Some(sign) = signs.next() {
        if sign != '%' {
            out.push(sign);
            continue;
        }
        let mut flags = String::new();
        while signs.peek().is_some_and(|c| c.is_ascii_digit() || "-.,0+".contains(*c)) {
            flags.extend(signs.next());
        }
        let kind = signs.next().ok_or("an incomplete format")?;
        if kind == 'n' || kind == '%' {
            out.push(if kind == 'n' { '\n' } else { '%' });
            continue;
        }
        let value = values.next().ok_or("a format with too few values")?;
        let (width, digits) = flags.split_once('.').unwrap_or((&flags, ""));
        let is_left = width.starts_with('-');
        let is_zero = width.starts_with('0');
        let width: usize = width.trim_start_matches(['-', '+', ',']).parse().unwrap_or(0);
        let text = match kind {
            's' => value.to_text(language),
            'd' => value.integer().ok_or("`%d` without an integer")?.to_string(),
            'x' => format!("{:x}", value.integer().ok_or("`%x` without an integer")?),
            'f' => {
                let digits = digits.parse().unwrap_or(6usize).min(100);
                format!("{:.digits$}", value.number().ok_or("`%f` without a number")?)
            }
            other => return Err(format!("the format `%{other}` is not supported")),
        };
        let width = width.min(10_000);
        out.push_str(&match (is_left, is_zero) {
            (true, _) => format!("{text:<width$}"),
            (false, true) => format!("{text:0>width$}"),
            (false, false) => format!("{text:>width$}"),
        });
    }
    Ok(out)
}
