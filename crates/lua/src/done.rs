//! The results that `done` gets.

use mlua::{Lua, MetaMethod, Table, UserData, UserDataFields, UserDataMethods};

/// Values in ascending order with their counts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Distribution {
    pub values: Vec<(u64, u64)>,
    pub mean: f64,
    pub std_dev: f64,
}

impl Distribution {
    /// Returns the value at a percentile, as wrk does.
    fn percentile(&self, percent: f64) -> u64 {
        let count: u64 = self.values.iter().map(|(_, count)| count).sum();
        let rank = (percent / 100.0 * count as f64 + 0.5).round() as u64;
        let mut seen = 0;
        let mut values = self.values.iter();
        let found = values.find(|(_, count)| {
            seen += count;
            seen >= rank
        });
        found.map_or(0, |(value, _)| *value)
    }
}

impl UserData for Distribution {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("min", |_, this| Ok(this.values.first().map_or(0, |(value, _)| *value)));
        fields.add_field_method_get("max", |_, this| Ok(this.values.last().map_or(0, |(value, _)| *value)));
        fields.add_field_method_get("mean", |_, this| Ok(this.mean));
        fields.add_field_method_get("stdev", |_, this| Ok(this.std_dev));
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("percentile", |_, this, percent: f64| Ok(this.percentile(percent)));
        methods.add_meta_method(MetaMethod::Call, |_, this, index: usize| {
            Ok(index.checked_sub(1).and_then(|at| this.values.get(at).copied()).unwrap_or((0, 0)))
        });
        methods.add_meta_method(MetaMethod::Len, |_, this, ()| Ok(this.values.len()));
    }
}

/// The results of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Results {
    pub duration_us: u64,
    pub completed: u64,
    pub bytes: u64,
    /// Requests that failed: connect, read, write, status, timeout.
    pub errors: [u64; 5],
    /// us
    pub latency: Distribution,
    /// Per second and thread.
    pub requests: Distribution,
}

impl Results {
    pub(crate) fn summary(&self, lua: &Lua) -> mlua::Result<Table> {
        let errors = lua.create_table()?;
        for (name, count) in ["connect", "read", "write", "status", "timeout"].into_iter().zip(self.errors) {
            errors.set(name, count)?;
        }
        let summary = lua.create_table()?;
        summary.set("duration", self.duration_us)?;
        summary.set("requests", self.completed)?;
        summary.set("bytes", self.bytes)?;
        summary.set("errors", errors)?;
        Ok(summary)
    }
}
