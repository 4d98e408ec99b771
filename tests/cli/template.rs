//! `report --template`: gaps are filled with the words of the other reports, mistakes are said with their place, and
//! neither a hostile server nor a careless template does harm.

use crate::support::{Output, Ruler, Scratch, Tool, run_alongside};
use serde_json::Value;
use std::path::Path;

/// One short run, its file and its document.
struct Seen {
    scratch: Scratch,
    file: String,
    json: Value,
}

impl Seen {
    fn new(ruler: &[&str], load: &[&str]) -> Seen {
        let _turn = run_alongside();
        let ruler = Ruler::start(ruler);
        let scratch = Scratch::new();
        let file = scratch.path("run.plim");
        let url = ruler.url("/items");
        let run =
            Tool::run(&[&[url.as_str(), "-n", "400", "-c", "4", "--quiet", "--out", &file], load].concat());
        assert!([0, 3, 99].contains(&run.code), "{}", run.stderr);
        let json = Tool::run(&["report", &file, "--json"]).json();
        Seen { scratch, file, json }
    }

    /// A run whose name is this.
    fn named(name: &str) -> Seen {
        let _turn = run_alongside();
        let ruler = Ruler::start(&[]);
        let scratch = Scratch::new();
        let file = scratch.path("run.plim");
        let text = format!(
            "name: \"{name}\"\ntarget: {}\nscenarios: {{ a: [ get: / ] }}\nload: {{ users: 2, requests: 200 }}\n",
            ruler.url("").trim_end_matches('/')
        );
        let experiment = scratch.file("hostile.yaml", &text);
        let run = Tool::run(&["run", &experiment, "--quiet", "--out", &file]);
        assert!([0, 3].contains(&run.code), "{}", run.stderr);
        let json = Tool::run(&["report", &file, "--json"]).json();
        Seen { scratch, file, json }
    }

    fn fill(&self, name: &str, text: &str) -> Output {
        let template = self.scratch.file(name, text);
        Tool::run(&["report", &self.file, "--template", &template])
    }

    /// Returns the output of the template; the exit code must be that of a verdict.
    #[track_caller]
    fn says(&self, name: &str, text: &str) -> String {
        let output = self.fill(name, text);
        assert!([0, 3, 99].contains(&output.code), "{}", output.stderr);
        output.stdout
    }

    /// Returns the message about an invalid template, with exit code 2.
    #[track_caller]
    fn refuses(&self, name: &str, text: &str) -> String {
        let output = self.fill(name, text).expect_code(2);
        assert_eq!(output.stdout, "", "an incomplete report is not printed");
        assert!(output.stderr.contains("U048"), "{}", output.stderr);
        output.stderr
    }
}

#[test]
fn gaps_have_the_numbers_of_the_document_in_the_words_of_the_report() {
    let seen = Seen::new(&["--delay", "2ms"], &[]);
    let raw =
        seen.says("a.txt", "{{ totals.requests }} {{ response_time.p99_ns }} {{ achieved.rate_per_s }}");
    let expected = ["/totals/requests", "/response_time/p99_ns", "/achieved/rate_per_s"]
        .map(|pointer| seen.json.pointer(pointer).expect("a number").to_string());
    assert_eq!(raw, expected.join(" "));
    let text = Tool::run(&["report", &seen.file]).stdout;
    for gap in ["response_time.p50_ns | ns", "response_time | percentile(0.95)", "achieved.rate_per_s | rate"]
    {
        let said = seen.says("b.txt", &format!("{{{{ {gap} }}}}"));
        // The table of the terminal has its unit in another place, the digits are the same.
        let digits = said.trim_end_matches("/s").split(' ').next().expect("a number").to_owned();
        assert!(
            !digits.is_empty() && text.contains(&digits),
            "`{gap}` gives {said}, and the report says\n{text}"
        );
    }
    // 400 samples are too few for a p99, here as in the report.
    assert_eq!(seen.says("b.txt", "{{ response_time | percentile(0.99) }}"), "-");
    let words = "{{ ns(1234567) }} {{ 0.012 | ratio }} {{ 683000 | bytes }} {{ 12400 | count }} {{ 0.999 | quantile }} \
                 {{ none | ns }}";
    assert_eq!(seen.says("c.txt", words), "1.23 ms 1.2% 683 kB 12,400 p99.9 -");
}

