//! Plans: scopes, controllers, loads, and what is refused.

use crate::jmx;
use plimsoll_jmx::plan::{
    Controller, Group, GroupLoad, Node, NodeKind, Phase, Sampler, SamplerKind, TestPlan, Threads,
};
use plimsoll_jmx::{Given, Reading, draft, read};
use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder for the files of one test.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Folder {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("plimsoll-jmx-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }

    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn with_set(set: &[(&str, &str)]) -> Given {
    let set = set.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Given { set: set.collect(), ..Given::default() }
}

fn reading(lines: &str) -> Result<Reading, Vec<Diagnostic>> {
    let folder = Folder::new();
    read(&folder.file("a.jmx", &jmx::plan(lines)), &Given::default())
}

fn plan(lines: &str) -> TestPlan {
    reading(lines).unwrap().plan
}

fn mistake(lines: &str) -> (&'static str, String) {
    let wrong = reading(lines).unwrap_err().swap_remove(0);
    (wrong.code, wrong.message)
}

fn group(plan: &TestPlan) -> &Group {
    plan.groups.first().unwrap()
}

fn sampler<'a>(nodes: &'a [Node], name: &str) -> &'a Sampler {
    fn find<'a>(nodes: &'a [Node], name: &str) -> Option<&'a Sampler> {
        nodes.iter().find_map(|node| match &node.kind {
            NodeKind::Sampler(sampler) => (&*node.info.name.source == name).then_some(&**sampler),
            NodeKind::Controller { nodes, .. } => find(nodes, name),
        })
    }
    find(nodes, name).unwrap()
}

const ONE: &str = "
TestPlan p
  ThreadGroup g | threads=2 | loops=3
    HTTPSamplerProxy a | domain=h | path=/a
";

#[test]
fn a_thread_group_repeats_for_ever_unless_its_plan_says_that_it_does_not() {
    let text = jmx::plan(ONE);
    let property = "<boolProp name=\"LoopController.continue_forever\">false</boolProp>";
    assert!(text.contains(property));
    for (instead, expected) in [(property, Some(3)), ("", None), (&*property.replace("false", "true"), None)]
    {
        let folder = Folder::new();
        let path = folder.file("a.jmx", &text.replace(property, instead));
        let reading = read(&path, &Given::default()).unwrap();
        let GroupLoad::Threads(threads) = &group(&reading.plan).load else { panic!("{instead}") };
        assert_eq!(threads.loops, expected, "{instead}");
    }
}

#[test]
fn inner_headers_hide_outer_ones_and_the_plan_comes_last() {
    let plan = plan(
        "
TestPlan p
  HeaderManager everywhere | header:A=plan | header:D=plan
  ThreadGroup g | threads=1 | loops=1
    HeaderManager outer | header:a=group | header:B=group
    GenericController c
      HTTPSamplerProxy s | domain=h | path=/
        HeaderManager inner | header:B=sampler | header:B=twice
",
    );
    let headers = &sampler(&group(&plan).nodes, "s").scope.headers;
    let pairs: Vec<_> =
        headers.iter().map(|one| format!("{}={}", one.name.source, one.value.source)).collect();
    assert_eq!(pairs, ["B=sampler", "B=twice", "a=group", "D=plan"]);
}

#[test]
fn elements_run_in_the_order_of_jmeter() {
    let plan = plan(
        "
TestPlan p
  ConstantTimer t0 | ConstantTimer.delay=1
  DurationAssertion a0
  ThreadGroup g | threads=1 | loops=1
    ConstantTimer t1 | ConstantTimer.delay=1
    DurationAssertion a1
    HTTPSamplerProxy s | domain=h | path=/
      ConstantTimer t2 | ConstantTimer.delay=1
      DurationAssertion a2
",
    );
    let scope = &sampler(&group(&plan).nodes, "s").scope;
    let timers: Vec<_> = scope.timers.iter().map(|one| &*one.info.name.source).collect();
    let assertions: Vec<_> = scope.assertions.iter().map(|one| &*one.info.name.source).collect();
    // Timers from the inside, assertions from the outside; those of the plan are the last of the group.
    assert_eq!(timers, ["t2", "t1", "t0"]);
    assert_eq!(assertions, ["a1", "a0", "a2"]);
}

