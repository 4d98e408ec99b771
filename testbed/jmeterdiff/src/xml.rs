//! Test plans from lines: one element per line, indented below its parent by two spaces. After its class and its name,
//! properties follow, with ` | ` between:
//!
//! | property | meaning |
//! |---|---|
//! | `NAME=VALUE` | a property; [`SHORT`] has short names |
//! | `arg:NAME=VALUE`, `enc:...` | an argument: as written, encoded |
//! | `typed:NAME=VALUE;TYPE` | an argument with its media type |
//! | `header:NAME=VALUE` | a header |
//! | `text:VALUE` | a pattern of an assertion |
//! | `file:PATH;PARAMETER;TYPE` | a file of a request |
//! | `cookie:NAME;VALUE;DOMAIN;PATH` | a cookie |
//! | `auth:URL;USER;PASSWORD;MECHANISM` | credentials |
//! | `names:A,B`, `values:1,2` | User Parameters: names, and the values of one user |
//! | `save:NAME,NAME` | the columns of a listener |
//!
//! `-` before the class disables the element. `\n` in a value is a line end.

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
    ("auto", "HTTPSampler.auto_redirects"),
    ("keepalive", "HTTPSampler.use_keepalive"),
    ("multipart", "HTTPSampler.DO_MULTIPART_POST"),
];

/// Properties that JMeter's own forms always write.
const USUAL: &[(&str, &[(&str, &str)])] = &[
    (
        "HTTPSamplerProxy",
        &[
            ("HTTPSampler.method", "GET"),
            ("HTTPSampler.follow_redirects", "true"),
            ("HTTPSampler.use_keepalive", "true"),
        ],
    ),
    ("ThreadGroup", GROUP),
    ("SetupThreadGroup", GROUP),
    ("PostThreadGroup", GROUP),
];
const GROUP: &[(&str, &str)] = &[
    ("ThreadGroup.on_sample_error", "continue"),
    ("ThreadGroup.num_threads", "1"),
    ("ThreadGroup.ramp_time", "0"),
    ("loops", "1"),
];

/// All parts of a sample that a listener can save.
const COLUMNS: &[&str] = &[
    "time",
    "latency",
    "timestamp",
    "success",
    "label",
    "code",
    "message",
    "threadName",
    "dataType",
    "encoding",
    "assertions",
    "subresults",
    "responseData",
    "samplerData",
    "xml",
    "fieldNames",
    "responseHeaders",
    "requestHeaders",
    "responseDataOnError",
    "saveAssertionResultsFailureMessage",
    "bytes",
    "sentBytes",
    "url",
    "fileName",
    "hostname",
    "threadCounts",
    "sampleCount",
    "idleTime",
    "connectTime",
];

/// Returns the XML of a plan.
pub fn plan(lines: &str) -> String {
    let lines: Vec<(usize, &str)> =
        lines.lines().map(|line| ((line.len() - line.trim_start().len()) / 2, line.trim())).collect();
    let mut text = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<jmeterTestPlan version=\"1.2\" properties=\"5.0\" \
         jmeter=\"5.6.3\">\n<hashTree>\n",
    );
    elements(&lines, 0, &mut text);
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
    // Writing to a string cannot fail, here and below.
    let _ = writeln!(
        text,
        "<{class} guiclass=\"{form}\" testclass=\"{class}\" testname=\"{}\" enabled=\"{enabled}\">",
        escaped(name)
    );
    let parts: Vec<&str> = parts.collect();
    let of = |kind: &str| parts.iter().filter_map(|part| part.strip_prefix(kind)).collect::<Vec<_>>();
    let is_plain = |part: &&&str| !part.split('=').next().unwrap_or_default().contains(':');
    let given: Vec<(&str, &str)> = parts
        .iter()
        .filter(is_plain)
        .map(|part| part.split_once('=').unwrap_or((part, "")))
        .map(|(name, value)| {
            (SHORT.iter().find(|(short, _)| *short == name).map_or(name, |(_, long)| long), value)
        })
        .collect();
    let usual = USUAL.iter().find(|(known, _)| *known == class).map_or(&[][..], |(_, all)| all);
    let usual = usual.iter().filter(|(name, _)| !given.iter().any(|(known, _)| known == name));
    for (name, value) in given.iter().chain(usual) {
        text.push_str(&match *name {
            "loops" if class.ends_with("ThreadGroup") => format!(
                "<elementProp name=\"ThreadGroup.main_controller\" elementType=\"LoopController\" \
                 testname=\"Loop Controller\">\
                 {}{}</elementProp>\n",
                property("LoopController.continue_forever", "false"),
                property("LoopController.loops", value)
            ),
            name => property(name, value),
        });
    }
    arguments(class, &parts, text);
    collection(
        "HTTPFileArgs.files",
        "HTTPFileArg",
        &of("file:"),
        &["File.path", "File.paramname", "File.mimetype"],
        text,
    );
    collection(
        "CookieManager.cookies",
        "Cookie",
        &of("cookie:"),
        &["", "Cookie.value", "Cookie.domain", "Cookie.path"],
        text,
    );
    let fields =
        ["Authorization.url", "Authorization.username", "Authorization.password", "Authorization.mechanism"];
    collection("AuthManager.auth_list", "Authorization", &of("auth:"), &fields, text);
    let headers: Vec<String> = of("header:").iter().map(|header| header.replacen('=', ";", 1)).collect();
    let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
    collection("HeaderManager.headers", "Header", &headers, &["Header.name", "Header.value"], text);
    if !of("text:").is_empty() {
        list("Asserion.test_strings", &of("text:"), text);
    }
    if let Some(names) = of("names:").first() {
        list("UserParameters.names", &names.split(',').collect::<Vec<_>>(), text);
        text.push_str("<collectionProp name=\"UserParameters.thread_values\">\n");
        of("values:").iter().for_each(|values| list("user", &values.split(',').collect::<Vec<_>>(), text));
        text.push_str("</collectionProp>\n");
    }
    if let Some(columns) = of("save:").first() {
        text.push_str("<objProp><name>saveConfig</name><value class=\"SampleSaveConfiguration\">\n");
        for column in COLUMNS {
            let is_on = columns.split(',').any(|known| known == *column);
            let _ = writeln!(text, "<{column}>{is_on}</{column}>");
        }
        text.push_str("<assertionsResultsToSave>0</assertionsResultsToSave></value></objProp>\n");
    }
    let _ = writeln!(text, "</{class}>");
}

