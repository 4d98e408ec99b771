//! The parser of scripts.

mod expression;

use super::lex::{Kind, Token, tokens};
use super::operator::Operator;
use super::{Expression, Language, Line, Refused, Statement};

/// Deepest nesting of a script: a parser on the stack must not overflow it.
const DEPTH_MAX: u32 = 100;

/// Words that begin what needs an engine.
const REFUSED: [&str; 14] = [
    "for",
    "while",
    "do",
    "switch",
    "function",
    "class",
    "interface",
    "break",
    "continue",
    "synchronized",
    "assert",
    "enum",
    "yield",
    "async",
];

pub fn script(text: &str, language: Language) -> Result<Vec<Line>, Refused> {
    let mut parser = Parser { tokens: tokens(text, language)?, at: 0, language, depth: 0, line: 1 };
    let mut all = Vec::new();
    while !parser.is_end() {
        parser.statement(&mut all)?;
    }
    Ok(all)
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    language: Language,
    depth: u32,
    /// Line of the current statement.
    line: u32,
}

impl Parser {
    fn token(&self, ahead: usize) -> &Token {
        // proof: the list ends with `End`, which no method passes.
        &self.tokens[(self.at + ahead).min(self.tokens.len() - 1)]
    }

    fn is_end(&self) -> bool {
        self.token(0).kind == Kind::End
    }

    fn is(&self, sign: &str) -> bool {
        matches!(&self.token(0).kind, Kind::Sign(found) if *found == sign)
    }

    fn is_at(&self, ahead: usize, sign: &str) -> bool {
        matches!(&self.token(ahead).kind, Kind::Sign(found) if *found == sign)
    }

    fn word(&self, ahead: usize) -> Option<&str> {
        match &self.token(ahead).kind {
            Kind::Word(word) => Some(word),
            _ => None,
        }
    }

    fn take(&mut self, sign: &str) -> bool {
        let is = self.is(sign);
        self.at += usize::from(is);
        is
    }

    fn take_word(&mut self, word: &str) -> bool {
        let is = self.word(0) == Some(word);
        self.at += usize::from(is);
        is
    }

    fn demand(&mut self, sign: &str) -> Result<(), Refused> {
        match self.take(sign) {
            true => Ok(()),
            false => Err(self.refuse(&format!("this statement: expected `{sign}`"))),
        }
    }

    fn refuse(&self, what: &str) -> Refused {
        Refused { line: self.token(0).line, what: what.to_owned() }
    }