#[test]
fn data_sets_below_a_sampler_belong_to_its_controller() {
    let folder = Folder::new();
    folder.file("u.csv", "user\n1\n");
    let path = folder.file(
        "a.jmx",
        &jmx::plan(
            "
TestPlan p
  CSVDataSet all | filename=u.csv
  ThreadGroup g | threads=1 | loops=1
    LoopController l | LoopController.loops=2
      HTTPSamplerProxy s | domain=h | path=/${user}
        CSVDataSet inner | filename=u.csv
",
        ),
    );
    let reading = read(&path, &Given::default()).unwrap();
    let group = group(&reading.plan);
    assert_eq!(group.at_iteration.len(), 1);
    let NodeKind::Controller { controller, at_iteration, .. } = &group.nodes[0].kind else { panic!() };
    assert!(matches!(controller, Controller::Loop { loops } if loops.fixed() == Some("2")));
    assert_eq!(&*at_iteration[0].info.name.source, "inner");
    assert!(!reading.notes.iter().any(|note| note.code == "J101"), "{:?}", reading.notes);
}

#[test]
fn defaults_fill_what_a_request_leaves_open() {
    let plan = plan(
        "
TestPlan p
  ConfigTestElement d | domain=outer | port=81 | arg:common=1
  ThreadGroup g | threads=1 | loops=1
    ConfigTestElement d | domain=inner
    HTTPSamplerProxy s | domain= | path=/x | arg:own=2
",
    );
    let plimsoll_jmx::plan::SamplerKind::Http(http) = &sampler(&group(&plan).nodes, "s").kind else {
        panic!()
    };
    assert_eq!((&*http.domain.source, &*http.port.source, http.method.fixed()), ("inner", "81", Some("GET")));
    let names: Vec<_> = http.arguments.iter().map(|one| &*one.name.source).collect();
    assert_eq!(names, ["own", "common"]);
}

#[test]
fn disabled_elements_are_gone_and_modules_are_replaced() {
    let plan = plan(
        "
TestPlan p
  TestFragmentController f
    GenericController shared
      HTTPSamplerProxy s | domain=h | path=/shared
  ThreadGroup g | threads=1 | loops=1
    -HTTPSamplerProxy off | domain=h | path=/off
    HTTPSamplerProxy a | domain=h | path=/a
",
    );
    assert_eq!(group(&plan).nodes.len(), 1);
    let text = jmx::plan(
        "
TestPlan p
  -ThreadGroup off | threads=1 | loops=1
    GenericController shared
      HTTPSamplerProxy s | domain=h | path=/shared
  ThreadGroup g | threads=1 | loops=1
    ModuleController m
",
    );
    let text = text.replace(
        "testname=\"m\" enabled=\"true\">\n",
        "testname=\"m\" enabled=\"true\">\n<collectionProp name=\"ModuleController.node_path\">\
         <stringProp name=\"0\">WorkBench</stringProp><stringProp name=\"1\">p</stringProp>\
         <stringProp name=\"2\">off</stringProp><stringProp name=\"3\">shared</stringProp></collectionProp>\n",
    );
    let folder = Folder::new();
    let reading = read(&folder.file("a.jmx", &text), &Given::default()).unwrap();
    sampler(&group(&reading.plan).nodes, "s");
}

#[test]
fn an_included_file_adds_its_fragment() {
    let folder = Folder::new();
    let inner = "
TestPlan q
  TestFragmentController f
    HTTPSamplerProxy inner | domain=h | path=/inner
";
    folder.file("inner.jmx", &jmx::plan(inner));
    let outer = "
TestPlan p
  ThreadGroup g | threads=1 | loops=1
    IncludeController i | IncludeController.includepath=inner.jmx
";
    let reading = read(&folder.file("a.jmx", &jmx::plan(outer)), &Given::default()).unwrap();
    sampler(&group(&reading.plan).nodes, "inner");
    assert_eq!(reading.plan.files.len(), 2);
    let wrong =
        read(&folder.file("b.jmx", &jmx::plan(&outer.replace("inner.jmx", "none.jmx"))), &Given::default());
    assert_eq!(wrong.unwrap_err()[0].code, "J008");
}

#[test]
fn numbers_of_a_load_come_from_variables_and_properties() {
    let lines = "
TestPlan p | arg:n=${__P(users,4)} | arg:loops=5
  ThreadGroup g | threads=${n} | ramp=${__property(ramp,,8)} | loops=${loops}
    HTTPSamplerProxy a | domain=h | path=/a
";
    let threads = |given: &Given| {
        let folder = Folder::new();
        let plan = read(&folder.file("a.jmx", &jmx::plan(lines)), given).unwrap().plan;
        let GroupLoad::Threads(threads) = group(&plan).load.clone() else { panic!() };
        threads
    };
    let usual = Threads { threads: 4, ramp_up_ns: 8_000_000_000, loops: Some(5), ..Threads::default() };
    assert_eq!(threads(&Given::default()), usual);
    let mut other = with_set(&[("loops", "9")]);
    other.properties.insert("users".into(), "7".into());
    assert_eq!(threads(&other), Threads { threads: 7, loops: Some(9), ..usual });
}

