//! The parser of expressions.

use super::Parser;
use crate::script::lex::{Kind, tokens};
use crate::script::operator::Operator;
use crate::script::{Expression, Language, Refused};

impl Parser {
    pub(super) fn expression(&mut self) -> Result<Expression, Refused> {
        self.deeper(|parser| {
            let condition = parser.either()?;
            if parser.take("?:") || parser.take("??") {
                let other = parser.expression()?;
                return Ok(Expression::Default(Box::new(condition), Box::new(other)));
            }
            if !parser.take("?") {
                return Ok(condition);
            }
            let then = parser.expression()?;
            parser.demand(":")?;
            let otherwise = parser.expression()?;
            Ok(Expression::Choice(Box::new(condition), Box::new(then), Box::new(otherwise)))
        })
    }

    fn either(&mut self) -> Result<Expression, Refused> {
        let mut left = self.both()?;
        while self.take("||") || self.take_word("or") {
            left = Expression::Either(Box::new(left), Box::new(self.both()?));
        }
        Ok(left)
    }

    fn both(&mut self) -> Result<Expression, Refused> {
        let mut left = self.comparison()?;
        while self.take("&&") || self.take_word("and") {
            left = Expression::Both(Box::new(left), Box::new(self.comparison()?));
        }
        Ok(left)
    }

    fn comparison(&mut self) -> Result<Expression, Refused> {
        let mut left = self.shift()?;
        loop {
            let word = self.word(0).and_then(|word| match word {
                "eq" => Some(Operator::Equal),
                "ne" => Some(Operator::Unequal),
                "lt" => Some(Operator::Less),
                "le" => Some(Operator::LessOrEqual),
                "gt" => Some(Operator::Greater),
                "ge" => Some(Operator::GreaterOrEqual),
                _ => None,
            });
            let sign = match &self.token(0).kind {
                Kind::Sign(sign) => Operator::comparison(sign),
                _ => None,
            };
            let Some(operator) = word.or(sign) else { return Ok(left) };
            self.at += 1;
            left = Expression::Binary(operator, Box::new(left), Box::new(self.shift()?));
        }
    }

    /// Binds less than a sum: `file << name + "\n"` appends both.
    fn shift(&mut self) -> Result<Expression, Refused> {
        let mut left = self.sum()?;
        while self.take("<<") {
            left = Expression::Binary(Operator::Append, Box::new(left), Box::new(self.sum()?));
        }
        Ok(left)
    }

    fn sum(&mut self) -> Result<Expression, Refused> {
        let mut left = self.product()?;
        loop {
            if self.token(0).begins_line
                && (self.is("-") || self.is("+"))
                && self.language == Language::Groovy
            {
                return Ok(left);
            }
            let operator = if self.take("+") {
                Operator::Add
            } else if self.take("-") {
                Operator::Subtract
            } else {
                return Ok(left);
            };
            left = Expression::Binary(operator, Box::new(left), Box::new(self.product()?));
        }
    }

    fn product(&mut self) -> Result<Expression, Refused> {
        let mut left = self.unary()?;
        loop {
            let operator = if self.take("*") {
                Operator::Multiply
            } else if self.take("/") {
                Operator::Divide
            } else if self.take("%") {
                Operator::Remainder
            } else {
                return Ok(left);
            };
            left = Expression::Binary(operator, Box::new(left), Box::new(self.unary()?));
        }
    }

    fn unary(&mut self) -> Result<Expression, Refused> {
        self.deeper(|parser| {
            if parser.take("!") || parser.take_word("not") {
                return Ok(Expression::Not(Box::new(parser.unary()?)));
            }
            if parser.take("-") {
                return Ok(Expression::Negate(Box::new(parser.unary()?)));
            }
            if parser.take("+") {
                return parser.unary();
            }
            // `(int) x`
            if parser.is("(")
                && parser.is_at(2, ")")
                && let Some(name) = parser.word(1).filter(|name| TYPES.contains(name)).map(str::to_owned)
            {
                parser.at += 3;
                return Ok(Expression::Convert(Box::new(parser.unary()?), name));
            }
            let mut value = parser.postfix()?;
            while parser.take_word("as") {
                let Some(name) = parser.word(0).map(str::to_owned) else {
                    return Err(parser.refuse("this conversion"));
                };
                parser.at += 1;
                value = Expression::Convert(Box::new(value), name);
            }
            Ok(value)
        })
    }

