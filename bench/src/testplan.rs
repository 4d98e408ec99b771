//! `jmeter`: requests per generator CPU-second of a test plan, compared with JMeter, which runs the same plan, and with
//! the same requests from an experiment file. What a start costs is subtracted.

use super::options::Options;
use super::ratio::{self, Field};
use super::report::Report;
use super::target::RawServer;
use super::tools::{JMETER_BASE, OWN, OWN_YAML, Roster, experiment_file, once_file};
use super::{CONNECTIONS, Context};
use chore::Outcome;

pub fn run(context: &Context, roster: &Roster, options: &Options, report: &mut Report) -> Outcome {
    let server = RawServer::start(context, false)?;
    let target = server.url("");
    let load = format!("users: {CONNECTIONS}, duration: {}s", options.secs);
    for (file, load) in [
        (experiment_file(&context.folder), load.as_str()),
        (once_file(&context.folder), "users: 1, iterations: 1"),
    ] {
        let text = format!(
            "target: {target}\nscenarios:\n  get:\n    - get: /?user=${{user}}\n      \
             headers: {{ Accept: text/html }}\n      check: {{ status: 200 }}\nload: {{ {load} }}\n"
        );
        std::fs::write(&file, text).map_err(|e| format!("cannot write `{}`: {e}", file.display()))?;
    }
    let url = server.url("/");
    let usual = Field::new("jmeter", &server, &url);
    let tools = roster.plan();
    let has_jmeter = tools.iter().any(|tool| tool.name == JMETER_BASE);
    let field = Field { base: if has_jmeter { JMETER_BASE } else { OWN_YAML }, ..usual };
    let entries = ratio::measure(&field, tools, context, options, report)?;
    let what = "GET with a function in its path, a header, and an assertion, in a test plan, 100 threads";
    ratio::table("jmeter", what, None, "", &entries, options, report);
    report.measure("jmeter.plan_yaml", ratio::middle_ratio_to(OWN_YAML, OWN, &entries));
    if has_jmeter {
        report.measure("jmeter.plan_jmeter", ratio::middle_ratio_to(JMETER_BASE, OWN, &entries));
    }
    Ok(())
}
