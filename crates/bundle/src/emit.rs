//! The factory of a module: its code with imports, exports, and a few other pieces replaced.

mod es;
mod value;

use crate::link::Linker;
use crate::map::Map;
use crate::scan::{Edit, Scan};
use value::Values;

/// Returns the factory of a module, and the way back to its source.
pub fn factory(linker: &Linker<'_>, module: usize) -> (String, Map) {
    let node = &linker.nodes[module];
    let scan = &node.scan;
    let values = Values { linker, module };
    let (before, after) = if scan.is_es { es::frame(&values) } else { (String::new(), String::new()) };
    let mut edits: Vec<Edit> = Vec::new();
    for edit in &scan.edits {
        edits.push(Edit { start: edit.start, end: edit.end, text: edit.text.clone() });
    }
    edits.extend(es::references(&values));
    for import in &scan.dynamic {
        let breaks = &node.code.text[import.start as usize..import.end as usize];
        let breaks = "\n".repeat(breaks.matches('\n').count());
        let text = format!("Promise.resolve().then(() => {}){breaks}", values.namespace(import.request));
        edits.push(Edit { start: import.start, end: import.end, text });
    }
    edits.sort_by_key(|edit| (edit.start, edit.end));

    let params = &scan.params;
    let mut out = format!(
        "({}function ({}, {}, {}, {}) {{",
        if linker.is_async(module) { "async " } else { "" },
        params.exports,
        params.require,
        params.module,
        params.meta
    );
    out.push_str(&before);
    let mut map = Map::new(node.code.tokens.clone());
    map.replace(0, 0);
    apply(&node.code.text, &edits, &mut out, &mut map);
    map.replace(out.len(), node.code.text.len() as u32);
    // The code may end with a comment or without a semicolon.
    out.push_str("\n;");
    out.push_str(&after);
    out.push_str(&peek(scan));
    out.push_str("})");
    map.finish(&out);
    (out, map)
}

/// Copies the code with its edits.
fn apply(code: &str, edits: &[Edit], out: &mut String, map: &mut Map) {
    let mut at = 0;
    for edit in edits {
        // What is inside of a replaced statement is replaced with it.
        if edit.start < at {
            continue;
        }
        if edit.start > at {
            map.copy(out.len(), at);
            out.push_str(&code[at as usize..edit.start as usize]);
        }
        map.replace(out.len(), edit.start);
        out.push_str(&edit.text);
        at = edit.end;
    }
    map.copy(out.len(), at);
    out.push_str(&code[at as usize..]);
}

/// Returns the code that lets the host see the variables of the top level.
fn peek(scan: &Scan) -> String {
    if scan.variables.is_empty() {
        return String::new();
    }
    let module = &scan.params.module;
    format!(" if ({module}.peek) {module}.peek = () => [{}];", scan.variables.join(", "))
}