    fn postfix(&mut self) -> Result<Expression, Refused> {
        let mut value = self.primary()?;
        loop {
            if self.take(".") || self.take("?.") {
                let name = match &self.token(0).kind {
                    Kind::Word(name) | Kind::Text(name) => name.clone(),
                    _ => return Err(self.refuse("this expression: expected a name after `.`")),
                };
                self.at += 1;
                value = if self.is("(") {
                    Expression::Call(Box::new(value), name, self.arguments()?)
                } else {
                    Expression::Member(Box::new(value), name)
                };
            } else if self.is("[") && !self.token(0).begins_line {
                self.at += 1;
                let index = self.expression()?;
                self.demand("]")?;
                value = Expression::Index(Box::new(value), Box::new(index));
            } else {
                return Ok(value);
            }
        }
    }

    fn arguments(&mut self) -> Result<Vec<Expression>, Refused> {
        self.demand("(")?;
        let mut all = Vec::new();
        while !self.take(")") {
            all.push(self.expression()?);
            if !self.take(",") && !self.is(")") {
                return Err(self.refuse("this call"));
            }
        }
        Ok(all)
    }

    fn primary(&mut self) -> Result<Expression, Refused> {
        let token = self.token(0).clone();
        self.at += usize::from(token.kind != Kind::End);
        Ok(match token.kind {
            Kind::Int(number) => Expression::Int(number),
            Kind::Number(number) => Expression::Number(number),
            Kind::Text(text) => Expression::Text(text),
            Kind::Template(parts) => {
                let mut all = Vec::new();
                for (is_code, part) in parts {
                    if !is_code {
                        all.push(Expression::Text(part));
                        continue;
                    }
                    let mut inner = Parser {
                        tokens: tokens(&part, self.language)?,
                        at: 0,
                        language: self.language,
                        depth: self.depth,
                        line: token.line,
                    };
                    let value = inner.expression();
                    let value = value.map_err(|refused| Refused { line: token.line, ..refused })?;
                    if !inner.is_end() {
                        return Err(Refused { line: token.line, what: format!("`${{{part}}}` in a text") });
                    }
                    all.push(value);
                }
                Expression::Joined(all)
            }
            Kind::Sign("(") => {
                let inside = self.expression()?;
                self.demand(")")?;
                inside
            }
            Kind::Sign("[") => {
                let mut all = Vec::new();
                while !self.take("]") {
                    all.push(self.expression()?);
                    if !self.take(",") && !self.is("]") {
                        return Err(self.refuse("this list"));
                    }
                }
                Expression::List(all)
            }
            Kind::Word(word) => match word.as_str() {
                "null" | "undefined" | "void" => Expression::Null,
                "true" => Expression::Bool(true),
                "false" => Expression::Bool(false),
                "new" => {
                    let name = self.class_name()?;
                    if !self.is("(") {
                        return Err(self.refuse(&format!("`new {name}` without `(`")));
                    }
                    Expression::New(name, self.arguments()?)
                }
                _ if self.is("(") => Expression::Function(word, self.arguments()?),
                _ if is_package(&word) && self.is(".") => {
                    self.at -= 1;
                    Expression::Class(self.class_name()?)
                }
                _ if word.starts_with(|c: char| c.is_ascii_uppercase())
                    && self.is(".")
                    && word != "SampleResult"
                    && word != "OUT"
                    && word != "AssertionResult" =>
                {
                    Expression::Class(word)
                }
                _ => Expression::Name(word),
            },
            Kind::Sign(sign) => {
                self.at -= 1;
                return Err(self.refuse(&format!("`{sign}` at this place")));
            }
            Kind::End => return Err(self.refuse("an expression that does not end")),
        })
    }

    /// Reads `java.io.FileWriter` or `FileWriter`; returns the last name.
    fn class_name(&mut self) -> Result<String, Refused> {
        loop {
            let Some(word) = self.word(0).map(str::to_owned) else {
                return Err(self.refuse("this name of a class"));
            };
            self.at += 1;
            if word.starts_with(|c: char| c.is_ascii_uppercase()) || !self.take(".") {
                return Ok(word);
            }
        }
    }
}

/// Types in front of a value, such as `(int) x`.
const TYPES: [&str; 8] = ["int", "long", "String", "double", "float", "Integer", "Long", "Double"];

fn is_package(word: &str) -> bool {
    ["java", "javax", "org", "com", "groovy", "Packages"].contains(&word)
}
