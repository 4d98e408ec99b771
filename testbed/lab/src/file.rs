//! `testbed/NAME/lab.toml`: what a system consists of. Read strictly, because a key that is spelled wrongly would
//! otherwise start another system than its author believes in.

use super::fill::Fill;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct System {
    #[serde(skip)]
    pub name: String,
    /// `testbed/NAME`, absolute.
    #[serde(skip)]
    pub here: PathBuf,
    pub about: String,
    /// Ports are `base` x 100 + offset (0..=99).
    pub base: u16,
    /// Programs, as in the table of `cargo xtask needs`.
    #[serde(default)]
    pub needs: Vec<String>,
    #[serde(default)]
    pub prepare: Vec<Prepare>,
    #[serde(default)]
    pub file: Vec<Rendered>,
    #[serde(default)]
    pub link: Vec<Link>,
    #[serde(default)]
    pub process: Vec<Process>,
}

/// A build step that is repeated only when an input has changed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prepare {
    pub run: Vec<String>,
    #[serde(rename = "in", default = "this_folder")]
    pub folder: String,
    /// Files or folders below `testbed/NAME`.
    #[serde(default)]
    pub inputs: Vec<String>,
    /// What the step leaves below its folder; done again when it is gone.
    #[serde(default)]
    pub makes: Vec<String>,
    #[serde(default)]
    pub env: BTreeMap<String, String>,
}

/// A template below `testbed/NAME`, and its name in the state folder.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rendered {
    pub from: String,
    pub to: String,
}

/// A network namespace behind a link of a known width.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    pub name: String,
    /// As `tc` writes it: `5mbit`.
    pub rate: String,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    #[default]
    Command,
    Postgres,
    Redis,
    Nginx,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Process {
    pub name: String,
    #[serde(default)]
    pub kind: Kind,
    #[serde(default)]
    pub run: Vec<String>,
    #[serde(rename = "in", default = "this_folder")]
    pub folder: String,
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Offset of the one port of a database or cache.
    pub port: Option<u16>,
    /// Offsets of the ports that are waited for.
    #[serde(default)]
    pub ports: Vec<u16>,
    pub health: Option<String>,
    /// Hard limit of descriptors.
    pub nofile: Option<u32>,
    pub link: Option<String>,
    #[serde(default)]
    pub seed: Vec<String>,
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
    #[serde(default)]
    pub sql: Vec<String>,
    pub config: Option<String>,
}

fn this_folder() -> String {
    ".".into()
}

impl Process {
    /// Offsets of all ports, the one of a database first.
    pub fn offsets(&self) -> impl Iterator<Item = u16> + '_ {
        self.port.iter().chain(&self.ports).copied()
    }

    /// Which keys a kind does without, and which it cannot do without.
    fn check(&self) -> Result<(), String> {
        let built_in = matches!(self.kind, Kind::Postgres | Kind::Redis);
        let keys = [
            ("run", !self.run.is_empty(), self.kind == Kind::Command, self.kind == Kind::Command),
            ("config", self.config.is_some(), self.kind == Kind::Nginx, self.kind == Kind::Nginx),
            ("port", self.port.is_some(), built_in, built_in),
            ("ports", !self.ports.is_empty(), !built_in, self.kind == Kind::Nginx),
            ("settings", !self.settings.is_empty(), built_in, false),
            ("sql", !self.sql.is_empty(), self.kind == Kind::Postgres, false),
            ("link", self.link.is_some(), !built_in, false),
        ];
        let kind = format!("{:?}", self.kind).to_lowercase();
        for (key, given, allowed, needed) in keys {
            if given && !allowed {
                return Err(format!(
                    "process `{}`: a process of the kind `{kind}` has no `{key}`",
                    self.name
                ));
            }
            if needed && !given {
                return Err(format!("process `{}`: a process of the kind `{kind}` needs `{key}`", self.name));
            }
        }
        match self.offsets().find(|offset| *offset > 99) {
            Some(offset) => Err(format!("process `{}`: port `{offset}` is no offset (0 to 99)", self.name)),
            None => Ok(()),
        }
    }
}

impl System {
    /// Reads and checks a file; every string is filled in.
    pub fn read(path: &Path, fill: &Fill) -> Result<System, String> {
        let text = std::fs::read_to_string(path)
            .map_err(|e| format!("cannot read `{}`: {e}", super::describe(path)))?;
        let here = path.parent().unwrap_or(Path::new("."));
        let name = here.file_name().unwrap_or_default().to_string_lossy().into_owned();
        System::parse(&text, &name, here, fill).map_err(|e| format!("{}: {e}", super::describe(path)))
    }

    /// Parsed twice: the first time for errors that know their line, the second time with the strings filled in.
    pub fn parse(text: &str, name: &str, here: &Path, fill: &Fill) -> Result<System, String> {
        toml::from_str::<System>(text).map_err(|e| sentence(text, &e))?;
        let mut value: toml::Value = toml::from_str(text).map_err(|e| sentence(text, &e))?;
        fill_value(&mut value, fill)?;
        let mut system: System = value.try_into().map_err(|e: toml::de::Error| e.message().to_string())?;
        system.name = name.to_string();
        system.here = here.to_path_buf();
        system.check()?;
        Ok(system)
    }

