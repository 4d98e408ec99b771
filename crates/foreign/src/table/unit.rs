//! Units as people write them, and what one of each is in the canonical unit (seconds, bytes, per second, ratio).

/// What a number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// No unit, or a noun that is no unit.
    Plain,
    Time,
    Bytes,
    BytesPerS,
    PerS,
    Percent,
    /// `90th`, `12th`: a name, not an amount.
    Ordinal,
    /// `3x`.
    Times,
}

/// One unit: its kind, its size, and the larger size that it has for those who count in powers of 1,024.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unit {
    pub kind: Kind,
    pub size: f64,
    pub size_binary: f64,
}

const fn unit(kind: Kind, size: f64) -> Option<Unit> {
    Some(Unit { kind, size, size_binary: size })
}

// `KB` is 1,000 bytes in one tool and 1,024 in the next; the range of the figure has to hold both.
const fn loose(kind: Kind, size: f64, size_binary: f64) -> Option<Unit> {
    Some(Unit { kind, size, size_binary })
}

const KI: f64 = 1024.0;

/// `ms`, `KB/sec`, `req/s`; `attached`: no space before it, where a single letter may be a unit.
pub fn parse(word: &str, attached: bool) -> Option<Unit> {
    use Kind::{Bytes, BytesPerS, Ordinal, PerS, Percent, Plain, Time, Times};
    // Case tells minutes from millions and bits from bytes.
    match word {
        "M" => return unit(Plain, 1e6),
        "m" if attached => return unit(Time, 60.0),
        "K" | "k" => return unit(Plain, 1e3),
        "B" => return unit(Bytes, 1.0),
        "Mb/s" | "Mbps" | "Mbit/s" | "Mbit/sec" | "mbps" | "mbit/s" | "MBit/s" => {
            return unit(BytesPerS, 1e6 / 8.0);
        }
        "Kb/s" | "Kbps" | "kbps" | "kbit/s" | "kbit/sec" | "Kbit/s" | "kb/s" => {
            return unit(BytesPerS, 1e3 / 8.0);
        }
        "Gb/s" | "Gbps" | "Gbit/s" | "gbps" => return unit(BytesPerS, 1e9 / 8.0),
        _ => {}
    }
    let lower = word.to_lowercase();
    match lower.as_str() {
        "ns" | "nanoseconds" => unit(Time, 1e-9),
        "us" | "µs" | "μs" | "usec" | "microseconds" => unit(Time, 1e-6),
        "ms" | "msec" | "msecs" | "millis" | "millisecond" | "milliseconds" => unit(Time, 1e-3),
        "s" | "sec" | "secs" | "second" | "seconds" => unit(Time, 1.0),
        "min" | "mins" | "minute" | "minutes" => unit(Time, 60.0),
        "h" if attached => unit(Time, 3600.0),
        "hr" | "hrs" | "hour" | "hours" => unit(Time, 3600.0),
        "day" | "days" => unit(Time, 86_400.0),
        "byte" | "bytes" => unit(Bytes, 1.0),
        "kb" => loose(Bytes, 1e3, KI),
        "mb" => loose(Bytes, 1e6, KI * KI),
        "gb" => loose(Bytes, 1e9, KI * KI * KI),
        "tb" => loose(Bytes, 1e12, KI * KI * KI * KI),
        "kib" => unit(Bytes, KI),
        "mib" => unit(Bytes, KI * KI),
        "gib" => unit(Bytes, KI * KI * KI),
        "b/s" | "b/sec" | "bytes/s" | "bytes/sec" => unit(BytesPerS, 1.0),
        "kb/s" | "kb/sec" | "kbytes/sec" | "kbytes/s" => loose(BytesPerS, 1e3, KI),
        "mb/s" | "mb/sec" | "mbps" => loose(BytesPerS, 1e6, KI * KI),
        "gb/s" | "gb/sec" => loose(BytesPerS, 1e9, KI * KI * KI),
        "kib/s" => unit(BytesPerS, KI),
        "mib/s" => unit(BytesPerS, KI * KI),
        "rps" | "tps" | "qps" | "/s" | "/sec" | "/second" | "req/s" | "req/sec" | "reqs/s" | "reqs/sec"
        | "r/s" | "requests/s" | "requests/sec" | "requests/second" | "ops/s" | "hits/s" | "calls/s"
        | "trans/s" | "transactions/s" | "transactions/sec" | "txn/s" | "events/s" => unit(PerS, 1.0),
        "rpm" | "/min" | "req/min" | "requests/min" | "requests/minute" => unit(PerS, 1.0 / 60.0),
        "%" | "percent" => unit(Percent, 0.01),
        "million" | "mio" => unit(Plain, 1e6),
        "thousand" => unit(Plain, 1e3),
        "st" | "nd" | "rd" | "th" if attached => unit(Ordinal, 1.0),
        "x" | "×" if attached => unit(Times, 1.0),
        _ => abroad(&lower),
    }
}

