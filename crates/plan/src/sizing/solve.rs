//! The laws as equations. Each derives whichever of its numbers is missing, until nothing more follows.
//!
//! With A arrivals/s, N users, X requests/s, S the session, C the time from one request of a user to its next (think
//! and response time, Z + R) and P pages:
//! - N = A S: Little's law for sessions
//! - N = X C: Little's law for requests, which is the response time law X = N / (Z + R)
//! - S = P C: a session is the sum of its pages
//! - X = A P: follows from the three above, and applies if no time is known

use super::{Line, MONTH_DAYS, Sizing, SizingInput};
use crate::Problem;
use std::fmt::Display;

/// Numbers of users are rounded; a larger difference is a contradiction.
const TOLERANCE: f64 = 0.02;

const HOUR_S: f64 = 3600.0;

/// The numbers of the equations, in seconds and per second, in the busiest hour.
#[derive(Debug, Clone, Copy, Default)]
struct Known {
    arrivals: Option<f64>,
    users: Option<f64>,
    rate: Option<f64>,
    session: Option<f64>,
    /// Time from one request of a user to the next: think time and response time.
    cycle: Option<f64>,
    pages: Option<f64>,
}

/// A number in a formula, with four significant digits, and all digits before the point.
struct Shown(f64);

impl Display for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let magnitude = self.0.abs();
        if magnitude != 0.0 && !(1e-4..1e15).contains(&magnitude) {
            return write!(f, "{:.3e}", self.0);
        }
        // Digits before the point reduce those after it.
        let whole = if magnitude >= 1.0 { magnitude.log10().floor() as i32 + 1 } else { 0 };
        let leading =
            if magnitude > 0.0 && magnitude < 1.0 { (-magnitude.log10()).floor() as i32 } else { 0 };
        let places = (4 - whole + leading).clamp(0, 8) as usize;
        let text = format!("{:.places$}", self.0);
        match text.contains('.') {
            true => write!(f, "{}", text.trim_end_matches('0').trim_end_matches('.')),
            false => write!(f, "{text}"),
        }
    }
}

pub(super) fn solve(asked: &SizingInput) -> Result<Sizing, Vec<Problem>> {
    let mut lines: Vec<Line> = Vec::new();
    let mut assumed = Vec::new();
    let seconds = |ns: Option<u64>| ns.map(|ns| ns as f64 / 1e9);
    let mut known = Known {
        arrivals: arrivals(asked, &mut lines, &mut assumed),
        users: asked.users,
        rate: asked.rate_per_s,
        session: seconds(asked.session_ns),
        cycle: None,
        pages: asked.pages,
    };
    if let Some(think) = seconds(asked.think_ns) {
        let response = seconds(asked.response_ns).unwrap_or(0.0);
        if asked.response_ns.is_none() {
            assumed.push("the response time is 0 (set it with `--response`)".into());
        }
        known.cycle = Some(think + response);
    }
    // A given value is never derived again, so that each step can be traced back to the input.
    let given = known;
    while let Some((changed, line)) = follow(&known, asked) {
        known = changed;
        lines.push(line);
    }
    let wrong = contradictions(&known);
    if !wrong.is_empty() {
        return Err(wrong);
    }
    pauses(&known, &given, asked, &mut lines)?;
    let visitors_per_month = month(&known, asked, &mut lines, &mut assumed);
    if lines.is_empty() || known.users.is_none() && known.rate.is_none() && asked.visitors.is_none() {
        return Err(vec![nothing_follows(asked)]);
    }
    // Products of extreme numbers overflow to infinity, or underflow to 0.
    let overflow = lines.iter().find(|line| !line.value.is_finite() || line.value <= 0.0);
    if let Some(line) = overflow {
        let name = line.name;
        return Err(vec![Problem::new(
            format!("the result for `{name}` is out of range"),
            "write numbers of a real service",
        )]);
    }
    Ok(Sizing {
        lines,
        assumptions: assumed,
        users: known.users,
        rate_per_s: known.rate,
        arrivals_per_s: known.arrivals,
        visitors_per_month,
    })
}

/// Returns the active part of a day in hours. Without `--active`, it assumes the whole day.
fn active_h(asked: &SizingInput, assumed: &mut Vec<String>) -> f64 {
    let Some(active_ns) = asked.active_ns else {
        let sentence = "visitors come 24 hours a day (set the active hours with `--active`)";
        assumed.push(sentence.to_owned());
        return 24.0;
    };
    active_ns as f64 / 3600e9
}

fn is_month(asked: &SizingInput) -> bool {
    asked.visitors.is_none_or(|visitors| visitors.per == super::Period::Month)
}

