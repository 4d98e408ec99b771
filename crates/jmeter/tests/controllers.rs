//! The order of samplers.

use crate::simulator::{run, text};
use crate::xml::{controller, element, get, group, group_with, plan};

fn order(loops: u32, below: &str) -> Vec<String> {
    let trace = run(&plan(&[], &group(1, loops, below)), |request| {
        text(if request.contains("/fail") { 500 } else { 200 }, "")
    });
    trace.paths().iter().map(|path| path[1..].to_owned()).collect()
}

fn letters(all: &[&str]) -> String {
    all.iter().map(|one| get(one, &format!("/{one}"), "")).collect()
}

fn looped(loops: &str, below: &str) -> String {
    controller("LoopController", &[("s", "LoopController.loops", loops)], below)
}

#[test]
fn loops_repeat_and_begin_again() {
    assert_eq!(order(2, &(looped("2", &letters(&["a", "b"])) + &letters(&["c"]))).concat(), "ababcababc");
    assert_eq!(order(1, &(looped("nothing", &letters(&["a"])) + &letters(&["b"]))).concat(), "b");
}

#[test]
fn once_only_runs_in_the_first_iteration_of_its_loop() {
    let once = controller("OnceOnlyController", &[], &letters(&["o"]));
    assert_eq!(order(3, &(once.clone() + &letters(&["a"]))).concat(), "oaaa");
    assert_eq!(order(2, &looped("2", &(once + &letters(&["a"])))).concat(), "oaaoaa");
}

#[test]
fn interleave_takes_one_child_of_each_iteration() {
    let inter = |style: &str, below: &str| {
        controller("InterleaveControl", &[("i", "InterleaveControl.style", style)], below)
    };
    assert_eq!(order(5, &inter("0", &letters(&["a", "b", "c"]))).concat(), "abcab");
    let simple = controller("GenericController", &[], &letters(&["x", "y"]));
    assert_eq!(order(4, &inter("1", &(simple.clone() + &letters(&["a"])))).concat(), "xyaxya");
    assert_eq!(order(6, &inter("0", &(simple + &letters(&["a"])))).concat(), "xayaxa");
}

#[test]
fn switch_chooses_by_number_or_name() {
    let switch = |value: &str| {
        controller(
            "SwitchController",
            &[("s", "SwitchController.value", value)],
            &letters(&["a", "b", "default"]),
        )
    };
    assert_eq!(order(1, &switch("1")), ["b"]);
    assert_eq!(order(1, &switch("a")), ["a"]);
    assert_eq!(order(1, &switch("missing")), ["default"]);
    assert_eq!(order(1, &switch("9")), ["a"]);
}

#[test]
fn if_reads_an_expression_or_code() {
    let branch = |condition: &str, is_expression: &str| {
        let properties = [
            ("s", "IfController.condition", condition),
            ("b", "IfController.useExpression", is_expression),
            ("b", "IfController.evaluateAll", "false"),
        ];
        controller("IfController", &properties, &letters(&["a"]))
    };
    assert_eq!(order(1, &branch("${__jexl3(\"${__threadNum}\" == \"1\" && 2 > 1,)}", "true")), ["a"]);
    assert_eq!(order(1, &branch("\"${__threadNum}\" != \"1\"", "false")), [""; 0]);
    assert_eq!(
        order(1, &branch("${__groovy(vars.get('JMeterThread.last_sample_ok') == 'true',)}", "true")),
        ["a"]
    );
}

#[test]
fn while_ends_with_false_or_with_a_failed_sample() {
    let repeat = |condition: &str, below: &str| {
        controller("WhileController", &[("s", "WhileController.condition", condition)], below)
    };
    assert_eq!(order(1, &(repeat("LAST", &letters(&["a", "fail"])) + &letters(&["b"]))).concat(), "afailb");
    let counter = element(
        "CounterConfig",
        "n",
        &[
            ("s", "CounterConfig.start", "1"),
            ("s", "CounterConfig.incr", "1"),
            ("s", "CounterConfig.name", "n"),
            ("s", "CounterConfig.format", ""),
        ],
        "",
    );
    let condition = "${__jexl3(\"${n}\" != \"3\",)}";
    assert_eq!(order(1, &repeat(condition, &(counter + &letters(&["a"])))).concat(), "aaa");
}

