//! Variables `K6_*`: those of flags, and those without one.

use super::{FLAGS, Kind, Source};
use plimsoll_plan::Problem;
use serde_json::Value;

/// Variables of options that have no flag, with their keys.
pub const OPTION_VARIABLES: [(&str, &str); 3] = [
    ("K6_SETUP_TIMEOUT", "setupTimeout"),
    ("K6_TEARDOWN_TIMEOUT", "teardownTimeout"),
    ("K6_NO_COOKIES_RESET", "noCookiesReset"),
];

/// Variables without a flag that k6 reads and plimsoll does not, with advice. `*` at the end means any rest.
const REFUSED: [(&str, &str); 4] = [
    (
        "K6_WEB_DASHBOARD*",
        "plimsoll writes its report as HTML: `--save FILE.plim`, and `plimsoll report --html`",
    ),
    ("K6_THRESHOLDS", "set `thresholds` in the script or in the file of `--config`"),
    ("K6_TLSAUTH", "set `tlsAuth` in the script or in the file of `--config`"),
    ("K6_TLS_CIPHER_SUITES", "set `tlsCipherSuites` in the script or in the file of `--config`"),
];

/// Sets what variables set. An empty variable is unset.
pub(super) fn apply(source: &mut Source, variables: &[(String, String)]) -> Result<(), Problem> {
    let set: Vec<&(String, String)> = variables.iter().filter(|(_, value)| !value.is_empty()).collect();
    let value_of = |name: &str| set.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str());
    for flag in FLAGS {
        let Some((name, value)) = flag.variable.and_then(|name| Some((name, value_of(name)?))) else {
            continue;
        };
        match flag.kind {
            Kind::Unsupported(_) if is_default(name, value) => {}
            Kind::Unsupported(hint) => return Err(refused(name, hint)),
            _ => super::apply::set(source, flag, value, true)
                .map_err(|problem| problem.within(format!("`{name}`: ")))?,
        }
    }
    for (name, key) in OPTION_VARIABLES {
        let Some(value) = value_of(name) else { continue };
        let value = match value {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            text => Value::from(text),
        };
        source.layer.settings.set(key, &value).map_err(|problem| problem.within(format!("`{name}`: ")))?;
    }
    for (name, value) in set {
        let found = REFUSED.iter().find(|(pattern, _)| match pattern.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == pattern,
        });
        if let Some((_, hint)) = found.filter(|_| !is_default(name, value)) {
            return Err(refused(name, hint));
        }
    }
    Ok(())
}

fn refused(name: &str, hint: &str) -> Problem {
    Problem::new(format!("`{name}` is not supported"), hint)
}

/// Returns whether a value of a refused variable is what k6 does without it.
fn is_default(name: &str, value: &str) -> bool {
    match name {
        "K6_TRACES_OUTPUT" => value == "none",
        "K6_TYPE" => value == "js",
        _ => value == "false",
    }
}
