//! What a line of an access log says of one request, wherever in the line it stands: `request_time=0.012`,
//! `"request_time":0.012` (JSON) or `reqtime:0.012` (LTSV). A number without a name is not guessed at.

/// Of many lines.
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

/// What follows a name and its `=` or `:`. The name begins a word: `upstream_status` is not `status`. The last such
/// place counts, because what a client sent (its path, its user agent) can hold the same text, and stands before
/// the figures in all usual formats.
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

/// Seconds of a request: the sum over the servers that it was tried at (`0.1, 0.2`) and sent on to (`0.1 : 0.2`), of
/// which those that did not answer are `-`. Nothing when none has answered.
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
            // In JSON a comma may end the number, and the next word is a name.
            Some(next) if next.starts_with(|c: char| c.is_ascii_digit() || c == '-') => rest = next,
            _ => return sum,
        }
    }
}
