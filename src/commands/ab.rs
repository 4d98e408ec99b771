//! `plimsoll ab`: the command line of ab.

use super::foreign::{self, Unreachable, codes};
use crate::exit::{Exit, Failure};
use crate::flags::tool::Ab;
use crate::{flags, say};
use plimsoll_plan::Fault;
use plimsoll_toolend::{Figures, ab};

/// What ab prints before the test, in as many lines.
const BANNER: [&str; 3] = [
    concat!("This is ApacheBench, Version 2.3 <plimsoll ", env!("CARGO_PKG_VERSION"), ">"),
    "The text has the layout of ab; plimsoll has sent the requests and measured them.",
    "Its verdict is printed to standard error.",
];

fn banner(is_html: bool) -> String {
    match is_html {
        true => {
            // In this order: the new tags stay.
            let marked = |line: &str| line.replace('>', "&gt;</i>").replace("<p", "<i>&lt;p");
            let lines = BANNER.map(|line| format!(" {}<br>\n", marked(line)));
            format!("<p>\n{}</p>\n<p>\n", lines.concat())
        }
        false => format!("{}\n\n", BANNER.join("\n")),
    }
}

pub fn command(given: &Ab) -> Result<Exit, Failure> {
    codes::AB.apply(&given.words, run)
}

fn run(words: &[String]) -> Result<Exit, Failure> {
    let line = plimsoll_lines::ab::parse(words).map_err(Failure::Text)?;
    if line.is_version {
        say::result(&flags::version_as("ApacheBench 2.3"))?;
        return Ok(Exit::Pass);
    }
    for note in &line.notes {
        say::talk(&format!("note: {note}\n"));
    }
    let ended = foreign::run(line.draft.clone(), &line.own, Unreachable::Ends)?;
    for (path, text) in [(&line.csv, ab::csv as fn(&Figures) -> String), (&line.gnuplot, ab::gnuplot)] {
        if let Some(path) = path {
            foreign::write_over(path, &text(&ended.figures))?;
        }
    }
    let resets = ended.figures.failed(&[Fault::ConnectionReset]);
    let of_tool = match resets > 0 && !line.recovers {
        true => {
            say::talk(
                "note: ab without `-r` ends the test at the first receive error, with an exit code of 1\n",
            );
            Exit::CouldNotRun
        }
        false => Exit::Pass,
    };
    foreign::finish(
        &ended,
        &ab::text(&ended.figures, &line, &banner(line.html.is_some())),
        &line.own,
        of_tool,
    )
}
