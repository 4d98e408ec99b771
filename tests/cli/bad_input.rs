//! Bad input: one clear sentence, the right exit code, and nothing sent.

use crate::support::{Ruler, Scratch, Tool, namespace, run_alongside};

/// Runs with a ruler, whose URL replaces `URL` in the arguments. Checks that nothing was sent to it.
#[track_caller]
fn refused(args: &[&str], code: i32, says: &[&str]) {
    let ruler = Ruler::start(&[]);
    let url = ruler.url("/");
    let args: Vec<&str> = args.iter().map(|arg| if *arg == "URL" { url.as_str() } else { *arg }).collect();
    let output = Tool::run(&args).expect_code(code);
    for word in says {
        assert!(output.stderr.contains(word), "`{word}` is not in:\n{}", output.stderr);
    }
    assert_eq!(output.stdout, "", "results without a run");
    // The message, its help line, and nothing more.
    assert!(output.stderr.lines().count() <= 3, "{}", output.stderr);
    assert_eq!(ruler.requests(), 0, "something was sent");
    assert!(output.state_files.is_empty(), "{:?} was not removed", output.state_files);
}

#[test]
fn a_scheme_that_cannot_be_loaded() {
    refused(&["ftp://127.0.0.1/"], 2, &["`ftp`", "http://"]);
    refused(&["ws://127.0.0.1/"], 2, &["WebSocket (`ws`", "requires an experiment file", "`connect`"]);
}

#[test]
fn words_that_are_all_but_a_command_and_flags_that_could_change_nothing() {
    refused(&["chekc", "a.yaml"], 2, &["unknown command `chekc`", "plimsoll check"]);
    refused(&["URL", "--ca", "ca.pem"], 2, &["--ca", "plain HTTP"]);
    refused(&["URL", "--ca", "ca.pem", "--monitor", "redis=127.0.0.1:1"], 2, &["--ca", "plain HTTP"]);
    refused(
        &["URL", "--ca", "no.pem", "--monitor", "redis=rediss://127.0.0.1:1"],
        2,
        &["cannot read `no.pem`"],
    );
    refused(&["-c", "3", "test-server"], 2, &["unknown flag `-c`"]);
    refused(&["URL", "--set", "n=3"], 2, &["`--set n`", "no variables"]);
    refused(&["explain", "F999"], 2, &["unknown code `F999`"]);
    refused(&["explain", "stale_conection"], 2, &["unknown code", "plimsoll explain stale_connection"]);
    refused(&["versoin"], 2, &["unknown command `versoin`", "plimsoll version"]);
    refused(&["myservice"], 2, &["unknown command `myservice`", "http://myservice/"]);
    refused(&["help", "nosuch"], 2, &["unknown command `nosuch`"]);
    refused(&["help", "reprot"], 2, &["unknown command `reprot`", "plimsoll report"]);
    refused(&["examples", "cookeis"], 2, &["unknown example", "plimsoll examples cookies"]);
    refused(&["completions", "csh"], 2, &["unknown shell `csh`", "fish"]);
}

#[test]
fn flags_of_other_tools_are_named() {
    refused(&["URL", "--http3"], 2, &["HTTP/3 (`--http3`) is not supported yet", "`--http2`"]);
    refused(&["URL", "--vus", "10"], 2, &["unknown flag `--vus`", "`-c`"]);
    refused(&["--vus", "10", "URL"], 2, &["unknown flag `--vus`", "`-c`"]);
    refused(&["URL", "--rps", "10"], 2, &["unknown flag `--rps`", "`-r`"]);
    refused(&["URL", "--target", "http://127.0.0.1:1"], 2, &["--target", "the URL already names the target"]);
    refused(&["URL", "--follow", "many"], 2, &["--follow", "invalid number of redirects"]);
    refused(&["URL", "--wait-for-ready", "30"], 2, &["--wait-for-ready", "missing unit in duration"]);
}

#[test]
fn a_url_that_is_none() {
    refused(&["http://"], 2, &["missing host"]);
    refused(&["http://127.0.0.1:99999/"], 2, &["invalid port `99999`"]);
    refused(&["http://127.0.0.1/a b"], 2, &["%20"]);
    refused(&["-c", "10"], 2, &["missing URL"]);
    refused(&["run", "a.yaml", "b.yaml"], 2, &["unexpected argument `b.yaml`"]);
}

