//! Test plans of JMeter: what they send and write, and what is said of a plan that cannot run.

use crate::support::{Ruler, Scratch, Tool, jmx};

/// A plan for one server: `HOST` and `PORT` are replaced.
fn plan(server: &Ruler, lines: &str) -> String {
    jmx::plan(lines).replace("HOST", "127.0.0.1").replace("PORT", &server.port().to_string())
}

const PLAN: &str = "
TestPlan p | arg:users=3
  ConfigTestElement defaults | domain=HOST | port=PORT
  ThreadGroup Users | threads=${users} | loops=7
    TransactionController checkout | TransactionController.parent=false
      HTTPSamplerProxy page | path=/page?n=${__threadNum}
      HTTPSamplerProxy form | method=POST | path=/form | arg:name=a
    HTTPSamplerProxy late | path=/late?status=503
";

#[test]
fn a_plan_sends_threads_times_loops_and_is_counted_by_label() {
    let (scratch, server) = (Scratch::new(), Ruler::start(&[]));
    let file = scratch.file("a.jmx", &plan(&server, PLAN));
    let output = Tool::run(&["run", &file, "--json"]).expect_code(99);
    let json = output.json();
    assert_eq!(json["totals"]["requests"], 63, "{}", output.stdout);
    assert_eq!(server.requests(), 63);
    let mut rows: Vec<(String, u64, u64)> = Vec::new();
    for row in json["requests"].as_array().unwrap() {
        let number = |key: &str| row[key].as_u64().unwrap_or_default();
        rows.push((
            row["name"].as_str().unwrap_or_default().to_owned(),
            number("finished"),
            number("failed"),
        ));
    }
    rows.sort();
    let names: Vec<&str> = rows.iter().map(|row| row.0.as_str()).collect();
    assert_eq!(names, ["form", "late", "page"], "{rows:?}");
    let output = Tool::run(&["run", &file, "--set", "users=1", "--json"]).expect_code(99);
    assert_eq!(output.json()["totals"]["requests"], 21);
}

#[test]
fn jmeter_writes_results_and_a_report() {
    let (scratch, server) = (Scratch::new(), Ruler::start(&[]));
    let file = scratch.file("a.jmx", &plan(&server, PLAN));
    let (results, folder, log) = (scratch.path("r.jtl"), scratch.path("report"), scratch.path("j.log"));
    let words = ["jmeter", "-n", "-t", &file, "-l", &results, "-j", &log, "-e", "-o", &folder];
    // As in JMeter, failed samples do not change the exit code.
    let output = Tool::run(&words).expect_code(0);
    // Sums of transactions are not counted again.
    assert!(output.stdout.contains("summary =     63 in "), "{}", output.stdout);
    assert!(output.stdout.contains(" Err:    21 (33.33%)"), "{}", output.stdout);
    assert!(output.stderr.contains("FAIL"), "{}", output.stderr);
    let lines = std::fs::read_to_string(&results).unwrap();
    assert!(lines.starts_with(
        "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,\
         sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect\n"
    ));
    assert_eq!(lines.lines().filter(|line| line.contains(",checkout,200,")).count(), 21, "{lines}");
    let late: Vec<&str> = lines.lines().filter(|line| line.contains(",late,503,")).collect();
    assert_eq!(late.len(), 21);
    assert!(late.iter().all(|line| line.contains(",Users 1-") && line.contains(",false,")), "{late:?}");
    let table = std::fs::read_to_string(format!("{folder}/statistics.json")).unwrap();
    let table: serde_json::Value = serde_json::from_str(&table).unwrap();
    assert_eq!((&table["Total"]["sampleCount"], &table["checkout"]["sampleCount"]), (&63.into(), &21.into()));
    assert_eq!(table["late"]["errorPct"], 100.0);
    assert!(std::fs::read_to_string(format!("{folder}/index.html")).unwrap().contains("<html"));
    assert!(std::fs::read_to_string(&log).unwrap().contains("summary =     63 in "));
    // The report is of one test; without it, results are appended.
    Tool::run(&words).expect_code(2);
    Tool::run(&["jmeter", "-n", "-t", &file, "-l", &results]).expect_code(0);
    assert_eq!(std::fs::read_to_string(&results).unwrap().lines().count(), 1 + 2 * 84);
    Tool::run(&[&words[..], &["-f", "--verdict"]].concat()).expect_code(99);
    assert_eq!(std::fs::read_to_string(&results).unwrap().lines().count(), 1 + 84);
}

