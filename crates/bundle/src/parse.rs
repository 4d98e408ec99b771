//! Parsing: the language of a file, and syntax errors with their places.

use crate::problem;
use crate::text::Text;
use oxc_allocator::Allocator;
use oxc_ast::ast::Program;
use oxc_diagnostics::OxcDiagnostic;
use oxc_parser::{ParseOptions, Parser};
use oxc_semantic::{Semantic, SemanticBuilder};
use oxc_span::SourceType;
use plimsoll_plan::Diagnostic;

/// JavaScript that is ready to be analyzed, and its relation to the source.
#[derive(Debug, Clone)]
pub struct Code {
    pub text: String,
    /// For TypeScript: bytes of `text` and the corresponding bytes of the source, ascending.
    pub tokens: Vec<(u32, u32)>,
    pub language: Language,
}

/// The language of a file, from its extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// JavaScript of either module format; the text decides.
    JavaScript,
    /// JavaScript that must be an ES module.
    EsModule,
    /// JavaScript that must be a CommonJS module.
    CommonJs,
    /// TypeScript of either module format.
    TypeScript,
    Jsx,
}

impl Language {
    /// Returns the language of an extension; files without a known one are JavaScript.
    pub fn of(extension: &str) -> Self {
        match extension {
            "mjs" => Self::EsModule,
            "cjs" => Self::CommonJs,
            "ts" | "mts" | "cts" => Self::TypeScript,
            "jsx" | "tsx" => Self::Jsx,
            _ => Self::JavaScript,
        }
    }

    fn source_type(self) -> SourceType {
        match self {
            Self::JavaScript | Self::Jsx => SourceType::unambiguous(),
            Self::EsModule => SourceType::mjs(),
            Self::CommonJs => SourceType::cjs(),
            Self::TypeScript => SourceType::ts(),
        }
    }
}

/// How plimsoll parses: CommonJS may return at the top level, and regular expressions are checked.
pub fn options() -> ParseOptions {
    ParseOptions {
        parse_regular_expression: true,
        allow_return_outside_function: true,
        preserve_parens: false,
        ..ParseOptions::default()
    }
}

/// Parses a text, and returns every syntax error with the byte at which it is.
pub fn parse<'a>(
    allocator: &'a Allocator,
    text: &'a str,
    language: Language,
) -> Result<Program<'a>, Vec<(OxcDiagnostic, u32)>> {
    let parsed = Parser::new(allocator, text, language.source_type()).with_options(options()).parse();
    let wrong = errors(parsed.diagnostics.into_vec());
    if wrong.is_empty() && !parsed.panicked { Ok(parsed.program) } else { Err(wrong) }
}

/// Resolves the names of a program, and returns every mistake that needs them.
pub fn resolve<'a>(program: &'a Program<'a>) -> Result<Semantic<'a>, Vec<(OxcDiagnostic, u32)>> {
    let built = SemanticBuilder::new_compiler().with_build_nodes(true).with_enum_eval(true).build(program);
    let wrong = errors(built.diagnostics.into_vec());
    if wrong.is_empty() { Ok(built.semantic) } else { Err(wrong) }
}

pub fn errors(all: Vec<OxcDiagnostic>) -> Vec<(OxcDiagnostic, u32)> {
    let with_place = all.into_iter().map(|one| {
        let at = one.labels.first().map_or(0, |label| label.offset());
        (one, at)
    });
    with_place.collect()
}

/// Turns the parser's messages into diagnostics. `source_of` maps a byte of the parsed text to one of the source.
pub fn diagnostics(
    wrong: Vec<(OxcDiagnostic, u32)>,
    text: &Text,
    source_of: impl Fn(u32) -> u32,
) -> Vec<Diagnostic> {
    let mut out: Vec<Diagnostic> = Vec::new();
    for (one, at) in wrong {
        let place = text.place(source_of(at));
        let next = if one.message.contains("JSX") {
            problem::at(problem::UNSUPPORTED, place, problem::JSX.0, problem::JSX.1)
        } else {
            let hint = one.help.as_deref().map(lower_fragment).unwrap_or_default();
            problem::at(
                problem::SYNTAX,
                place,
                format!("syntax error: {}", lower_fragment(&one.message)),
                hint,
            )
        };
        if !out.contains(&next) {
            out.push(next);
        }
    }
    if out.is_empty() {
        out.push(problem::at(problem::SYNTAX, text.place(0), "syntax error: the file cannot be parsed", ""));
    }
    out
}

/// Returns a message as a fragment in lower case, without a period. Names in quotes keep their case.
fn lower_fragment(message: &str) -> String {
    let message = message.trim().trim_end_matches('.');
    let mut letters = message.chars();
    let Some(first) = letters.next() else { return String::new() };
    let second_is_lower = letters.clone().next().is_none_or(|second| !second.is_uppercase());
    if second_is_lower { first.to_lowercase().chain(letters).collect() } else { message.to_owned() }
}
