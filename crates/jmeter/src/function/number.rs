//! Functions of numbers: random ones, counters, and sums.

use super::without_value;
use crate::scope::Scope;
use crate::template::Call;
use std::sync::atomic::Ordering;

pub fn random(call: &Call, scope: &mut Scope<'_>) -> String {
    let (least, most) = (call.argument(0, scope), call.argument(1, scope));
    let (Ok(from), Ok(to)) = (least.trim().parse(), most.trim().parse()) else {
        return without_value(scope, "__Random", &format!("`{least}` and `{most}` must be integers"));
    };
    let value = scope.between(from, to).to_string();
    call.store(2, &value, scope);
    value
}

/// Longest text of `__RandomString`.
const RANDOM_CHARACTERS_MAX: i64 = 16 << 20;

pub fn random_string(call: &Call, scope: &mut Scope<'_>) -> String {
    let length = call.argument(0, scope);
    let Some(length) = length.trim().parse().ok().filter(|n| (0..=RANDOM_CHARACTERS_MAX).contains(n)) else {
        return without_value(scope, "__RandomString", &format!("invalid length `{length}`"));
    };
    let signs: Vec<char> = call.argument(1, scope).trim().chars().collect();
    let mut value = String::new();
    for _ in 0..length {
        value.push(match signs.len() {
            // JMeter takes any character; printable ones of ASCII can be sent everywhere.
            0 => scope.between(0x21, 0x7E) as u8 as char,
            count => signs[scope.between(0, count as i64 - 1) as usize],
        });
    }
    call.store(2, &value, scope);
    value
}

/// The values of variables such as `token_1` to `token_matchNr`, or of single ones.
pub fn random_from_variables(call: &Call, scope: &mut Scope<'_>) -> String {
    let mut values = Vec::new();
    for name in call.argument(0, scope).split('|') {
        match scope.vars.get(&format!("{name}_matchNr")) {
            Some(count) => {
                let count: u64 = count.parse().unwrap_or(0);
                let own = (1..=count).filter_map(|at| scope.vars.get(&format!("{name}_{at}")));
                values.extend(own.map(str::to_owned));
            }
            None => values.extend(scope.vars.get(name).map(str::to_owned)),
        }
    }
    let value = match values.len() {
        0 => String::new(),
        count => values.swap_remove(scope.between(0, count as i64 - 1) as usize),
    };
    call.store(1, &value, scope);
    value
}

pub fn counter(call: &Call, scope: &mut Scope<'_>) -> String {
    let is_own = call.argument(0, scope).trim().eq_ignore_ascii_case("true");
    let value = match is_own {
        true => {
            let mut counts = scope.thread.counts.borrow_mut();
            let count = counts.entry(call.instance).or_insert(0);
            *count += 1;
            *count
        }
        false => {
            let counter = scope.run.counters.get(call.instance as usize);
            counter.map_or(1, |counter| counter.fetch_add(1, Ordering::Relaxed) + 1)
        }
    };
    let value = value.to_string();
    call.store(1, &value, scope);
    value
}

/// The last argument is a number or the name of a variable.
pub fn sum(call: &Call, scope: &mut Scope<'_>) -> String {
    let Some(last) = call.arguments.len().checked_sub(1) else { return String::new() };
    let mut sum = 0i64;
    for number in 0..=last {
        let text = call.argument(number, scope);
        match text.trim().parse::<i64>() {
            Ok(value) => sum = sum.wrapping_add(value),
            Err(_) if number == last => {
                let value = sum.to_string();
                call.store(number, &value, scope);
            }
            Err(_) => return without_value(scope, "sum", &format!("`{text}` is not an integer")),
        }
    }
    sum.to_string()
}
