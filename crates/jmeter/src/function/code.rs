//! Functions whose argument is code.

use crate::scope::Scope;
use crate::script::{Context, Language};
use crate::template::Call;

pub fn groovy(call: &Call, scope: &mut Scope<'_>) -> String {
    run(call, scope, Language::Groovy)
}

pub fn javascript(call: &Call, scope: &mut Scope<'_>) -> String {
    run(call, scope, Language::JavaScript)
}

pub fn jexl(call: &Call, scope: &mut Scope<'_>) -> String {
    run(call, scope, Language::Jexl)
}

fn run(call: &Call, scope: &mut Scope<'_>, language: Language) -> String {
    let code = call.argument(0, scope);
    let value = match evaluate(&code, language, scope) {
        Ok(value) => value,
        Err(why) => return super::without_value(scope, "code of a function", &format!("{why}, in `{code}`")),
    };
    call.store(1, &value, scope);
    value
}

/// Returns the value of code as text; empty for null.
///
/// # Errors
/// Returns why it has none.
pub fn evaluate(code: &str, language: Language, scope: &mut Scope<'_>) -> Result<String, String> {
    let script = scope.caches.script(code, language);
    let script = script.as_ref().as_ref().map_err(|refused| format!("{} is not supported", refused.what))?;
    let label = scope.sampler.to_owned();
    let mut context =
        Context { scope, sample: None, parameters: String::new(), label, failure: (false, String::new()) };
    let outcome = script.run(&mut context)?;
    Ok(if outcome.value.is_null() { String::new() } else { outcome.value.to_text(language) })
}
