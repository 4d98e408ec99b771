//! The variables of a thread: names that the plan mentions have numbers, all others are looked up.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Number of a variable that the plan mentions.
pub type VarId = u32;

/// The names of the variables that a plan mentions.
#[derive(Debug, Default)]
pub struct Names {
    ids: HashMap<Arc<str>, VarId>,
    all: Vec<Arc<str>>,
}

impl Names {
    /// Returns the number of a name, which is new if necessary.
    pub fn intern(&mut self, name: &str) -> VarId {
        if let Some(id) = self.ids.get(name) {
            return *id;
        }
        let id = self.all.len() as VarId;
        let name: Arc<str> = name.into();
        self.all.push(Arc::clone(&name));
        self.ids.insert(name, id);
        id
    }

    pub fn find(&self, name: &str) -> Option<VarId> {
        self.ids.get(name).copied()
    }

    pub fn name(&self, id: VarId) -> &str {
        self.all.get(id as usize).map_or("", |name| name)
    }
}

/// The variables of one thread. A thread begins with values that it shares with all others.
#[derive(Debug, Clone, Default)]
pub struct Vars {
    names: Arc<Names>,
    /// By number.
    known: Vec<Option<Arc<str>>>,
    /// Those that the plan does not mention by name, such as `token_1_g1`.
    more: BTreeMap<Box<str>, Arc<str>>,
}

impl Vars {
    pub fn new(names: &Arc<Names>) -> Vars {
        Vars { names: Arc::clone(names), known: vec![None; names.all.len()], more: BTreeMap::new() }
    }

    pub fn at(&self, id: VarId) -> Option<&str> {
        self.known.get(id as usize)?.as_deref()
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        match self.names.find(name) {
            Some(id) => self.at(id),
            None => self.more.get(name).map(|value| &**value),
        }
    }

    pub fn set_at(&mut self, id: VarId, value: &str) {
        if let Some(slot) = self.known.get_mut(id as usize) {
            *slot = Some(value.into());
        }
    }

    /// Sets a variable to a value that others share.
    pub fn put_at(&mut self, id: VarId, value: &Arc<str>) {
        if let Some(slot) = self.known.get_mut(id as usize) {
            *slot = Some(Arc::clone(value));
        }
    }

    pub fn set(&mut self, name: &str, value: &str) {
        match self.names.find(name) {
            Some(id) => self.set_at(id, value),
            None => {
                self.more.insert(name.into(), value.into());
            }
        }
    }

    pub fn remove(&mut self, name: &str) {
        match self.names.find(name) {
            Some(id) => {
                if let Some(slot) = self.known.get_mut(id as usize) {
                    *slot = None;
                }
            }
            None => {
                self.more.remove(name);
            }
        }
    }

    /// Returns all variables, sorted by name.
    pub fn all(&self) -> Vec<(&str, &str)> {
        let known = self.names.all.iter().zip(&self.known);
        let known = known.filter_map(|(name, value)| Some((&**name, value.as_deref()?)));
        let more = self.more.iter().map(|(name, value)| (&**name, &**value));
        let mut all: Vec<(&str, &str)> = known.chain(more).collect();
        all.sort_unstable();
        all
    }
}