#[test]
fn an_undefined_number_is_0_with_a_remark_that_names_the_nearest() {
    let lines = "
TestPlan p | arg:rampUpTime=60
  ThreadGroup g | threads=2 | ramp=${rampupTime} | loops=1
    HTTPSamplerProxy a | domain=h | path=/${nothing}
";
    let reading = reading(lines).unwrap();
    let note = |code: &str| reading.notes.iter().find(|note| note.code == code).unwrap();
    assert_eq!(note("J102").hint, "did you mean `${rampUpTime}`?");
    assert!(note("J101").message.contains("`${nothing}`"));
    let GroupLoad::Threads(threads) = &group(&reading.plan).load else { panic!() };
    assert_eq!(threads.ramp_up_ns, 0);
}

#[test]
fn tokens_are_replaced_everywhere_or_refused() {
    let lines = "
TestPlan p | arg:users=THREADS_COUNT | arg:prefix=PATH_PREFIX | arg:port=PORT
  ThreadGroup g | threads=${users} | loops=CTRL_LOOPS
    HTTPSamplerProxy a | domain=HOST | port=${port} | path=${prefix}/a
";
    let folder = Folder::new();
    let path = folder.file("a.jmx", &jmx::plan(lines));
    let wrong = read(&path, &Given::default()).unwrap_err();
    assert!(wrong.iter().all(|one| one.code == "J007"), "{wrong:?}");
    assert!(
        wrong.iter().any(|one| one.message == "nothing has replaced `PORT`, the port of `a`"),
        "{wrong:?}"
    );
    assert!(wrong.iter().all(|one| matches!(&one.place, Place::Text { line, .. } if *line > 3)));
    let set = [
        ("THREADS_COUNT", "6"),
        ("PATH_PREFIX", "/api&x"),
        ("CTRL_LOOPS", "2"),
        ("HOST", "127.0.0.1"),
        ("PORT", "80"),
    ];
    let reading = read(&path, &with_set(&set)).unwrap();
    assert_eq!(reading.replaced.iter().map(|one| one.count).sum::<usize>(), 5);
    assert!(matches!(&group(&reading.plan).load, GroupLoad::Threads(threads) if threads.threads == 6));
    let unused = read(&path, &with_set(&[("NOWHERE", "1")])).unwrap_err();
    assert_eq!((unused[0].code, &unused[0].place), ("J013", &Place::Flag("--set".into())));
    // A variable that nothing defines gets a value.
    let path = folder.file("b.jmx", &jmx::plan(&ONE.replace("threads=2", "threads=${users}")));
    let reading = read(&path, &with_set(&[("users", "7")])).unwrap();
    assert!(matches!(&group(&reading.plan).load, GroupLoad::Threads(threads) if threads.threads == 7));
    let path = folder.file("a.jmx", &jmx::plan(lines));
    // Several plans can share their values.
    let more: Vec<_> = set.into_iter().chain([("NOWHERE", "1")]).collect();
    let notes = read(&path, &with_set(&more)).unwrap().notes;
    let unused: Vec<_> = notes.iter().filter(|note| note.code == "J109").collect();
    assert!(unused.len() == 1 && unused[0].message.contains("`NOWHERE`"), "{notes:?}");
}

