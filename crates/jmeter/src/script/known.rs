//! Refuses what a script uses and this crate does not know: names, classes, methods, and functions.

use super::{Expression, Line, Refused, Script, Statement};
use std::collections::BTreeSet;

/// Names that scripts find.
pub const NAMES: &[&str] = &[
    "vars",
    "props",
    "log",
    "ctx",
    "prev",
    "SampleResult",
    "AssertionResult",
    "sampler",
    "OUT",
    "out",
    "Label",
    "label",
    "Parameters",
    "bsh.args",
    "args",
    "FileName",
    "threadName",
    "sampleResult",
    "ResponseCode",
    "ResponseMessage",
    "IsSuccess",
    "Failure",
    "FailureMessage",
    "this",
    "data",
    "e",
];

/// Classes whose static methods scripts call.
const STATIC: &[&str] = &[
    "Integer",
    "Long",
    "Double",
    "Float",
    "String",
    "Boolean",
    "Math",
    "System",
    "UUID",
    "Thread",
    "Instant",
    "Base64",
    "DigestUtils",
    "URLEncoder",
    "URLDecoder",
    "StringUtils",
    "JMeterUtils",
    "ThreadLocalRandom",
];

/// Classes that scripts create.
const CREATED: &[&str] = &[
    "Random",
    "Date",
    "SimpleDateFormat",
    "File",
    "FileWriter",
    "BufferedWriter",
    "PrintWriter",
    "FileOutputStream",
    "PrintStream",
    "OutputStreamWriter",
    "String",
    "StringBuilder",
    "StringBuffer",
    "JsonSlurper",
    "Exception",
    "ArrayList",
    "Integer",
];

/// Functions that scripts call without an object.
const FUNCTIONS: &[&str] = &["print", "println", "empty", "size", "parseInt", "parseFloat", "String"];

/// Methods of all objects.
pub const METHODS: &[&str] = &[
    "get",
    "put",
    "remove",
    "getObject",
    "putObject",
    "getIteration",
    "containsKey",
    "getProperty",
    "setProperty",
    "getOrDefault",
    "info",
    "warn",
    "error",
    "debug",
    "trace",
    "isDebugEnabled",
    "getThreadNum",
    "getVariables",
    "getThreadGroup",
    "getThread",
    "getThreadName",
    "getCurrentSampler",
    "getPreviousResult",
    "getProperties",
    "getName",
    "getResponseCode",
    "getResponseMessage",
    "getResponseDataAsString",
    "getResponseData",
    "isSuccessful",
    "isResponseCodeOK",
    "getTime",
    "getLatency",
    "getConnectTime",
    "getSampleLabel",
    "getUrlAsString",
    "getURL",
    "getResponseHeaders",
    "getRequestHeaders",
    "getBytes",
    "getBytesAsLong",
    "getSentBytes",
    "getBodySize",
    "getBodySizeAsLong",
    "getHeadersSize",
    "getSamplerData",
    "getQueryString",
    "getDataType",
    "getStartTime",
    "getEndTime",
    "getTimeStamp",
    "setSuccessful",
    "setResponseCode",
    "setResponseMessage",
    "setSampleLabel",
    "setResponseData",
    "setResponseOK",
    "setStopThread",
    "setStopTest",
    "setStopTestNow",
    "setIgnore",
    "setStartNextThreadLoop",
    "setSamplerData",
    "setDataType",
    "setFailure",
    "setFailureMessage",
    "setError",
    "isFailure",
    "getFailureMessage",
    "equals",
    "equalsIgnoreCase",
    "contains",
    "startsWith",
    "endsWith",
    "isEmpty",
    "isBlank",
    "length",
    "size",
    "toLowerCase",
    "toUpperCase",
    "trim",
    "strip",
    "substring",
    "replace",
    "replaceAll",
    "replaceFirst",
    "matches",
    "indexOf",
    "lastIndexOf",
    "charAt",
    "split",
    "toInteger",
    "toLong",
    "toDouble",
    "toFloat",
    "toBoolean",
    "toString",
    "concat",
    "isNumber",
    "isInteger",
    "isLong",
    "intValue",
    "longValue",
    "doubleValue",
    "compareTo",
    "join",
    "add",
    "first",
    "last",
    "reverse",
    "capitalize",
    "padLeft",
    "padRight",
    "tokenize",
    "nextInt",
    "nextDouble",
    "nextBoolean",
    "nextLong",
    "format",
    "parse",
    "parseText",
    "exists",
    "append",
    "write",
    "print",
    "println",
    "newLine",
    "flush",
    "close",
    "getText",
    "text",
    "setOut",
    "encodeBase64",
    "decodeBase64",
    "getAbsolutePath",
    "getPath",
    "getTimeInMillis",
    "toEpochMilli",
    "getMessage",
    "encodeHex",
    "md5",
];