#[test]
fn a_name_that_is_not_there_is_said_with_its_line_and_with_those_that_are() {
    let seen = Seen::new(&[], &[]);
    let said = seen.refuses("comment.md", "# Load\n\n{{ verdict.sentense }}\n");
    assert!(said.contains("comment.md:3"), "{said}");
    assert!(
        said.contains("`sentense`") && said.contains("`sentence`") && said.contains("`result`"),
        "{said}"
    );
    let said = seen.refuses("comment.md", "{{ totls.requests }}\n");
    assert!(said.contains("`totls`") && said.contains("did you mean `totals`?"), "{said}");
    let said = seen.refuses("comment.md", "{% for row in requests %}{{ row.nam }}{% endfor %}");
    assert!(said.contains("`nam`") && said.contains("`name`"), "{said}");
    let said = seen.refuses("comment.md", "{{ totals.requests | ms }}");
    assert!(said.contains("ms") && said.contains("ns, seconds"), "{said}");
    let said = seen.refuses("comment.md", "{{ svg('timelin') }}");
    assert!(said.contains("unknown chart `timelin`"), "{said}");
    let said = seen.refuses("comment.md", "{{ name | ns }}");
    assert!(said.contains("requires a number"), "{said}");
    seen.refuses("comment.md", "{% if %}");
}

#[test]
fn texts_of_a_hostile_server_are_text_in_html_and_pictures_are_pictures() {
    let hostile = "<script>alert(1)</script>";
    let seen = Seen::named(hostile);
    let page = seen.says("page.html", "<p>{{ name }}</p>{% for id in charts %}{{ svg(id) }}{% endfor %}");
    assert!(page.contains("&lt;script&gt;") && !page.contains("<script>"), "{page}");
    let text = seen.says("page.txt", "{{ name }}");
    assert_eq!(text, hostile);
    let table = seen.says("page.md", "| {{ name | md }} |");
    assert!(table.contains("&lt;script"), "{table}");
}

#[test]
fn a_template_reads_its_own_folder_and_no_other() {
    let seen = Seen::new(&[], &[]);
    std::fs::create_dir(seen.scratch.folder().join("inner")).expect("the scratch folder is writable");
    seen.scratch.file("secret.txt", "the secret");
    seen.scratch.file("inner/head.txt", "head of {{ name }}: ");
    let included = seen.says("inner/main.txt", "{% include 'head.txt' %}ok");
    assert!(included.starts_with("head of ") && included.ends_with(": ok"), "{included}");
    std::os::unix::fs::symlink(
        seen.scratch.folder().join("secret.txt"),
        seen.scratch.folder().join("inner/link.txt"),
    )
    .expect("the scratch folder is writable");
    for outside in ["../secret.txt", "/etc/hostname", "link.txt", "missing.txt"] {
        let said = seen.refuses("inner/main.txt", &format!("{{% include '{outside}' %}}"));
        assert!(
            said.contains("no such file to include") && !said.contains("the secret"),
            "{outside}: {said}"
        );
    }
}

#[test]
fn a_template_that_does_not_end_is_ended() {
    let seen = Seen::new(&[], &[]);
    let forever =
        "{% for a in range(90000) %}{% for b in range(90000) %}{% set c = a + b %}{% endfor %}{% endfor %}";
    let said = seen.refuses("loop.txt", forever);
    assert!(said.contains("does not end"), "{said}");
    let large = "{% for a in range(90000) %}{{ 'x' * 90000 }}{% endfor %}";
    let said = seen.refuses("large.txt", large);
    assert!(said.contains("writes more than 64"), "{said}");
    // One below the bound of the steps goes through: 200 times 10,000.
    let long = "{% for a in range(200) %}{% for b in range(10000) %}{% endfor %}{% endfor %}done";
    assert_eq!(seen.says("long.txt", long), "done");
    // A few steps that write nothing, and all memory there is.
    let doubles =
        "{% macro f(x, n) %}{% if n %}{{ f(x ~ x, n - 1) }}{% endif %}{% endmacro %}{{ f('xxxxxxxx', 40) }}";
    let said = seen.refuses("doubles.txt", doubles);
    assert!(said.contains("needs more than 512 MB"), "{said}");
    let kept = "{% set ns = namespace(x='aaaaaaaaaaaaaaaa') %}{% for i in range(40) %}{% set ns.x = ns.x ~ ns.x %}\
                {% endfor %}done";
    for (name, text) in [
        ("kept.txt", kept),
        ("wide.txt", "{{ \"%2000000000d\"|format(1) }}"),
        ("indent.txt", "{{ \"a\\nb\"|indent(3000000000) }}"),
    ] {
        let said = seen.refuses(name, text);
        assert!(said.contains("512 MB") || said.contains("writes more than 64"), "{name}: {said}");
    }
    // One nested call per sign must not crash, with any message.
    for (name, sign) in [("deep.txt", "-"), ("sum.txt", "1+"), ("chain.txt", "not ")] {
        let signs = sign.repeat(400_000 / sign.len());
        seen.refuses(name, &format!("{{{{ {signs} }}}}"));
    }
    let itself = "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}";
    seen.refuses("macro.txt", itself);
    seen.scratch.file("round.txt", "{% include 'round.txt' %}");
    seen.refuses("main.txt", "{% include 'round.txt' %}");
}

