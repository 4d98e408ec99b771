//! `origins:`: additional origins, by name.

use super::key::Row;
use super::reader::Reader;
use super::yaml::Node;
use plimsoll_build::draft::OriginDraft;
use plimsoll_build::{TARGET, base};

/// Reads the mapping. If two names mean the same origin, the second is a mistake.
pub fn read(node: &Node, row: &Row, r: &mut Reader<'_>) -> Vec<OriginDraft> {
    let mut all: Vec<OriginDraft> = Vec::new();
    for entry in r.map(node, row).unwrap_or_default() {
        let Some(text) = r.written(&entry.value, row).map(str::to_owned) else { continue };
        let base = match base(&text, entry.value.pos) {
            Ok(base) => base,
            Err(complaint) => {
                r.take(complaint);
                continue;
            }
        };
        if entry.key == TARGET {
            let message = format!("`{TARGET}` is reserved for the URL under `target`");
            r.complain("F013", entry.pos, message, "rename this origin");
            continue;
        }
        if let Some(known) = all.iter().find(|known| known.base.target == base.target) {
            let message = format!("`{}` and `{}` are the same origin", known.name, entry.key);
            r.complain("F013", entry.pos, message, "keep one of them, and write differences in the paths");
            continue;
        }
        all.push(OriginDraft { name: entry.key.clone(), base });
    }
    all
}
