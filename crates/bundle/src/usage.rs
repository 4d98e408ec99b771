//! What a script needs of its host, found without running it.

use plimsoll_plan::diag::Place;

/// What all modules of a bundle use. Everything has the place of its first use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Usage {
    /// Built-in modules, each once, in order of their first import.
    pub builtins: Vec<BuiltinUse>,
    /// Names of environment variables: `__ENV.NAME`.
    pub env: Vec<Mention>,
    /// The first use of `__ENV` whose names are not known, such as `__ENV[name]`.
    pub env_computed: Option<Place>,
    /// Calls of `open`.
    pub opens: Vec<Open>,
    /// Free names: what the script expects as globals.
    pub globals: Vec<Mention>,
    /// Exports of the entry, as far as the source shows them.
    pub exports: Vec<Mention>,
    /// Texts that begin as addresses, in source order.
    pub urls: Vec<Url>,
    /// The first place that may read the body of a response. Without one, no body is ever read.
    pub reads_bodies: Option<Place>,
}

/// A name and where it occurs first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mention {
    pub name: String,
    pub place: Place,
}

/// How modules use one built-in module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuiltinUse {
    /// The name that the engine gave it.
    pub name: String,
    /// The place of its first import.
    pub place: Place,
    /// The members that are used, each once: `get`, `scenario.iterationInTest`.
    pub members: Vec<Member>,
    /// The first use that hides which members it needs, such as `http[method]` or `f(http)`.
    pub computed: Option<Place>,
}

/// A member of a built-in module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Its name, with names of members of members after dots.
    pub path: String,
    /// The place of its first use.
    pub place: Place,
    /// Whether it is called or constructed anywhere.
    pub is_called: bool,
}

/// A call of `open`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Open {
    /// The path if it is a literal.
    pub path: Option<String>,
    /// Whether the mode is the literal `b`.
    pub is_binary: bool,
    pub place: Place,
}

/// A text that begins with `http://`, `https://`, `ws://`, or `wss://`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    /// The text, or the beginning of it before the first `${…}`.
    pub text: String,
    /// Whether the text continues after this beginning.
    pub is_head: bool,
    /// Whether it is the beginning of the address in a call on `k6/http`.
    pub is_request: bool,
    pub place: Place,
}
