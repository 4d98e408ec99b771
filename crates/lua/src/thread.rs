//! The state of one thread, which the users of a worker share.

use crate::session::Site;
use mlua::{Function, HookTriggers, Lua, MultiValue, Table, UserData, UserDataMethods, Value};
use plimsoll_plan::Problem;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Instructions between two looks at the budget, and the budget of one call before the load: some seconds.
const LOOK: u32 = 1_000_000;
const LOOKS_MAX: u64 = 1_000;

/// Largest memory of a script, in bytes: less than wrk's own LuaJIT can have.
pub const MEMORY_MAX: u64 = 1 << 30;

/// A state with a script.
pub struct Thread {
    pub lua: Lua,
    /// Set by `thread:stop()`.
    pub is_stopped: AtomicBool,
    /// Set by `thread.addr`.
    address: Mutex<Option<SocketAddr>>,
    /// Begun and ended calls during the load: odd while the script runs.
    calls: AtomicU64,
}

impl Thread {
    /// Creates a state, and runs the script in it.
    ///
    /// # Errors
    /// Returns an error of the script, with its place.
    pub fn new(name: &str, script: &[u8], site: &Site) -> Result<(Arc<Thread>, Function), Problem> {
        let lua = Lua::new();
        let start = (|| {
            let fields = lua.create_table()?;
            for (name, value) in &site.headers {
                fields.set(name.as_str(), value.as_str())?;
            }
            let parts = lua.create_table()?;
            parts.set("scheme", site.scheme.as_str())?;
            parts.set("host", site.host.as_str())?;
            parts.set("port", site.port.as_deref())?;
            parts.set("path", site.path.as_str())?;
            let lookup = site.lookup;
            let lookup = lua.create_function(move |_, (host, service): (String, String)| {
                let all = lookup(&host, &service).map_err(mlua::Error::runtime)?;
                Ok(all.iter().map(SocketAddr::to_string).collect::<Vec<_>>())
            })?;
            parts.set("lookup", lookup)?;
            lua.load(include_str!("prelude.lua")).set_name("=wrk").call::<Function>((parts, fields))
        })();
        let start = start.map_err(|error| problem(name, &error))?;
        let thread = Thread {
            lua,
            is_stopped: AtomicBool::new(false),
            address: Mutex::default(),
            calls: AtomicU64::new(0),
        };
        let chunk = thread.lua.load(script).set_name(format!("@{name}"));
        thread.within_budget(name, || chunk.exec())?;
        Ok((Arc::new(thread), start))
    }

    pub fn address(&self) -> Option<SocketAddr> {
        *self.address.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a global of the script if it is a function.
    pub fn function(&self, name: &str) -> Option<Function> {
        self.lua.globals().get::<Option<Function>>(name).ok().flatten()
    }

    /// Calls the script before or after the load, with a limit on its instructions.
    ///
    /// # Errors
    /// Returns an error of the script with its place, or that it does not end.
    pub fn within_budget<R>(&self, name: &str, run: impl FnOnce() -> mlua::Result<R>) -> Result<R, Problem> {
        // Compiled code does not count its instructions.
        self.compile(false);
        let looks = AtomicU64::new(0);
        let hook = move |_: &Lua, debug: &mlua::Debug<'_>| {
            if looks.fetch_add(1, Ordering::Relaxed) < LOOKS_MAX {
                return Ok(mlua::VmState::Continue);
            }
            let line = debug.current_line().map_or_else(String::new, |line| format!(" near line {line}"));
            Err(mlua::Error::runtime(format!("the script does not end{line}")))
        };
        let set = self.lua.set_hook(HookTriggers::new().every_nth_instruction(LOOK), hook);
        let result = set.and_then(|()| run());
        self.lua.remove_hook();
        self.compile(true);
        result.map_err(|error| problem(name, &error))
    }

    fn compile(&self, is_on: bool) {
        let switch = if is_on { "jit.on()" } else { "jit.off()" };
        // A platform without a compiler has nothing to switch.
        let _ = self.lua.load(switch).exec();
    }

    /// Calls the script during the load.
    pub fn during<R>(&self, run: impl FnOnce() -> R) -> R {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let result = run();
        self.calls.fetch_add(1, Ordering::Relaxed);
        result
    }
}

/// Returns the sentence for a script that has more than [`MEMORY_MAX`].
pub fn too_large(name: &str) -> Problem {
    let hint = "keep less in tables and strings between the calls";
    Problem::new(format!("{name}: the script uses more than {} GiB of memory", MEMORY_MAX >> 30), hint)
}

