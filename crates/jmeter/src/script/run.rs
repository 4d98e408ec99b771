//! Runs scripts.

mod statics;

use super::method::{converted, member, of_plain, of_text};
use super::operator::{Operator, apply, equal};
use super::value::{Object, Value};
use super::{Expression, Language, Line, Script, Statement};
use crate::log::Level;
use crate::sample::Sample;
use crate::scope::Scope;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Types that values can be converted to.
pub const CONVERSIONS: [&str; 15] = [
    "int",
    "long",
    "Integer",
    "Long",
    "BigInteger",
    "double",
    "float",
    "Double",
    "Float",
    "BigDecimal",
    "boolean",
    "Boolean",
    "String",
    "File",
    "Object",
];

/// What a script works on.
pub struct Context<'c, 's> {
    pub scope: &'c mut Scope<'s>,
    /// The sample that it may change: that of its sampler, or the last one.
    pub sample: Option<&'c mut Sample>,
    /// `Parameters`.
    pub parameters: String,
    /// The name of the element.
    pub label: String,
    /// The result of an assertion: whether it fails, and its message.
    pub failure: (bool, String),
}

/// The end of a script.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// What it returns: the value of its last statement, unless it says otherwise.
    pub value: Value,
}

impl Script {
    /// Runs the script.
    ///
    /// # Errors
    /// Returns the message of an error that the script does not handle.
    pub fn run(&self, context: &mut Context<'_, '_>) -> Result<Outcome, String> {
        let mut machine = Machine { script: self, context, names: BTreeMap::new(), output: None };
        let flow = machine.statements(&self.statements)?;
        machine.write_back();
        Ok(Outcome {
            value: match flow {
                Flow::Next(value) | Flow::Return(value) => value,
            },
        })
    }
}

enum Flow {
    /// With the value of the last statement.
    Next(Value),
    Return(Value),
}

struct Machine<'m, 'c, 's> {
    script: &'m Script,
    context: &'m mut Context<'c, 's>,
    names: BTreeMap<String, Value>,
    /// The file that `print` writes to, after `setOut`.
    output: Option<Rc<str>>,
}

type Result_ = Result<Value, String>;

impl<'m> Machine<'m, '_, '_> {
    fn language(&self) -> Language {
        self.script.language
    }

    /// BeanShell sets the result of a sampler or an assertion by names.
    fn write_back(&mut self) {
        let language = self.language();
        if let Some(sample) = self.context.sample.as_deref_mut() {
            if let Some(code) = self.names.get("ResponseCode") {
                sample.code = Cow::Owned(code.to_text(language));
            }
            if let Some(message) = self.names.get("ResponseMessage") {
                sample.message = Cow::Owned(message.to_text(language));
            }
            if let Some(is_success) = self.names.get("IsSuccess") {
                sample.is_success = is_success.is_true();
            }
        }
        if let Some(failure) = self.names.get("Failure") {
            self.context.failure.0 = failure.is_true();
        }
        if let Some(message) = self.names.get("FailureMessage") {
            self.context.failure.1 = message.to_text(language);
        }
    }

    fn statements(&mut self, all: &'m [Line]) -> Result<Flow, String> {
        let mut last = Value::Null;
        for line in all {
            match self.statement(&line.statement)? {
                Flow::Next(value) => last = value,
                returned @ Flow::Return(_) => return Ok(returned),
            }
        }
        Ok(Flow::Next(last))
    }