/// Units of time and size of numbers in other languages: German, French, Spanish, Portuguese, Italian, Dutch, Polish,
/// Indonesian, Turkish, Russian, Ukrainian, Chinese, Japanese, Korean.
fn abroad(lower: &str) -> Option<Unit> {
    const UNITS: &[(f64, &[&str])] = &[
        (1e-6, &["mikrosekunden", "microsecondes", "microsegundos", "мкс", "微秒"]),
        (
            1e-3,
            &[
                "millisekunde",
                "millisekunden",
                "millisecondes",
                "milliseconde",
                "milisegundo",
                "milisegundos",
                "millisecondi",
                "milidetik",
                "milisaniye",
                "milisekund",
                "milisekundy",
                "мс",
                "мсек",
                "毫秒",
                "ミリ秒",
                "밀리초",
            ],
        ),
        (
            1.0,
            &[
                "sek",
                "sekunde",
                "sekunden",
                "seconde",
                "secondes",
                "segundo",
                "segundos",
                "seg",
                "secondi",
                "secondo",
                "seconden",
                "sekund",
                "sekundy",
                "detik",
                "saniye",
                "с",
                "сек",
                "секунд",
                "секунды",
                "секунда",
                "秒",
                "秒钟",
                "초",
            ],
        ),
        (
            60.0,
            &[
                "minuten",
                "minuto",
                "minutos",
                "minuti",
                "minut",
                "minuty",
                "menit",
                "dakika",
                "мин",
                "минут",
                "минуты",
                "минута",
                "хв",
                "分",
                "分钟",
                "분",
            ],
        ),
        (
            3_600.0,
            &[
                "std",
                "stunde",
                "stunden",
                "heure",
                "heures",
                "hora",
                "horas",
                "ora",
                "ore",
                "uur",
                "godzina",
                "godziny",
                "godzin",
                "saat",
                "ч",
                "час",
                "часа",
                "часов",
                "小时",
                "時間",
                "시간",
            ],
        ),
    ];
    let time = UNITS.iter().find(|(_, names)| names.contains(&lower));
    if let Some((size, _)) = time {
        return unit(Kind::Time, *size);
    }
    // `13.2万次` counts tens of thousands of something.
    let tens = [('千', 1e3), ('천', 1e3), ('万', 1e4), ('萬', 1e4), ('만', 1e4), ('亿', 1e8), ('億', 1e8)];
    tens.iter().find(|(mark, _)| lower.starts_with(*mark)).and_then(|(_, size)| unit(Kind::Plain, *size))
}

/// Words after a plain number that make it a rate: `500 requests per second`.
pub fn is_rate_phrase(words: &str) -> Option<f64> {
    let lower = words.trim_start().to_lowercase();
    let rest = ["requests", "request", "reqs", "req", "transactions", "queries", "calls", "hits"]
        .iter()
        .find_map(|noun| lower.strip_prefix(noun))?
        .trim_start();
    let rest =
        rest.strip_prefix("per ").or_else(|| rest.strip_prefix('/')).or_else(|| rest.strip_prefix("a "))?;
    match rest.trim_start() {
        r if r.starts_with("sec") || r == "s" || r.starts_with("s ") => Some(1.0),
        r if r.starts_with("min") => Some(1.0 / 60.0),
        _ => None,
    }
}
