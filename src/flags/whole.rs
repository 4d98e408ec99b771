//! All commands in one tree, for the manual page and the completions. The parser handles a plain load and the
//! commands separately, because flags may stand before a command's name.

use super::Load;
use super::verbs::{self, Group};
use clap::{Command, CommandFactory};
use clap_mangen::Man as Page;

/// Returns the plain load with every listed command below it.
pub fn command() -> Command {
    let all = verbs::commands();
    let describe = all.get_subcommands().filter_map(describe).collect::<Vec<_>>();
    // The subcommands replace the list of commands in the help.
    Load::command().after_help("").bin_name("plimsoll").subcommands(describe)
}

fn describe(command: &Command) -> Option<Command> {
    let row = verbs::named(command.get_name()).filter(|row| row.group != Group::Hidden)?;
    let command = command.clone().about(row.help);
    Some(match row.name {
        "completions" => command.mut_arg("shell", |shell| shell.value_parser(["bash", "zsh", "fish"])),
        _ => command,
    })
}

/// Returns the long names of hidden flags.
pub fn hidden_flags() -> Vec<String> {
    let all = command();
    let hidden = all.get_subcommands().chain(std::iter::once(&all)).flat_map(Command::get_arguments);
    hidden.filter(|arg| arg.is_hide_set()).filter_map(|arg| arg.get_long().map(str::to_owned)).collect()
}

/// Returns the manual page: the plain load, then each command with its flags.
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
    // Sections of the page become subsections of the command.
    text.extend_from_slice(String::from_utf8_lossy(&options).replace(".SH ", ".SS ").as_bytes());
    Ok(())
}
