//! Everything that loading needs to know about one module, read from its syntax tree in one pass over its parts.

mod commonjs;
mod exports;
mod free;
mod imports;
mod nodes;
mod requires;
mod tree;
mod urls;
mod uses;

use crate::isolation::Need;
use crate::map;
use crate::module::Format;
use crate::names::Names;
use crate::parse::{self, Code};
use crate::problem;
use crate::text::Text;
use oxc_allocator::Allocator;
use oxc_ast::AstKind;
use oxc_semantic::{Semantic, SymbolId};
use plimsoll_plan::Diagnostic;
use std::collections::HashMap;

/// The facts about one module. Every `at` is a byte of the user's source; spans are bytes of the JavaScript code.
#[derive(Debug, Default)]
pub struct Scan {
    pub is_es: bool,
    pub params: Params,
    pub requests: Vec<Request>,
    pub bindings: Vec<Binding>,
    pub exports: Vec<Export>,
    /// Requests of `export * from`, with their places.
    pub stars: Vec<(usize, u32)>,
    /// Exports of a CommonJS module that its assignments show.
    pub visible: Vec<(String, u32)>,
    pub edits: Vec<Edit>,
    pub dynamic: Vec<Dynamic>,
    /// The first `await` outside of a function.
    pub top_level_await: Option<u32>,
    /// The name of an anonymous default export that must become `default`.
    pub anonymous_default: Option<String>,
    /// Variables of the top level, in source order.
    pub variables: Vec<String>,
    pub needs: Vec<NeedAt>,
    pub uses: Vec<Use>,
    pub env: Vec<(String, u32)>,
    pub env_computed: Option<u32>,
    pub opens: Vec<(Option<String>, bool, u32)>,
    pub globals: Vec<(String, u32)>,
    pub urls: Vec<UrlAt>,
    pub reads_bodies: Option<u32>,
}

/// The parameters of the factory.
#[derive(Debug, Default)]
pub struct Params {
    pub exports: String,
    pub require: String,
    pub module: String,
    pub meta: String,
    /// For each request, the variable that holds the module.
    pub modules: Vec<String>,
}

/// One specifier.
#[derive(Debug)]
pub struct Request {
    pub specifier: String,
    pub at: u32,
    /// Whether an attribute says that it is JSON.
    pub is_json: bool,
    /// Whether an `import` or `export … from` evaluates it before the module.
    pub is_static: bool,
    /// Whether `require` evaluates it.
    pub is_required: bool,
    /// Whether it is certainly evaluated. Otherwise, a missing module is an error only when the code asks for it.
    pub is_certain: bool,
}

/// A name that a static import binds. `None` is the namespace.
#[derive(Debug)]
pub struct Binding {
    pub request: usize,
    pub imported: Option<String>,
    pub local: String,
    pub at: u32,
    pub references: Vec<Reference>,
}

/// A use of an imported name.
#[derive(Debug)]
pub struct Reference {
    pub start: u32,
    pub end: u32,
    pub form: Form,
}

/// How a reference is written after its name has become a member of a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `name` -> `m.name`
    Plain,
    /// `name()` -> `(0, m.name)()`, so that `this` stays undefined.
    Callee,
    /// The same at the beginning of a statement, where a previous line without a semicolon would call the parenthesis.
    CalleeOfStatement,
    /// `{ name }` -> `{ name: m.name }`
    Shorthand,
}

#[derive(Debug)]
pub struct Export {
    pub name: String,
    pub at: u32,
    pub value: Value,
}

/// The value of an export.
#[derive(Debug)]
pub enum Value {
    Local {
        name: String,
        is_hoisted: bool,
        is_reassigned: bool,
    },
    /// A name of another module; `None` is its namespace.
    Import {
        request: usize,
        imported: Option<String>,
    },
}

/// A replacement of a piece of code.
#[derive(Debug)]
pub struct Edit {
    pub start: u32,
    pub end: u32,
    pub text: String,
}

/// `import("…")`.
#[derive(Debug)]
pub struct Dynamic {
    pub start: u32,
    pub end: u32,
    pub request: usize,
}

/// Something that needs isolation; with a request, only if that is a built-in module.
#[derive(Debug)]
pub struct NeedAt {
    pub need: Need,
    pub why: String,
    pub at: u32,
    pub if_builtin: Option<usize>,
}

/// A use of a module: a path of members, or one that hides them.
#[derive(Debug)]
pub struct Use {
    pub request: usize,
    pub path: Option<String>,
    pub is_called: bool,
    pub at: u32,
}

#[derive(Debug)]
pub struct UrlAt {
    pub text: String,
    pub is_head: bool,
    pub is_request: bool,
    pub at: u32,
}

impl Scan {
    pub fn format(&self) -> Format {
        if self.is_es { Format::Es } else { Format::CommonJs }
    }
}