    fn deeper<T>(&mut self, parse: impl FnOnce(&mut Parser) -> Result<T, Refused>) -> Result<T, Refused> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(self.refuse("an expression that is nested this deeply"));
        }
        let result = parse(self);
        self.depth -= 1;
        result
    }

    fn block(&mut self) -> Result<Vec<Line>, Refused> {
        let mut all = Vec::new();
        if self.take("{") {
            while !self.take("}") {
                if self.is_end() {
                    return Err(self.refuse("a block that does not end"));
                }
                self.statement(&mut all)?;
            }
        } else {
            self.statement(&mut all)?;
        }
        Ok(all)
    }

    fn statement(&mut self, all: &mut Vec<Line>) -> Result<(), Refused> {
        let line = self.token(0).line;
        let outer = std::mem::replace(&mut self.line, line);
        let result = self.deeper(|parser| parser.statement_inside(all));
        self.line = outer;
        result
    }

    fn add(&self, all: &mut Vec<Line>, statement: Statement) {
        all.push(Line { number: self.line, statement });
    }

    fn statement_inside(&mut self, all: &mut Vec<Line>) -> Result<(), Refused> {
        if self.take(";") {
            return Ok(());
        }
        if let Some(word) = self.word(0).filter(|word| REFUSED.contains(word)) {
            return Err(self.refuse(&format!("`{word}`")));
        }
        if self.take_word("import") || self.take_word("package") || self.take_word("importPackage") {
            // Classes are known by their last names.
            while !self.is(";") && !self.is_end() && !self.token(0).begins_line {
                self.at += 1;
            }
            return Ok(());
        }
        if self.is("{") {
            let mut block = self.block()?;
            all.append(&mut block);
            return Ok(());
        }
        if self.take_word("if") {
            self.demand("(")?;
            let condition = self.expression()?;
            self.demand(")")?;
            let then = self.block()?;
            while self.is(";")
                && self.tokens.get(self.at + 1).is_some_and(|t| t.kind == Kind::Word("else".into()))
            {
                self.at += 1;
            }
            let otherwise = if self.take_word("else") { self.block()? } else { Vec::new() };
            self.add(all, Statement::If { condition, then, otherwise });
            return Ok(());
        }
        if self.take_word("try") {
            let body = self.block()?;
            let (mut error, mut handler, mut last) = (String::new(), Vec::new(), Vec::new());
            while self.take_word("catch") {
                self.demand("(")?;
                while let Some(word) = self.word(0) {
                    word.clone_into(&mut error);
                    self.at += 1;
                    while self.take(".") || self.take(",") {}
                }
                self.demand(")")?;
                handler = self.block()?;
            }
            if self.take_word("finally") {
                last = self.block()?;
            }
            self.add(all, Statement::Try { body, error, handler, last });
            return Ok(());
        }
        if self.take_word("return") {
            let is_bare = self.is(";") || self.is("}") || self.is_end() || self.token(0).begins_line;
            let value = if is_bare { None } else { Some(self.expression()?) };
            self.add(all, Statement::Return(value));
            return self.end_of_statement();
        }
        if self.take_word("throw") {
            let value = self.expression()?;
            self.add(all, Statement::Throw(value));
            return self.end_of_statement();
        }
        self.declaration_or_expression(all)?;
        self.end_of_statement()
    }

    fn end_of_statement(&mut self) -> Result<(), Refused> {
        if self.take(";") || self.is("}") || self.is_end() || self.token(0).begins_line {
            return Ok(());
        }
        Err(self.refuse("this statement"))
    }

    /// `def x = 1`, `String x = "a"`, `int i`, `x = 1`, `x += 1`, `x++`, or an expression.
    fn declaration_or_expression(&mut self, all: &mut Vec<Line>) -> Result<(), Refused> {
        while self.word(0) == Some("final") {
            self.at += 1;
        }
        let is_keyword = matches!(self.word(0), Some("def" | "var" | "let" | "const"));
        let array = if self.is_at(1, "[") && self.is_at(2, "]") { 2 } else { 0 };
        let generic = self.generic_length();
        let has_type = self.word(0).is_some_and(|word| word != "new" && word != "return")
            && self.word(1 + array + generic).is_some_and(|word| {
                !matches!(
                    word,
                    "instanceof" | "as" | "in" | "eq" | "ne" | "lt" | "gt" | "le" | "ge" | "and" | "or"
                )
            })
            && !self.token(1 + array + generic).begins_line;
        if is_keyword || has_type {
            self.at += 1 + array + generic;
            loop {
                let Some(name) = self.word(0).map(str::to_owned) else {
                    return Err(self.refuse("this declaration"));
                };
                self.at += 1;
                if self.is("(") {
                    return Err(self.refuse(&format!("the definition of the function `{name}`")));
                }
                let value = if self.take("=") { self.expression()? } else { Expression::Null };
                self.add(all, Statement::Assign { name, value });
                if !self.take(",") {
                    return Ok(());
                }
            }
        }
        if let Some(name) = self.word(0).map(str::to_owned) {
            if self.is_at(1, "=") {
                self.at += 2;
                let value = self.expression()?;
                self.add(all, Statement::Assign { name, value });
                return Ok(());
            }
            let steps = [
                ("+=", Operator::Add),
                ("-=", Operator::Subtract),
                ("*=", Operator::Multiply),
                ("/=", Operator::Divide),
                ("%=", Operator::Remainder),
            ];
            if let Some((_, operator)) = steps.into_iter().find(|(sign, _)| self.is_at(1, sign)) {
                self.at += 2;
                let step = self.expression()?;
                let old = Box::new(Expression::Name(name.clone()));
                self.add(
                    all,
                    Statement::Assign { name, value: Expression::Binary(operator, old, Box::new(step)) },
                );
                return Ok(());
            }
            let operator = if self.is_at(1, "++") {
                Some(Operator::Add)
            } else if self.is_at(1, "--") {
                Some(Operator::Subtract)
            } else {
                None
            };
            if let Some(operator) = operator {
                self.at += 2;
                let old = Box::new(Expression::Name(name.clone()));
                let value = Expression::Binary(operator, old, Box::new(Expression::Int(1)));
                self.add(all, Statement::Assign { name, value });
                return Ok(());
            }
        }
        let expression = self.expression()?;
        if self.is("=") {
            return self.assignment(expression, all);
        }
        self.add(all, Statement::Evaluate(expression));
        Ok(())
    }

    /// `vars.x = 1` and `vars["x"] = 1` are calls of `put`.
    fn assignment(&mut self, to: Expression, all: &mut Vec<Line>) -> Result<(), Refused> {
        let (of, key) = match to {
            Expression::Member(of, name) => (of, Expression::Text(name)),
            Expression::Index(of, key) => (of, *key),
            _ => return Err(self.refuse("this assignment")),
        };
        self.demand("=")?;
        let value = self.expression()?;
        self.add(all, Statement::Evaluate(Expression::Call(of, "put".into(), vec![key, value])));
        Ok(())
    }

    /// Returns the number of tokens of `<String, String>` after a type, if a name follows it.
    fn generic_length(&self) -> usize {
        if !self.is_at(1, "<") {
            return 0;
        }
        let (mut length, mut depth) = (1, 0);
        loop {
            if self.is_at(length, "<") {
                depth += 1;
            } else if self.is_at(length, ">") {
                depth -= 1;
            } else if self.word(length).is_none() && !self.is_at(length, ",") {
                return 0;
            }
            if depth == 0 {
                return if self.word(length + 1).is_some() { length } else { 0 };
            }
            length += 1;
        }
    }
}
