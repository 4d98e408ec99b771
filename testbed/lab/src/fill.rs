//! `@{...}` in `lab.toml` and in rendered files. The code of a system contains neither ports nor folders, so two copies
//! of a system can run concurrently.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// The addresses of both ends of a shaped link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ends {
    /// In the main namespace.
    pub near: String,
    /// In the namespace of the link.
    pub far: String,
}

#[derive(Clone, Debug)]
pub struct Fill {
    pub base: u16,
    pub here: PathBuf,
    pub state: PathBuf,
    /// Folder of the lab's own certificates.
    pub ca: PathBuf,
    pub password: String,
    /// Without permission to create namespaces, both ends are the loopback, and processes with a link are skipped.
    pub links: BTreeMap<String, Ends>,
}

const KNOWN: &str =
    "@{port:N} @{base} @{state} @{here} @{ca} @{cert} @{key} @{link:NAME} @{near:NAME} @{password}";

impl Fill {
    /// Replaces every `@{...}` of a text. An unknown one is an error: an empty replacement would start a server on
    /// port 0.
    pub fn text(&self, text: &str) -> Result<String, String> {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(begin) = rest.find("@{") {
            out.push_str(&rest[..begin]);
            let inside = &rest[begin + 2..];
            let end = inside.find('}').ok_or_else(|| {
                format!("missing `}}` after `@{{` in `{}`", rest[begin..].lines().next().unwrap_or_default())
            })?;
            out.push_str(&self.name(&inside[..end])?);
            rest = &inside[end + 1..];
        }
        out.push_str(rest);
        Ok(out)
    }

    fn name(&self, name: &str) -> Result<String, String> {
        let path = |path: PathBuf| path.display().to_string();
        match name.split_once(':') {
            None => Ok(match name {
                "base" => self.base.to_string(),
                "state" => path(self.state.clone()),
                "here" => path(self.here.clone()),
                "ca" => path(self.ca.join("ca.pem")),
                "cert" => path(self.ca.join("cert.pem")),
                "key" => path(self.ca.join("key.pem")),
                "password" => self.password.clone(),
                _ => return Err(unknown(name)),
            }),
            Some(("port", offset)) => {
                let offset = offset.parse::<u16>().ok().filter(|offset| *offset < 100);
                let offset =
                    offset.ok_or_else(|| format!("invalid offset in `@{{{name}}}`: expected 0 to 99"))?;
                Ok(self.port(offset).to_string())
            }
            Some(("link", link)) => Ok(self.ends(link)?.far.clone()),
            Some(("near", link)) => Ok(self.ends(link)?.near.clone()),
            Some(_) => Err(unknown(name)),
        }
    }

    pub fn port(&self, offset: u16) -> u16 {
        self.base * 100 + offset
    }

    fn ends(&self, link: &str) -> Result<&Ends, String> {
        self.links.get(link).ok_or_else(|| format!("unknown link `{link}`"))
    }

    #[cfg(test)]
    pub fn example() -> Fill {
        let ends = Ends { near: "10.203.0.1".into(), far: "10.203.0.2".into() };
        Fill {
            base: 41,
            here: "/t/testbed/tiny".into(),
            state: "/t/target/lab/tiny".into(),
            ca: "/t/target/lab/ca".into(),
            password: "secret".into(),
            links: BTreeMap::from([("narrow".to_string(), ends)]),
        }
    }
}

fn unknown(name: &str) -> String {
    format!("unknown placeholder `@{{{name}}}`\nhelp: use one of {KNOWN}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_become_ports_folders_and_addresses() {
        let fill = Fill::example();
        let text =
            "listen @{link:narrow}:@{port:1}; root @{here}/www; proxy_pass http://@{near:narrow}:@{base}10;";
        let expected = "listen 10.203.0.2:4101; root /t/testbed/tiny/www; proxy_pass http://10.203.0.1:4110;";
        assert_eq!(fill.text(text).expect("all known"), expected);
        assert_eq!(
            fill.text("${host} {x} @ @{ca}").expect("all known"),
            "${host} {x} @ /t/target/lab/ca/ca.pem"
        );
    }

    #[test]
    fn an_unknown_placeholder_is_an_error() {
        let fill = Fill::example();
        assert!(fill.text("@{prot:1}").unwrap_err().starts_with("unknown placeholder `@{prot:1}`"));
        assert_eq!(
            fill.text("@{port:100}").unwrap_err(),
            "invalid offset in `@{port:100}`: expected 0 to 99"
        );
        assert_eq!(fill.text("@{link:wide}").unwrap_err(), "unknown link `wide`");
        assert_eq!(fill.text("a @{port:1\nb").unwrap_err(), "missing `}` after `@{` in `@{port:1`");
    }
}
