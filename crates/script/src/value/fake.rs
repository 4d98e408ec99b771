//! Made-up data. Each value is drawn from the user's random numbers, so runs with the same seed send the same ones.
//!
//! Nothing here belongs to a person: domains are those of RFC 2606, and phone numbers are from the ranges that are
//! reserved for films (555-0100 to 555-0199 in the United States, 23125 in Berlin).

mod de;
mod en;

use super::call::between;
use plimsoll_plan::value::{Fake, Locale};
use plimsoll_stats::random::SplitMix64;

/// The words of a locale.
struct Words {
    first_names: &'static [&'static str],
    last_names: &'static [&'static str],
    streets: &'static [&'static str],
    /// Cities with the first and the last of their post codes, and their state.
    cities: &'static [(&'static str, u32, u32, &'static str)],
    companies: &'static [&'static str],
    legal_forms: &'static [&'static str],
    countries: &'static [&'static str],
    words: &'static [&'static str],
}

fn words(locale: Locale) -> &'static Words {
    match locale {
        Locale::En => &en::WORDS,
        Locale::De => &de::WORDS,
    }
}

/// Appends a value.
pub(super) fn put(kind: Fake, locale: Locale, random: &mut SplitMix64, out: &mut Vec<u8>) {
    let words = words(locale);
    match kind {
        Fake::FirstName => add(pick(words.first_names, random), out),
        Fake::LastName => add(pick(words.last_names, random), out),
        Fake::Name => {
            add(pick(words.first_names, random), out);
            out.push(b' ');
            add(pick(words.last_names, random), out);
        }
        Fake::Email => {
            user_name(words, random, out);
            add(pick(&["@example.com", "@example.net", "@example.org"], random), out);
        }
        Fake::UserName => user_name(words, random, out),
        Fake::Phone => match locale {
            Locale::En => {
                add("(", out);
                digits(between(random, 201, 989), 3, out);
                add(") 555-01", out);
                digits(between(random, 0, 99), 2, out);
            }
            Locale::De => {
                add("030 23125", out);
                digits(between(random, 0, 999), 3, out);
            }
        },
        Fake::Street => street(words, locale, random, out),
        Fake::City => add(pick(words.cities, random).0, out),
        Fake::PostCode => {
            let city = pick(words.cities, random);
            post_code(city, random, out);
        }
        Fake::Address => {
            street(words, locale, random, out);
            add(", ", out);
            let city = pick(words.cities, random);
            match locale {
                Locale::En => {
                    add(city.0, out);
                    add(", ", out);
                    add(city.3, out);
                    out.push(b' ');
                    post_code(city, random, out);
                }
                Locale::De => {
                    post_code(city, random, out);
                    out.push(b' ');
                    add(city.0, out);
                }
            }
        }
        Fake::Country => add(pick(words.countries, random), out),
        Fake::Company => {
            add(pick(words.last_names, random), out);
            out.push(b' ');
            add(pick(words.companies, random), out);
            out.push(b' ');
            add(pick(words.legal_forms, random), out);
        }
        Fake::Word => add(pick(words.words, random), out),
        Fake::Sentence => sentence(words, random, out),
        Fake::Paragraph => {
            for number in 0..between(random, 3, 6) {
                if number > 0 {
                    out.push(b' ');
                }
                sentence(words, random, out);
            }
        }
    }
}

fn pick<T: Copy>(all: &[T], random: &mut SplitMix64) -> T {
    // proof: no list is empty, and the number is below its length.
    all[between(random, 0, all.len() as i64 - 1) as usize]
}

fn add(text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(text.as_bytes());
}

fn digits(number: i64, width: usize, out: &mut Vec<u8>) {
    super::time::number(number.unsigned_abs(), width, out);
}

/// Appends `first.last42` in lower-case letters of ASCII.
fn user_name(words: &Words, random: &mut SplitMix64, out: &mut Vec<u8>) {
    plain(pick(words.first_names, random), out);
    out.push(b'.');
    plain(pick(words.last_names, random), out);
    digits(between(random, 1, 999), 1, out);
}

fn plain(text: &str, out: &mut Vec<u8>) {
    for sign in text.chars().flat_map(char::to_lowercase) {
        match sign {
            'ä' => add("ae", out),
            'ö' => add("oe", out),
            'ü' => add("ue", out),
            'ß' => add("ss", out),
            _ if sign.is_ascii_alphanumeric() => out.push(sign as u8),
            _ => {}
        }
    }
}

fn street(words: &Words, locale: Locale, random: &mut SplitMix64, out: &mut Vec<u8>) {
    let (name, number) = (pick(words.streets, random), between(random, 1, 199));
    match locale {
        Locale::En => {
            digits(number, 1, out);
            out.push(b' ');
            add(name, out);
        }
        Locale::De => {
            add(name, out);
            out.push(b' ');
            digits(number, 1, out);
        }
    }
}

fn post_code(city: (&str, u32, u32, &str), random: &mut SplitMix64, out: &mut Vec<u8>) {
    digits(between(random, city.1.into(), city.2.into()), 5, out);
}

/// Appends 5 to 12 words, the first with a capital letter, and a period.
fn sentence(words: &Words, random: &mut SplitMix64, out: &mut Vec<u8>) {
    let mut first = pick(words.words, random).chars();
    for sign in first.next().into_iter().flat_map(char::to_uppercase) {
        add(sign.encode_utf8(&mut [0; 4]), out);
    }
    add(first.as_str(), out);
    for _ in 0..between(random, 4, 11) {
        out.push(b' ');
        add(pick(words.words, random), out);
    }
    out.push(b'.');
}
