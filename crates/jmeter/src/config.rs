//! Elements that run at the start of iterations: CSV Data Sets, counters, random variables, and user parameters.

use crate::data::{Reading, Source};
use crate::plan::{Config, Counter, Csv, Parameters, RandomVariable, Share};
use crate::scope::Scope;
use crate::template::Template;
use std::rc::Rc;
use std::sync::{Arc, PoisonError};

/// A CSV Data Set of a thread, opened at its first row.
#[derive(Debug)]
pub struct Opened {
    source: Arc<Source>,
    names: Vec<String>,
    reading: Reading,
    delimiter: String,
}

/// What a CSV Data Set does to its thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    Nothing,
    /// The data has ended.
    Ends,
    /// The data cannot be read.
    Fails,
}

/// What a thread keeps for these elements.
pub struct Kept<'k> {
    pub slots: &'k mut [i64],
    pub csv: &'k mut [Option<Rc<Opened>>],
    /// A number of the thread over all groups.
    pub thread: u64,
}

/// Runs an element.
pub fn run(config: &Config, kept: &mut Kept<'_>, scope: &mut Scope<'_>) -> Effect {
    match config {
        Config::Csv(csv) => return row(csv, kept, scope),
        Config::Counter(counter) => count(counter, kept.slots, scope),
        Config::Random(random) => draw(random, kept.slots, scope),
        Config::Parameters(of) => parameters(of, scope),
    }
    Effect::Nothing
}

/// Sets user parameters.
pub fn parameters(of: &Parameters, scope: &mut Scope<'_>) {
    let Some(set) = of.sets.get((scope.thread.number as usize).saturating_sub(1) % of.sets.len().max(1))
    else {
        return;
    };
    for (name, value) in of.names.iter().zip(set) {
        let (name, value) = (name.value(scope), value.value(scope));
        scope.vars.set(&name, &value);
    }
}

/// Adds the names and values of arguments that the matches of an extractor have, for RegEx User Parameters.
pub fn replacements(
    [variable, name_group, value_group]: &[Template; 3],
    all: &mut Vec<(String, String)>,
    scope: &mut Scope<'_>,
) {
    let (variable, names, values) =
        (variable.value(scope), name_group.value(scope), value_group.value(scope));
    let group = |at: i64, group: &str| scope.vars.get(&format!("{variable}_{at}_g{group}"));
    let count = scope.vars.get(&format!("{variable}_matchNr")).and_then(|text| text.parse().ok());
    let (Some(count), Some(_), Some(_)) = (count, group(1, &names), group(1, &values)) else { return };
    for at in 1..=count {
        if let (Some(name), Some(value)) = (group(at, &names), group(at, &values)) {
            all.retain(|(known, _)| known != name);
            all.push((name.to_owned(), value.to_owned()));
        }
    }
}

fn row(csv: &Csv, kept: &mut Kept<'_>, scope: &mut Scope<'_>) -> Effect {
    let opened = match kept.csv.get(csv.number).and_then(Option::as_ref) {
        Some(opened) => Rc::clone(opened),
        None => match open(csv, kept.thread, scope) {
            Ok(opened) => {
                let opened = Rc::new(opened);
                if let Some(place) = kept.csv.get_mut(csv.number) {
                    *place = Some(Rc::clone(&opened));
                }
                opened
            }
            Err(why) => {
                scope.run.warn_once(&format!("`{}`: {why}", csv.name));
                return Effect::Fails;
            }
        },
    };
    match opened.source.next(opened.reading, &opened.delimiter) {
        Ok(Some(row)) => {
            for (name, value) in opened.names.iter().zip(&row) {
                scope.vars.set(name, value);
            }
            Effect::Nothing
        }
        Ok(None) if csv.stops_thread => Effect::Ends,
        Ok(None) => {
            for name in &opened.names {
                scope.vars.set(name, "<EOF>");
            }
            Effect::Nothing
        }
        Err(why) => {
            scope.run.warn_once(&format!("`{}`: {why}", csv.name));
            Effect::Fails
        }
    }
}

fn open(csv: &Csv, thread: u64, scope: &mut Scope<'_>) -> Result<Opened, String> {
    let file = csv.file.value(scope);
    let file = file.trim();
    let path = scope.run.files.find_beside_plan(file);
    let encoding = csv.encoding.value(scope);
    let key = match &csv.share {
        Share::All => file.to_owned(),
        Share::Group => format!("{file}@group {}", scope.thread.group),
        Share::Thread => format!("{file}@thread {thread}"),
        Share::Named(name) => format!("{file}@{}", name.value(scope)),
    };
    let source = match csv.share {
        Share::Thread => scope.run.data.own_source(path, &encoding)?,
        _ => scope.run.data.source(&key, path, &encoding)?,
    };
    let delimiter = match csv.delimiter.value(scope).as_str() {
        "" => ",".to_owned(),
        "\\t" => "\t".to_owned(),
        other => other.to_owned(),
    };
    let variables = csv.variables.value(scope);
    let (names, skipped) = match variables.trim() {
        "" => (source.names(&delimiter), 1),
        names => {
            let names = names.split(',').map(|name| name.trim().to_owned()).collect();
            (names, usize::from(csv.ignores_first_line))
        }
    };
    let reading = Reading { skipped, recycles: csv.recycles, is_quoted: csv.is_quoted };
    Ok(Opened { source, names, reading, delimiter })
}

