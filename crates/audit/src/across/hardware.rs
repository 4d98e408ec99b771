//! Hardware that is stated for a public instance type, against what its provider sells under that name.

use super::say::{Out, num};
use crate::Certainty::Proved;
use crate::foreign::model::{Document, Figure, Measure, Row};

/// Sizes of one family: what `large` has in vCPU and GiB; each further size doubles both.
struct Family {
    names: &'static [&'static str],
    /// GiB per vCPU.
    memory_per_cpu: f64,
}

// Amazon EC2 instance types, general purpose, compute and memory optimised: 2, 4 and 8 GiB to the vCPU.
const FAMILIES: &[Family] = &[
    Family { names: &["c5", "c5a", "c5d", "c6i", "c6a", "c6g", "c7i", "c7a", "c7g"], memory_per_cpu: 2.0 },
    Family { names: &["m5", "m5a", "m5d", "m6i", "m6a", "m6g", "m7i", "m7a", "m7g"], memory_per_cpu: 4.0 },
    Family { names: &["r5", "r5a", "r5d", "r6i", "r6a", "r6g", "r7i", "r7a", "r7g"], memory_per_cpu: 8.0 },
];

// Those whose sizes follow no rule: vCPU and GiB.
const SINGLE: &[(&str, f64, f64)] = &[
    ("t2.micro", 1.0, 1.0),
    ("t2.small", 1.0, 2.0),
    ("t2.medium", 2.0, 4.0),
    ("t2.large", 2.0, 8.0),
    ("t3.micro", 2.0, 1.0),
    ("t3.small", 2.0, 2.0),
    ("t3.medium", 2.0, 4.0),
    ("t3.large", 2.0, 8.0),
    ("t3.xlarge", 4.0, 16.0),
    ("t3.2xlarge", 8.0, 32.0),
    ("e2-standard-2", 2.0, 8.0),
    ("e2-standard-4", 4.0, 16.0),
    ("n1-standard-1", 1.0, 3.75),
    ("n1-standard-2", 2.0, 7.5),
    ("n1-standard-4", 4.0, 15.0),
    ("n2-standard-2", 2.0, 8.0),
    ("n2-standard-4", 4.0, 16.0),
    ("n2-standard-8", 8.0, 32.0),
];

/// vCPU and GiB of a type that is known.
fn sold(name: &str) -> Option<(f64, f64)> {
    if let Some((_, cpus, memory)) = SINGLE.iter().find(|(n, ..)| *n == name) {
        return Some((*cpus, *memory));
    }
    let (family, size) = name.split_once('.')?;
    let family = FAMILIES.iter().find(|f| f.names.contains(&family))?;
    let cpus = match size {
        "large" => 2.0,
        "xlarge" => 4.0,
        "2xlarge" => 8.0,
        "4xlarge" => 16.0,
        "8xlarge" => 32.0,
        _ => return None,
    };
    Some((cpus, cpus * family.memory_per_cpu))
}

/// The type of that many vCPU and GiB in the same family.
fn fitting(name: &str, cpus: Option<f64>, memory: Option<f64>) -> Option<String> {
    let family = name.split_once('.')?.0;
    ["large", "xlarge", "2xlarge", "4xlarge", "8xlarge"].iter().map(|s| format!("{family}.{s}")).find(|n| {
        sold(n).is_some_and(|(c, m)| {
            cpus.is_none_or(|x| x == c) && memory.is_none_or(|x| (x - m).abs() < 0.1 * m)
        })
    })
}

fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !(c.is_alphanumeric() || ".-".contains(c)))
        .map(|w| w.trim_matches(['.', '-']).to_lowercase())
        // Managed databases and caches put their service before the type.
        .map(|w| ["db.", "cache."].iter().find_map(|p| w.strip_prefix(p)).map_or(w.clone(), str::to_owned))
}