/// Returns the sessions that begin per second in the busiest hour.
fn arrivals(asked: &SizingInput, lines: &mut Vec<Line>, assumed: &mut Vec<String>) -> Option<f64> {
    let visitors = asked.visitors?;
    let mut per_hour = visitors.number;
    if let Some(days) = visitors.per.days() {
        let per_day = visitors.number / days;
        if days > 1.0 {
            let formula = format!("{}/{} / {days} days", Shown(visitors.number), visitors.per.name());
            lines.push(Line { name: "visitors per day", formula, value: per_day, unit: "/day" });
        }
        if is_month(asked) {
            assumed.push(format!("a month has {MONTH_DAYS} days"));
        }
        let active_h = active_h(asked, assumed);
        per_hour = per_day / active_h;
        let formula = format!("{}/day / {} h", Shown(per_day), Shown(active_h));
        lines.push(Line { name: "visitors per hour", formula, value: per_hour, unit: "/h" });
    }
    if let Some(peak) = asked.peak {
        let formula = format!("{}/h x {}", Shown(per_hour), Shown(peak));
        per_hour *= peak;
        lines.push(Line { name: "visitors in the busiest hour", formula, value: per_hour, unit: "/h" });
    } else {
        assumed.push("all hours are equally busy (set the ratio of the busiest hour with `--peak`)".into());
    }
    let formula = format!("{}/h / 3600", Shown(per_hour));
    lines.push(Line { name: "arrivals", formula, value: per_hour / HOUR_S, unit: "/s" });
    Some(per_hour / HOUR_S)
}

/// Derives one more value, with its step. The order is that of a manual calculation: first users, because a load needs
/// them, then requests, then the rest.
fn follow(known: &Known, asked: &SizingInput) -> Option<(Known, Line)> {
    let Known { arrivals, users, rate, session, cycle, pages } = *known;
    let line = |name, formula, value, unit| Line { name, formula, value, unit };
    if let (None, Some(a), Some(s)) = (users, arrivals, session) {
        // Per hour, as in the previous step.
        let formula = format!("{}/h x {} s / 3600", Shown(a * HOUR_S), Shown(s));
        return Some((
            Known { users: Some(a * s), ..*known },
            line("concurrent users", formula, a * s, "users"),
        ));
    }
    if let (None, Some(n), Some(c)) = (rate, users, cycle) {
        let formula = format!("{} / {}", Shown(n), cycle_words(c, asked));
        return Some((Known { rate: Some(n / c), ..*known }, line("requests", formula, n / c, "/s")));
    }
    if let (None, Some(a), Some(p)) = (rate, arrivals, pages) {
        let formula = format!("{}/s x {} pages", Shown(a), Shown(p));
        return Some((Known { rate: Some(a * p), ..*known }, line("requests", formula, a * p, "/s")));
    }
    if let (None, Some(x), Some(c)) = (users, rate, cycle) {
        let formula = format!("{}/s x {}", Shown(x), cycle_words(c, asked));
        return Some((
            Known { users: Some(x * c), ..*known },
            line("concurrent users", formula, x * c, "users"),
        ));
    }
    if let (None, Some(p), Some(c)) = (session, pages, cycle) {
        let formula = format!("{} pages x {}", Shown(p), cycle_words(c, asked));
        return Some((Known { session: Some(p * c), ..*known }, line("session", formula, p * c, "s")));
    }
    if let (None, Some(s), Some(p)) = (cycle, session, pages) {
        let formula = format!("{} s / {} pages", Shown(s), Shown(p));
        return Some((Known { cycle: Some(s / p), ..*known }, line("time per page", formula, s / p, "s")));
    }
    if let (None, Some(n), Some(s)) = (arrivals, users, session) {
        let formula = format!("{} / {} s", Shown(n), Shown(s));
        return Some((Known { arrivals: Some(n / s), ..*known }, line("arrivals", formula, n / s, "/s")));
    }
    if let (None, Some(x), Some(p)) = (arrivals, rate, pages) {
        let formula = format!("{}/s / {} pages", Shown(x), Shown(p));
        return Some((Known { arrivals: Some(x / p), ..*known }, line("arrivals", formula, x / p, "/s")));
    }
    if let (None, Some(n), Some(a)) = (session, users, arrivals) {
        let formula = format!("{} / {}/s", Shown(n), Shown(a));
        return Some((Known { session: Some(n / a), ..*known }, line("session", formula, n / a, "s")));
    }
    if let (None, Some(n), Some(x)) = (cycle, users, rate) {
        let formula = format!("{} / {}/s", Shown(n), Shown(x));
        return Some((Known { cycle: Some(n / x), ..*known }, line("time per page", formula, n / x, "s")));
    }
    if let (None, Some(s), Some(c)) = (pages, session, cycle) {
        let formula = format!("{} s / {}", Shown(s), cycle_words(c, asked));
        return Some((Known { pages: Some(s / c), ..*known }, line("pages per session", formula, s / c, "")));
    }
    None
}