/// Listeners of older plans write XML, and so does `-l` if a property asks for it.
#[test]
fn results_as_xml_have_assertions_sub_samples_and_responses() {
    let (scratch, server) = (Scratch::new(), Ruler::start(&[]));
    let lines = "
TestPlan p
  ConfigTestElement defaults | domain=HOST | port=PORT
  ThreadGroup Users | threads=1 | loops=2
    TransactionController a & <b> | TransactionController.parent=true
      HTTPSamplerProxy late | path=/late?status=503
    HTTPSamplerProxy good | path=/good?body=3 | method=POST | arg:name=a
      DurationAssertion quick | DurationAssertion.duration=60000
      ResponseAssertion text | Assertion.test_field=Assertion.response_data | Assertion.test_type=2 | text:never
    ResultCollector r | filename=out.xml | save:xml,time,timestamp,label,code,success,url,MORE
";
    let lines = lines.replace("MORE", "subresults,assertions,responseHeaders,responseDataOnError");
    let file = scratch.file("a.jmx", &plan(&server, &lines));
    let out = scratch.path("out.xml");
    let results = scratch.path("r.xml");
    let xml = "jmeter.save.saveservice.output_format=xml";
    let words = ["jmeter", "-n", "-t", &file, "-l", &results, "-J", xml];
    let read = |path: &str| std::fs::read_to_string(path).unwrap();
    for times in 1..=2 {
        Tool::run(&words).expect_code(0);
        // The second test is appended, before the end.
        for text in [read(&out), read(&results)] {
            let begin = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testResults version=\"1.2\">\n<sample ";
            assert!(text.starts_with(begin) && text.ends_with("</httpSample>\n\n</testResults>\n"), "{text}");
            assert_eq!(text.matches("testResults").count(), 2, "{text}");
            assert_eq!(text.matches("<httpSample ").count(), 4 * times, "{text}");
            assert_eq!(text.matches(" lb=\"a &amp; &lt;b&gt;\"").count(), 2 * times, "{text}");
        }
    }
    let text = read(&out);
    let good = text.split("<httpSample ").find(|part| part.contains("lb=\"good\"")).unwrap();
    let parts = [
        " s=\"false\" lb=\"good\" rc=\"200\">",
        "<name>quick</name>\n    <failure>false</failure>\n    <error>false</error>\n  </assertionResult>",
        "<name>text</name>\n    <failure>true</failure>\n    <error>false</error>\n    <failureMessage>Test failed: ",
        "<responseHeader class=\"java.lang.String\">HTTP/1.1 200 OK\n",
        "<method class=\"java.lang.String\">POST</method>",
        "<queryString class=\"java.lang.String\">name=a</queryString>",
        "<java.net.URL>http://127.0.0.1:",
    ];
    let mut rest = good;
    for part in parts {
        rest = rest.split_once(part).unwrap_or_else(|| panic!("{part}\n{good}")).1;
    }
    assert!(!good.contains(" rm=") && !good.contains("requestHeader"), "{good}");
    // A file without the end is begun again, as with JMeter.
    std::fs::write(&results, "x".repeat(200)).unwrap();
    Tool::run(&words).expect_code(0);
    assert!(read(&results).starts_with("<?xml ") && !read(&results).contains("xxx"));
    let wrong = ["jmeter", "-n", "-t", &file, "-J", "jmeter.save.saveservice.output_format=db"];
    let output = Tool::run(&wrong).expect_code(2);
    assert!(output.stderr.contains("use `csv` or `xml`"), "{}", output.stderr);
}

#[test]
fn properties_come_from_flags_and_files() {
    let (scratch, server) = (Scratch::new(), Ruler::start(&[]));
    let lines = "
TestPlan p
  ThreadGroup g | threads=${__P(users,1)} | loops=${__P(loops,1)}
    HTTPSamplerProxy ${__property(label)} | domain=HOST | port=PORT | path=/${__P(path)}
";
    let file = scratch.file("a.jmx", &plan(&server, lines));
    let more = scratch.file("more.properties", "# a comment\nloops = 3\npath=from-file\nlabel=one\n");
    Tool::run(&["jmeter", "-n", "-t", &file, "-q", &more, "-Jusers=2", "-J", "path=flag"]).expect_code(0);
    assert_eq!(server.requests(), 6);
    assert!(server.last_request().starts_with("GET /flag "), "{}", server.last_request());
    let output = Tool::run(&["run", &file, "-J", "users=2", "--json"]).expect_code(0);
    assert_eq!(output.json()["totals"]["requests"], 2);
}