/// A name of the form `x9.large`, whether it is known here or not.
fn is_type(word: &str) -> bool {
    let Some((family, size)) = word.split_once('.') else { return sold(word).is_some() };
    let digits = size.trim_start_matches(|c: char| c.is_ascii_digit());
    let sizes = ["nano", "micro", "small", "medium", "large", "xlarge", "metal"];
    family.starts_with(|c: char| c.is_ascii_alphabetic())
        && family.contains(|c: char| c.is_ascii_digit())
        && sizes.iter().any(|s| digits.starts_with(s))
}

/// vCPU or memory of a row or sentence differ from what is sold under the type's name.
pub fn differs_from_type(documents: &[Document], out: &mut Out) {
    for document in documents {
        for row in document.rows.iter().filter(|r| r.table.is_some()) {
            let texts = row.words.values().map(|w| w.text.as_str()).chain([row.label.as_str()]);
            let Some(name) = texts.flat_map(words).find(|w| sold(w).is_some()) else { continue };
            let cpus =
                row.others.iter().find(|(k, _)| k.contains("cpu")).map(|(_, f)| f).or_else(|| cores(row));
            let memory = row.figures.get(&Measure::MemoryBytes).or_else(|| {
                row.others.iter().find(|(k, _)| k.contains("memory") || k.contains("ram")).map(|(_, f)| f)
            });
            judge(document, &name, cpus, memory, row.lines.0, &row.label, out);
        }
        for claim in &document.claims {
            let Some(name) = words(&claim.text).find(|w| sold(w).is_some()) else { continue };
            // A sentence about several types says which has what in ways beyond this reader.
            if words(&claim.text).filter(|w| is_type(w) && *w != name).count() > 0 {
                continue;
            }
            let figure = |wanted: &[&str]| {
                claim
                    .figures
                    .iter()
                    .map(|(_, f)| f)
                    .find(|f| wanted.contains(&f.unit.to_lowercase().as_str()))
            };
            let cpus = figure(&["vcpu", "vcpus", "cpu", "cpus", "core", "cores"]);
            let memory =
                figure(&["gb", "gib"]).filter(|_| super::view::has(&claim.text, &["memory", "ram", "gib"]));
            judge(document, &name, cpus, memory, claim.line, &claim.text, out);
        }
    }
}

fn cores(row: &Row) -> Option<&Figure> {
    row.others.iter().find(|(k, _)| k.contains("core")).map(|(_, f)| f)
}

fn judge(
    document: &Document,
    name: &str,
    cpus: Option<&Figure>,
    memory: Option<&Figure>,
    line: u32,
    text: &str,
    out: &mut Out,
) {
    let Some((sold_cpus, sold_memory)) = sold(name) else { return };
    const GIB: f64 = 1_073_741_824.0;
    let gib = memory.map(|m| if m.value > 1e6 { (m.low / GIB, m.high / 1e9) } else { (m.low, m.high) });
    let wrong_cpus = cpus.is_some_and(|c| !c.meets(sold_cpus, sold_cpus));
    let wrong_memory = gib.is_some_and(|(low, high)| sold_memory < low * 0.93 || sold_memory > high * 1.08);
    if !wrong_cpus && !wrong_memory {
        return;
    }
    let stated_memory =
        memory.map(|m| if m.value > 1e6 { (m.value / GIB).round().max(1.0) } else { m.value });
    let mut say = out.say(
        Proved,
        format!("`{name}` has {} vCPU and {} GiB, not what is stated", num(sold_cpus), num(sold_memory)),
    );
    if let Some(c) = cpus.filter(|_| wrong_cpus) {
        say = say.line(format!("stated {} vCPU, sold {}", num(c.value), num(sold_cpus)));
    }
    if let Some(m) = stated_memory.filter(|_| wrong_memory) {
        say = say.line(format!("stated {} GiB, sold {}", num(m), num(sold_memory)));
    }
    if let Some(other) = fitting(name, cpus.map(|c| c.value), stated_memory) {
        say = say.line(format!("`{other}` has these figures"));
    }
    say.at(document, line, text)
        .explained("the next size up or down was used, or the wrong line of the price list was copied")
        .advise("read the instance type from the machine's own metadata");
}
