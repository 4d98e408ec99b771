//! TypeScript to JavaScript: types are removed, enumerations and namespaces become code, and unused imports disappear.

use crate::parse::{self, Code, Language};
use crate::problem;
use crate::text::{Text, line_starts};
use oxc_allocator::Allocator;
use oxc_ast::AstKind;
use oxc_ast::ast::Program;
use oxc_codegen::{Codegen, CodegenOptions, CommentOptions};
use oxc_semantic::Semantic;
use oxc_transformer::{TransformOptions, Transformer};
use plimsoll_plan::Diagnostic;
use std::path::{Path, PathBuf};

/// Returns the JavaScript of a TypeScript source.
///
/// # Errors
/// Returns every syntax error and every decorator with its place.
pub fn strip(text: &Text) -> Result<Code, Vec<Diagnostic>> {
    let shown = |wrong| parse::diagnostics(wrong, text, |at| at);
    let allocator = Allocator::default();
    let mut program = parse::parse(&allocator, &text.source, Language::TypeScript).map_err(shown)?;
    let is_module = program.source_type.is_module();
    let scoping = {
        let semantic = parse::resolve(&program).map_err(shown)?;
        refuse_decorators(&semantic, text)?;
        semantic.into_scoping()
    };
    let options = TransformOptions::default();
    let done = Transformer::new(&allocator, Path::new(&text.file), &options)
        .build_with_scoping(scoping, &mut program);
    let wrong = parse::errors(done.diagnostics.into_vec());
    if !wrong.is_empty() {
        return Err(shown(wrong));
    }
    let language = if is_module { Language::EsModule } else { Language::JavaScript };
    let (printed, tokens) = print(&program, &text.source);
    Ok(Code { text: printed, tokens, language })
}

fn refuse_decorators(semantic: &Semantic<'_>, text: &Text) -> Result<(), Vec<Diagnostic>> {
    let decorators = semantic.nodes().iter().filter_map(|node| match node.kind() {
        AstKind::Decorator(decorator) => Some(problem::at(
            problem::UNSUPPORTED,
            text.place(decorator.span.start),
            "decorators are not supported",
            "call the decorating function, or compile the script with a bundler",
        )),
        _ => None,
    });
    let wrong: Vec<Diagnostic> = decorators.collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

fn print(program: &Program<'_>, source: &str) -> (String, Vec<(u32, u32)>) {
    let options = CodegenOptions {
        comments: CommentOptions::disabled(),
        source_map_path: Some(PathBuf::from("source")),
        ..CodegenOptions::default()
    };
    let printed = Codegen::new().with_options(options).build(program);
    let (mut from, mut to) = (Columns::new(&printed.code), Columns::new(source));
    let mut tokens: Vec<(u32, u32)> = Vec::new();
    if let Some(map) = &printed.map {
        for token in map.get_tokens() {
            if token.get_source_id().is_some() {
                let code = from.byte(token.get_dst_line(), token.get_dst_col());
                tokens.push((code, to.byte(token.get_src_line(), token.get_src_col())));
            }
        }
    }
    tokens.sort_by_key(|token| token.0);
    tokens.dedup_by_key(|token| token.0);
    (printed.code, tokens)
}

/// Bytes of positions in lines (from 0) and UTF-16 code units (from 0), as source maps count. Positions mostly ascend,
/// so each search continues where the last one ended.
struct Columns<'a> {
    text: &'a str,
    lines: Vec<u32>,
    /// Line, column, and byte of the last position.
    last: (u32, u32, u32),
}

impl<'a> Columns<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, lines: line_starts(text), last: (0, 0, 0) }
    }

    fn byte(&mut self, line: u32, column: u32) -> u32 {
        let end = self.text.len() as u32;
        let (last_line, last_column, last_byte) = self.last;
        let (mut units, start) = if line == last_line && column >= last_column {
            (last_column, last_byte)
        } else {
            (0, self.lines.get(line as usize).copied().unwrap_or(end))
        };
        let mut at = start;
        for letter in self.text[start as usize..].chars() {
            if units >= column || letter == '\n' {
                break;
            }
            units += letter.len_utf16() as u32;
            at += letter.len_utf8() as u32;
        }
        self.last = (line, units, at);
        at
    }
}
