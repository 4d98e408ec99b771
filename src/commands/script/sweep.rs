//! Sweeps over the variables of a script: a name that `--set` gives several values makes a run for each.

use crate::exit::Failure;
use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;
use plimsoll_plan::experiment::{Axis, Setting};

/// Most combinations, as for experiment files.
const COMBINATIONS_MAX: usize = 1_000;

/// The variables of `--set`.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Variables {
    /// Those with one value, in the order of their first mention.
    pub fixed: Vec<(String, String)>,
    /// Those with several.
    pub axes: Vec<Axis>,
}

impl Variables {
    /// Reads `NAME=VALUE`.
    ///
    /// # Errors
    /// Returns an error for a text without `=`, and for too many combinations.
    pub fn read(set: &[String]) -> Result<Variables, Failure> {
        let mut all: Vec<(String, Vec<String>)> = Vec::new();
        for text in set {
            let Some((name, value)) = text.split_once('=') else {
                let message = format!("invalid value `{text}`: expected NAME=VALUE");
                let hint = "write a variable of the script, such as `--set HOST=127.0.0.1`";
                return Err(Diagnostic::new("U011", Place::Flag("--set".into()), message, hint).into());
            };
            match all.iter_mut().find(|(known, _)| known == name) {
                Some((_, values)) if values.iter().any(|known| known == value) => {}
                Some((_, values)) => values.push(value.to_owned()),
                None => all.push((name.to_owned(), vec![value.to_owned()])),
            }
        }
        let mut variables = Variables::default();
        for (name, mut values) in all {
            match values.len() {
                1 => variables.fixed.extend(values.pop().map(|value| (name, value))),
                _ => {
                    let is_numeric =
                        values.iter().all(|value| value.parse::<f64>().is_ok_and(f64::is_finite));
                    variables.axes.push(Axis { name, values, is_numeric });
                }
            }
        }
        let count = variables.axes.iter().try_fold(1usize, |all, axis| all.checked_mul(axis.values.len()));
        if count.is_none_or(|count| count > COMBINATIONS_MAX) {
            let message = format!("the values of `--set` have more than {COMBINATIONS_MAX} combinations");
            let hint = "set fewer values, or sweep over fewer names";
            return Err(Diagnostic::new("U011", Place::Flag("--set".into()), message, hint).into());
        }
        Ok(variables)
    }

    /// Returns the settings of each combination; those of the last axis change first. Without an axis, there is one.
    pub fn combinations(&self) -> Vec<Vec<Setting>> {
        let mut all = vec![Vec::new()];
        for axis in &self.axes {
            let with = |settings: &Vec<Setting>, value: &String| {
                let setting = Setting { parameter: axis.name.clone(), value: value.clone() };
                settings.iter().cloned().chain([setting]).collect::<Vec<_>>()
            };
            all = all
                .iter()
                .flat_map(|settings| {
                    axis.values.iter().map(|value| with(settings, value)).collect::<Vec<_>>()
                })
                .collect();
        }
        all
    }

    /// Returns `__ENV` of a combination: the environment of the process, and then the variables.
    pub fn environment(&self, settings: &[Setting]) -> Vec<(String, String)> {
        let mut env: Vec<(String, String)> = std::env::vars().collect();
        let own = settings.iter().map(|one| (one.parameter.clone(), one.value.clone()));
        for (name, value) in self.fixed.iter().cloned().chain(own) {
            env.retain(|(known, _)| *known != name);
            env.push((name, value));
        }
        env
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(set: &[&str]) -> Variables {
        Variables::read(&set.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>()).unwrap_or_default()
    }

    #[test]
    fn a_name_with_several_values_is_an_axis() {
        let variables = read(&["A=1", "HOST=h", "A=2", "B=x,y", "B=z", "A=1"]);
        assert_eq!(variables.fixed, [("HOST".to_owned(), "h".to_owned())]);
        let names: Vec<_> = variables
            .axes
            .iter()
            .map(|axis| (axis.name.as_str(), axis.values.len(), axis.is_numeric))
            .collect();
        assert_eq!(names, [("A", 2, true), ("B", 2, false)]);
        let all: Vec<Vec<String>> = variables
            .combinations()
            .iter()
            .map(|settings| settings.iter().map(|one| one.value.clone()).collect())
            .collect();
        assert_eq!(all, [["1", "x,y"], ["1", "z"], ["2", "x,y"], ["2", "z"]]);
        assert!(Variables::read(&["A".to_owned()]).is_err());
        assert_eq!(read(&[]).combinations(), [Vec::new()]);
    }
}
