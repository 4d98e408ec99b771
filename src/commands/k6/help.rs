//! `plimsoll k6 run --help`: the flags of k6, from their table, and those of plimsoll.

use crate::flags::agents::ToolFlags;
use plimsoll_k6::flags::{FLAGS, Flag, Kind};
use std::fmt::Write as _;

/// The flags of plimsoll: name, placeholder of a value, and help.
pub const OWN: [(&str, Option<&str>, &str); 4] = [
    ("--allow", Some("HOST"), "Allow requests to this public host, which you own or may load [repeatable]"),
    ("--allow-remote", None, "Let the script import modules from https:// addresses, fixed by plimsoll.lock"),
    ("--save", Some("FILE"), "Save the run to this new file"),
    ("--report", None, "Print the report of plimsoll as well"),
];

/// Returns the help.
pub fn text() -> String {
    let mut out = String::from(
        "Run a k6 script with the flags of k6, its summary, and its exit codes\n\n\
         Usage: plimsoll k6 run [FLAGS] script.js\n       plimsoll k6 run [FLAGS] -\n\nFlags of k6:\n",
    );
    let (refused, known): (Vec<&Flag>, Vec<&Flag>) =
        FLAGS.iter().partition(|flag| matches!(flag.kind, Kind::Unsupported(_)));
    for flag in known {
        let short = flag.short.map_or("    ".to_owned(), |letter| format!("-{letter}, "));
        let value = match flag.kind {
            Kind::Value => " VALUE".to_owned(),
            Kind::Optional(default) => format!("[={default}]"),
            Kind::Switch | Kind::Unsupported(_) => String::new(),
        };
        let variable = flag.variable.map_or(String::new(), |name| format!(" [{name}]"));
        let _ = writeln!(out, "  {:<44} {}{variable}", format!("{short}--{}{value}", flag.long), flag.help);
    }
    out.push_str("\nFlags of plimsoll:\n");
    for (name, value, help) in OWN {
        let value = value.map_or(String::new(), |value| format!(" {value}"));
        let _ = writeln!(out, "  {:<44} {help}", format!("    {name}{value}"));
    }
    for (name, value, help) in ToolFlags::help_rows() {
        let value = value.map_or(String::new(), |value| format!(" {value}"));
        let _ = writeln!(out, "  {:<44} {help}", format!("    {name}{value}"));
    }
    out.push_str("\nNot supported:\n");
    for flag in refused {
        let Kind::Unsupported(hint) = flag.kind else { continue };
        let _ = writeln!(out, "  {:<44} {hint}", format!("    --{}", flag.long));
    }
    out
}