#[test]
fn the_templates_of_the_examples_say_what_the_report_says() {
    let seen = Seen::new(&["--delay", "1ms"], &[]);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/templates");
    let fill = |name: &str| {
        let template = folder.join(name).display().to_string();
        let output = Tool::run(&["report", &seen.file, "--template", &template]);
        assert!([0, 3].contains(&output.code), "{name}: {}", output.stderr);
        output.stdout
    };
    let result = seen.json["verdict"]["result"].as_str().expect("a verdict");
    let comment = fill("pull-request.md");
    assert!(comment.starts_with(&format!("### {result}: ")), "{comment}");
    assert!(
        comment.contains("| GET /items | 400 |") && comment.contains("- met: `error_rate == 0%`"),
        "{comment}"
    );
    let page = fill("summary.html");
    assert!(
        page.contains(&format!("<h1>{result}</h1>")) && page.contains("<dd>400, 0 failed</dd>"),
        "{page}"
    );
    assert!(page.trim_end().ends_with("</html>"), "{page}");
}

#[test]
fn a_template_is_one_form_of_a_report_and_must_be_readable() {
    let seen = Seen::new(&[], &[]);
    let template = seen.scratch.file("a.txt", "x");
    let both = Tool::run(&["report", &seen.file, "--template", &template, "--json"]).expect_code(2);
    assert!(both.stderr.contains("U005"), "{}", both.stderr);
    let missing =
        Tool::run(&["report", &seen.file, "--template", &seen.scratch.path("no.md")]).expect_code(1);
    assert!(missing.stderr.contains("cannot read"), "{}", missing.stderr);
    let folder = Tool::run(&["report", &seen.file, "--template", &seen.file]).expect_code(1);
    assert!(folder.stderr.contains("not UTF-8 text"), "{}", folder.stderr);
}

/// Each kind of result has its own names and an example that uses them, and rejects the example of another kind.
#[test]
fn every_kind_of_result_has_a_template_and_refuses_that_of_another() {
    let seen = Seen::new(&["--delay", "1ms"], &[]);
    let _turn = run_alongside();
    let ruler = Ruler::start(&["--delay", "1ms"]);
    let experiment = |name: &str, command: &str, rest: &str| {
        let address = ruler.url("").trim_end_matches('/').to_owned();
        let file = seen.scratch.file(
            &format!("{name}.yaml"),
            &format!("name: {name}\ntarget: {address}\nscenarios: {{ a: [ get: / ] }}\n{rest}"),
        );
        let folder = seen.scratch.path(name);
        let made = Tool::run(&[command, &file, "--quiet", "--out", &folder]);
        assert!([0, 3, 99].contains(&made.code), "{}", made.stderr);
        folder
    };
    let sweep = experiment("sweep", "run", "load: { users: [1, 2, 4], duration: 1s }\n");
    let search = experiment(
        "search",
        "find",
        "thresholds: [ \"error_rate == 0%\" ]\n\
         find: { vary: rate, step: +50, from: 50/s, to: 100/s, step_duration: 1s }\n",
    );
    let published =
        seen.scratch.file("published.md", "| users | rate |\n|---|---|\n| 10 | 100/s |\n| 10 | 9/s |\n");
    let own = |name: &str| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/templates");
        folder.join(name).display().to_string()
    };
    let kinds: [(&str, &[&str], &str); 4] = [
        ("experiment", &["report", &sweep], "experiment.md"),
        ("search", &["report", &search], "search.md"),
        ("comparison", &["compare", &seen.file, &seen.file], "comparison.md"),
        ("audit", &["audit", &published], "audit.md"),
    ];
    let kind = seen
        .scratch
        .file("kind.txt", "{{ kind }}{% for id in charts %}{{ svg(id) | length > 100 }}{% endfor %}");
    for (name, command, template) in kinds {
        let plain = Tool::run(command).code;
        let filled = Tool::run(&[command, &["--template", &own(template)]].concat()).expect_code(plain);
        assert!(filled.stdout.starts_with("### ") && filled.stderr.is_empty(), "{name}: {}", filled.stderr);
        let said = Tool::run(&[command, &["--template", &kind]].concat()).expect_code(plain).stdout;
        assert!(said.starts_with(name) && !said.contains("false"), "{name}: {said}");
        // A template for another kind of result prints nothing.
        let other = Tool::run(&[command, &["--template", &own("pull-request.md")]].concat()).expect_code(2);
        assert!(
            other.stdout.is_empty() && other.stderr.contains("U048") && other.stderr.contains(name),
            "{name}: {}",
            other.stderr
        );
        let both = Tool::run(&[command, &["--template", &kind, "--json"]].concat()).expect_code(2);
        assert!(both.stderr.contains("U005"), "{name}: {}", both.stderr);
    }
    let text = Tool::run(&["report", &sweep, "--json"]).json();
    let sentence = text["sentence"].as_str().expect("a sentence");
    assert!(sentence.contains("highest throughput"), "{sentence}");
    let filled = Tool::run(&["report", &sweep, "--template", &own("experiment.md")]).stdout;
    assert!(filled.contains(sentence.split(';').next().expect("a clause")), "{filled}");
}