#[test]
fn a_port_without_a_listener() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let at = format!("127.0.0.1:{port}");
    refused(
        &[&format!("http://{at}/"), "-d", "1s"],
        1,
        &[
            &format!("nothing listens on `{at}` (connection refused)\n"),
            "start the service",
            "`--wait-for-ready 30s`",
        ],
    );
}

#[test]
fn a_malformed_header() {
    refused(&["URL", "-H", "no colon here"], 2, &["-H", "colon"]);
    refused(&["URL", "-H", "Bad Name: x"], 2, &["-H", "in the header name `Bad Name`"]);
    refused(&["URL", "-H", "A: b\r\nC: d"], 2, &["-H", "in the value of header `A`"]);
}

#[test]
fn numbers_that_send_nothing() {
    refused(&["URL", "-c", "0"], 2, &["-c", "must be above 0"]);
    refused(&["URL", "-n", "0"], 2, &["-n", "must be above 0"]);
    refused(&["URL", "-r", "0"], 2, &["-r", "must be above 0"]);
    refused(&["URL", "-t", "0"], 2, &["-t", "must be above 0"]);
}

#[test]
fn a_duration_of_nothing() {
    let output = Tool::run(&["http://127.0.0.1:1/", "-d", "0s"]).expect_code(2);
    assert!(output.stderr.contains("-d: the duration must be above 0"), "{}", output.stderr);
}

#[test]
fn numbers_that_are_none() {
    refused(&["URL", "-c", "many"], 2, &["-c", "invalid number of connections `many`"]);
    refused(&["URL", "-c", "-5"], 2, &["-c", "invalid number of connections `-5`"]);
    refused(&["URL", "-d", "10"], 2, &["-d", "missing unit in duration"]);
    refused(&["URL", "-r", "fast"], 2, &["-r", "`fast`"]);
    refused(&["URL", "--seed", "x"], 2, &["--seed", "invalid seed `x`"]);
    refused(&["URL", "--shard", "3/2"], 2, &["--shard", "shard"]);
    refused(&["URL", "--buckets", "1s,100ms"], 2, &["--buckets", "--buckets"]);
    refused(&["URL", "--arrivals", "bursty", "-r", "5"], 2, &["--arrivals", "`constant` or `poisson`"]);
    refused(&["URL", "--threshold", "latency < 5ms"], 2, &["--threshold", "`latency`"]);
    refused(&["URL", "--limit", "head_byte=1"], 2, &["--limit", "`head_bytes`"]);
}

#[test]
fn more_than_the_hard_caps() {
    refused(&["URL", "-d", "49h"], 2, &["-d", "hard limit", "--limit duration_ns"]);
    refused(&["URL", "-d", "2s", "--limit", "duration_ns=1s"], 2, &["-d", "hard limit"]);
    refused(&["URL", "-n", "11", "-c", "1", "--limit", "requests=10"], 2, &["-n", "hard limit of 10"]);
    refused(&["URL", "--stages", "49h:10"], 2, &["--stages", "hard limit"]);
    refused(&["URL", "--stages", "10s:1000001"], 2, &["--stages", "1,000,000 users"]);
    refused(&["URL", "--stages", "10s:10000001/s"], 2, &["--stages", "10,000,000 arrivals"]);
    refused(&["URL", "-r", "10000001"], 2, &["-r", "10,000,000 arrivals"]);
    refused(
        &["URL", "-n", "9", "-c", "1", "--warmup", "5s", "--limit", "duration_ns=1s"],
        2,
        &["--warmup", "nothing would be measured"],
    );
}

