//! Test plans of JMeter from a few lines: one element per line, indented below its parent by two spaces. After its
//! class and its name, properties follow, with ` | ` between: `NAME=VALUE`, `arg:NAME=VALUE` for arguments and
//! user-defined variables, `header:NAME=VALUE`, `text:VALUE` for the patterns of an assertion, and `save:NAME,NAME` for
//! what a listener writes. `-` before the class disables it.

use std::fmt::Write;

/// Short names of properties.
const SHORT: &[(&str, &str)] = &[
    ("threads", "ThreadGroup.num_threads"),
    ("ramp", "ThreadGroup.ramp_time"),
    ("on_error", "ThreadGroup.on_sample_error"),
    ("scheduler", "ThreadGroup.scheduler"),
    ("duration", "ThreadGroup.duration"),
    ("delay", "ThreadGroup.delay"),
    ("path", "HTTPSampler.path"),
    ("method", "HTTPSampler.method"),
    ("domain", "HTTPSampler.domain"),
    ("port", "HTTPSampler.port"),
    ("protocol", "HTTPSampler.protocol"),
    ("raw", "HTTPSampler.postBodyRaw"),
    ("follow", "HTTPSampler.follow_redirects"),
];

/// What a listener may write.
const SAVED: &str = "time,latency,timestamp,success,label,code,message,threadName,dataType,encoding,assertions,\
                     subresults,responseData,samplerData,xml,fieldNames,responseHeaders,requestHeaders,\
                     responseDataOnError,saveAssertionResultsFailureMessage,bytes,sentBytes,url,fileName,hostname,\
                     threadCounts,sampleCount,idleTime,connectTime";

/// Returns the XML of a plan.
pub fn plan(lines: &str) -> String {
    let lines: Vec<(usize, &str)> = lines
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| ((line.len() - line.trim_start().len()) / 2, line.trim()))
        .collect();
    let mut text = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<jmeterTestPlan version=\"1.2\" properties=\"5.0\" \
         jmeter=\"5.6.3\">\n<hashTree>\n",
    );
    let level = lines.first().map_or(0, |(level, _)| *level);
    elements(&lines, level, &mut text);
    text.push_str("</hashTree>\n</jmeterTestPlan>\n");
    text
}

fn elements(lines: &[(usize, &str)], level: usize, text: &mut String) {
    let mut at = 0;
    while let Some((_, line)) = lines.get(at) {
        let below = lines[at + 1..].iter().take_while(|(inner, _)| *inner > level).count();
        element(line, text);
        text.push_str("<hashTree>\n");
        elements(&lines[at + 1..=at + below], level + 1, text);
        text.push_str("</hashTree>\n");
        at += 1 + below;
    }
}

fn element(line: &str, text: &mut String) {
    let mut parts = line.split(" | ");
    let head = parts.next().unwrap_or_default();
    let (class, name) = head.split_once(' ').unwrap_or((head, head));
    let (class, enabled) = class.strip_prefix('-').map_or((class, "true"), |class| (class, "false"));
    let form = match class {
        "ConfigTestElement" => "HttpDefaultsGui",
        "Arguments" => "ArgumentsPanel",
        _ => "TestBeanGUI",
    };
    let _ = writeln!(
        text,
        "<{class} guiclass=\"{form}\" testclass=\"{class}\" testname=\"{}\" enabled=\"{enabled}\">",
        escaped(name)
    );
    let parts: Vec<&str> = parts.collect();
    let of = |kind: &str| parts.iter().filter_map(|part| part.strip_prefix(kind)).collect::<Vec<_>>();
    for part in parts.iter().filter(|part| !part.split('=').next().unwrap_or_default().contains(':')) {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        let name = SHORT.iter().find(|(short, _)| *short == name).map_or(name, |(_, long)| long);
        match name {
            "loops" => {
                let _ = writeln!(
                    text,
                    "<elementProp name=\"ThreadGroup.main_controller\" elementType=\"LoopController\">\
                     <boolProp name=\"LoopController.continue_forever\">false</boolProp>{}</elementProp>",
                    string("LoopController.loops", value)
                );
            }
            _ => text.push_str(&string(name, value)),
        }
    }
    if class == "HTTPSamplerProxy" && of("HTTPSampler.use_keepalive").is_empty() {
        text.push_str("<boolProp name=\"HTTPSampler.use_keepalive\">true</boolProp>\n");
    }
    arguments(class, &of("arg:"), text);
    let headers = of("header:");
    if !headers.is_empty() {
        text.push_str("<collectionProp name=\"HeaderManager.headers\">\n");
        for (name, value) in headers.iter().filter_map(|header| header.split_once('=')) {
            let fields = [string("Header.name", name), string("Header.value", value)].concat();
            let _ = writeln!(text, "<elementProp name=\"\" elementType=\"Header\">{fields}</elementProp>");
        }
        text.push_str("</collectionProp>\n");
    }
    if let Some(names) = of("save:").first() {
        text.push_str("<objProp><name>saveConfig</name><value class=\"SampleSaveConfiguration\">\n");
        for name in SAVED.split(',') {
            let is_on = names.split(',').any(|known| known == name);
            let _ = writeln!(text, "<{name}>{is_on}</{name}>");
        }
        text.push_str("</value></objProp>\n");
    }
    let patterns = of("text:");
    if !patterns.is_empty() {
        text.push_str("<collectionProp name=\"Asserion.test_strings\">\n");
        patterns.iter().for_each(|pattern| text.push_str(&string("0", pattern)));
        text.push_str("</collectionProp>\n");
    }
    let _ = writeln!(text, "</{class}>");
}

fn arguments(class: &str, arguments: &[&str], text: &mut String) {
    if arguments.is_empty() {
        return;
    }
    let (outer, kind) = match class {
        "TestPlan" => ("TestPlan.user_defined_variables", "Argument"),
        "Arguments" => ("", "Argument"),
        _ => ("HTTPsampler.Arguments", "HTTPArgument"),
    };
    let mut items = String::from("<collectionProp name=\"Arguments.arguments\">\n");
    for argument in arguments {
        let (name, value) = argument.split_once('=').unwrap_or(("", argument));
        let fields = [string("Argument.name", name), string("Argument.value", value)].concat();
        let _ = writeln!(
            items,
            "<elementProp name=\"{}\" elementType=\"{kind}\">{fields}</elementProp>",
            escaped(name)
        );
    }
    items.push_str("</collectionProp>\n");
    match outer {
        "" => text.push_str(&items),
        outer => {
            let _ = writeln!(
                text,
                "<elementProp name=\"{outer}\" elementType=\"Arguments\">{items}</elementProp>"
            );
        }
    }
}

fn string(name: &str, value: &str) -> String {
    format!("<stringProp name=\"{name}\">{}</stringProp>\n", escaped(value))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}