#[test]
fn for_each_reads_numbered_variables() {
    let each = controller(
        "ForeachController",
        &[
            ("s", "ForeachController.inputVal", "id"),
            ("s", "ForeachController.returnVal", "one"),
            ("b", "ForeachController.useSeparator", "true"),
        ],
        &get("each", "/${one}", ""),
    );
    let trace =
        run(&plan(&[("id_1", "x"), ("id_2", "y"), ("id_4", "z")], &group(1, 2, &each)), |_| text(200, ""));
    assert_eq!(trace.paths(), ["/x", "/y", "/x", "/y"]);
}

#[test]
fn throughput_counts_executions_or_their_part() {
    let some = |style: &str, most: &str, percent: &str| {
        let properties = [
            ("i", "ThroughputController.style", style),
            ("b", "ThroughputController.perThread", "false"),
            ("i", "ThroughputController.maxThroughput", most),
            ("x", "", percent),
        ];
        controller("ThroughputController", &properties, &letters(&["a"]))
    };
    assert_eq!(order(5, &some("0", "2", "")).concat(), "aa");
    let half = "<FloatProperty><name>ThroughputController.percentThroughput</name><value>50.0</value>\
     <savedValue>0.0</savedValue></FloatProperty>";
    assert_eq!(order(10, &some("1", "1", half)).len(), 5);
}

#[test]
fn transactions_are_samples_of_their_own() {
    let transaction = |parent: &str, below: &str| {
        let properties = [
            ("b", "TransactionController.parent", parent),
            ("b", "TransactionController.includeTimers", "false"),
        ];
        element("TransactionController", "Both", &properties, below)
    };
    let server = |request: &str| text(if request.contains("fail") { 404 } else { 200 }, "");
    let trace = run(&plan(&[], &group(1, 1, &transaction("false", &letters(&["a", "fail"])))), server);
    assert_eq!(trace.labels(), ["a", "fail", "Both"]);
    assert_eq!(trace.column(1), ["10", "10", "20"]);
    assert!(
        trace.lines[2].contains("\"Number of samples in transaction : 2, number of failing samples : 1\"")
    );
    let trace = run(&plan(&[], &group(1, 2, &transaction("true", &letters(&["a", "b"])))), server);
    assert_eq!(trace.labels(), ["Both", "Both"]);
    assert_eq!(trace.lines[0].lines().count(), 3);
    assert_eq!(trace.column(3), ["200", "200"]);
}

#[test]
fn random_order_runs_each_child_once() {
    let mut found = order(1, &controller("RandomOrderController", &[], &letters(&["a", "b", "c"])));
    found.sort();
    assert_eq!(found, ["a", "b", "c"]);
    assert_eq!(
        order(
            4,
            &controller("RandomController", &[("i", "InterleaveControl.style", "0")], &letters(&["a", "b"]))
        )
        .len(),
        4
    );
}

#[test]
fn flow_control_leaves_loops_and_iterations() {
    let action = |number: &str| {
        element(
            "TestAction",
            "Go",
            &[
                ("i", "ActionProcessor.action", number),
                ("i", "ActionProcessor.target", "0"),
                ("s", "ActionProcessor.duration", "0"),
            ],
            "",
        )
    };
    let body = |number: &str| {
        looped("3", &(letters(&["a"]) + &action(number) + &letters(&["b"]))) + &letters(&["c"])
    };
    assert_eq!(order(2, &body("5")).concat(), "acac");
    assert_eq!(order(2, &body("4")).concat(), "aaacaaac");
    assert_eq!(order(2, &body("3")).concat(), "aa");
    assert_eq!(order(2, &body("0")).concat(), "a");
}

