//! Times of one request in a line of an access log, anywhere in the line: `request_time=0.012`,
//! `"request_time":0.012` (JSON), or `reqtime:0.012` (LTSV). A number without a name is ignored.

/// Times of many lines.
#[derive(Debug, Default)]
pub struct Times {
    pub lines: u64,
    /// Seconds.
    pub request: Vec<f64>,
    pub upstream: Vec<f64>,
    pub has_status: bool,
    pub status_4xx: u64,
    pub status_5xx: u64,
}

impl Times {
    pub fn line(&mut self, line: &str) {
        self.lines += 1;
        self.request.extend(value(line, &["request_time", "reqtime"]).and_then(sum));
        self.upstream.extend(value(line, &["upstream_response_time", "apptime"]).and_then(sum));
        if let Some(status) = value(line, &["status"]) {
            self.has_status = true;
            match status.as_bytes() {
                [b'4', _, _, ..] => self.status_4xx += 1,
                [b'5', _, _, ..] => self.status_5xx += 1,
                _ => {}
            }
        }
    }
}

/// Returns what follows a name and its `=` or `:`. The name must begin a word: `upstream_status` is not `status`. The
/// last such place counts, because text from clients (path, user agent) can contain the name and precedes the times
/// in all usual formats.
fn value<'a>(line: &'a str, names: &[&str]) -> Option<&'a str> {
    let after = |name: &str, at: usize| {
        let before = line[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || "_-$?&".contains(c)) {
            return None;
        }
        let rest = line[at + name.len()..].trim_start_matches('"').trim_start();
        let rest = rest.strip_prefix(['=', ':'])?;
        Some(rest.trim_start().trim_start_matches('"'))
    };
    names.iter().find_map(|name| line.rmatch_indices(name).find_map(|(at, _)| after(name, at)))
}

/// Returns the seconds of a request, summed over the servers that it was tried at (`0.1, 0.2`) and forwarded to (`0.1
/// : 0.2`); `-` marks servers that did not respond. Returns `None` if no server responded.
fn sum(text: &str) -> Option<f64> {
    let mut sum = None;
    let mut rest = text;
    loop {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        match rest[..end].parse::<f64>() {
            Ok(seconds) => sum = Some(sum.unwrap_or(0.0) + seconds),
            Err(_) if !rest.starts_with('-') => return sum,
            Err(_) => {}
        }
        rest = rest[end..].trim_start_matches('-');
        let next = rest.strip_prefix(", ").or_else(|| rest.strip_prefix(" : "));
        match next {
            // In JSON, a comma may end the number, and a name follows.
            Some(next) if next.starts_with(|c: char| c.is_ascii_digit() || c == '-') => rest = next,
            _ => return sum,
        }
    }
}
