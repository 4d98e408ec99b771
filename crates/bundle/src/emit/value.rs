//! Expressions for imported values, from what `require` returns.

use crate::link::Linker;
use crate::module::Target;
use crate::scan::Scan;

/// Writes expressions for one module.
pub struct Values<'v, 'n> {
    pub linker: &'v Linker<'n>,
    pub module: usize,
}

/// The way in which a target keeps its exports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// An object with all exports, and `default` among them.
    Namespace,
    /// `module.exports`.
    CommonJs,
    /// The value of a JSON file.
    Json,
}

impl<'n> Values<'_, 'n> {
    pub fn scan(&self) -> &'n Scan {
        &self.linker.nodes[self.module].scan
    }

    pub fn shape(&self, request: usize) -> Shape {
        match self.linker.nodes[self.module].targets[request] {
            Target::Module(target) if !self.linker.nodes[target].scan.is_es => Shape::CommonJs,
            Target::Json(_) => Shape::Json,
            _ => Shape::Namespace,
        }
    }

    /// Returns the value of a name, or of the namespace, where `module` holds what `require` returned.
    pub fn of(&self, request: usize, imported: Option<&str>, module: &str) -> String {
        match (self.shape(request), imported) {
            (Shape::Namespace, None) => module.to_owned(),
            (Shape::Json, Some("default")) => module.to_owned(),
            (Shape::Json, _) => format!("({{default: {module}}})"),
            (Shape::CommonJs, Some("default")) => {
                format!(
                    "({module} && {module}.__esModule && 'default' in {module} ? {module}.default : {module})"
                )
            }
            (Shape::CommonJs, None) => {
                format!(
                    "({module} && {module}.__esModule ? {module} \
                     : Object.assign({{}}, {module}, {{default: {module}}}))"
                )
            }
            (_, Some(name)) => format!("{module}{}", member(name)),
        }
    }

    /// Returns the namespace of a request that is evaluated here.
    pub fn namespace(&self, request: usize) -> String {
        let call = format!("{}({request})", self.scan().params.require);
        match self.shape(request) {
            Shape::Namespace => call,
            Shape::Json => format!("({{default: {call}}})"),
            Shape::CommonJs => format!("((m) => {})({call})", self.of(request, None, "m")),
        }
    }

    pub fn is_constant(&self, request: usize, imported: Option<&str>) -> bool {
        self.linker.is_constant(self.module, request, imported)
    }
}

/// Returns the access to a member: `.name` or `["a name"]`.
pub fn member(name: &str) -> String {
    if is_identifier(name) { format!(".{name}") } else { format!("[{}]", quoted(name)) }
}

/// Returns a name as the key of a property.
pub fn key(name: &str) -> String {
    if is_identifier(name) { name.to_owned() } else { quoted(name) }
}

fn is_identifier(name: &str) -> bool {
    let mut bytes = name.bytes();
    let is_start = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_' || byte == b'$';
    bytes.next().is_some_and(is_start) && bytes.all(|byte| is_start(byte) || byte.is_ascii_digit())
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
