//! The help of `plimsoll k6` and its actions: the flags of k6, from their table, and those of plimsoll.

use super::inspect::REQUIREMENTS;
use crate::flags::agents::ToolFlags;
use plimsoll_k6::flags::{FLAGS, Flag, GLOBAL, Kind};
use std::fmt::Write as _;

/// The flags of plimsoll: name, placeholder of a value, and help.
pub const OWN: [(&str, Option<&str>, &str); 5] = [
    ("--allow", Some("HOST"), "Allow requests to this public host, which you own or may load [repeatable]"),
    ("--allow-remote", None, "Let the script import modules from https:// addresses, fixed by plimsoll.lock"),
    (
        "--ca",
        Some("FILE"),
        "Trust only these certificate authorities (PEM), as with SSL_CERT_FILE [repeatable]",
    ),
    ("--save", Some("FILE"), "Save the run to this new file"),
    ("--report", None, "Print the report of plimsoll as well"),
];

/// Returns the help of `plimsoll k6`.
pub fn actions() -> String {
    let mut out = String::from(
        "Run k6 scripts with the command line of k6\n\n\
         Usage: plimsoll k6 [FLAGS] <ACTION>\n\n\
         Actions:\n  \
           run       Run a script or an archive\n  \
           inspect   Print the options of a script or an archive\n  \
           new       Write a script to start from\n\n\
         Flags of all actions:\n",
    );
    add_flags(&mut out, |flag| GLOBAL.contains(&flag.long));
    out.push_str("\n`plimsoll k6 ACTION --help` lists the flags of an action.\n");
    out
}

/// Returns the help of `plimsoll k6 run`.
pub fn run() -> String {
    let mut out = String::from(
        "Run a k6 script with the flags of k6, its summary, and its exit codes\n\n\
         Usage: plimsoll k6 run [FLAGS] script.js\n       plimsoll k6 run [FLAGS] -\n\nFlags of k6:\n",
    );
    add_flags(&mut out, |_| true);
    out.push_str("\nFlags of plimsoll:\n");
    for (name, value, help) in OWN {
        let value = value.map_or(String::new(), |value| format!(" {value}"));
        let _ = writeln!(out, "  {:<44} {help}", format!("    {name}{value}"));
    }
    for (name, value, help) in ToolFlags::help_rows() {
        let value = value.map_or(String::new(), |value| format!(" {value}"));
        let _ = writeln!(out, "  {:<44} {help}", format!("    {name}{value}"));
    }
    add_refused(&mut out, |_| true);
    out
}

/// Returns the help of `plimsoll k6 inspect`.
pub fn inspect() -> String {
    let mut out = String::from(
        "Print the options of a k6 script, or of an archive, as JSON\n\n\
         Usage: plimsoll k6 inspect [FLAGS] script.js\n\nFlags of k6:\n",
    );
    let _ =
        writeln!(out, "  {:<44} Add duration and users, and all scenarios", format!("    {REQUIREMENTS}"));
    add_flags(&mut out, Flag::is_of_inspect);
    out.push_str("\nFlags of plimsoll:\n");
    for (name, value, help) in OWN.iter().filter(|(name, ..)| ["--allow-remote", "--ca"].contains(name)) {
        let value = value.map_or(String::new(), |value| format!(" {value}"));
        let _ = writeln!(out, "  {:<44} {help}", format!("    {name}{value}"));
    }
    add_refused(&mut out, Flag::is_of_inspect);
    out
}

fn is_refused(flag: &&Flag) -> bool {
    matches!(flag.kind, Kind::Unsupported(_))
}

fn add_flags(out: &mut String, is_wanted: impl Fn(&Flag) -> bool) {
    for flag in FLAGS.iter().filter(|flag| !is_refused(flag) && is_wanted(flag)) {
        let short = flag.short.map_or("    ".to_owned(), |letter| format!("-{letter}, "));
        let value = match flag.kind {
            Kind::Value => " VALUE".to_owned(),
            Kind::Optional(default) => format!("[={default}]"),
            Kind::Switch | Kind::Unsupported(_) => String::new(),
        };
        let variable = flag.variable.map_or(String::new(), |name| format!(" [{name}]"));
        let _ = writeln!(out, "  {:<44} {}{variable}", format!("{short}--{}{value}", flag.long), flag.help);
    }
}

fn add_refused(out: &mut String, is_wanted: impl Fn(&Flag) -> bool) {
    out.push_str("\nNot supported:\n");
    for flag in FLAGS.iter().filter(|flag| is_refused(flag) && is_wanted(flag)) {
        let Kind::Unsupported(hint) = flag.kind else { continue };
        let _ = writeln!(out, "  {:<44} {hint}", format!("    --{}", flag.long));
    }
}
