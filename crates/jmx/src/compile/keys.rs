//! Client certificates: the key store of Java, and the element that chooses among its keys.

use super::Compiler;
use crate::code;
use crate::keystore;
use crate::text::Pos;
use crate::tree::Raw;
use plimsoll_build::body::from_file;
use plimsoll_plan::diag::Place;
use plimsoll_plan::link::ClientFiles;
use plimsoll_plan::{Diagnostic, Problem};
use std::path::Path;

const FILE: &str = "javax.net.ssl.keyStore";

/// The keys that an element chooses, from 0.
pub(super) struct Range {
    first: usize,
    last: usize,
    /// Whether a variable names the key of each thread.
    is_by_name: bool,
    pos: Pos,
    path: String,
}

impl Compiler<'_> {
    /// Reads Keystore Configuration, which applies to the whole plan.
    pub(super) fn keystore(&mut self, raw: &Raw) {
        let first = self.index(raw, "startIndex").unwrap_or(0);
        let last = self.index(raw, "endIndex").unwrap_or(usize::MAX);
        let is_by_name = !self.choice(raw, "clientCertAliasVarName").is_empty();
        let path = format!("{} > {}", self.path(), raw.name);
        self.key_store = Some(Range { first, last, is_by_name, pos: raw.pos, path });
    }

    /// Returns the index of a key; `None`: the element has none.
    fn index(&mut self, raw: &Raw, name: &str) -> Option<usize> {
        let text = self.choice(raw, name);
        // JMeter writes -1 for no end.
        if text.is_empty() || text == "-1" {
            return None;
        }
        let index = text.parse().ok();
        if index.is_none() {
            let message = format!("`{text}` is not the index of a key in `{}`", raw.name);
            self.wrong(code::SETTING, raw.pos, message, "write a whole number from 0");
        }
        index
    }

    /// Returns the certificates of the key store. As in JMeter, it is the first one unless an element chooses more.
    pub(super) fn client_certificates(&mut self) -> Vec<ClientFiles> {
        let range = self.key_store.take();
        let place =
            range.as_ref().map_or(Place::Flag(format!("-D{FILE}")), |range| self.files.place(range.pos));
        match self.chosen(range.as_ref()) {
            Ok(clients) => clients,
            Err(Problem { message, hint }) => {
                let message = match &range {
                    Some(range) => format!("{message} (KeystoreConfig {})", range.path),
                    None => message,
                };
                self.wrong.push(Diagnostic::new(code::SETTING, place, message, hint));
                Vec::new()
            }
        }
    }

    fn chosen(&self, range: Option<&Range>) -> Result<Vec<ClientFiles>, Problem> {
        let system = |name: &str| self.given.system.get(name).filter(|text| !text.is_empty());
        let Some(name) = system(FILE) else {
            return match range {
                Some(_) if !self.given.has_certificate => Err(Problem::new(
                    "the plan uses a key store, and none is named",
                    "add `-Djavax.net.ssl.keyStore=FILE -Djavax.net.ssl.keyStorePassword=PASSWORD` to \
                     `plimsoll jmeter`, or use `plimsoll run plan.jmx --cert cert.pem --key key.pem`",
                )),
                _ => Ok(Vec::new()),
            };
        };
        let password = system("javax.net.ssl.keyStorePassword").map_or("", String::as_str);
        let all = keystore::read(&from_file(Path::new(name))?, password, name)?;
        let (first, last) = range.map_or((0, 0), |range| (range.first, range.last));
        let count = all.len();
        let chosen: Vec<_> = all
            .into_iter()
            .enumerate()
            .filter(|(at, _)| (first..=last).contains(at))
            .map(|(_, one)| one)
            .collect();
        match (chosen.len(), range) {
            (0, _) => Err(Problem::new(
                format!("the key store `{name}` has {count} keys, and none from index {first}"),
                "correct the indexes; they begin with 0",
            )),
            (2.., Some(Range { is_by_name: true, .. })) => Err(Problem::new(
                "a variable that names the key of each thread is not supported",
                "remove its name: threads use the keys in turn",
            )),
            _ => Ok(chosen),
        }
    }
}
