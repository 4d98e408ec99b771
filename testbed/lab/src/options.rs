//! The command line of `lab`: a handful of options, each with one sentence if it is invalid.

use super::places;
use super::run::Options;
use super::test::Wanted;
use std::path::PathBuf;

/// The options of all commands; each command accepts some of them.
#[derive(Debug, Default)]
struct Words {
    names: Vec<String>,
    base: Option<u16>,
    scale: Option<f64>,
    part: Option<String>,
    tool: Option<PathBuf>,
    save: bool,
    keep: bool,
}

/// Reads options; `takes` lists those of the command, and any other is an error.
fn read(words: &[String], takes: &[&str]) -> Result<Words, String> {
    let mut read = Words::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if !word.starts_with('-') {
            read.names.push(word.clone());
            continue;
        }
        if !takes.contains(&word.as_str()) {
            return Err(format!("unknown option `{word}`\nhelp: {}", known(takes)));
        }
        let mut value = || words.next().ok_or_else(|| format!("`{word}` requires a value"));
        match word.as_str() {
            "--base" => read.base = Some(base(value()?)?),
            "--scale" => read.scale = Some(scale(value()?)?),
            "--part" => read.part = Some(value()?.clone()),
            "--tool" => read.tool = Some(value()?.into()),
            "--save" => read.save = true,
            "--keep" => read.keep = true,
            _ => return Err(format!("unknown option `{word}`")),
        }
    }
    Ok(read)
}

fn known(takes: &[&str]) -> String {
    if takes.is_empty() { "remove it".into() } else { format!("use one of {}", takes.join(", ")) }
}

/// Reads the names and the base of `up`.
pub fn up(words: &[String]) -> Result<(Vec<String>, Option<u16>), String> {
    let read = read(words, &["--base"])?;
    if read.names.is_empty() {
        return Err(format!("missing system\nhelp: choose from {}", places::names()?.join(", ")));
    }
    if read.base.is_some() && read.names.len() > 1 {
        return Err("`--base` requires one system: two would share their ports".into());
    }
    Ok((read.names, read.base))
}

/// Reads the names of `down`; without names, returns all systems that were started.
pub fn down(words: &[String]) -> Result<Vec<String>, String> {
    let names = read(words, &[])?.names;
    if names.is_empty() { places::started() } else { Ok(names) }
}

/// Reads the names of `prepare`; without names, returns all systems.
pub fn prepare(words: &[String]) -> Result<Vec<String>, String> {
    let names = read(words, &[])?.names;
    if names.is_empty() { places::names() } else { Ok(names) }
}

pub fn run(words: &[String]) -> Result<Options, String> {
    let read = read(words, &["--scale", "--base", "--save", "--part", "--keep", "--tool"])?;
    let [name] = &read.names[..] else {
        return Err(format!("expected one system\nhelp: choose one of {}", places::names()?.join(", ")));
    };
    Ok(Options {
        name: name.clone(),
        scale: read.scale.unwrap_or(1.0),
        base: read.base,
        save: read.save,
        part: read.part,
        keep: read.keep,
        tool: read.tool,
    })
}

pub fn test(words: &[String]) -> Result<Wanted, String> {
    let read = read(words, &["--scale", "--tool"])?;
    Ok(Wanted { names: read.names, scale: read.scale.unwrap_or(0.05), tool: read.tool })
}

/// Ports below 1024 require root; 65,535 is the highest port.
fn base(text: &str) -> Result<u16, String> {
    let number = text.parse::<u16>().ok().filter(|n| (11..=654).contains(n));
    number.ok_or_else(|| {
        format!("invalid `--base {text}`: expected 11 to 654 (ports are 100 times that, plus 0 to 99)")
    })
}

/// Without an upper bound: an experiment may run for a day.
fn scale(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|n| n.is_finite() && *n > 0.0);
    number
        .ok_or_else(|| format!("invalid `--scale {text}`: expected a number above 0, such as `0.05` or `10`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(String::from).collect()
    }

    #[test]
    fn omitted_options_have_defaults() {
        let options = run(&words("cards --part line --keep")).expect("a good line");
        assert_eq!((options.scale, options.base, options.save, options.keep), (1.0, None, false, true));
        assert_eq!(options.part.as_deref(), Some("line"));
        let wanted = test(&words("cards sse --scale 0.2")).expect("a good line");
        assert_eq!((wanted.names.len(), wanted.scale), (2, 0.2));
        assert_eq!(test(&[]).expect("a good line").scale, 0.05);
    }

    #[test]
    fn invalid_options_are_errors() {
        assert!(
            run(&words("cards --scale 0")).unwrap_err().contains("`--scale 0`: expected a number above 0")
        );
        assert!(up(&words("cards --base 655")).unwrap_err().contains("`--base 655`: expected 11 to 654"));
        assert!(up(&words("cards sse --base 50")).unwrap_err().contains("share their ports"));
        assert!(test(&words("--save")).unwrap_err().starts_with("unknown option `--save`"));
        assert!(run(&words("cards --part")).unwrap_err().contains("requires a value"));
    }
}