fn arguments(class: &str, parts: &[&str], text: &mut String) {
    let (outer, kind) = match class {
        "TestPlan" => ("TestPlan.user_defined_variables", "Argument"),
        "Arguments" => ("", "Argument"),
        "JavaSampler" => ("arguments", "Argument"),
        "HTTPSamplerProxy" | "ConfigTestElement" => ("HTTPsampler.Arguments", "HTTPArgument"),
        _ => return,
    };
    let mut items = String::from("<collectionProp name=\"Arguments.arguments\">\n");
    for part in parts {
        let Some((kind_of, rest)) = part.split_once(':') else { continue };
        let (name, value) = rest.split_once('=').unwrap_or(("", rest));
        let (value, more) = match kind_of {
            "arg" => (value, String::new()),
            "enc" => (value, property("HTTPArgument.always_encode", "true")),
            "typed" => {
                let (value, media) = value.split_once(';').unwrap_or((value, ""));
                (value, property("HTTPArgument.content_type", media))
            }
            _ => continue,
        };
        let fields = [string("Argument.name", name), string("Argument.value", value), more].concat();
        let equals =
            if kind == "HTTPArgument" { property("HTTPArgument.use_equals", "true") } else { String::new() };
        let _ = writeln!(
            items,
            "<elementProp name=\"{}\" elementType=\"{kind}\">{fields}{equals}\
             <stringProp name=\"Argument.metadata\">=</stringProp></elementProp>",
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

/// Writes elements with fields; a field without a name is that of the element.
fn collection(name: &str, kind: &str, items: &[&str], fields: &[&str], text: &mut String) {
    if items.is_empty() {
        return;
    }
    let mut all = format!("<collectionProp name=\"{name}\">\n");
    for item in items {
        let values: Vec<&str> = item.split(';').collect();
        let pairs = || fields.iter().zip(&values);
        let own = pairs().find(|(field, _)| field.is_empty()).map_or("", |(_, value)| value);
        let inner: String = pairs()
            .filter(|(field, _)| !field.is_empty())
            .map(|(field, value)| string(field, value))
            .collect();
        let _ = writeln!(
            all,
            "<elementProp name=\"{}\" elementType=\"{kind}\" testname=\"{}\">{inner}</elementProp>",
            escaped(own),
            escaped(own)
        );
    }
    all.push_str("</collectionProp>\n");
    if kind == "HTTPFileArg" {
        let _ = write!(
            text,
            "<elementProp name=\"HTTPsampler.Files\" elementType=\"HTTPFileArgs\">{all}</elementProp>"
        );
        return;
    }
    text.push_str(&all);
}

fn list(name: &str, values: &[&str], text: &mut String) {
    let _ = writeln!(text, "<collectionProp name=\"{name}\">");
    for (number, value) in values.iter().enumerate() {
        text.push_str(&string(&number.to_string(), value));
    }
    text.push_str("</collectionProp>\n");
}

fn property(name: &str, value: &str) -> String {
    match value {
        "true" | "false" => format!("<boolProp name=\"{name}\">{value}</boolProp>\n"),
        _ => string(name, value),
    }
}

fn string(name: &str, value: &str) -> String {
    format!("<stringProp name=\"{name}\">{}</stringProp>\n", escaped(value))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('"', "&quot;")
        .replace("\\n", "&#xa;")
        .replace("\\x10", "&#x10;")
}
