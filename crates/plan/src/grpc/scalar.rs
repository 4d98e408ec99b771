//! Single values of a message: their types, and texts as values of a type.

use super::types::EnumType;
use std::sync::Arc;

/// The type of a single value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scalar {
    Double,
    Float,
    Int32,
    Int64,
    Uint32,
    Uint64,
    Sint32,
    Sint64,
    Fixed32,
    Fixed64,
    Sfixed32,
    Sfixed64,
    Bool,
    String,
    /// Written as Base64.
    Bytes,
    Enum(Arc<EnumType>),
    /// `google.protobuf.Timestamp`, written as in RFC 3339.
    Timestamp,
    /// `google.protobuf.Duration`, written as `1.5s`.
    Duration,
}

/// A value as it is written into a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coded {
    Varint(u64),
    Fixed64(u64),
    Fixed32(u32),
    /// The text itself, with its length.
    Text,
    /// What the text contains in Base64, with its length.
    Base64,
    /// A message with seconds (field 1) and nanoseconds (field 2).
    Time {
        s: i64,
        ns: i32,
    },
}

/// The text is not a value of the type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unfit;

impl Scalar {
    /// Returns what a value must be, as it follows the word "expected".
    pub fn expects(&self) -> String {
        match self {
            Scalar::Double | Scalar::Float => "a number".into(),
            Scalar::Int32 | Scalar::Sint32 | Scalar::Sfixed32 => {
                format!("a whole number, {}–{}", i32::MIN, i32::MAX)
            }
            Scalar::Int64 | Scalar::Sint64 | Scalar::Sfixed64 => "a whole number of 64 bits".into(),
            Scalar::Uint32 | Scalar::Fixed32 => format!("a whole number, 0–{}", u32::MAX),
            Scalar::Uint64 | Scalar::Fixed64 => "a whole number of 64 bits that is not negative".into(),
            Scalar::Bool => "`true` or `false`".into(),
            Scalar::String => "text in UTF-8".into(),
            Scalar::Bytes => "bytes in Base64, such as `aGVsbG8=`".into(),
            Scalar::Enum(of) => {
                const SHOWN: usize = 8;
                let mut names: Vec<String> =
                    of.values.iter().take(SHOWN).map(|(name, _)| format!("`{name}`")).collect();
                if of.values.len() > SHOWN {
                    names.push("...".into());
                }
                format!("a value of `{}`: {}", of.name, names.join(", "))
            }
            Scalar::Timestamp => "a time such as `2026-01-31T12:00:00Z`".into(),
            Scalar::Duration => "a duration such as `1.5s`".into(),
        }
    }

    /// Reads a text as a value of the type. It allocates nothing.
    ///
    /// # Errors
    /// Returns an error if the text is not such a value. Base64 is not checked.
    pub fn read(&self, text: &[u8]) -> Result<Coded, Unfit> {
        let text = std::str::from_utf8(text).map_err(|_| Unfit)?;
        if matches!(self, Scalar::String) {
            return Ok(Coded::Text);
        }
        let text = text.trim_ascii();
        let signed = || text.parse::<i64>().map_err(|_| Unfit);
        let narrow = || text.parse::<i32>().map_err(|_| Unfit);
        Ok(match self {
            Scalar::String => Coded::Text,
            Scalar::Bytes => Coded::Base64,
            Scalar::Double => Coded::Fixed64(float(text)?.to_bits()),
            Scalar::Float => {
                let wide = float(text)?;
                let number = wide as f32;
                if number.is_infinite() && wide.is_finite() {
                    return Err(Unfit);
                }
                Coded::Fixed32(number.to_bits())
            }
            // Negative numbers have ten bytes, for every width.
            Scalar::Int32 => Coded::Varint(i64::from(narrow()?) as u64),
            Scalar::Int64 => Coded::Varint(signed()? as u64),
            Scalar::Uint32 => Coded::Varint(text.parse::<u32>().map_err(|_| Unfit)?.into()),
            Scalar::Uint64 => Coded::Varint(text.parse().map_err(|_| Unfit)?),
            Scalar::Sint32 => Coded::Varint(zigzag(narrow()?.into())),
            Scalar::Sint64 => Coded::Varint(zigzag(signed()?)),
            Scalar::Fixed32 => Coded::Fixed32(text.parse().map_err(|_| Unfit)?),
            Scalar::Fixed64 => Coded::Fixed64(text.parse().map_err(|_| Unfit)?),
            Scalar::Sfixed32 => Coded::Fixed32(narrow()? as u32),
            Scalar::Sfixed64 => Coded::Fixed64(signed()? as u64),
            Scalar::Bool => Coded::Varint(match text {
                "true" | "True" | "TRUE" => 1,
                "false" | "False" | "FALSE" => 0,
                _ => return Err(Unfit),
            }),
            Scalar::Enum(of) => {
                let number = of.number(text).or_else(|| text.parse().ok()).ok_or(Unfit)?;
                Coded::Varint(i64::from(number) as u64)
            }
            Scalar::Timestamp => {
                let time = text.parse::<jiff::Timestamp>().map_err(|_| Unfit)?;
                let ns = time.as_nanosecond();
                // Nanoseconds count forward, also before 1970.
                Coded::Time { s: ns.div_euclid(NS_PER_S) as i64, ns: ns.rem_euclid(NS_PER_S) as i32 }
            }
            Scalar::Duration => duration(text)?,
        })
    }
}