#[test]
fn load_flags_that_contradict_each_other() {
    refused(&["URL", "-r", "5", "--stages", "1s:5/s"], 2, &["contradict", "keep one"]);
    refused(&["URL", "-c", "5", "--stages", "1s:5"], 2, &["contradict"]);
    refused(
        &["URL", "-c", "5", "-r", "10"],
        2,
        &["P028", "`-c` and `-r` contradict each other", "`--max-connections 5` instead of `-c 5`"],
    );
    refused(
        &["URL", "-c", "5", "--stages", "1s:5/s"],
        2,
        &["P028", "`-c` and stages of arrivals contradict"],
    );
    refused(&["URL", "--max-connections", "5"], 2, &["P028", "requires a rate"]);
    refused(&["find", "URL", "-c", "5"], 2, &["U029", "`--max-connections`"]);
    refused(&["find", "URL", "--vary", "speed"], 2, &["`rate` or `users`"]);
    refused(&["URL", "-d", "5s", "--stages", "1s:5"], 2, &["contradict"]);
    refused(&["URL", "--arrivals", "poisson"], 2, &["rate"]);
    refused(&["URL", "-d", "5s", "--warmup", "5s"], 2, &["nothing would be measured"]);
    refused(&["URL", "--threshold", "achieved >= 99%"], 2, &["requires a rate"]);
}

#[test]
fn flags_that_do_not_exist_or_lack_their_value() {
    refused(&["URL", "--duratoin", "5s"], 2, &["`--duratoin`", "did you mean `--duration`"]);
    refused(&["URL", "-c"], 2, &["--connections: this flag requires a value"]);
    refused(&["URL", "-c", "5", "-c", "6"], 2, &["given twice"]);
    refused(&["URL", "--quiet=yes"], 2, &["--quiet", "takes no value"]);
}

#[test]
fn flags_of_jmeter_are_translated() {
    let of_jmeter = "`-n -t FILE -l FILE` are flags of JMeter";
    refused(&["-n", "-t", "x.yaml", "-l", "out.jtl"], 2, &[of_jmeter, "`plimsoll run x.yaml`"]);
    refused(&["-n", "-t", "plan.jmx"], 2, &[of_jmeter, "`plimsoll jmeter`"]);
    refused(&["URL", "-n", "-t", "2"], 2, &["--requests: this flag requires a value", "`plimsoll --help`"]);
    refused(
        &["run", "a.yaml", "-Jthreads=20"],
        2,
        &["`--property`", "`--set threads=20`, with `threads` under `vars`"],
    );
}

#[test]
fn all_missing_runs_are_named_at_once() {
    let lists = "`plimsoll runs list`";
    for command in ["compare", "merge"] {
        refused(
            &[command, "no-a.plim", "no-b.plim"],
            1,
            &["no such files: `no-a.plim` and `no-b.plim`", lists],
        );
    }
    let scratch = Scratch::new();
    let run = scratch.file("a.plim", "x");
    refused(&["compare", &run, "no-b.plim"], 1, &["a.plim"]);
    refused(&["report", "no-a.plim"], 1, &["no such file: `no-a.plim`", "current directory", lists]);
    refused(&["report", run.trim_end_matches(".plim")], 1, &["no such file", "did you mean `", "a.plim`?"]);
}

#[test]
fn all_mistakes_come_at_once() {
    let output = Tool::run(&["gopher://x/", "-c", "many", "-d", "10"]).expect_code(2);
    for word in ["`gopher`", "`many`", "missing unit"] {
        assert!(output.stderr.contains(word), "{}", output.stderr);
    }
}

#[test]
fn what_other_tools_run_is_named_but_not_run() {
    refused(&["script.js"], 2, &["`script.js` is a k6 script", "run it with `plimsoll run script.js`"]);
    let scratch = Scratch::new();
    let server = scratch.file("api.js", "require('http').createServer(() => {}).listen(8080);");
    refused(&[&server], 2, &["is a file, not a URL"]);
    let output = Tool::run(&["run", &server]).expect_code(2);
    assert!(output.stderr.contains("`http` is a package"), "{}", output.stderr);
    refused(&["plan.jmx"], 2, &["a test plan of JMeter", "`plimsoll run plan.jmx`"]);
    let scratch = Scratch::new();
    let file = scratch.file("plan.jmx", "<jmeterTestPlan/>");
    refused(&["find", &file], 2, &["test plan of JMeter", "`run`, `check`, and `jmeter`"]);
    let file = scratch.file("script.js", "import http from 'k6/http';");
    refused(&["find", &file], 2, &["`default`"]);
    let file = scratch.file("a.yaml", "target: http://127.0.0.1:1/\n");
    refused(&[&file], 2, &["an experiment file", "plimsoll run"]);
    refused(&["old.plim"], 2, &["run file", "plimsoll report old.plim"]);
    refused(&["run", "http://127.0.0.1/"], 2, &["is a URL", "omit `run`"]);
}

