//! Orders to start a load, as the words of a command line. Never text for a shell: each word is one argument.

use crate::answer::{Answer, ApiError};
use serde::Deserialize;

/// Body of `POST /api/start`.
#[derive(Debug, Deserialize)]
pub struct Order {
    #[serde(flatten)]
    pub what: What,
    /// A public host that may be loaded.
    pub allow: Option<String>,
    /// Agents that send the load: a number, names, a label, or `local:N`.
    pub agents: Option<String>,
    /// Start even if another load is running.
    #[serde(default)]
    pub allow_concurrent: bool,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum What {
    /// An experiment file on this machine.
    File {
        path: String,
    },
    /// The text of an experiment.
    Text {
        text: String,
    },
    Form(Form),
}

/// Body of `POST /api/check`.
#[derive(Debug, Deserialize)]
pub struct Check {
    pub file: Option<String>,
    pub text: Option<String>,
}

/// A load described by a few fields.
#[derive(Debug, Deserialize)]
pub struct Form {
    pub url: String,
    pub method: Option<String>,
    pub load: Load,
    pub clients: u32,
    pub duration_s: f64,
    pub timeout_s: Option<f64>,
    pub threshold: Option<String>,
    pub name: Option<String>,
    /// One `Name: value` per line.
    #[serde(default)]
    pub headers: Option<String>,
    /// Sent unchanged; never the name of a file.
    #[serde(default)]
    pub body: Option<String>,
}

/// The three load types of Loader.io (its documentation, "test types").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Load {
    /// Number of clients in total, spread evenly.
    ClientsPerTest,
    /// Number of new clients per second.
    ClientsPerSecond,
    /// Number of concurrent clients, each of which starts over after a response.
    Maintained,
}

impl Form {
    /// Returns the words after the program's name.
    ///
    /// # Errors
    /// Returns an error with a fix if a field is invalid. The tool itself checks the rest.
    pub fn words(&self) -> Answer<Vec<String>> {
        let url = self.url.trim();
        // A word with another beginning could be a flag or a command.
        if !(url.starts_with("http://") || url.starts_with("https://")) {
            return Err(ApiError::request(
                format!("invalid URL `{url}`"),
                "start the URL with `http://` or `https://`",
            ));
        }
        if self.clients == 0 {
            return Err(ApiError::request(
                "the number of clients must be above 0",
                "enter a whole number above 0",
            ));
        }
        let seconds = positive(self.duration_s, "duration_s")?;
        let mut words = vec![url.to_owned()];
        words.extend(filled(&self.method).map(|method| format!("--method={method}")));
        let headers = filled(&self.headers).into_iter().flat_map(str::lines).map(str::trim);
        words.extend(headers.filter(|line| !line.is_empty()).map(|line| format!("--header={line}")));
        if let Some(body) = self.body.as_deref().filter(|body| !body.is_empty()) {
            // On the command line it would name a file of this machine, which a page must not read.
            if body.starts_with('@') {
                return Err(ApiError::request(
                    "a body must not begin with `@`, which names a file",
                    "paste the body itself, or use an experiment file",
                ));
            }
            words.push(format!("--body={body}"));
        }
        match self.load {
            // The first arrives at 0 and the last one step before the end, which makes exactly this number.
            Load::ClientsPerTest => words.push(format!("--rate={}/s", spread(self.clients, seconds))),
            Load::ClientsPerSecond => words.push(format!("--rate={}/s", self.clients)),
            Load::Maintained => words.push(format!("--connections={}", self.clients)),
        }
        words.push(format!("--duration={seconds}s"));
        if let Some(timeout_s) = self.timeout_s {
            words.push(format!("--timeout={}s", positive(timeout_s, "the timeout")?));
        }
        if let Some(rule) = filled(&self.threshold) {
            // `p99 < 500ms` without a subject can only mean the response time.
            let is_bare =
                rule.strip_prefix('p').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
            let subject = if is_bare { "response_time " } else { "" };
            words.push(format!("--threshold={subject}{rule}"));
        }
        words.extend(filled(&self.name).map(|name| format!("--name={name}")));
        Ok(words)
    }