const NS_PER_S: i128 = 1_000_000_000;

fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}

/// Reads a number as YAML, JSON, and the JSON form of Protocol Buffers write it.
fn float(text: &str) -> Result<f64, Unfit> {
    match text {
        "NaN" | ".nan" | ".NaN" | ".NAN" => Ok(f64::NAN),
        "Infinity" | ".inf" | ".Inf" | ".INF" => Ok(f64::INFINITY),
        "-Infinity" | "-.inf" | "-.Inf" | "-.INF" => Ok(f64::NEG_INFINITY),
        // Rust also accepts words.
        _ if text.bytes().any(|byte| byte.is_ascii_alphabetic() && !matches!(byte, b'e' | b'E')) => {
            Err(Unfit)
        }
        _ => text.parse::<f64>().ok().filter(|number| number.is_finite()).ok_or(Unfit),
    }
}

/// Reads a duration: `-1.5s`, or with another unit of plimsoll.
fn duration(text: &str) -> Result<Coded, Unfit> {
    let (is_negative, size) = match text.strip_prefix('-') {
        Some(size) => (true, size),
        None => (false, text),
    };
    let ns = i128::from(crate::unit::duration_ns(size).map_err(|_| Unfit)?);
    let ns = if is_negative { -ns } else { ns };
    // Both parts have the same sign.
    Ok(Coded::Time { s: (ns / NS_PER_S) as i64, ns: (ns % NS_PER_S) as i32 })
}

#[cfg(test)]
mod tests {
    use super::{Coded, EnumType, Scalar, Unfit};
    use std::sync::Arc;

    #[track_caller]
    fn reads(scalar: &Scalar, text: &str, coded: Coded) {
        assert_eq!(scalar.read(text.as_bytes()), Ok(coded), "{text}");
    }

    #[track_caller]
    fn refuses(scalar: &Scalar, texts: &[&str]) {
        for text in texts {
            assert_eq!(scalar.read(text.as_bytes()), Err(Unfit), "{text}");
        }
    }

    #[test]
    fn whole_numbers_fit_their_width() {
        reads(&Scalar::Int32, "-1", Coded::Varint(u64::MAX));
        reads(&Scalar::Int32, " 7 ", Coded::Varint(7));
        refuses(&Scalar::Int32, &["2147483648", "1.0", "", "x", "0x1"]);
        reads(&Scalar::Uint64, "18446744073709551615", Coded::Varint(u64::MAX));
        refuses(&Scalar::Uint64, &["-1", "18446744073709551616"]);
        reads(&Scalar::Sint32, "-1", Coded::Varint(1));
        reads(&Scalar::Sfixed64, "-1", Coded::Fixed64(u64::MAX));
        reads(&Scalar::Fixed32, "4294967295", Coded::Fixed32(u32::MAX));
    }

    #[test]
    fn numbers_have_their_bits() {
        reads(&Scalar::Double, "-1.5e3", Coded::Fixed64((-1500f64).to_bits()));
        reads(&Scalar::Float, "0.5", Coded::Fixed32(0.5f32.to_bits()));
        reads(&Scalar::Double, "-Infinity", Coded::Fixed64(f64::NEG_INFINITY.to_bits()));
        refuses(&Scalar::Double, &["inf", "nan", "1e999", "one"]);
        refuses(&Scalar::Float, &["1e39"]);
    }

    #[test]
    fn words_are_values_of_their_types() {
        let color = EnumType { name: "Color".into(), values: vec![("RED".into(), 0), ("BLUE".into(), -2)] };
        let color = Scalar::Enum(Arc::new(color));
        reads(&color, "BLUE", Coded::Varint(-2i64 as u64));
        reads(&color, "7", Coded::Varint(7));
        refuses(&color, &["blue", "GREEN", ""]);
        assert_eq!(color.expects(), "a value of `Color`: `RED`, `BLUE`");
        reads(&Scalar::Bool, "true", Coded::Varint(1));
        refuses(&Scalar::Bool, &["1", "yes"]);
        assert_eq!(Scalar::String.read(b"\xff"), Err(Unfit));
    }

    #[test]
    fn times_have_seconds_and_nanoseconds() {
        reads(&Scalar::Timestamp, "1970-01-01T00:00:01.5Z", Coded::Time { s: 1, ns: 500_000_000 });
        reads(&Scalar::Timestamp, "1969-12-31T23:59:59.5Z", Coded::Time { s: -1, ns: 500_000_000 });
        refuses(&Scalar::Timestamp, &["1970-01-01", "now", "5"]);
        reads(&Scalar::Duration, "1.5s", Coded::Time { s: 1, ns: 500_000_000 });
        reads(&Scalar::Duration, "-250ms", Coded::Time { s: 0, ns: -250_000_000 });
        refuses(&Scalar::Duration, &["", "x", "--1s"]);
    }
}
