//! JSON Schema.

use super::Row;
use plimsoll_body::ValueSchema;
use plimsoll_quickjs::{Call, Thrown, Value};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

pub(super) const ROWS: &[Row] = &[("schemaMistakes", 2, mistakes)];

/// Compiled schemas that a thread keeps; scripts have a few.
const SCHEMAS_MAX: usize = 64;

thread_local! {
    /// Schemas by their text, which all users of a worker share.
    static SCHEMAS: RefCell<BTreeMap<String, Rc<ValueSchema>>> = const { RefCell::new(BTreeMap::new()) };
}

fn compiled(text: &str) -> Result<Rc<ValueSchema>, String> {
    if let Some(known) = SCHEMAS.with_borrow(|all| all.get(text).cloned()) {
        return Ok(known);
    }
    let schema = Rc::new(ValueSchema::compile(text)?);
    SCHEMAS.with_borrow_mut(|all| {
        if all.len() >= SCHEMAS_MAX {
            all.clear();
        }
        all.insert(text.to_owned(), Rc::clone(&schema));
    });
    Ok(schema)
}

/// Validates JSON against a schema; returns a JSON array of `[place, message, keyword]`.
fn mistakes(call: &Call<'_>) -> Result<Value, Thrown> {
    let realm = call.realm();
    let (schema, value) = (call.argument(0).to_text()?, call.argument(1).to_text()?);
    let found = compiled(&schema).and_then(|schema| schema.mistakes(&value));
    match found.map(|all| serde_json::to_string(&all)) {
        Ok(Ok(json)) => Ok(realm.text(&json)),
        Ok(Err(why)) => Err(realm.error("Error", &why.to_string())),
        Err(why) => Err(realm.error("Error", &why)),
    }
}