    fn statement(&mut self, statement: &'m Statement) -> Result<Flow, String> {
        Ok(match statement {
            Statement::Assign { name, value } => {
                let value = self.value(value)?;
                self.names.insert(name.clone(), value.clone());
                Flow::Next(value)
            }
            Statement::If { condition, then, otherwise } => {
                let holds = self.value(condition)?.is_true();
                return self.statements(if holds { then } else { otherwise });
            }
            Statement::Try { body, error, handler, last } => {
                let flow = match self.statements(body) {
                    Ok(flow) => Ok(flow),
                    Err(why) if error.is_empty() => Err(why),
                    Err(why) => {
                        self.names.insert(error.clone(), Value::text(&why));
                        self.statements(handler)
                    }
                };
                match self.statements(last)? {
                    returned @ Flow::Return(_) => returned,
                    Flow::Next(_) => flow?,
                }
            }
            Statement::Return(value) => Flow::Return(match value {
                Some(value) => self.value(value)?,
                None => Value::Null,
            }),
            Statement::Throw(value) => return Err(self.text(value)?),
            Statement::Evaluate(value) => Flow::Next(self.value(value)?),
        })
    }

    fn text(&mut self, value: &'m Expression) -> Result<String, String> {
        let value = self.value(value)?;
        Ok(value.to_text(self.language()))
    }

    fn values(&mut self, all: &'m [Expression]) -> Result<Vec<Value>, String> {
        all.iter().map(|one| self.value(one)).collect()
    }

    fn value(&mut self, expression: &'m Expression) -> Result_ {
        let language = self.language();
        Ok(match expression {
            Expression::Null => Value::Null,
            Expression::Bool(is) => Value::Bool(*is),
            Expression::Int(number) => Value::Int(*number),
            Expression::Number(number) => Value::Number(*number),
            Expression::Text(text) => Value::text(text),
            Expression::Joined(all) => {
                let mut text = String::new();
                for one in all {
                    text.push_str(&self.text(one)?);
                }
                Value::Text(text.into())
            }
            Expression::List(all) => Value::List(self.values(all)?.into()),
            Expression::Name(name) => self.named(name),
            Expression::Class(_) => Value::Null,
            Expression::New(class, arguments) => {
                let arguments = self.values(arguments)?;
                self.created(class, arguments)?
            }
            Expression::Member(of, name) => {
                if let Expression::Class(class) = &**of {
                    return Ok(match (class.as_str(), name.as_str()) {
                        ("System", _) => Value::Object(Object::Out),
                        ("Integer", _) => Value::Int(i64::from(i32::MAX)),
                        _ => Value::Int(i64::MAX),
                    });
                }
                let of = self.value(of)?;
                self.member(&of, name)?
            }
            Expression::Call(of, name, arguments) => {
                if let Expression::Class(class) = &**of {
                    let arguments = self.values(arguments)?;
                    return self.call_static(class, name, &arguments);
                }
                let of = self.value(of)?;
                let arguments = self.values(arguments)?;
                self.call(&of, name, arguments)?
            }
            Expression::Function(name, arguments) => {
                let arguments = self.values(arguments)?;
                self.function(name, &arguments)?
            }
            Expression::Index(of, key) => {
                let of = self.value(of)?;
                let key = self.value(key)?;
                match &of {
                    Value::Json(json) => member(json, &key, language),
                    Value::List(all) => {
                        let at = key.integer().unwrap_or(0);
                        let at = if at < 0 { all.len() as i64 + at } else { at };
                        let found = usize::try_from(at).ok().and_then(|at| all.get(at));
                        found.cloned().unwrap_or(Value::Null)
                    }
                    Value::Text(_) if key.integer().is_some() => self.call(&of, "charAt", vec![key])?,
                    _ => self.call(&of, "get", vec![key])?,
                }
            }
            Expression::Not(one) => Value::Bool(!self.value(one)?.is_true()),
            Expression::Negate(one) => match self.value(one)?.plain() {
                Value::Int(number) => Value::Int(number.wrapping_neg()),
                other => match other.number() {
                    Some(number) => Value::Number(-number),
                    None => return Err(format!("`{}` is not a number", other.to_text(language))),
                },
            },
            Expression::Both(one, other) => {
                let holds = self.value(one)?.is_true() && self.value(other)?.is_true();
                Value::Bool(holds)
            }
            Expression::Either(one, other) => {
                let holds = self.value(one)?.is_true() || self.value(other)?.is_true();
                Value::Bool(holds)
            }
            Expression::Choice(condition, then, otherwise) => match self.value(condition)?.is_true() {
                true => self.value(then)?,
                false => self.value(otherwise)?,
            },
            Expression::Default(one, other) => {
                let one = self.value(one)?;
                if one.is_true() { one } else { self.value(other)? }
            }
            Expression::Binary(operator, one, other) => {
                let left = self.value(one)?;
                let right = self.value(other)?;
                self.binary(*operator, left, right)?
            }
            Expression::Convert(one, to) => {
                let value = self.value(one)?;
                converted(value, to, language)?
            }
        })
    }

