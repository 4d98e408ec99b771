//! `testbed/NAME/lab.toml`: the parts of a system. Unknown keys are errors, because with a misspelled key the lab would
//! start a different system than its author intended.

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

/// A build step that is repeated only if an input has changed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prepare {
    pub run: Vec<String>,
    #[serde(rename = "in", default = "this_folder")]
    pub folder: String,
    /// Files or folders below `testbed/NAME`.
    #[serde(default)]
    pub inputs: Vec<String>,
    /// Products of the step below its folder; the step is repeated if one of them is missing.
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

/// A network namespace, connected by a link with a known bandwidth.
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
    /// Offsets of the ports that the lab waits for.
    #[serde(default)]
    pub ports: Vec<u16>,
    pub health: Option<String>,
    /// Limit on open files.
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

    /// Checks that the process has the keys that its kind requires, and no keys that its kind does not have.
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
                return Err(format!(
                    "process `{}`: a process of the kind `{kind}` requires `{key}`",
                    self.name
                ));
            }
        }
        match self.offsets().find(|offset| *offset > 99) {
            Some(offset) => {
                Err(format!("process `{}`: invalid port `{offset}`: expected 0 to 99", self.name))
            }
            None => Ok(()),
        }
    }
}

impl System {
    /// Reads and checks a file, and fills in every string.
    pub fn read(path: &Path, fill: &Fill) -> Result<System, String> {
        let text = std::fs::read_to_string(path)
            .map_err(|e| format!("cannot read `{}`: {e}", super::describe(path)))?;
        let here = path.parent().unwrap_or(Path::new("."));
        let name = here.file_name().unwrap_or_default().to_string_lossy().into_owned();
        System::parse(&text, &name, here, fill).map_err(|e| format!("{}: {e}", super::describe(path)))
    }

    /// Parses twice: first for errors with a line number, then with the strings filled in.
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

    /// Returns all programs that the system needs: those in `needs`, and those of its kinds of processes and of the
    /// lab.
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
            return Err(format!("invalid base `{}`: expected 1 to 654", self.base));
        }
        let mut ports: BTreeMap<u16, &str> = BTreeMap::new();
        let mut names: Vec<&str> = Vec::new();
        for process in &self.process {
            process.check()?;
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
            if process.name.is_empty() || !process.name.chars().all(plain) {
                return Err(format!(
                    "invalid name `{}`: expected letters, digits, `-`, and `_`",
                    process.name
                ));
            }
            if names.contains(&process.name.as_str()) {
                return Err(format!("two processes have the name `{}`", process.name));
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
                return Err(format!("process `{}`: unknown link `{link}`", process.name));
            }
            if let Some(config) = &process.config
                && !self.file.iter().any(|f| f.to == *config)
            {
                return Err(format!("process `{}`: no `[[file]]` creates `{config}`", process.name));
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

/// Returns the parser's message on one line, with the line of the file.
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
    fn an_unknown_key_is_reported_with_its_line() {
        let said = parse("[[process]]\nname = \"a\"\nrun = [\"x\"]\nprots = [1]\n").unwrap_err();
        assert!(said.starts_with("line 6: unknown field `prots`"), "{said}");
    }

    #[test]
    fn a_process_must_have_the_keys_of_its_kind() {
        let said = parse("[[process]]\nname = \"db\"\nkind = \"postgres\"\n").unwrap_err();
        assert_eq!(said, "process `db`: a process of the kind `postgres` requires `port`");
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
        assert_eq!(parse(far).unwrap_err(), "process `a`: invalid port `100`: expected 0 to 99");
    }

    #[test]
    fn a_kind_adds_its_programs() {
        let system =
            parse("needs = [\"node\", \"curl\"]\n[[process]]\nname = \"c\"\nkind = \"redis\"\nport = 1\n");
        let system = system.expect("a good file");
        assert_eq!(system.programs(), ["curl", "node", "openssl", "redis-server"]);
    }

    #[test]
    fn placeholders_are_filled_in_in_every_string() {
        let text = "[[process]]\nname = \"a\"\nrun = [\"x\", \"@{port:10}\"]\nenv = { P = \"@{base}\" }\n";
        let system = parse(text).expect("a good file");
        assert_eq!(system.process[0].run[1], "4110");
        assert_eq!(system.process[0].env["P"], "41");
        let said = parse("[[process]]\nname = \"a\"\nrun = [\"@{prot:1}\"]\n").unwrap_err();
        assert!(said.starts_with("unknown placeholder `@{prot:1}`"), "{said}");
    }
}