#[test]
fn what_plimsoll_does_not_run_is_refused_by_path() {
    let with = |line: &str| format!("{}    {line}\n", ONE);
    assert_eq!(
        mistake(&with("JDBCSampler select")),
        ("J003", "JDBCSampler is not supported: plimsoll loads HTTP (p > g > select)".into())
    );
    let (code, html) = mistake(&with("HTMLAssertion h"));
    assert!(code == "J003" && html.contains("JTidy"), "{html}");
    assert_eq!(mistake(&with("WonderSampler w")).0, "J003");
    assert_eq!(mistake(&with("HTTPSamplerProxy b | domain=h | path=/${__BeanShell(1)}")).0, "J005");
    assert_eq!(mistake(&with("HTTPSamplerProxy b | domain=h | path=/${__nope(1)}")).0, "J005");
    assert_eq!(mistake(&with("HTTPSamplerProxy b | domain=h | path=/${__P(a)b}")).0, "J005");
    assert_eq!(mistake(&with("HTTPSamplerProxy b | path=/x")).0, "J004");
    assert_eq!(mistake(&with("CSVDataSet c | filename=none.csv")).0, "J008");
    let blank = format!("CSVDataSet c | filename={}/Cargo.toml  | delimiter=,", env!("CARGO_MANIFEST_DIR"));
    assert!(reading(&with(&blank)).is_ok());
    assert_eq!(mistake(&ONE.replace("threads=2", "threads=x")).0, "J006");
    assert_eq!(mistake(&ONE.replace("loops=3", "loops=0")).0, "J006");
    assert_eq!(mistake(&ONE.replace("loops=3", "loops=${__Random(1,2)}")).0, "J006");
    assert_eq!(mistake(&ONE.replace("ThreadGroup", "-ThreadGroup")).0, "J009");
    assert_eq!(mistake(&ONE.replace("TestPlan p", "TestPlan p | arg:a=${b} | arg:b=${a}")).0, "J011");
}

#[test]
fn a_plan_without_samplers_is_refused() {
    let none =
        reading("\nTestPlan p\n  ThreadGroup g | threads=1 | loops=1\n    LoopController l\n").unwrap();
    let wrong = draft(&none.plan, &none.files).unwrap_err();
    assert_eq!((wrong[0].code, &*wrong[0].message), ("J009", "the plan has no enabled sampler"));
    let one = reading(ONE).unwrap();
    assert!(draft(&one.plan, &one.files).is_ok());
}

#[test]
fn broken_xml_has_line_and_column() {
    let at = |text: &str| {
        let folder = Folder::new();
        let wrong = read(&folder.file("a.jmx", text), &Given::default()).unwrap_err().swap_remove(0);
        let Place::Text { line, column, .. } = wrong.place else { panic!("{wrong:?}") };
        (wrong.code, line, column)
    };
    assert_eq!(at("<jmeterTestPlan>\n  <hashTree>\n</jmeterTestPlan>"), ("J001", 3, 1));
    assert_eq!(at("<!DOCTYPE a [<!ENTITY b \"c\">]>\n<jmeterTestPlan/>"), ("J001", 1, 1));
    assert_eq!(at("<jmeterTestPlan>\n<hashTree>\n"), ("J001", 3, 1));
    assert_eq!(at("<plan/>"), ("J001", 1, 1));
}

#[test]
fn control_characters_are_read_although_xml_does_not_have_them() {
    let lines =
        "\nTestPlan p\n  ThreadGroup g | threads=1 | loops=1\n    HTTPSamplerProxy a | domain=h | path=/a";
    let text = jmx::plan(lines).replace("/a", "/&#x0;&#x1;&#16;b~");
    let folder = Folder::new();
    let reading = read(&folder.file("a.jmx", &text), &Given::default()).unwrap();
    let SamplerKind::Http(http) = &sampler(&group(&reading.plan).nodes, "a").kind else { panic!() };
    assert_eq!(http.path.fixed().unwrap(), "/\0\u{1}\u{10}b~");
    // What is not a number stays a mistake.
    let none = text.replace("&#x1;", "&#xZ;");
    assert_eq!(read(&folder.file("b.jmx", &none), &Given::default()).unwrap_err()[0].code, "J001");
}

#[test]
fn one_proxy_of_all_requests_is_that_of_the_run() {
    let proxy = "HTTPSampler.proxyHost=127.0.0.1 | HTTPSampler.proxyPort=3128";
    let of = |first: &str, second: &str| {
        let reading = reading(&format!(
            "\nTestPlan p\n  ThreadGroup g | threads=1 | loops=1\n    HTTPSamplerProxy a | domain=h | \
             path=/a{first}\n    HTTPSamplerProxy b | domain=h | path=/b{second}\n"
        ))
        .unwrap();
        draft(&reading.plan, &reading.files).map(|draft| draft.link.route.proxy.map(|proxy| proxy.url()))
    };
    let with = format!(" | {proxy} | HTTPSampler.proxyUser=u | HTTPSampler.proxyPass=p");
    assert_eq!(of(&with, &with).unwrap().as_deref(), Some("http://127.0.0.1:3128"));
    assert_eq!(of("", "").unwrap(), None);
    assert_eq!(of(" | HTTPSampler.proxyHost=127.0.0.1", "").unwrap(), None, "without a port, it is none");
    for (first, second) in [(&with[..], ""), (&with, &with.replace("3128", "3129"))] {
        let wrong = of(first, second).unwrap_err();
        assert!(wrong[0].message.contains("proxies of requests differ"), "{}", wrong[0].message);
    }
}

