//! All commands in one tree, for the manual page and the completions. The parser reads them one by one, because flags
//! may stand before the name of a command.

use super::judge::{Audit, Compare, Find, Size};
use super::tool::{Completions, Examples, Man, Runs, Version};
use super::verbs::{
    self, Check, Demo, Doctor, Explain, Group, Merge, Report, Row, Run, Schema, Serve, VERBS, Verb,
};
use super::{Flags, Load};
use clap::{Arg, Command, CommandFactory};
use clap_mangen::Man as Page;

/// The tree: the plain load with every command that is shown.
pub fn command() -> Command {
    let shown = VERBS.iter().filter(|row| row.group != Group::Hidden);
    // The list of commands stands among the subcommands.
    Load::command().after_help("").bin_name("plimsoll").subcommands(shown.filter_map(of))
}

fn of(row: &Row) -> Option<Command> {
    let command = match Verb::named(row.name)? {
        Verb::Run => Run::command(),
        Verb::Curl => Flags::command().arg(Arg::new("words").value_name("CURL OPTIONS").num_args(0..)),
        Verb::Find => Find::command(),
        Verb::Demo => Demo::command(),
        Verb::Report => Report::command(),
        Verb::Compare => Compare::command(),
        Verb::Merge => Merge::command(),
        Verb::Audit => Audit::command(),
        Verb::Runs => Runs::command(),
        Verb::Serve => Serve::command(),
        Verb::Check => Check::command(),
        Verb::Examples => Examples::command(),
        Verb::Schema => Schema::command(),
        Verb::Size => Size::command(),
        Verb::Doctor => Doctor::command(),
        Verb::Completions => {
            Completions::command().mut_arg("shell", |shell| shell.value_parser(["bash", "zsh", "fish"]))
        }
        Verb::Man => Man::command(),
        Verb::Explain => Explain::command(),
        Verb::Version => Version::command(),
        Verb::Help | Verb::Ruler => Command::new(row.name).arg(Arg::new("words").num_args(0..)),
        Verb::DocsDump => return None,
    };
    // `plimsoll run` is its name in its own help; in the tree it is `run`.
    Some(command.name(row.name).about(row.help))
}

/// Long names of the flags that no help shows.
pub fn hidden_flags() -> Vec<String> {
    let all = command();
    let hidden = all.get_subcommands().chain(std::iter::once(&all)).flat_map(Command::get_arguments);
    hidden.filter(|arg| arg.is_hide_set()).filter_map(|arg| arg.get_long().map(str::to_owned)).collect()
}

/// The manual page: the plain load, then each command with its flags.
pub fn man() -> String {
    let mut text = Vec::new();
    let whole = command();
    // Writing to memory cannot fail.
    let _ = Page::new(Load::command().after_help(verbs::after_help())).render(&mut text);
    for command in whole.get_subcommands().filter(|command| command.get_name() != "help") {
        let page = Page::new(command.clone());
        let _ = writeln_section(&page, command, &mut text);
    }
    String::from_utf8_lossy(&text).into_owned()
}

fn writeln_section(page: &Page, command: &Command, text: &mut Vec<u8>) -> std::io::Result<()> {
    use std::io::Write;
    writeln!(text, ".SH \"PLIMSOLL {}\"", command.get_name().to_uppercase())?;
    writeln!(text, "{}", command.get_about().map_or_else(String::new, ToString::to_string))?;
    let mut options = Vec::new();
    page.render_options_section(&mut options)?;
    // Sections of the page become parts of the command's.
    text.extend_from_slice(String::from_utf8_lossy(&options).replace(".SH ", ".SS ").as_bytes());
    Ok(())
}
