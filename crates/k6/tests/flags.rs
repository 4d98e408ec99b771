//! Flags and variables of `k6 run`: every form, priorities, and mistakes by name.

use plimsoll_k6::flags::{
    FLAGS, Invocation, Kind, LogFormat, LogOutput, SummaryMode, line, parse, parse_inspect,
};
use plimsoll_k6::options::read;
use plimsoll_k6::test::{Executor, Stage};
use serde_json::json;

const S: u64 = 1_000_000_000;

fn owned(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn with(line: &str, variables: &[(&str, &str)]) -> Result<Invocation, String> {
    let args: Vec<String> = line.split(' ').filter(|word| !word.is_empty()).map(String::from).collect();
    parse(&args, &owned(variables)).map_err(|problem| problem.to_string())
}

fn flags(line: &str) -> Invocation {
    with(line, &[]).expect(line)
}

#[test]
fn values_follow_after_a_space_an_equals_sign_or_a_short_flag() {
    for line in
        ["-u 5 -d 10s a.js", "--vus=5 --duration=10s a.js", "-u5 -d10s a.js", "a.js -u=5 --duration 10s"]
    {
        let found = flags(line);
        assert_eq!(found.run.script, "a.js", "{line}");
        let layer = found.overrides.flags;
        assert_eq!((layer.vus, layer.duration_ns), (Some(5), Some(10 * S)), "{line}");
    }
    let cluster = flags("-qwu 3 -");
    assert_eq!((cluster.run.quiet, cluster.overrides.flags.settings.throw), (true, Some(true)));
    assert_eq!((cluster.overrides.flags.vus, cluster.run.script.as_str()), (Some(3), "-"));
    assert_eq!(flags("-- -odd.js").run.script, "-odd.js");
    assert_eq!(flags("--throw=false a.js").overrides.flags.settings.throw, Some(false));
    let debug = flags("--http-debug a.js");
    assert_eq!(debug.run.script, "a.js", "the value of this flag is optional");
}

#[test]
fn stages_tags_and_outputs_may_repeat() {
    let found = flags("-s 5s:10,10s:20 --stage 1m:0 --tag a=b --tag c=d=e -o json=x.json --out csv a.js");
    let stages = found.overrides.flags.stages.unwrap();
    let expected = [(5, 10), (10, 20), (60, 0)];
    assert_eq!(stages, expected.map(|(seconds, target)| Stage { duration_ns: seconds * S, target }));
    assert_eq!(found.overrides.flags.settings.tags.unwrap(), owned(&[("a", "b"), ("c", "d=e")]));
    assert_eq!(found.run.outputs, ["json=x.json", "csv"]);
}

#[test]
fn variables_set_the_same_and_flags_have_priority() {
    let variables = [
        ("K6_VUS", "7"),
        ("K6_DURATION", "1500"),
        ("K6_OUT", "json,csv"),
        ("K6_TAGS", "a:b,c:d"),
        ("K6_NO_SETUP", "true"),
        ("K6_SUMMARY_MODE", "full"),
        ("K6_BATCH", ""),
        ("K6_PROMETHEUS_RW_SERVER_URL", "http://127.0.0.1"),
    ];
    let found = with("--vus 2 --summary-mode legacy a.js", &variables).unwrap();
    let own = &found.overrides.variables;
    assert_eq!((own.vus, own.duration_ns), (Some(7), Some(1_500_000_000)));
    assert_eq!((own.settings.no_setup, own.settings.batch), (Some(true), None));
    assert_eq!(own.settings.tags, Some(owned(&[("a", "b"), ("c", "d")])));
    assert_eq!(
        (found.run.outputs.as_slice(), found.run.summary_mode),
        (&["json".to_owned(), "csv".to_owned()][..], SummaryMode::Legacy)
    );
    let test = read(&json!({ "iterations": 9 }), &found.overrides, &["default".to_owned()]).unwrap();
    assert_eq!(test.scenarios[0].executor, Executor::ConstantVus { vus: 2, duration_ns: 1_500_000_000 });
    assert!(test.settings.no_setup);
}

#[test]
fn the_environment_of_the_script_has_system_variables_and_those_of_flags() {
    let system = [("HOST", "a"), ("USER", "b")];
    let env = |line: &str| with(line, &system).unwrap().run.env;
    assert_eq!(env("-e HOST=c -e NEW=x=y a.js"), owned(&[("USER", "b"), ("HOST", "c"), ("NEW", "x=y")]));
    assert_eq!(env("--include-system-env-vars=false -e USER a.js"), owned(&[("USER", "")]));
    assert_eq!(env("--include-system-env-vars=false a.js"), owned(&[]));
    let keys = with("a.js", &[("SSLKEYLOGFILE", "keys.log")]).unwrap().run.key_log;
    assert_eq!(keys.as_deref(), Some("keys.log"));
}

#[test]
fn settings_of_the_command_are_typed() {
    let line = "--no-summary --summary-export s.json -c k6.json --no-color -v --log-output file=k6.log \
        --log-format json --console-output out.txt a.js";
    let run = flags(line).run;
    assert_eq!((run.summary_mode, run.summary_export.as_deref()), (SummaryMode::Disabled, Some("s.json")));
    assert_eq!((run.config.as_deref(), run.no_color, run.verbose), (Some("k6.json"), true, true));
    assert_eq!((run.log_output, run.log_format), (LogOutput::File("k6.log".into()), LogFormat::Json));
    assert_eq!(run.console_output.as_deref(), Some("out.txt"));
    assert_eq!(flags("--compatibility-mode base a.js").notes.len(), 1);
}

#[test]
fn mistakes_name_the_flag_or_the_variable() {
    let cases = [
        ("--vuss 1 a.js", "unknown flag `--vuss`; did you mean `--vus`?"),
        ("-X a.js", "unknown flag `-X`"),
        ("a.js --vus", "missing value of `--vus`"),
        ("--vus many a.js", "`--vus`: invalid value `many`: expected a whole number"),
        ("-d 10 a.js", "`-d`: missing unit in duration `10`; write `10s` for seconds"),
        ("-s 10s a.js", "`-s`: invalid stage `10s`"),
        ("--tag a= a.js", "`--tag`: invalid tag `a=`"),
        ("-e 1A=b a.js", "`--env`: invalid name `1A`"),
        ("--summary-mode short a.js", "`--summary-mode`: unknown summary mode `short`"),
        ("--log-output loki=http://x a.js", "`--log-output`: logs to Loki are not supported"),
        ("--system-tags nope a.js", "`--system-tags`: unknown system tag `nope`"),
        ("--address localhost:6565 a.js", "`--address` is not supported; steer a run with `plimsoll serve`"),
        ("", "missing script"),
        ("a.js b.js", "unexpected argument `b.js`: only one script can run"),
    ];
    for (line, message) in cases {
        let found = with(line, &[]).expect_err(line);
        assert!(found.starts_with(message), "{line}: {found}");
    }
    let found = with("a.js", &[("K6_THROW", "maybe")]).unwrap_err();
    assert_eq!(found, "`K6_THROW`: invalid value `maybe`: expected `true` or `false`");
}

#[test]
fn every_flag_is_unique_and_has_a_meaning() {
    for flag in FLAGS {
        assert_eq!(FLAGS.iter().filter(|other| other.long == flag.long).count(), 1, "{}", flag.long);
        if let Some(short) = flag.short {
            assert_eq!(FLAGS.iter().filter(|other| other.short == Some(short)).count(), 1, "{short}");
        }
        let value = match flag.kind {
            Kind::Unsupported(_) => continue,
            Kind::Switch => "true",
            Kind::Value | Kind::Optional(_) => match flag.long {
                "duration" | "min-iteration-duration" => "1s",
                "stage" => "1s:1",
                "http-debug" => "full",
                "blacklist-ip" => "10.0.0.0/8",
                "summary-trend-stats" => "avg,p(99.9)",
                "summary-time-unit" => "ms",
                "system-tags" => "status",
                "tag" | "env" => "a=b",
                "local-ips" => "127.0.0.1",
                "dns" => "ttl=0",
                "summary-mode" => "full",
                "secret-source" => "file=a.txt",
                "log-output" => "stdout",
                "log-format" => "raw",
                "compatibility-mode" => "base",
                _ => "1",
            },
        };
        let set = flags(&format!("--{}={value} a.js", flag.long));
        let is_set = set != flags("a.js");
        // Nothing is ever reported, and system variables are included anyway.
        let is_without_effect = ["no-usage-report", "include-system-env-vars"].contains(&flag.long);
        assert!(is_set || is_without_effect, "{} has no effect", flag.long);
    }
}

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(String::from).collect()
}

