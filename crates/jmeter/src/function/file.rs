//! Functions that read and write files.

use super::without_value;
use crate::scope::Scope;
use crate::template::Call;

/// What JMeter returns for a file that it cannot read.
const ERROR: &str = "**ERR**";

pub fn file_to_string(call: &Call, scope: &mut Scope<'_>) -> String {
    let name = call.argument(0, scope);
    let value = match scope.run.files.read(name.trim()) {
        Ok(text) => text,
        Err(why) => {
            scope.run.warn_once(&format!("__FileToString: {why}"));
            ERROR.to_owned()
        }
    };
    call.store(2, &value, scope);
    value
}

/// `__StringToFile(file, text, append, encoding)`
pub fn string_to_file(call: &Call, scope: &mut Scope<'_>) -> String {
    let (name, text) = (call.argument(0, scope), call.argument(1, scope));
    let appends = call
        .optional(2, scope)
        .is_none_or(|flag| flag.trim().is_empty() || flag.trim().eq_ignore_ascii_case("true"));
    let name = name.trim();
    let written = match appends {
        true => scope.run.files.append(name, &text),
        false => scope.run.files.truncate(name).and_then(|()| scope.run.files.append(name, &text)),
    };
    let is_written = written.and_then(|()| scope.run.files.flush(name));
    match is_written {
        Ok(()) => "true".to_owned(),
        Err(why) => {
            without_value(scope, "__StringToFile", &why);
            "false".to_owned()
        }
    }
}

/// The next line of a file, over all threads; at its end, the first line again. With numbers as third and fourth
/// argument, the name of the file has a `#` pattern and the files follow one another.
pub fn string_from_file(call: &Call, scope: &mut Scope<'_>) -> String {
    let name = call.argument(0, scope);
    let line = scope.run.data.next_line(call.instance, name.trim(), &scope.run.files);
    let value = match line {
        Ok(line) => line,
        Err(why) => {
            scope.run.warn_once(&format!("__StringFromFile: {why}"));
            ERROR.to_owned()
        }
    };
    let variable = call.optional(1, scope).unwrap_or_else(|| "StringFromFile_".to_owned());
    if !variable.trim().is_empty() {
        scope.vars.set(variable.trim(), &value);
    }
    value
}

/// `__CSVRead(file, column)`; `next` as the column moves on to the next row of this thread.
pub fn csv_read(call: &Call, scope: &mut Scope<'_>) -> String {
    let (name, column) = (call.argument(0, scope), call.argument(1, scope));
    let thread = &*scope.thread.name;
    let read = match column.trim() {
        "next" | "next()" => {
            scope.run.data.next_row(thread, name.trim());
            return String::new();
        }
        alias if alias.starts_with('*') => {
            let alias = if alias == "*" { name.trim() } else { alias };
            scope.run.data.name_file(alias, name.trim());
            return String::new();
        }
        number => match number.parse() {
            Ok(number) => scope.run.data.cell(thread, name.trim(), number, &scope.run.files),
            Err(_) => Err(format!("invalid column `{number}`")),
        },
    };
    read.unwrap_or_else(|why| without_value(scope, "__CSVRead", &why))
}
