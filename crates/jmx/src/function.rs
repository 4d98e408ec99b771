//! The functions that texts may call.

/// A function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Function {
    pub name: &'static str,
    /// The least and the largest number of arguments.
    pub arguments: (u8, u8),
    /// Whether plimsoll evaluates it. Plans that call others are refused.
    pub is_supported: bool,
}

const fn row(name: &'static str, least: u8, most: u8) -> Function {
    Function { name, arguments: (least, most), is_supported: true }
}

const fn refused(name: &'static str) -> Function {
    Function { name, arguments: (0, u8::MAX), is_supported: false }
}

/// The functions of JMeter 5.6, and those of its most common plugins, by name.
pub const TABLE: &[Function] = &[
    refused("__BeanShell"),
    row("__CSVRead", 2, 2),
    row("__FileToString", 1, 3),
    row("__P", 1, 2),
    row("__Random", 2, 3),
    row("__RandomDate", 3, 6),
    row("__RandomFromMultipleVars", 1, 2),
    row("__RandomString", 1, 3),
    row("__StringFromFile", 1, 4),
    row("__StringToFile", 2, 4),
    row("__TestPlanName", 0, 0),
    row("__UUID", 0, 0),
    row("__V", 1, 2),
    refused("__XPath"),
    row("__base64Decode", 1, 2),
    row("__base64Encode", 1, 2),
    row("__changeCase", 1, 3),
    row("__char", 1, u8::MAX),
    row("__counter", 1, 2),
    row("__dateTimeConvert", 3, 4),
    row("__digest", 2, 5),
    row("__env", 1, 3),
    row("__escapeHtml", 1, 1),
    row("__escapeOroRegexpChars", 1, 2),
    row("__escapeXml", 1, 1),
    row("__eval", 1, 1),
    row("__evalVar", 1, 1),
    row("__groovy", 1, 2),
    row("__intSum", 2, u8::MAX),
    row("__isPropDefined", 1, 1),
    row("__isVarDefined", 1, 1),
    row("__javaScript", 1, 2),
    row("__jexl2", 1, 2),
    row("__jexl3", 1, 2),
    row("__log", 1, 4),
    row("__logn", 1, 3),
    row("__longSum", 2, u8::MAX),
    row("__machineIP", 0, 1),
    row("__machineName", 0, 1),
    row("__property", 1, 3),
    row("__regexFunction", 2, 7),
    row("__samplerName", 0, 1),
    row("__setProperty", 2, 3),
    row("__split", 2, 3),
    row("__threadGroupName", 0, 0),
    row("__threadNum", 0, 0),
    row("__time", 0, 2),
    row("__timeShift", 3, 5),
    row("__unescape", 1, 1),
    row("__unescapeHtml", 1, 1),
    row("__urldecode", 1, 1),
    row("__urlencode", 1, 1),
];

/// Returns the function with this name.
pub fn named(name: &str) -> Option<&'static Function> {
    TABLE.iter().find(|function| function.name == name)
}

/// Returns whether a text calls this name as a function, and does not read it as a variable.
pub fn is_known(name: &str) -> bool {
    name.starts_with("__") && named(name).is_some()
}
