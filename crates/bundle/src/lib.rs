//! Turns the JavaScript and TypeScript sources of a test into module factories that an engine can run.
//!
//! [`load`] reads an entry and everything that it imports. Each module becomes one expression, its *factory*:
//! `(function (exports, require, module, meta) { … })`. An engine compiles it once and calls it for each virtual user,
//! so that users share bytecode and have their own module state. What the engine must provide:
//!
//! - `this` is `undefined` for an ES module, and `module.exports` for a CommonJS module ([`Format`]).
//! - `exports` is an empty object, and `module` is `{ exports }`. For a module that another one reached while it was
//!   being evaluated (a cycle), `require` returns the `exports` or `module.exports` that exist so far.
//! - `require(i)` evaluates [`Module::imports`]`[i]` once per user. It returns `exports` for an ES module,
//!   `module.exports` for a CommonJS module, the parsed value for JSON, and for a built-in module an object with its
//!   named exports and `default`. For [`Target::Unavailable`], it throws an `Error` with that message. Code that keeps
//!   `require` in a variable may call it with a specifier; look it up among the imports, or throw.
//! - The factory of a module that awaits at its top level returns a promise ([`Module::is_async`]), and `require`
//!   returns a promise of its `exports`.
//! - `meta` is the value of `import.meta`, with `url` and `resolve`.
//! - If `module.peek` is truthy before the call, then it is afterwards a function that returns the values of all
//!   variables at the top level of the module.
//!
//! This crate opens no sockets and runs no script. Codes: `K0xx`.

#![forbid(unsafe_code)]

mod archive;
mod emit;
mod files;
mod graph;
mod isolation;
mod link;
mod load;
mod locate;
mod map;
mod module;
mod names;
mod parse;
mod problem;
mod scan;
mod text;
mod typescript;
mod usage;

pub use archive::Archive;
pub use files::{Builtin, Builtins, Disk, Files};
pub use isolation::{Isolation, Reason};
pub use load::{Entry, load};
pub use module::{Bundle, Format, Import, Json, Module, Target};
pub use usage::{BuiltinUse, Member, Mention, Open, Url, Usage};