#[test]
fn an_experiment_file_that_is_missing_or_broken() {
    refused(&["run", "no-such.yaml"], 2, &["cannot read `no-such.yaml`"]);
    refused(&["run"], 2, &["missing file to run"]);
    let scratch = Scratch::new();
    let file = scratch.file("broken.yaml", "target: http://127.0.0.1:1\nload:\n  users: [1\n");
    let output = Tool::run(&["run", &file]).expect_code(2);
    assert!(output.stderr.contains("broken.yaml:"), "no line and column in:\n{}", output.stderr);
    let file = scratch.file(
        "typo.yaml",
        "target: http://127.0.0.1:1\nscenarios:\n  one:\n    - get: /\nload:\n  user: 10\n",
    );
    let output = Tool::run(&["run", &file]).expect_code(2);
    for word in ["typo.yaml:6:3", "`user`", "users"] {
        assert!(output.stderr.contains(word), "`{word}` is not in:\n{}", output.stderr);
    }
}

#[test]
fn what_the_seal_finds_in_a_file_has_its_line_and_what_it_finds_in_a_flag_its_name() {
    let scratch = Scratch::new();
    let file = scratch.file(
        "zero.yaml",
        "target: http://127.0.0.1:1\nscenarios:\n  one:\n    - get: /\nload:\n  users: 0\n",
    );
    let output = Tool::run(&["run", &file]).expect_code(2);
    assert!(output.stderr.contains("zero.yaml:6:"), "{}", output.stderr);
    let output = Tool::run(&["run", &file, "-c", "5", "-d", "0s"]).expect_code(2);
    assert!(
        !output.stderr.contains("zero.yaml"),
        "the flag overrides the key of the file:\n{}",
        output.stderr
    );
    assert!(output.stderr.contains("-d"), "{}", output.stderr);
}

#[test]
fn an_output_that_exists_is_not_touched() {
    let scratch = Scratch::new();
    let taken = scratch.file("taken.plim", "precious");
    refused(&["URL", "-d", "1s", "--out", &taken], 2, &["exists", "never overwritten"]);
    assert_eq!(std::fs::read_to_string(&taken).unwrap(), "precious");
    refused(&["merge", "a.plim", "--out", &taken], 2, &["exists"]);
}

#[test]
fn an_output_that_cannot_be_written() {
    let scratch = Scratch::new();
    refused(&["URL", "-d", "1s", "--out", &scratch.path("no/such/folder/run.plim")], 1, &["run.plim"]);
    assert!(!scratch.folder().join("no").exists());
}

#[test]
fn a_body_file_that_is_missing() {
    refused(&["URL", "-b", "@no-such-body"], 2, &["-b", "no-such-body"]);
}

#[test]
fn a_report_of_a_file_that_is_not_a_run_is_rejected() {
    refused(&["report", "no-such.plim"], 1, &["no-such.plim"]);
    refused(&["report"], 2, &["missing run file"]);
    refused(&["curl"], 2, &["URL"]);
    refused(&["merge"], 2, &["missing run files"]);
    let scratch = Scratch::new();
    let text = scratch.file("text.plim", "hello\n");
    refused(&["report", &text], 1, &["text.plim"]);
    refused(&["report", &text, "--json", "--csv"], 2, &["cannot be used with"]);
}

#[test]
fn a_host_that_does_not_resolve() {
    // In a namespace that leads nowhere, so that no resolver is asked.
    namespace::inside("bad_input::a_host_that_does_not_resolve", "", run_alongside, || {
        refused(
            &["http://no-such-host.invalid/", "-d", "1s"],
            1,
            &["cannot resolve host `no-such-host.invalid`", "`getent hosts no-such-host.invalid`"],
        );
    });
}