#[test]
fn a_raw_template_takes_its_tokens_from_set() {
    let (scratch, server) = (Scratch::new(), Ruler::start(&[]));
    let lines = "
TestPlan p | arg:prefix=PATH_PREFIX
  ThreadGroup g | threads=THREADS_COUNT | loops=CTRL_LOOPS
    HTTPSamplerProxy a | domain=HOST | port=PORT | path=${prefix}/a
";
    let file = scratch.file("a.jmx", &plan(&server, lines));
    let output = Tool::run(&["run", &file]).expect_code(2);
    for token in ["THREADS_COUNT", "CTRL_LOOPS", "PATH_PREFIX"] {
        assert!(output.stderr.contains(&format!("nothing has replaced `{token}`")), "{}", output.stderr);
    }
    assert_eq!(server.requests(), 0);
    let set = ["--set", "THREADS_COUNT=2", "--set", "CTRL_LOOPS=5", "--set", "PATH_PREFIX=/api"];
    let output = Tool::run(&[&["run", &file][..], &set].concat()).expect_code(0);
    assert!(output.stderr.contains("THREADS_COUNT replaced in 1 place"), "{}", output.stderr);
    assert_eq!(server.requests(), 10);
}

#[test]
fn check_lists_what_runs_otherwise_than_it_seems() {
    let scratch = Scratch::new();
    let lines = "
TestPlan p | arg:rampUpTime=60
  ThreadGroup Users | threads=600 | ramp=${rampupTime} | loops=10
    HTTPSamplerProxy a | domain=127.0.0.1 | path=/${pageApi}
    ResultCollector tree
";
    let file = scratch.file("a.jmx", &jmx::plan(lines));
    let output = Tool::run(&["check", &file]).expect_code(0);
    for text in [
        "valid; 1 thread group, 1 sampler",
        "thread group Users: 600 threads, 10 loops each, 6,000 iterations in total",
        "note[J102]",
        "did you mean `${rampUpTime}`?",
        "nothing defines `${pageApi}`",
        "note[J105]",
    ] {
        assert!(output.stdout.contains(text), "{text}\n{}", output.stdout);
    }
}

#[test]
fn what_a_plan_cannot_do_is_refused_before_the_load() {
    let (scratch, server) = (Scratch::new(), Ruler::start(&[]));
    let refused = |name: &str, text: &str, words: &[&str]| {
        let file = scratch.file(name, text);
        let output = Tool::run(&["run", &file]).expect_code(2);
        for word in words {
            assert!(output.stderr.contains(word), "{word}\n{}", output.stderr);
        }
    };
    let broken = plan(&server, PLAN).replace("</ThreadGroup>", "");
    refused("a.jmx", &broken, &["error[J001]", "a.jmx:", "closes"]);
    let jdbc = plan(&server, &format!("{PLAN}    JDBCSampler select\n"));
    refused(
        "b.jmx",
        &jdbc,
        &["error[J003]", "JDBCSampler is not supported: plimsoll loads HTTP (p > Users > select)"],
    );
    let csv = plan(&server, &format!("{PLAN}    CSVDataSet c | filename=none.csv\n"));
    refused("c.jmx", &csv, &["error[J008]", "`none.csv` does not exist"]);
    let script = "    JSR223PostProcessor s | scriptLanguage=groovy | script=new java.net.Socket('a', 1)\n";
    let script = plan(&server, &format!("{PLAN}{script}"));
    refused("d.jmx", &script, &["error[J012]", "p > Users > s", "line 1 of the script"]);
    refused("e.jmx", "<jmeterTestPlan/>", &["error[J001]"]);
    // What looks like a variable in a script, but cannot be one, is its text.
    let script =
        "    JSR223PostProcessor s | scriptLanguage=javascript | script=var a = \"${b: \" + 1 + \"}\";\n";
    let file = scratch.file("f.jmx", &plan(&server, &format!("{PLAN}{script}")));
    Tool::run(&["check", &file]).expect_code(0);
    assert_eq!(server.requests(), 0);
    let output = Tool::run(&["run", &scratch.path("d.jmx"), "--skip-scripts", "--json"]).expect_code(99);
    assert_eq!(output.json()["totals"]["requests"], 63);
}

