//! `lua`: requests per generator CPU-second of the scripts that come with wrk, compared with wrk. They are not in this
//! repository: a variable names their folder, and without it the bench only says so.

use super::Context;
use super::options::Options;
use super::ratio::{self, Field};
use super::report::Report;
use super::target::RawServer;
use super::tools::{BASE, OWN, Roster, lua_file};
use chore::Outcome;
use std::path::Path;

/// The folder `scripts` of wrk.
const SCRIPTS: &str = "PLIMSOLL_WRK_SCRIPTS";

/// Each script, what it does, and its ratio to wrk.
const CASES: [(&str, &str, &str); 4] = [
    ("pipeline.lua", "three concatenated requests, always the same", "lua.pipeline"),
    ("post.lua", "a POST, always the same", "lua.post"),
    ("counter.lua", "a path and a header that change in each request", "lua.counter"),
    ("auth.lua", "a request that is made each time, and a function for each response", "lua.auth"),
];

pub fn run(context: &Context, roster: &Roster, options: &Options, report: &mut Report) -> Outcome {
    let Some(folder) = std::env::var_os(SCRIPTS) else {
        report.note(&format!("lua: no scripts; `{SCRIPTS}` names the folder `scripts` of wrk"));
        return Ok(());
    };
    for (file, what, measure) in CASES {
        let (from, to) = (Path::new(&folder).join(file), lua_file(&context.folder));
        std::fs::copy(&from, &to).map_err(|e| format!("cannot copy `{}`: {e}", from.display()))?;
        let server = RawServer::start(context, false)?;
        let url = server.url("/");
        let field = Field::new("lua", &server, &url);
        let entries = ratio::measure(&field, roster.lua(), context, options, report)?;
        let what = format!("{file} of wrk: {what}, 100 connections");
        ratio::table("lua", &what, None, "", &entries, options, report);
        report.measure(measure, ratio::middle_ratio_to(BASE, OWN, &entries));
    }
    Ok(())
}
