//! Scripts of JSR223 and BeanShell elements, of `__jexl3`, `__groovy`, and `__javaScript`, and conditions: the part of
//! these languages that plans use most, without an engine for any of them.
//!
//! Statements are declarations, assignments, `if`, `return`, `try`, and calls of known methods of known objects:
//! `vars`, `props`, `log`, `prev`, `ctx`, texts, numbers, lists, JSON, dates, and files to append to. A script that
//! uses anything else is refused before the load, with its line ([`Refused`]).

mod known;
mod lex;
mod method;
mod object;
mod operator;
mod parse;
mod run;
mod value;

pub use run::Context;

/// The languages, as far as their meanings differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Language {
    #[default]
    Groovy,
    BeanShell,
    JavaScript,
    Jexl,
}

impl Language {
    /// Returns the language that a plan names; `None` if it is none of these.
    pub fn named(name: &str) -> Option<Language> {
        Some(match name.trim().to_ascii_lowercase().as_str() {
            "groovy" => Language::Groovy,
            "beanshell" | "bsh" | "java" => Language::BeanShell,
            "javascript" | "rhino" | "ecmascript" | "nashorn" | "js" | "jsr223" => Language::JavaScript,
            "jexl" | "jexl2" | "jexl3" => Language::Jexl,
            _ => return None,
        })
    }

    /// Whether a text and a number are equal if the text is that number.
    fn is_loose(self) -> bool {
        matches!(self, Language::JavaScript | Language::Jexl)
    }
}

/// A script that can run.
#[derive(Debug)]
pub struct Script {
    pub language: Language,
    statements: Vec<Line>,
}

/// Why a script cannot run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// Line in the script, starting at 1.
    pub line: u32,
    /// What is not supported, as a fragment.
    pub what: String,
}

/// A statement with its line, starting at 1.
#[derive(Debug)]
struct Line {
    number: u32,
    statement: Statement,
}

#[derive(Debug)]
enum Statement {
    Assign { name: String, value: Expression },
    If { condition: Expression, then: Vec<Line>, otherwise: Vec<Line> },
    Try { body: Vec<Line>, error: String, handler: Vec<Line>, last: Vec<Line> },
    Return(Option<Expression>),
    Throw(Expression),
    Evaluate(Expression),
}

#[derive(Debug)]
enum Expression {
    Null,
    Bool(bool),
    Int(i64),
    Number(f64),
    Text(String),
    /// A text with expressions in it.
    Joined(Vec<Expression>),
    List(Vec<Expression>),
    Name(String),
    /// A class, by its last name.
    Class(String),
    New(String, Vec<Expression>),
    Member(Box<Expression>, String),
    Call(Box<Expression>, String, Vec<Expression>),
    Function(String, Vec<Expression>),
    Index(Box<Expression>, Box<Expression>),
    Not(Box<Expression>),
    Negate(Box<Expression>),
    Both(Box<Expression>, Box<Expression>),
    Either(Box<Expression>, Box<Expression>),
    Choice(Box<Expression>, Box<Expression>, Box<Expression>),
    /// The first one unless it is empty or null (`?:`).
    Default(Box<Expression>, Box<Expression>),
    Binary(operator::Operator, Box<Expression>, Box<Expression>),
    Convert(Box<Expression>, String),
}

impl Script {
    /// Parses a script, and refuses what it cannot run.
    ///
    /// # Errors
    /// Returns the first part that is not supported.
    pub fn parse(text: &str, language: Language) -> Result<Script, Refused> {
        let statements = parse::script(text, language)?;
        let script = Script { language, statements };
        known::check(&script)?;
        Ok(script)
    }
}