#[test]
fn flags_of_all_actions_may_precede_the_action() {
    let all = words("-q --log-output=none --config c.json -v run -u 5 a.js");
    let found = line(&all).unwrap();
    assert_eq!(found.action, Some("run"));
    assert_eq!(found.words, words("-q --log-output=none --config c.json -v -u 5 a.js"));
    assert!(line(&words("-h")).unwrap().wants_help);
    for (text, message) in [
        ("-u 5 run a.js", "`-u` precedes the action"),
        ("--vus=5 run a.js", "`--vus` precedes the action"),
        ("--quite run a.js", "unknown flag `--quite`"),
        ("-a localhost:1 run a.js", "`-a` is not supported"),
    ] {
        let wrong = line(&words(text)).unwrap_err().to_string();
        assert!(wrong.contains(message), "{text}: {wrong}");
    }
}

#[test]
fn variables_of_refused_flags_are_refused_by_name() {
    for (name, value) in [
        ("K6_LINGER", "true"),
        ("K6_PROFILING_ENABLED", "true"),
        ("K6_ADDRESS", "localhost:6565"),
        ("K6_PAUSED", "true"),
        ("K6_WEB_DASHBOARD", "true"),
        ("K6_WEB_DASHBOARD_EXPORT", "r.html"),
        ("K6_THRESHOLDS", "{}"),
    ] {
        let wrong = with("a.js", &[(name, value)]).unwrap_err();
        assert!(wrong.contains(&format!("`{name}` is not supported")), "{wrong}");
    }
    // These are the defaults of k6, and an empty variable is unset.
    let harmless = [
        ("K6_LINGER", "false"),
        ("K6_WEB_DASHBOARD", "false"),
        ("K6_TRACES_OUTPUT", "none"),
        ("K6_ADDRESS", ""),
    ];
    with("a.js", &harmless).unwrap();
    assert!(with("-p a.js", &[]).unwrap_err().contains("`-p` is not supported"));
    with("--paused=false a.js", &[]).unwrap();
}

