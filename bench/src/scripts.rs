//! `script`: requests per generator CPU-second of a k6 script, compared with k6, which runs the same script, and with
//! wrk's plain GET, which runs none. What a start costs is subtracted.

use super::Context;
use super::options::Options;
use super::ratio::{self, Field};
use super::report::Report;
use super::target::RawServer;
use super::tools::{BASE, K6_BASE, OWN, Roster, script_file};
use chore::{Outcome, shell};

/// One script.
struct Case {
    file: &'static str,
    what: &'static str,
    /// Its ratio to k6, and to wrk.
    measures: [&'static str; 2],
}

const CASES: [Case; 3] = [
    Case {
        file: "script-get.js",
        what: "GET and two checks in a script, 100 users",
        measures: ["script.get_k6", "script.get_wrk"],
    },
    Case {
        file: "script-post.js",
        what: "POST of JSON, a value from the response, and three checks in a script, 100 users",
        measures: ["script.post_k6", "script.post_wrk"],
    },
    Case {
        file: "script-async.js",
        what: "asynchronous GET and a check in a script, 100 users",
        measures: ["script.async_k6", "script.async_wrk"],
    },
];

pub fn run(context: &Context, roster: &Roster, options: &Options, report: &mut Report) -> Outcome {
    CASES.iter().try_for_each(|case| one(case, context, roster, options, report))
}

fn one(case: &Case, context: &Context, roster: &Roster, options: &Options, report: &mut Report) -> Outcome {
    let (from, to) = (shell::root().join("bench").join(case.file), script_file(&context.folder));
    std::fs::copy(&from, &to).map_err(|e| format!("cannot copy `{}`: {e}", from.display()))?;
    let server = RawServer::start(context, false)?;
    let url = server.url("/");
    let usual = Field::new("script", &server, &url);
    let field = Field { base: K6_BASE, ..usual };
    let entries = ratio::measure(&field, roster.script(), context, options, report)?;
    ratio::table("script", case.what, None, "", &entries, options, report);
    for (base, measure) in [K6_BASE, BASE].into_iter().zip(case.measures) {
        report.measure(measure, ratio::middle_ratio_to(base, OWN, &entries));
    }
    Ok(())
}