#[test]
fn a_failed_sample_does_what_its_group_says() {
    let with = |on_error: &str| {
        let below = letters(&["a", "fail", "b"]);
        let trace = run(&plan(&[], &group_with("ThreadGroup", "G", 1, 2, on_error, &below)), |request| {
            text(if request.contains("/fail") { 500 } else { 200 }, "")
        });
        trace.paths().concat()
    };
    assert_eq!(with("continue"), "/a/fail/b/a/fail/b");
    assert_eq!(with("startnextloop"), "/a/fail/a/fail");
    assert_eq!(with("stopthread"), "/a/fail");
    assert_eq!(with("stoptest"), "/a/fail");
}

#[test]
fn setup_and_teardown_run_around_the_load() {
    let below = group_with("SetupThreadGroup", "Up", 2, 2, "continue", &letters(&["u"]))
        + &group(1, 2, &letters(&["a"]))
        + &group_with("PostThreadGroup", "Down", 1, 1, "continue", &letters(&["d"]));
    let trace = run(&plan(&[], &below), |_| text(200, ""));
    assert_eq!(trace.paths().concat(), "/u/u/u/u/a/a/d");
    assert!(trace.lines[0].contains("Up 1-1") && trace.lines[6].contains("Down 1-1"));
}

#[test]
fn groups_can_run_one_after_another() {
    let groups = group_with("ThreadGroup", "First", 2, 2, "continue", &get("A", "/a", ""))
        + &group_with("ThreadGroup", "Second", 2, 1, "continue", &get("B", "/b", ""));
    let serial = |is: &str| {
        let flag = format!("<boolProp name=\"TestPlan.serialize_threadgroups\">{is}</boolProp></TestPlan>");
        plan(&[], &groups).replacen("</TestPlan>", &flag, 1)
    };
    let trace = run(&serial("true"), |_| text(200, ""));
    assert_eq!(trace.paths(), ["/a", "/a", "/a", "/a", "/b", "/b"]);
    let trace = run(&serial("false"), |_| text(200, ""));
    assert_eq!(trace.paths()[..4].iter().filter(|path| **path == "/b").count(), 2, "{:?}", trace.paths());
}

#[test]
fn samplers_of_plugins_without_a_request_set_variables_and_results() {
    let set = "<elementProp name=\"SetVariablesAction\" elementType=\"Arguments\">\
               <collectionProp name=\"Arguments.arguments\"><elementProp name=\"v\" elementType=\"Argument\">\
               <stringProp name=\"Argument.name\">v</stringProp><stringProp name=\"Argument.value\">new</stringProp>\
               </elementProp></collectionProp></elementProp>";
    let set = element("kg.apc.jmeter.control.sampler.SetVariablesAction", "set", &[("x", "", set)], "");
    let dummy = |waits: &str| {
        let properties = [
            ("b", "WAITING", waits),
            ("b", "SUCCESFULL", "false"),
            ("s", "RESPONSE_CODE", "503"),
            ("s", "RESPONSE_MESSAGE", "${v}"),
            ("s", "RESPONSE_DATA", "body"),
            ("s", "RESPONSE_TIME", "70"),
        ];
        element("kg.apc.jmeter.samplers.DummySampler", "D", &properties, "")
    };
    let below = set + &dummy("true") + &dummy("false") + &get("A", "/${v}", "");
    let trace = run(&plan(&[("v", "old")], &group(1, 1, &below)), |_| text(200, ""));
    assert_eq!(trace.labels(), ["D", "D", "A"]);
    assert_eq!(trace.column(1), ["70", "70", "10"]);
    assert_eq!(trace.column(3), ["503", "503", "200"]);
    assert_eq!(trace.column(4), ["new", "new", "OK"]);
    assert_eq!((trace.paths(), &trace.times_ms[..]), (vec!["/new"], &[70][..]), "only one of them waits");
}