    /// Every program that it takes: those it names, and those that its kinds of processes and the lab itself use.
    pub fn programs(&self) -> Vec<&str> {
        let mut programs: Vec<&str> = self.needs.iter().map(String::as_str).collect();
        programs.extend(["curl", "openssl"]);
        for process in &self.process {
            programs.extend(match process.kind {
                Kind::Command => &[][..],
                Kind::Postgres => &["postgres", "initdb", "psql"],
                Kind::Redis => &["redis-server"],
                Kind::Nginx => &["nginx"],
            });
        }
        if !self.link.is_empty() {
            programs.extend(["ip", "tc", "nsenter"]);
        }
        programs.sort_unstable();
        programs.dedup();
        programs
    }

    fn check(&self) -> Result<(), String> {
        if self.base == 0 || self.base > 654 {
            return Err(format!("base `{}` gives ports that do not exist (1 to 654)", self.base));
        }
        let mut ports: BTreeMap<u16, &str> = BTreeMap::new();
        let mut names: Vec<&str> = Vec::new();
        for process in &self.process {
            process.check()?;
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
            if process.name.is_empty() || !process.name.chars().all(plain) {
                return Err(format!("process `{}`: a name is letters, digits, `-` and `_`", process.name));
            }
            if names.contains(&process.name.as_str()) {
                return Err(format!("two processes are called `{}`", process.name));
            }
            names.push(&process.name);
            for offset in process.offsets() {
                if let Some(other) = ports.insert(offset, &process.name) {
                    return Err(format!("port `{offset}` belongs to `{other}` and to `{}`", process.name));
                }
            }
            if let Some(link) = &process.link
                && !self.link.iter().any(|l| l.name == *link)
            {
                return Err(format!("process `{}`: there is no link `{link}`", process.name));
            }
            if let Some(config) = &process.config
                && !self.file.iter().any(|f| f.to == *config)
            {
                return Err(format!("process `{}`: no `[[file]]` makes `{config}`", process.name));
            }
        }
        Ok(())
    }
}

fn fill_value(value: &mut toml::Value, fill: &Fill) -> Result<(), String> {
    match value {
        toml::Value::String(text) => *text = fill.text(text)?,
        toml::Value::Array(list) => {
            for item in list {
                fill_value(item, fill)?;
            }
        }
        toml::Value::Table(table) => {
            for (_, item) in table.iter_mut() {
                fill_value(item, fill)?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// The parser's complaint in one line, with the line of the file.
fn sentence(text: &str, error: &toml::de::Error) -> String {
    let line = error.span().map(|span| 1 + text[..span.start.min(text.len())].matches('\n').count());
    let place = line.map(|line| format!("line {line}: ")).unwrap_or_default();
    format!("{place}{}", error.message().replace('\n', " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<System, String> {
        let text = format!("about = \"x\"\nbase = 41\n{text}");
        System::parse(&text, "tiny", Path::new("testbed/tiny"), &Fill::example())
    }

    #[test]
    fn a_key_that_does_not_exist_is_named_with_its_line() {
        let said = parse("[[process]]\nname = \"a\"\nrun = [\"x\"]\nprots = [1]\n").unwrap_err();
        assert!(said.starts_with("line 6: unknown field `prots`"), "{said}");
    }

    #[test]
    fn a_kind_has_the_keys_that_it_understands_and_no_others() {
        let said = parse("[[process]]\nname = \"db\"\nkind = \"postgres\"\n").unwrap_err();
        assert_eq!(said, "process `db`: a process of the kind `postgres` needs `port`");
        let said = parse("[[process]]\nname = \"a\"\nrun = [\"x\"]\nsql = [\"y\"]\n").unwrap_err();
        assert_eq!(said, "process `a`: a process of the kind `command` has no `sql`");
        assert!(parse("[[process]]\nname = \"a\"\nrun = [\"x\"]\nports = [1]\n").is_ok());
    }

    #[test]
    fn a_port_has_one_owner_and_two_digits() {
        let twice = "[[process]]\nname = \"a\"\nrun = [\"x\"]\nports = [1]\n\
                     [[process]]\nname = \"b\"\nrun = [\"x\"]\nports = [1]\n";
        assert_eq!(parse(twice).unwrap_err(), "port `1` belongs to `a` and to `b`");
        let far = "[[process]]\nname = \"a\"\nrun = [\"x\"]\nports = [100]\n";
        assert_eq!(parse(far).unwrap_err(), "process `a`: port `100` is no offset (0 to 99)");
    }

    #[test]
    fn a_kind_brings_its_programs_along() {
        let system =
            parse("needs = [\"node\", \"curl\"]\n[[process]]\nname = \"c\"\nkind = \"redis\"\nport = 1\n");
        let system = system.expect("a good file");
        assert_eq!(system.programs(), ["curl", "node", "openssl", "redis-server"]);
    }

    #[test]
    fn strings_are_filled_in_wherever_they_stand() {
        let text = "[[process]]\nname = \"a\"\nrun = [\"x\", \"@{port:10}\"]\nenv = { P = \"@{base}\" }\n";
        let system = parse(text).expect("a good file");
        assert_eq!(system.process[0].run[1], "4110");
        assert_eq!(system.process[0].env["P"], "41");
        let said = parse("[[process]]\nname = \"a\"\nrun = [\"@{prot:1}\"]\n").unwrap_err();
        assert!(said.starts_with("nobody knows `@{prot:1}`"), "{said}");
    }
}
