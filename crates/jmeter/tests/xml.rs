//! Short ways to write test plans.

/// An element with the elements below it. `kind` of a property is `s`, `b`, or `i`; `x` is XML.
pub fn element(class: &str, name: &str, properties: &[(&str, &str, &str)], below: &str) -> String {
    let properties: String = properties
        .iter()
        .map(|(kind, name, value)| {
            let kind = match *kind {
                "b" => "boolProp",
                "i" => "intProp",
                "x" => return (*value).to_owned(),
                _ => "stringProp",
            };
            format!("<{kind} name=\"{name}\">{}</{kind}>", escaped(value))
        })
        .collect();
    format!(
        "<{class} guiclass=\"x\" testclass=\"{class}\" testname=\"{}\" enabled=\"true\">\
         {properties}</{class}><hashTree>{below}</hashTree>",
        escaped(name)
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

/// A list of texts as a property.
pub fn texts(name: &str, values: &[&str]) -> String {
    let values: String = values
        .iter()
        .enumerate()
        .map(|(at, value)| format!("<stringProp name=\"{at}\">{}</stringProp>", escaped(value)))
        .collect();
    format!("<collectionProp name=\"{name}\">{values}</collectionProp>")
}

/// A whole plan with user-defined variables.
pub fn plan(variables: &[(&str, &str)], below: &str) -> String {
    let variables: String = variables
        .iter()
        .map(|(name, value)| {
            format!(
                "<elementProp name=\"{name}\" elementType=\"Argument\">\
                 <stringProp name=\"Argument.name\">{name}</stringProp>\
                 <stringProp name=\"Argument.value\">{}</stringProp></elementProp>",
                escaped(value)
            )
        })
        .collect();
    let variables = format!(
        "<elementProp name=\"TestPlan.user_defined_variables\" elementType=\"Arguments\">\
         <collectionProp name=\"Arguments.arguments\">{variables}</collectionProp></elementProp>"
    );
    let plan = element("TestPlan", "Plan", &[("x", "", &variables)], below);
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\
         <jmeterTestPlan version=\"1.2\" properties=\"5.0\" jmeter=\"5.6.3\"><hashTree>{plan}</hashTree>\
         </jmeterTestPlan>"
    )
}

/// A thread group.
pub fn group(threads: u32, loops: u32, below: &str) -> String {
    group_with("ThreadGroup", "Group", threads, loops, "continue", below)
}

pub fn group_with(class: &str, name: &str, threads: u32, loops: u32, on_error: &str, below: &str) -> String {
    let controller = format!(
        "<elementProp name=\"ThreadGroup.main_controller\" elementType=\"LoopController\">\
         <boolProp name=\"LoopController.continue_forever\">false</boolProp>\
         <stringProp name=\"LoopController.loops\">{loops}</stringProp></elementProp>"
    );
    let threads = threads.to_string();
    let properties = [
        ("s", "ThreadGroup.on_sample_error", on_error),
        ("x", "", controller.as_str()),
        ("s", "ThreadGroup.num_threads", threads.as_str()),
        ("s", "ThreadGroup.ramp_time", "0"),
        ("b", "ThreadGroup.same_user_on_next_iteration", "true"),
    ];
    element(class, name, &properties, below)
}

/// A GET request to the server of the tests.
pub fn get(name: &str, path: &str, below: &str) -> String {
    request(name, "GET", path, &[], below)
}

pub fn request(name: &str, method: &str, path: &str, more: &[(&str, &str, &str)], below: &str) -> String {
    let mut properties = vec![
        ("s", "HTTPSampler.domain", "server.test"),
        ("s", "HTTPSampler.port", ""),
        ("s", "HTTPSampler.protocol", "http"),
        ("s", "HTTPSampler.path", path),
        ("s", "HTTPSampler.method", method),
        ("b", "HTTPSampler.follow_redirects", "true"),
        ("b", "HTTPSampler.auto_redirects", "false"),
        ("b", "HTTPSampler.use_keepalive", "true"),
    ];
    properties.extend_from_slice(more);
    element("HTTPSamplerProxy", name, &properties, below)
}

/// The arguments of a request: name, value, and whether it is encoded.
pub fn arguments(all: &[(&str, &str, bool)]) -> String {
    let all: String = all
        .iter()
        .map(|(name, value, is_encoded)| {
            format!(
                "<elementProp name=\"{name}\" elementType=\"HTTPArgument\">\
                 <boolProp name=\"HTTPArgument.always_encode\">{is_encoded}</boolProp>\
                 <stringProp name=\"Argument.name\">{name}</stringProp>\
                 <stringProp name=\"Argument.value\">{}</stringProp>\
                 <stringProp name=\"Argument.metadata\">=</stringProp></elementProp>",
                escaped(value)
            )
        })
        .collect();
    format!(
        "<elementProp name=\"HTTPsampler.Arguments\" elementType=\"Arguments\">\
         <collectionProp name=\"Arguments.arguments\">{all}</collectionProp></elementProp>"
    )
}

/// Headers of requests in scope.
pub fn headers(all: &[(&str, &str)]) -> String {
    let all: String = all
        .iter()
        .map(|(name, value)| {
            format!(
                "<elementProp name=\"\" elementType=\"Header\">\
                 <stringProp name=\"Header.name\">{name}</stringProp>\
                 <stringProp name=\"Header.value\">{}</stringProp></elementProp>",
                escaped(value)
            )
        })
        .collect();
    let list = format!("<collectionProp name=\"HeaderManager.headers\">{all}</collectionProp>");
    element("HeaderManager", "Headers", &[("x", "", &list)], "")
}

pub fn controller(class: &str, properties: &[(&str, &str, &str)], below: &str) -> String {
    element(class, class, properties, below)
}