/// The value of an imported variable: a module, and the members between it and the variable.
#[derive(Debug, Clone)]
pub struct Origin {
    request: usize,
    path: Vec<String>,
}

/// The state of a scan.
pub struct Scanner<'a, 's> {
    semantic: &'s Semantic<'a>,
    text: &'s Text,
    code: &'s Code,
    names: Names,
    origins: HashMap<SymbolId, Origin>,
    wrong: Vec<Diagnostic>,
    out: Scan,
}

/// Scans a module. With the facts comes everything in it that is not supported.
///
/// # Errors
/// Returns every syntax error with its place.
pub fn scan(code: &Code, text: &Text) -> Result<(Scan, Vec<Diagnostic>), Vec<Diagnostic>> {
    let source_of = |at| map::source_of(&code.tokens, at);
    let shown = |wrong| parse::diagnostics(wrong, text, source_of);
    let allocator = Allocator::default();
    let program = parse::parse(&allocator, &code.text, code.language).map_err(shown)?;
    let semantic = parse::resolve(&program).map_err(shown)?;
    let mut scanner = Scanner {
        semantic: &semantic,
        text,
        code,
        names: Names::default(),
        origins: HashMap::new(),
        wrong: Vec::new(),
        out: Scan { is_es: program.source_type.is_module(), ..Scan::default() },
    };
    scanner.run();
    Ok((scanner.out, scanner.wrong))
}

impl<'a> Scanner<'a, '_> {
    fn run(&mut self) {
        self.collect_names();
        if let Some(bang) = &self.semantic.nodes().program().hashbang {
            self.edit(bang.span.start, bang.span.end, String::new());
        }
        self.declare_imports();
        self.declare_exports();
        self.find_requires();
        for index in 0..self.out.requests.len() {
            let name = self.names.fresh(&format!("__m{index}"));
            self.out.params.modules.push(name);
        }
        self.find_variables();
        self.visit_nodes();
        self.visit_free_names();
        self.visit_uses();
        self.out.urls.sort_by_key(|url| url.at);
    }

    /// Notes every name, and chooses the names of the parameters. CommonJS code refers to them by name.
    fn collect_names(&mut self) {
        for node in self.semantic.nodes() {
            match node.kind() {
                AstKind::IdentifierReference(one) => self.names.note(&one.name),
                AstKind::BindingIdentifier(one) => self.names.note(&one.name),
                _ => {}
            }
        }
        let chosen = ["exports", "require", "module", "meta"].map(|name| self.parameter(name));
        let [exports, require, module, meta] = chosen;
        self.out.params = Params { exports, require, module, meta, modules: Vec::new() };
    }

    fn parameter(&mut self, name: &str) -> String {
        if !self.out.is_es && self.is_free(name) {
            return name.to_owned();
        }
        self.names.fresh(&format!("__{name}"))
    }

    /// Collects the variables of the top level.
    fn find_variables(&mut self) {
        let scoping = self.semantic.scoping();
        let root = scoping.root_scope_id();
        for symbol in scoping.symbol_ids() {
            let flags = scoping.symbol_flags(symbol);
            if scoping.symbol_scope_id(symbol) == root && flags.is_variable() && !flags.is_import() {
                self.out.variables.push(scoping.symbol_name(symbol).to_owned());
            }
        }
    }

    /// Returns the byte of the source for a byte of the code.
    fn at(&self, code: u32) -> u32 {
        map::source_of(&self.code.tokens, code)
    }

    fn edit(&mut self, start: u32, end: u32, text: impl Into<String>) {
        self.out.edits.push(Edit { start, end, text: text.into() });
    }

    /// Replaces code by a text and keeps its line breaks.
    fn edit_lines(&mut self, start: u32, end: u32, text: &str) {
        let old = &self.code.text[start as usize..end as usize];
        let breaks = "\n".repeat(old.matches('\n').count());
        self.edit(start, end, format!("{text}{breaks}"));
    }

    fn refuse(&mut self, code: &'static str, at: u32, message: impl Into<String>, hint: &str) {
        let place = self.text.place(self.at(at));
        self.wrong.push(problem::at(code, place, message, hint));
    }

    fn need(&mut self, need: Need, why: impl Into<String>, at: u32) {
        let at = self.at(at);
        self.out.needs.push(NeedAt { need, why: why.into(), at, if_builtin: None });
    }

    /// Returns the request of a specifier. A specifier is one request, wherever it occurs.
    fn request(&mut self, specifier: &str, at: u32) -> usize {
        if let Some(index) = self.out.requests.iter().position(|one| one.specifier == specifier) {
            return index;
        }
        self.out.requests.push(Request {
            specifier: specifier.to_owned(),
            at: self.at(at),
            is_json: false,
            is_static: false,
            is_required: false,
            is_certain: false,
        });
        self.out.requests.len() - 1
    }
}