#[test]
fn variables_without_a_flag_set_options() {
    let variables =
        [("K6_SETUP_TIMEOUT", "5s"), ("K6_TEARDOWN_TIMEOUT", "1500"), ("K6_NO_COOKIES_RESET", "true")];
    let settings = with("a.js", &variables).unwrap().overrides.variables.settings;
    assert_eq!(settings.setup_timeout_ns, Some(5 * S));
    assert_eq!(settings.teardown_timeout_ns, Some(S * 3 / 2));
    assert_eq!(settings.no_cookies_reset, Some(true));
    let wrong = with("a.js", &[("K6_SETUP_TIMEOUT", "soon")]).unwrap_err();
    assert!(wrong.starts_with("`K6_SETUP_TIMEOUT`: "), "{wrong}");
}

#[test]
fn inspect_has_fewer_flags_than_run() {
    parse_inspect(&words("-e A=b --no-thresholds a.js"), &[]).unwrap();
    let wrong = parse_inspect(&words("-u 5 a.js"), &[]).unwrap_err().to_string();
    assert!(wrong.contains("unknown flag `-u`"), "{wrong}");
    let wrong = parse_inspect(&words("--vus=5 a.js"), &[]).unwrap_err().to_string();
    assert!(wrong.contains("unknown flag `--vus`"), "{wrong}");
}