#[test]
fn deep_files_and_repeating_modules_end() {
    let deep = format!("<jmeterTestPlan>{}", "<hashTree><TestPlan/>".repeat(50_000));
    let folder = Folder::new();
    assert!(read(&folder.file("a.jmx", &deep), &Given::default()).is_err());
    let closed = format!(
        "<jmeterTestPlan>{}{}</jmeterTestPlan>",
        "<hashTree><TestPlan/>".repeat(5_000),
        "</hashTree>".repeat(5_000)
    );
    assert_eq!(read(&folder.file("b.jmx", &closed), &Given::default()).unwrap_err()[0].code, "J001");
}

#[test]
fn thread_groups_become_workloads() {
    let plan = reading(
        "
TestPlan p
  SetupThreadGroup before | threads=1 | loops=1
    HTTPSamplerProxy a | domain=h | path=/a
  ThreadGroup g | threads=10 | ramp=5 | loops=3 | scheduler=true | delay=2 | duration=60
    HTTPSamplerProxy b | domain=h | path=/b
",
    )
    .unwrap();
    let phases: Vec<_> = plan.plan.groups.iter().map(|group| group.phase).collect();
    assert_eq!(phases, [Phase::SetUp, Phase::Main]);
    let draft = draft(&plan.plan, &plan.files).unwrap();
    let [workload] = &draft.workloads[..] else { panic!() };
    assert_eq!((workload.start_ns, workload.load.ramp_up_ns), (2_000_000_000, 5_000_000_000));
    assert_eq!(workload.load.users, Some(10));
    assert_eq!(workload.load.iterations_per_user, Some(3));
    assert_eq!(workload.load.duration_ns, Some(60_000_000_000));
}

#[test]
fn groups_that_run_one_after_another_end_with_their_loops() {
    let one = "\nTestPlan p | TestPlan.serialize_threadgroups=true\n  ThreadGroup g | threads=1 | loops=1\n    \
               HTTPSamplerProxy a | domain=h | path=/a\n";
    let second = "  ThreadGroup h | threads=1 | loops=1\n    HTTPSamplerProxy b | domain=h | path=/b\n";
    let of = |lines: &str| {
        let reading = reading(lines).unwrap();
        assert!(reading.plan.is_serial);
        draft(&reading.plan, &reading.files)
    };
    assert!(of(one).is_ok());
    assert!(of(&format!("{one}{second}")).is_ok());
    // Its time would begin with the run, and not with its group.
    let timed = second.replace("threads=1", "threads=1 | scheduler=true | duration=9");
    let wrong = of(&format!("{one}{timed}")).unwrap_err();
    assert_eq!((wrong.len(), wrong[0].code), (1, "J004"));
    assert!(wrong[0].message.contains("`h` has no end by its loops"), "{}", wrong[0].message);
}

#[test]
fn groups_of_plugins_have_profiles() {
    let users = |lines: &str| match &group(&plan(lines)).load {
        GroupLoad::Profile { users, .. } => (users.peak(), users.total_ns() / 1_000_000_000),
        GroupLoad::Arrivals { rate_per_s, .. } => (rate_per_s.peak(), rate_per_s.total_ns() / 1_000_000_000),
        GroupLoad::Threads(_) => panic!(),
    };
    let of = |line: &str| format!("\nTestPlan p\n  {line}\n    HTTPSamplerProxy a | domain=h | path=/a\n");
    let concurrency = "ConcurrencyThreadGroup g | TargetLevel=20 | RampUp=10 | Steps=5 | Hold=30 | Unit=S";
    assert_eq!(users(&of(concurrency)), (20.0, 40));
    let arrivals = "ArrivalsThreadGroup g | TargetLevel=600 | RampUp=1 | Hold=2 | Unit=M";
    assert_eq!(users(&of(arrivals)), (10.0, 180));
    let open = "OpenModelThreadGroup g | OpenModelThreadGroup.schedule=rate(10/sec) random_arrivals(10 s) pause(5 s)";
    assert_eq!(users(&of(open)), (10.0, 15));
    let stepping = "SteppingThreadGroup g | threads=6 | Start users count=3 | Start users period=10 | flighttime=30 \
                    | Stop users count=6";
    assert_eq!(users(&of(stepping)), (6.0, 40));
}