fn count(counter: &Counter, slots: &mut [i64], scope: &mut Scope<'_>) {
    let (start, step) = (counter.start.integer(scope), counter.step.integer(scope));
    let end = match counter.end.value(scope).trim() {
        "" => i64::MAX,
        text => text.parse().unwrap_or(i64::MAX),
    };
    let format = counter.format.value(scope);
    let variable = counter.variable.value(scope);
    let number = match counter.is_per_user {
        false => {
            let mut shared = counter.shared.lock().unwrap_or_else(PoisonError::into_inner);
            let number = shared.filter(|number| *number <= end).unwrap_or(start);
            *shared = Some(number.saturating_add(step));
            number
        }
        true => {
            let iteration = scope.thread.iteration as i64;
            let [next, last] = counter.slots.map(|slot| slot as usize);
            let is_new = slots.get(last).is_none_or(|last| *last == 0);
            let restarts = counter.resets_per_iteration && slots.get(last) != Some(&iteration);
            let number = if is_new || restarts { start } else { slots.get(next).copied().unwrap_or(start) };
            let after = number.saturating_add(step);
            if let Some(slot) = slots.get_mut(next) {
                *slot = if after > end { start } else { after };
            }
            if let Some(slot) = slots.get_mut(last) {
                *slot = iteration;
            }
            number
        }
    };
    scope.vars.set(&variable, &crate::number::format(number, &format));
}

fn draw(random: &RandomVariable, slots: &mut [i64], scope: &mut Scope<'_>) {
    let (least, most) = (random.least.integer(scope), random.most.integer(scope));
    let seed = random.seed.value(scope);
    let format = random.format.value(scope);
    let variable = random.variable.value(scope);
    // JMeter sets nothing if the range is empty.
    if most < least {
        return;
    }
    let number = match seed.trim().parse::<i64>() {
        Err(_) => scope.between(least, most),
        Ok(seed) => {
            // Java's generator takes an `int`.
            let range = i32::try_from(most.saturating_sub(least).saturating_add(1)).unwrap_or(i32::MAX);
            let next = |state: Option<u64>| {
                let mut generator = state.map_or_else(|| JavaRandom::new(seed), JavaRandom);
                (i64::from(generator.below(range)), generator.0)
            };
            if random.is_per_thread {
                // The state has 48 bits, so the sign tells that there is one.
                let slot = slots.get_mut(random.slot as usize);
                let state = slot.as_ref().filter(|slot| ***slot < 0).map(|slot| (**slot & i64::MAX) as u64);
                let (offset, state) = next(state);
                if let Some(slot) = slot {
                    *slot = state as i64 | i64::MIN;
                }
                least + offset
            } else {
                let mut shared = random.shared.lock().unwrap_or_else(PoisonError::into_inner);
                let (offset, state) = next(*shared);
                *shared = Some(state);
                least + offset
            }
        }
    };
    scope.vars.set(&variable, &crate::number::format(number, &format));
}

/// The generator of `java.util.Random`, so that a seed draws the numbers that it draws in JMeter.
struct JavaRandom(u64);

impl JavaRandom {
    const MASK: u64 = (1 << 48) - 1;

    fn new(seed: i64) -> JavaRandom {
        JavaRandom((seed as u64 ^ 0x5_DEEC_E66D) & JavaRandom::MASK)
    }

    /// Returns 31 random bits.
    fn next(&mut self) -> i32 {
        self.0 = (self.0.wrapping_mul(0x5_DEEC_E66D).wrapping_add(0xB)) & JavaRandom::MASK;
        (self.0 >> 17) as i32
    }

    /// Returns a number from 0 to below `bound`, as `nextInt(bound)` does.
    fn below(&mut self, bound: i32) -> i32 {
        if bound & (bound - 1) == 0 {
            return ((i64::from(bound) * i64::from(self.next())) >> 31) as i32;
        }
        loop {
            let bits = self.next();
            let value = bits % bound;
            // Numbers above the last whole multiple would be more likely.
            if bits.checked_sub(value).and_then(|base| base.checked_add(bound - 1)).is_some() {
                return value;
            }
        }
    }
}