/// Returns the cycle time for a formula, as a sum if both of its parts were given.
fn cycle_words(cycle: f64, asked: &SizingInput) -> String {
    match (asked.think_ns, asked.response_ns) {
        (Some(think_ns), Some(response_ns)) => {
            format!("({} s + {} s)", Shown(think_ns as f64 / 1e9), Shown(response_ns as f64 / 1e9))
        }
        _ => format!("{} s", Shown(cycle)),
    }
}

/// Returns contradictions between given numbers. It checks all four equations, because a redundant number may
/// contradict any of them.
fn contradictions(known: &Known) -> Vec<Problem> {
    let mut wrong = Vec::new();
    let mut judge = |stated: Option<f64>, follows: Option<f64>, what: &str, how: &str| {
        let (Some(stated), Some(follows)) = (stated, follows) else { return };
        // Written so that NaN is a contradiction too.
        let is_close = (stated - follows).abs() <= TOLERANCE * stated.abs().max(follows.abs());
        if !is_close {
            let (stated, follows) = (Shown(stated), Shown(follows));
            wrong.push(Problem::new(
                format!("`{stated}` {what} contradict {how}, which result in `{follows}`"),
                "remove one of these numbers",
            ));
        }
    };
    let product = |a: Option<f64>, b: Option<f64>| Some(a? * b?);
    let Known { arrivals, users, rate, session, cycle, pages } = *known;
    judge(users, product(arrivals, session), "users", "the arrivals and the session length");
    judge(users, product(rate, cycle), "users", "the request rate and the time between requests of a user");
    judge(session, product(pages, cycle), "seconds per session", "the pages and the time per page");
    judge(rate, product(arrivals, pages), "requests per second", "the arrivals and the pages per session");
    wrong
}

/// Derives the think time from the time per page, which a load needs if only pages and session are known.
fn pauses(
    known: &Known,
    given: &Known,
    asked: &SizingInput,
    lines: &mut Vec<Line>,
) -> Result<(), Vec<Problem>> {
    let (None, Some(cycle), Some(response_ns)) = (given.cycle, known.cycle, asked.response_ns) else {
        return Ok(());
    };
    let response = response_ns as f64 / 1e9;
    if response >= cycle {
        let (response, cycle) = (Shown(response), Shown(cycle));
        let message = format!("the response time of `{response} s` exceeds the time per page of `{cycle} s`");
        return Err(vec![Problem::new(message, "write a longer session or fewer pages")]);
    }
    let formula = format!("{} s - {} s", Shown(cycle), Shown(response));
    lines.push(Line { name: "think time", formula, value: cycle - response, unit: "s" });
    Ok(())
}

/// Returns the visitors per month, as given or derived from the arrivals.
fn month(
    known: &Known,
    asked: &SizingInput,
    lines: &mut Vec<Line>,
    assumed: &mut Vec<String>,
) -> Option<f64> {
    if let Some(visitors) = asked.visitors.filter(|visitors| visitors.per == super::Period::Month) {
        return Some(visitors.number);
    }
    let arrivals = known.arrivals?;
    let peak = asked.peak.unwrap_or(1.0);
    if asked.visitors.is_none() && asked.peak.is_none() {
        assumed.push("all hours are equally busy (set the ratio of the busiest hour with `--peak`)".into());
    }
    // Already assumed if visitors per day or per week were given.
    let is_said = asked.visitors.is_some_and(|visitors| visitors.per.days().is_some());
    let active_h = if is_said { active_h(asked, &mut Vec::new()) } else { active_h(asked, assumed) };
    assumed.push(format!("a month has {MONTH_DAYS} days"));
    // The busiest hour is not every hour, so the month divides by the peak.
    let value = arrivals * HOUR_S / peak * active_h * MONTH_DAYS;
    let by_peak = if asked.peak.is_some() { format!(" / {}", Shown(peak)) } else { String::new() };
    let formula =
        format!("{}/s x 3600{by_peak} x {} h x {MONTH_DAYS} days", Shown(arrivals), Shown(active_h));
    lines.push(Line { name: "visitors per month", formula, value, unit: "/month" });
    Some(value)
}

fn nothing_follows(asked: &SizingInput) -> Problem {
    let (given, help) = match (asked.users.is_some(), asked.rate_per_s.is_some()) {
        (true, _) => ("only users", "add `--think` to derive requests, or `--session` to derive visitors"),
        (_, true) => ("only a rate", "add `--think` to derive users, or `--pages` to derive visitors"),
        _ => (
            "too few numbers",
            "combine `--visitors` with `--session`, `--users` with `--think`, or `--rate` with `--pages`",
        ),
    };
    Problem::new(format!("nothing can be derived from {given}"), help)
}