/// Returns the sentence of an error without its stack.
pub fn problem(name: &str, error: &mlua::Error) -> Problem {
    let text = match error {
        mlua::Error::CallbackError { cause, .. } => cause.to_string(),
        other => other.to_string(),
    };
    let first = text.lines().next().unwrap_or_default();
    let sentence = first.trim_start_matches("runtime error: ").trim_start_matches("syntax error: ");
    match sentence.starts_with(&format!("{name}:")) {
        true => Problem::plain(sentence),
        false => Problem::plain(format!("{name}: {sentence}")),
    }
}

/// The `thread` of scripts.
pub struct Handle(pub Weak<Thread>);

impl Handle {
    fn thread(&self) -> mlua::Result<Arc<Thread>> {
        self.0.upgrade().ok_or_else(|| mlua::Error::runtime("the thread has ended"))
    }
}

impl UserData for Handle {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("get", |lua, this, name: mlua::String| {
            let thread = this.thread()?;
            let name = thread.lua.create_string(name.as_bytes())?;
            let value = thread.lua.globals().get::<Value>(name)?;
            copy(&value, lua)
        });
        methods.add_method("set", |_, this, (name, value): (mlua::String, Value)| {
            let thread = this.thread()?;
            let value = copy(&value, &thread.lua)?;
            thread.lua.globals().set(thread.lua.create_string(name.as_bytes())?, value)
        });
        methods.add_method("stop", |_, this, _: MultiValue| {
            this.thread()?.is_stopped.store(true, Ordering::Relaxed);
            Ok(())
        });
        methods.add_meta_method("__newindex", |_, this, (name, value): (String, Value)| {
            let text = value.as_string().map(|text| text.to_string_lossy());
            match (name.as_str(), text.and_then(|text| text.parse().ok())) {
                ("addr", Some(address)) => {
                    *this.thread()?.address.lock().unwrap_or_else(PoisonError::into_inner) = Some(address);
                    Ok(())
                }
                ("addr", None) => {
                    Err(mlua::Error::runtime("`thread.addr` must be an address of `wrk.lookup`"))
                }
                _ => Err(mlua::Error::runtime(format!("`thread.{name}` cannot be set"))),
            }
        });
        methods.add_meta_method("__index", |_, this, name: String| match name.as_str() {
            "addr" => Ok(this.thread()?.address().map(|address| address.to_string())),
            _ => Ok(None),
        });
    }
}

/// Copies a value to another state.
fn copy(value: &Value, to: &Lua) -> mlua::Result<Value> {
    Ok(match value {
        Value::Nil => Value::Nil,
        Value::Boolean(b) => Value::Boolean(*b),
        Value::Integer(n) => Value::Integer(*n),
        Value::Number(n) => Value::Number(*n),
        Value::String(text) => Value::String(to.create_string(text.as_bytes())?),
        Value::Table(table) => Value::Table(copy_table(table, to)?),
        other => {
            let message = format!("a value of the type `{}` cannot be transferred", other.type_name());
            return Err(mlua::Error::runtime(message));
        }
    })
}

fn copy_table(table: &Table, to: &Lua) -> mlua::Result<Table> {
    let new = to.create_table()?;
    for pair in table.pairs::<Value, Value>() {
        let (key, value) = pair?;
        new.set(copy(&key, to)?, copy(&value, to)?)?;
    }
    Ok(new)
}

/// Detects a call of the script that does not end during the load.
pub struct Watch {
    threads: Vec<Arc<Thread>>,
    /// The calls at the last look, and for how many looks they have not changed.
    seen: Vec<(u64, u32)>,
}

impl Watch {
    pub fn new(threads: Vec<Arc<Thread>>) -> Watch {
        let seen = vec![(0, 0); threads.len()];
        Watch { threads, seen }
    }

    /// Returns for how many looks, this one included, the longest call has lasted.
    pub fn look(&mut self) -> u32 {
        let mut longest = 0;
        for (thread, (calls, unchanged)) in self.threads.iter().zip(&mut self.seen) {
            let now = thread.calls.load(Ordering::Relaxed);
            *unchanged = if now == *calls && now % 2 == 1 { *unchanged + 1 } else { 0 };
            *calls = now;
            longest = longest.max(*unchanged);
        }
        longest
    }
}