    fn binary(&mut self, operator: Operator, left: Value, right: Value) -> Result_ {
        let language = self.language();
        match operator {
            Operator::Append => self.call(&left, "append", vec![right]),
            Operator::Matches | Operator::Lacks | Operator::MatchesAll => {
                let found = match &right {
                    Value::List(all) => all.iter().any(|one| equal(one, &left, language)),
                    pattern => {
                        let pattern = pattern.to_text(language);
                        // A match of JEXL is one of the whole text.
                        let is_whole = operator == Operator::MatchesAll || language == Language::Jexl;
                        let compiled = match is_whole {
                            true => crate::pattern::compile_whole(&pattern)?,
                            false => crate::pattern::compile(&pattern)?,
                        };
                        compiled.is_match(&left.to_text(language))
                    }
                };
                Ok(Value::Bool(found != (operator == Operator::Lacks)))
            }
            _ => apply(operator, left, right, language),
        }
    }

    fn named(&mut self, name: &str) -> Value {
        if let Some(value) = self.names.get(name) {
            return value.clone();
        }
        let sample = self.context.sample.as_deref();
        Value::Object(match name {
            "vars" => Object::Vars,
            "props" => Object::Props,
            "log" => Object::Log,
            "ctx" => Object::Context,
            "prev" | "SampleResult" | "sampleResult" => Object::Sample,
            "AssertionResult" => Object::Assertion,
            "sampler" => Object::Sampler,
            "OUT" | "out" => Object::Out,
            "this" => Object::This,
            "Label" | "label" => return Value::text(&self.context.label),
            "Parameters" => return Value::text(&self.context.parameters),
            "threadName" => return Value::text(&self.context.scope.thread.name),
            "args" => {
                let words = self.context.parameters.split_whitespace();
                return Value::List(words.map(Value::text).collect::<Vec<_>>().into());
            }
            "ResponseCode" => return Value::text(sample.map_or("", |sample| &sample.code)),
            "ResponseMessage" => return Value::text(sample.map_or("", |sample| &sample.message)),
            "IsSuccess" => return Value::Bool(sample.is_some_and(|sample| sample.is_success)),
            "data" => {
                return Value::Bytes(sample.map(|sample| sample.body.as_slice()).unwrap_or_default().into());
            }
            "Failure" => return Value::Bool(self.context.failure.0),
            "FailureMessage" => return Value::text(&self.context.failure.1),
            _ => return Value::Null,
        })
    }

    fn created(&mut self, class: &str, arguments: Vec<Value>) -> Result_ {
        let language = self.language();
        let first = arguments.first().cloned().unwrap_or(Value::Null);
        let path = |value: &Value| -> Rc<str> { value.to_text(language).into() };
        Ok(match class {
            "Random" => Value::Object(Object::Random),
            "JsonSlurper" => Value::Object(Object::JsonSlurper),
            "Date" => {
                Value::Object(Object::Date(first.integer().unwrap_or_else(|| self.context.scope.unix_ms())))
            }
            "SimpleDateFormat" => Value::Object(Object::DateFormat(path(&first))),
            "File" => match arguments.get(1) {
                Some(name) => {
                    let full = format!("{}/{}", first.to_text(language), name.to_text(language));
                    Value::Object(Object::File(full.into()))
                }
                None => Value::Object(Object::File(path(&first))),
            },
            "FileWriter" | "FileOutputStream" => {
                let file = path(&first);
                if !arguments.get(1).is_some_and(Value::is_true) {
                    self.context.scope.run.files.truncate(&file)?;
                }
                Value::Object(Object::Writer(file))
            }
            // They write to what they wrap.
            "BufferedWriter" | "PrintWriter" | "PrintStream" | "OutputStreamWriter" => match first {
                Value::Object(Object::Writer(_)) => first,
                Value::Object(Object::File(file)) => {
                    self.context.scope.run.files.truncate(&file)?;
                    Value::Object(Object::Writer(file))
                }
                other => {
                    let file = path(&other);
                    self.context.scope.run.files.truncate(&file)?;
                    Value::Object(Object::Writer(file))
                }
            },
            "ArrayList" => match first {
                Value::List(_) => first,
                _ => Value::List(Rc::default()),
            },
            "Integer" => Value::Int(first.integer().ok_or("not an integer")?),
            _ => match first {
                Value::Null => Value::text(""),
                other => Value::Text(path(&other)),
            },
        })
    }

