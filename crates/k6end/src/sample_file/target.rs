//! Where samples go, as written after `--out`.

use plimsoll_k6::duration_text_ns;
use plimsoll_plan::Problem;
use std::path::PathBuf;

/// How lines of CSV have their time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeFormat {
    Seconds,
    Milliseconds,
    Microseconds,
    Nanoseconds,
    Rfc3339,
    /// With a fraction of a second.
    Rfc3339Nano,
}

const TIME_FORMATS: [(&str, TimeFormat); 6] = [
    ("unix", TimeFormat::Seconds),
    ("unix_milli", TimeFormat::Milliseconds),
    ("unix_micro", TimeFormat::Microseconds),
    ("unix_nano", TimeFormat::Nanoseconds),
    ("rfc3339", TimeFormat::Rfc3339),
    ("rfc3339_nano", TimeFormat::Rfc3339Nano),
];

/// A file, or standard output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampleTarget {
    /// `None`: standard output. A file that ends in `.gz` is compressed.
    pub path: Option<PathBuf>,
    /// The times of CSV; `None`: JSON.
    pub times: Option<TimeFormat>,
    /// How often lines are passed on, ns.
    pub flush_ns: u64,
}

impl SampleTarget {
    /// Reads the value of `--out`; `variable` returns variables such as `K6_CSV_FILENAME`. Returns `None` if the output
    /// is not a file of JSON or CSV.
    ///
    /// # Errors
    /// Returns an error if the options of the file are invalid.
    pub fn parse(
        output: &str,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Option<Result<SampleTarget, Problem>> {
        let (kind, rest) = output.split_once('=').unwrap_or((output, ""));
        match kind {
            "json" => Some(Ok(SampleTarget { path: path(rest), times: None, flush_ns: 200_000_000 })),
            "csv" => Some(csv(rest, variable)),
            _ => None,
        }
    }
}

fn path(text: &str) -> Option<PathBuf> {
    (!matches!(text, "" | "-")).then(|| PathBuf::from(text))
}

fn csv(rest: &str, variable: impl Fn(&str) -> Option<String>) -> Result<SampleTarget, Problem> {
    let mut name = variable("K6_CSV_FILENAME").unwrap_or_else(|| "file.csv".to_owned());
    let mut times = variable("K6_CSV_TIME_FORMAT").unwrap_or_else(|| "unix".to_owned());
    let mut flush = variable("K6_CSV_SAVE_INTERVAL").unwrap_or_else(|| "1s".to_owned());
    if !rest.is_empty() && !rest.contains('=') {
        name = rest.to_owned();
    } else if !rest.is_empty() {
        for pair in rest.split(',') {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let place = match key {
                "fileName" => &mut name,
                "timeFormat" => &mut times,
                "saveInterval" => &mut flush,
                _ => {
                    let hint = "use `fileName`, `timeFormat`, or `saveInterval`";
                    return Err(Problem::new(format!("unknown option `{key}` of `--out csv`"), hint));
                }
            };
            if value.is_empty() {
                let hint = format!("write `{key}=VALUE`");
                return Err(Problem::new(format!("missing value of `{key}` in `--out csv`"), hint));
            }
            *place = value.to_owned();
        }
    }
    let Some((_, format)) = TIME_FORMATS.iter().find(|(known, _)| *known == times) else {
        let all = TIME_FORMATS.map(|(name, _)| name).join(", ");
        return Err(Problem::new(
            format!("unknown time format `{times}` of `--out csv`"),
            format!("use {all}"),
        ));
    };
    let flush_ns = duration_text_ns(&flush)?;
    Ok(SampleTarget { path: path(&name), times: Some(*format), flush_ns })
}
