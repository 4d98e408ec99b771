//! Remarks about variables: what a plan uses, but nothing defines.

mod defined;

use crate::code;
use crate::evaluate::Known;
use crate::place::Files;
use crate::text::{Part, Pos, Text};
use crate::tree::{Property, Raw, Value};
use plimsoll_build::nearest::nearest;
use plimsoll_plan::{Diagnostic, Problem};
use std::collections::BTreeMap;
use std::path::Path;

/// Returns a remark for each variable that nothing defines, and for each text with an unfinished one.
pub(crate) fn variables(plan: &Raw, known: &Known, folder: &Path, files: &Files) -> Vec<Diagnostic> {
    let mut used: BTreeMap<String, (Pos, usize)> = BTreeMap::new();
    let mut notes = Vec::new();
    let mut texts = Vec::new();
    texts_of(plan, &mut texts);
    for (text, pos) in texts {
        let Ok(compiled) = Text::new(text, pos) else { continue };
        compiled.visit(&mut |part| {
            if let Part::Variable(name) = part {
                used.entry(name.clone()).or_insert((pos, 0)).1 += 1;
            }
        });
        let references = compiled.parts.iter().filter(|part| !matches!(part, Part::Literal(_))).count();
        if references == 0 && text.contains("${") && !text.contains(r"\$") {
            let problem = Problem::new("a variable is not closed, so its text is sent", "write `${NAME}`");
            notes.push(Diagnostic::of(code::note::LITERAL, files.place(pos), problem));
        }
    }
    let defined = defined::names(plan, known, folder);
    for (name, (pos, count)) in used {
        if defined.contains(&name) {
            continue;
        }
        let times = if count == 1 { String::new() } else { format!(" ({count} places)") };
        let hint = match nearest(&name, defined.names()) {
            Some(near) => format!("did you mean `${{{near}}}`?"),
            None => "define it, or remove it".to_owned(),
        };
        let message = format!("nothing defines `${{{name}}}`, so its text is sent{times}");
        notes.push(Diagnostic::of(code::note::UNDEFINED, files.place(pos), Problem::new(message, hint)));
    }
    notes
}

/// Collects all texts of a plan.
fn texts_of<'a>(element: &'a Raw, texts: &mut Vec<(&'a str, Pos)>) {
    texts.push((&element.name, element.pos));
    for property in &element.properties {
        property_texts(property, texts);
    }
    for child in &element.children {
        texts_of(child, texts);
    }
}

fn property_texts<'a>(property: &'a Property, texts: &mut Vec<(&'a str, Pos)>) {
    match &property.value {
        // Remarks of the author are not evaluated.
        Value::Text { .. } if property.name == "TestPlan.comments" || property.name == "Argument.desc" => {}
        Value::Text { text, .. } => texts.push((text, property.pos)),
        Value::Many(items) => items.iter().for_each(|item| property_texts(item, texts)),
    }
}