pub fn check(script: &Script) -> Result<(), Refused> {
    let mut defined = BTreeSet::new();
    for line in &script.statements {
        assigned(line, &mut defined);
    }
    let mut checker = Checker { defined, line: 1 };
    checker.statements(&script.statements)
}

/// Adds the names that a statement assigns.
fn assigned(line: &Line, to: &mut BTreeSet<String>) {
    match &line.statement {
        Statement::Assign { name, .. } => {
            to.insert(name.clone());
        }
        Statement::If { then, otherwise, .. } => {
            then.iter().chain(otherwise).for_each(|one| assigned(one, to))
        }
        Statement::Try { body, error, handler, last } => {
            to.insert(error.clone());
            body.iter().chain(handler).chain(last).for_each(|one| assigned(one, to));
        }
        Statement::Return(_) | Statement::Throw(_) | Statement::Evaluate(_) => {}
    }
}

struct Checker {
    defined: BTreeSet<String>,
    line: u32,
}

impl Checker {
    fn statements(&mut self, all: &[Line]) -> Result<(), Refused> {
        for line in all {
            self.line = line.number;
            match &line.statement {
                Statement::Assign { value, .. } => self.expression(value)?,
                Statement::If { condition, then, otherwise } => {
                    self.expression(condition)?;
                    self.statements(then)?;
                    self.statements(otherwise)?;
                }
                Statement::Try { body, handler, last, .. } => {
                    self.statements(body)?;
                    self.statements(handler)?;
                    self.statements(last)?;
                }
                Statement::Return(value) => {
                    if let Some(value) = value {
                        self.expression(value)?;
                    }
                }
                Statement::Throw(value) | Statement::Evaluate(value) => self.expression(value)?,
            }
        }
        Ok(())
    }

    fn all(&mut self, all: &[Expression]) -> Result<(), Refused> {
        all.iter().try_for_each(|one| self.expression(one))
    }

    fn expression(&mut self, expression: &Expression) -> Result<(), Refused> {
        let line = self.line;
        let refuse = |what: String| Err(Refused { line, what });
        match expression {
            Expression::Null
            | Expression::Bool(_)
            | Expression::Int(_)
            | Expression::Number(_)
            | Expression::Text(_) => Ok(()),
            Expression::Joined(all) | Expression::List(all) => self.all(all),
            Expression::Name(name) => match self.defined.contains(name) || NAMES.contains(&name.as_str()) {
                true => Ok(()),
                false => refuse(format!("the name `{name}`")),
            },
            Expression::Class(name) => match STATIC.contains(&name.as_str()) {
                true => Ok(()),
                false => refuse(format!("the class `{name}`")),
            },
            Expression::New(name, arguments) => match CREATED.contains(&name.as_str()) {
                true => self.all(arguments),
                false => refuse(format!("the class `{name}`")),
            },
            Expression::Member(of, name) => {
                if let Expression::Class(class) = &**of {
                    let is_known = matches!(
                        (class.as_str(), name.as_str()),
                        ("System", "out") | ("Integer" | "Long", "MAX_VALUE")
                    );
                    return if is_known { Ok(()) } else { refuse(format!("`{class}.{name}`")) };
                }
                self.expression(of)
            }
            Expression::Call(of, name, arguments) => {
                let is_static = matches!(**of, Expression::Class(_));
                if !is_static && !METHODS.contains(&name.as_str()) {
                    return refuse(format!("the method `{name}`"));
                }
                if let Expression::Class(class) = &**of
                    && !super::method::is_static(class, name)
                {
                    return refuse(format!("`{class}.{name}()`"));
                }
                self.expression(of)?;
                self.all(arguments)
            }
            Expression::Function(name, arguments) => match FUNCTIONS.contains(&name.as_str()) {
                true => self.all(arguments),
                false => refuse(format!("the function `{name}`")),
            },
            Expression::Not(one) | Expression::Negate(one) => self.expression(one),
            Expression::Convert(one, class) => match super::run::CONVERSIONS.contains(&class.as_str()) {
                true => self.expression(one),
                false => refuse(format!("the conversion to `{class}`")),
            },
            Expression::Both(one, other)
            | Expression::Either(one, other)
            | Expression::Default(one, other)
            | Expression::Index(one, other)
            | Expression::Binary(_, one, other) => {
                self.expression(one)?;
                self.expression(other)
            }
            Expression::Choice(condition, then, otherwise) => {
                self.expression(condition)?;
                self.expression(then)?;
                self.expression(otherwise)
            }
        }
    }
}
