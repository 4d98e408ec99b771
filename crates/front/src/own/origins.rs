//! `origins:`, the origins besides the target by their names.

use super::key::Row;
use super::reader::Reader;
use super::yaml::Node;
use crate::build::draft::OriginDraft;
use crate::build::{TARGET, base};

/// Reads the mapping; of two names for one origin the second is a mistake.
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
            r.complain("F013", entry.pos, message, "give this origin another name");
            continue;
        }
        if let Some(known) = all.iter().find(|known| known.base.target == base.target) {
            let message = format!("`{}` and `{}` name the same origin", known.name, entry.key);
            r.complain("F013", entry.pos, message, "keep one, and write what differs into the paths");
            continue;
        }
        all.push(OriginDraft { name: entry.key.clone(), base });
    }
    all
}
