//! One line for each run of a sweep when it ends, for live output.

use super::name;
use crate::format::{quantile, rate_per_s};
use crate::line::{Line, write_all};
use crate::style::{Look, TextStyle};
use plimsoll_analysis::Digest;
use plimsoll_analysis::summary::Outcome;
use plimsoll_plan::phrase::ratio;

/// Returns `[ 3/36] node, users 10  1,234/s  p50 3.10 ms  p99 8.14 ms`.
pub fn run_line(digest: &Digest, number: usize, of: usize, look: &Look) -> String {
    let width = of.to_string().len();
    let cell = digest.cell.as_ref();
    let settings = cell.map(|cell| name(&cell.settings)).unwrap_or_default();
    let times = &digest.response_time;
    let mut line = Line::of(TextStyle::Dim, &format!("[{number:>width$}/{of}] "))
        .text(&settings)
        .text(if settings.is_empty() { "" } else { "  " })
        .ink(TextStyle::Strong, &rate_per_s(digest.rate_per_s))
        .text(&format!("  p50 {}  p99 {}", quantile(times.quantile(0.5)), quantile(times.quantile(0.99))));
    if digest.errors > 0 {
        line = line.ink(TextStyle::Bad, &format!("  errors {}", ratio(digest.error_ratio)));
    }
    if digest.outcome == Outcome::Inconclusive {
        let why: Vec<&str> = digest
            .cautions
            .iter()
            .filter(|caution| caution.severity == plimsoll_analysis::summary::Severity::Inconclusive)
            .map(|caution| caution.kind.code())
            .collect();
        line = line.ink(TextStyle::Warn, &format!("  inconclusive: {}", why.join(", ")));
    }
    write_all(&[line.cut(look.columns(), look)], look)
}