    /// Returns the host for the name of the run file.
    pub fn host(&self) -> String {
        let rest = self.url.trim().split_once("://").map_or("", |(_, rest)| rest);
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        // The last `@` ends the user name and password.
        let host = authority.rsplit('@').next().unwrap_or_default();
        host.split(':').next().unwrap_or_default().to_owned()
    }
}

/// Returns the shortest rate with exactly `n` arrivals within `seconds`, the first at 0, in the same rhythm to 0.01%.
fn spread(n: u32, seconds: f64) -> f64 {
    let n = f64::from(n);
    let exact = n / seconds;
    let short = (0..=9).map(|digits| {
        let scale = 10f64.powi(digits);
        (exact * scale).floor() / scale
    });
    // The last one arrives before the end, and one more would not.
    let is_same = |rate: &f64| {
        *rate > 0.0 && (n - 1.0) / rate < seconds && n / rate >= seconds && exact - rate <= exact / 1e4
    };
    short.into_iter().find(is_same).unwrap_or(exact)
}

fn positive(value: f64, what: &str) -> Answer<f64> {
    match value.is_finite() && value > 0.0 {
        true => Ok(value),
        false => Err(ApiError::request(
            format!("invalid `{value}`: {what} must be above 0"),
            "enter a number such as 30",
        )),
    }
}

/// Returns a field unless it is empty.
pub fn filled(field: &Option<String>) -> Option<&str> {
    field.as_deref().map(str::trim).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(load: Load) -> Form {
        let url = "http://127.0.0.1:1/".into();
        let (method, timeout_s, threshold, name) = (Some(" ".into()), None, None, None);
        let (headers, body) = (None, None);
        Form { url, method, load, clients: 100, duration_s: 30.0, timeout_s, threshold, name, headers, body }
    }

    #[test]
    fn headers_and_a_body_become_words_and_a_file_is_none() {
        let headers = Some("Content-Type: application/json\n\n X-Key: 1 \n".into());
        let body = Some("{\"a\": 1}\n".into());
        let words = Form { headers, body, ..form(Load::Maintained) }.words().unwrap();
        for word in ["--header=Content-Type: application/json", "--header=X-Key: 1", "--body={\"a\": 1}\n"] {
            assert!(words.iter().any(|own| own == word), "{word} is missing in {words:?}");
        }
        let file = Form { body: Some("@/etc/hostname".into()), ..form(Load::Maintained) };
        assert!(file.words().is_err_and(|wrong| wrong.sentence.contains("names a file")));
    }

    #[test]
    fn the_three_kinds_become_a_rate_or_users() {
        for (load, word) in [
            (Load::ClientsPerTest, "--rate=3.333/s"),
            (Load::ClientsPerSecond, "--rate=100/s"),
            (Load::Maintained, "--connections=100"),
        ] {
            let words = form(load).words().unwrap();
            assert_eq!(words, ["http://127.0.0.1:1/", word, "--duration=30s"]);
        }
    }

    #[test]
    fn a_short_rate_means_the_same_arrivals() {
        for (n, seconds, rate) in
            [(100, 6.0, 16.666), (300, 20.0, 15.0), (1, 30.0, 0.033333), (7, 0.3, 23.333)]
        {
            assert_eq!(spread(n, seconds), rate, "{n} in {seconds} s");
            assert_eq!((rate * seconds).ceil(), f64::from(n));
        }
    }

    #[test]
    fn what_stands_before_the_host_names_no_file() {
        for url in ["http://TOKEN@127.0.0.1/", "http://a:TOKEN@127.0.0.1:80/x", "http://127.0.0.1?u=a@TOKEN"]
        {
            assert_eq!(Form { url: url.into(), ..form(Load::Maintained) }.host(), "127.0.0.1");
        }
    }

    #[test]
    fn a_field_is_never_a_flag_or_a_command() {
        for url in ["--help", "run", "file:///etc/passwd", ""] {
            assert!(Form { url: url.into(), ..form(Load::Maintained) }.words().is_err(), "{url}");
        }
        let threshold = Some("p99 < 5ms --allow=x".into());
        let words = Form { threshold, ..form(Load::Maintained) }.words().unwrap();
        assert_eq!(words.last().unwrap(), "--threshold=response_time p99 < 5ms --allow=x");
    }
}