#[test]
fn a_plan_talks_over_a_websocket_that_stays_open() {
    let (scratch, server) = (Scratch::new(), Ruler::start(&[]));
    // The properties of the plugin have names that are short for others here.
    let plan = |server: &Ruler, lines: &str| {
        let lines =
            lines.replace("DATA", "Assertion.response_data").replace("SERVER", "server=HOST | port=PORT");
        plan(server, &lines).replace("\"HTTPSampler.p", "\"p")
    };
    let lines = "
TestPlan p
  ThreadGroup Users | threads=2 | loops=3
    OnceOnlyController once
      OpenWebSocketSampler open | server=127.0.0.1 | port=PORT | path=/websocket
    RequestResponseWebSocketSampler ask | createNewConnection=false | requestData=hello ${__threadNum}
      ResponseAssertion same | Assertion.test_type=8 | Assertion.test_field=DATA | text:hello ${__threadNum}
    SingleWriteWebSocketSampler write | createNewConnection=false | payloadType=Binary | requestData=0x01 ff
    SingleReadWebSocketSampler read | createNewConnection=false | dataType=Binary | readTimeout=9000
    SingleReadWebSocketSampler none | createNewConnection=false | optional=true | readTimeout=10
  PostThreadGroup After | threads=1 | loops=1
    CloseWebSocketSampler nothing
";
    let file = scratch.file("a.jmx", &plan(&server, lines));
    let results = scratch.path("r.jtl");
    let output = Tool::run(&["jmeter", "-n", "-t", &file, "-l", &results]).expect_code(0);
    let text = std::fs::read_to_string(&results).unwrap();
    let count = |part: &str| text.lines().filter(|line| line.contains(part)).count();
    assert_eq!(count(",open,101,Switching Protocols,Users 1-"), 2, "{text}{}", output.stderr);
    assert_eq!(count(",ask,200,OK,"), 6, "{text}");
    assert_eq!(count(",read,200,OK,"), 6, "{text}");
    assert_eq!(count(",none,No response,\"Read timeout, no response received.\","), 6, "{text}");
    assert_eq!(count(",nothing,,No connection; nothing to close.,"), 1, "{text}");
    assert_eq!(text.lines().count(), 1 + 2 + 4 * 6 + 1, "{text}");
    // A new connection for each request, an explicit end, and a server that opens none.
    let lines = "
TestPlan p
  ThreadGroup Users | threads=1 | loops=2
    RequestResponseWebSocketSampler ask | createNewConnection=true | SERVER | path=/websocket | requestData=a
    PingPongSampler ping
    CloseWebSocketSampler close | statusCode=1000
    SingleReadWebSocketSampler late | createNewConnection=false
    OpenWebSocketSampler refused | server=127.0.0.1 | port=PORT | path=/page?status=404
";
    let file = scratch.file("b.jmx", &plan(&server, lines));
    let results = scratch.path("s.jtl");
    Tool::run(&["jmeter", "-n", "-t", &file, "-l", &results]).expect_code(0);
    let text = std::fs::read_to_string(&results).unwrap();
    let count = |part: &str| text.lines().filter(|line| line.contains(part)).count();
    assert_eq!(count(",ask,101,Switching Protocols,"), 2, "{text}");
    assert_eq!(count(",ping,200,OK,"), 2, "{text}");
    assert_eq!(count(",close,1000,Connection closed; close reason: "), 2, "{text}");
    assert_eq!(count(",late,Sampler error,"), 2, "{text}");
    assert_eq!(count(",refused,404,HTTP Upgrade request failed with status code 404,"), 2, "{text}");
}

#[test]
fn flags_of_jmeter_are_refused_by_name() {
    let output = Tool::run(&["jmeter", "--version"]).expect_code(0);
    assert!(output.stdout.contains("flags and the text of JMeter"), "{}", output.stdout);
    let refused = |words: &[&str], word: &str| {
        let output = Tool::run(&[&["jmeter"], words].concat()).expect_code(2);
        assert!(output.stderr.contains(word), "{word}\n{}", output.stderr);
    };
    refused(&[], "missing test plan");
    refused(&["-t", "a.jmx"], "add `-n`");
    refused(&["-n", "-t", "a.jmx", "-R", "h"], "--agents 2");
    refused(&["-n", "-t", "a.jmx", "--nongiu"], "did you mean `--nongui`?");
    refused(&["-n", "-t", "a.jmx", "-o", "x"], "`-o` requires `-e`");
    refused(&["-n", "-t", "none.jmx"], "cannot read `none.jmx`");
    let scratch = Scratch::new();
    let file = scratch.file("a.yaml", "target: http://127.0.0.1:1/\n");
    let output = Tool::run(&["run", &file, "-Ja=1"]).expect_code(2);
    assert!(output.stderr.contains("`--property` has no effect"), "{}", output.stderr);
}
