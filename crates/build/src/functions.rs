//! The functions of expressions, such as `${random_int(1, 6)}`, and their arguments.

use crate::nearest::nearest;
use crate::sentence::alternatives;
use plimsoll_plan::script::TimingPart;
use plimsoll_plan::value::{Alphabet, Fake, Function, Locale, Moment, TEXT_FUNCTIONS};

/// Longest random string, in characters.
const LONGEST_RANDOM: u32 = 1 << 20;

/// Returns a function by its name and arguments. `counter` is the number of the next counter.
///
/// # Errors
/// Returns a message and a help line if the function or its arguments are invalid.
pub fn read(name: &str, arguments: &[String], counter: u16) -> Result<Function, (String, String)> {
    let plain = |function| match arguments {
        [] => Ok(function),
        _ => Err((format!("`{name}` takes no arguments"), format!("write `${{{name}}}`"))),
    };
    match name {
        "uuid" => plain(Function::Uuid),
        "user" => plain(Function::User),
        "iteration" => plain(Function::Iteration),
        "now" => {
            let moment = Moment::parse(arguments).map_err(|problem| (problem.message, problem.hint))?;
            Ok(match moment.shift.is_none() && moment.zone.is_none() {
                true => Function::Now(moment.format),
                false => Function::Moment(Box::new(moment)),
            })
        }
        "counter" => {
            let hint = "write `${counter}`, `${counter(100)}` to begin at 100, or `${counter(100, 2)}` to count by 2";
            let [start, step] = match arguments {
                [] => [1, 1],
                [start] => [whole(start, hint)?, 1],
                [start, step] => [whole(start, hint)?, whole(step, hint)?],
                _ => return Err(("`counter` takes at most two numbers".into(), hint.into())),
            };
            if step == 0 {
                return Err(("the step of `counter` must not be 0".into(), hint.into()));
            }
            Ok(Function::Counter { id: counter, start, step })
        }
        "random_int" => {
            let hint = "write the lowest and the highest number, such as `${random_int(1, 6)}`";
            let [low, high] = arguments else {
                return Err(("`random_int` takes two numbers".into(), hint.into()));
            };
            let (low, high) = (whole(low, hint)?, whole(high, hint)?);
            if low > high {
                return Err((format!("`{low}` is above `{high}`"), hint.into()));
            }
            Ok(Function::RandomInt { low, high })
        }
        "random_string" => {
            let hint = "write its length, such as `${random_string(12)}`, and `alphanumeric`, `letters`, `digits` \
                        or `hex`";
            let (length, alphabet) = match arguments {
                [length] => (length, Alphabet::Alphanumeric),
                [length, alphabet] => (length, self::alphabet(alphabet)?),
                _ => return Err(("`random_string` takes a length".into(), hint.into())),
            };
            match length.parse::<u32>() {
                Ok(length @ 1..=LONGEST_RANDOM) => Ok(Function::RandomString { length, alphabet }),
                _ => Err((format!("invalid length `{length}`, expected 1–1,048,576"), hint.into())),
            }
        }
        _ if name.starts_with("fake.") => fake(&name["fake.".len()..], arguments),
        _ if TEXT_FUNCTIONS.contains(&name) => {
            Err((format!("`{name}` requires a text"), format!("write one, such as `${{{name}(\"text\")}}`")))
        }
        _ => {
            let names = || {
                let timings = TimingPart::NAMED.iter().map(|(name, _)| *name);
                Function::NAMES.iter().copied().chain(TEXT_FUNCTIONS.iter().copied()).chain(timings)
            };
            let hint = match nearest(name, names()) {
                _ if is_random(name) => {
                    let call = random_int(arguments);
                    format!("write `{}`", call.as_deref().unwrap_or("${random_int(1, 6)}"))
                }
                Some(right) => format!("did you mean `{right}`?"),
                None => format!("use one of {}", alternatives(names())),
            };
            Err((format!("unknown function `{name}`"), hint))
        }
    }
}

/// Returns whether other tools use this name for a random number.
fn is_random(name: &str) -> bool {
    ["random", "rand", "randint", "randomint", "random_number"].contains(&name.to_ascii_lowercase().as_str())
}

/// Returns the call of `random_int` with the first two arguments, if both are whole numbers.
pub fn random_int(arguments: &[String]) -> Option<String> {
    let [low, high, ..] = arguments else { return None };
    let (low, high) = (low.trim().parse::<i64>().ok()?, high.trim().parse::<i64>().ok()?);
    Some(format!("${{random_int({low}, {high})}}"))
}

/// Reads `${fake.name}` and `${fake.name(de)}`.
fn fake(kind: &str, arguments: &[String]) -> Result<Function, (String, String)> {
    let kinds = || Fake::NAMED.iter().map(|(name, _)| *name);
    let Some((_, found)) = Fake::NAMED.iter().find(|(name, _)| *name == kind) else {
        let hint = match nearest(kind, kinds()) {
            Some(right) => format!("did you mean `fake.{right}`?"),
            None => format!("use one of {}", alternatives(kinds())),
        };
        return Err((format!("unknown kind of made-up data `{kind}`"), hint));
    };
    let locales = || Locale::NAMED.iter().map(|(name, _)| *name);
    let locale = match arguments {
        [] => Some(Locale::default()),
        [locale] => Locale::NAMED.iter().find(|(name, _)| name == locale).map(|(_, locale)| *locale),
        _ => None,
    };
    match locale {
        Some(locale) => Ok(Function::Fake(*found, locale)),
        None => {
            let shown = arguments.join(", ");
            Err((format!("unknown locale `{shown}`"), format!("use {}", alternatives(locales()))))
        }
    }
}

fn whole(text: &str, hint: &str) -> Result<i64, (String, String)> {
    text.parse().map_err(|_| (format!("invalid whole number `{text}`"), hint.to_owned()))
}

fn alphabet(text: &str) -> Result<Alphabet, (String, String)> {
    const WORDS: [(&str, Alphabet); 4] = [
        ("alphanumeric", Alphabet::Alphanumeric),
        ("letters", Alphabet::Letters),
        ("digits", Alphabet::Digits),
        ("hex", Alphabet::Hex),
    ];
    WORDS.iter().find(|(word, _)| *word == text).map(|(_, alphabet)| *alphabet).ok_or_else(|| {
        (
            format!("unknown character set `{text}`"),
            format!("use one of {}", alternatives(WORDS.map(|(word, _)| word))),
        )
    })
}