    fn member(&mut self, of: &Value, name: &str) -> Result_ {
        let language = self.language();
        match of {
            Value::Json(json) => Ok(member(json, &Value::text(name), language)),
            Value::Object(Object::Vars | Object::Props) => self.call(of, "get", vec![Value::text(name)]),
            Value::Object(Object::This) if name == "interpreter" => Ok(Value::Object(Object::Interpreter)),
            Value::Null => Err(format!("cannot read `{name}` of null")),
            Value::Text(_) if name == "bytes" => self.call(of, "getBytes", Vec::new()),
            Value::Text(_) | Value::List(_) if matches!(name, "length" | "text" | "empty") => {
                self.call(of, if name == "empty" { "isEmpty" } else { name }, Vec::new())
            }
            _ => {
                let mut signs = name.chars();
                let first = signs.next().map(|sign| sign.to_ascii_uppercase()).unwrap_or_default();
                let rest = signs.as_str();
                let is_flag = matches!(name, "successful" | "responseCodeOK");
                let getter = format!("{}{first}{rest}", if is_flag { "is" } else { "get" });
                self.call(of, &getter, Vec::new())
            }
        }
    }

    fn function(&mut self, name: &str, arguments: &[Value]) -> Result_ {
        let language = self.language();
        let first = arguments.first().cloned().unwrap_or(Value::Null);
        Ok(match name {
            "print" | "println" => {
                let mut text = first.to_text(language);
                match self.output.clone() {
                    Some(file) => {
                        if name == "println" || self.language() == Language::BeanShell {
                            text.push('\n');
                        }
                        self.context.scope.run.files.append(&file, &text)?;
                    }
                    None => self.context.scope.run.log.write(Level::Info, &text),
                }
                Value::Null
            }
            "empty" => Value::Bool(!first.is_true()),
            "size" => match &first {
                Value::Text(text) => Value::Int(text.chars().count() as i64),
                other => of_plain(other, "size", &[], language)?,
            },
            "parseInt" => {
                let text = first.to_text(language);
                let text = text.trim();
                let digits = text
                    .char_indices()
                    .take_while(|(at, c)| c.is_ascii_digit() || (*at == 0 && *c == '-'))
                    .count();
                Value::Int(text[..digits].parse().map_err(|_| format!("`{text}` is not an integer"))?)
            }
            "parseFloat" => Value::Number(
                first.number().ok_or_else(|| format!("`{}` is not a number", first.to_text(language)))?,
            ),
            _ => Value::Text(first.to_text(language).into()),
        })
    }

    fn call(&mut self, of: &Value, name: &str, arguments: Vec<Value>) -> Result_ {
        let language = self.language();
        match of {
            Value::Text(text) => of_text(text, name, &arguments, language),
            Value::Json(json) if json.is_string() => {
                of_text(json.as_str().unwrap_or_default(), name, &arguments, language)
            }
            Value::Object(object) => {
                super::object::call(self.context, &mut self.output, object, name, &arguments, language)
            }
            other => of_plain(other, name, &arguments, language),
        }
    }
}
