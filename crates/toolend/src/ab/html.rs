//! The HTML table of ab (`-w`).

use super::{Counts, ms};
use crate::figures::Figures;
use plimsoll_lines::ab::{Ab, Html};
use plimsoll_plan::metric::{SeriesHist, SeriesSum};
use plimsoll_stats::Hist;
use std::fmt::Write;

pub fn write(
    out: &mut String,
    figures: &Figures,
    counts: &Counts,
    line: &Ab,
    look: &Html,
) -> std::fmt::Result {
    let Html { table, row, cell } = look;
    writeln!(out, "\n\n<table {table}>")?;
    let mut facts: Vec<(&str, String)> = vec![
        ("Server Software:", String::new()),
        ("Server Hostname:", line.host.clone()),
        ("Server Port:", line.port.to_string()),
        ("Document Path:", line.path.clone()),
    ];
    facts.push(match line.any_length {
        true => ("Document Length:", "Variable".into()),
        false => ("Document Length:", format!("{} bytes", counts.document)),
    });
    facts.push(("Concurrency Level:", line.concurrency.to_string()));
    facts.push(("Time taken for tests:", format!("{:.3} seconds", figures.elapsed_s())));
    facts.push(("Complete requests:", counts.complete.to_string()));
    facts.push(("Failed requests:", counts.failed().to_string()));
    for (name, value) in &facts {
        fact(out, look, name, value)?;
    }
    if counts.failed() > 0 {
        let Counts { connect, length, exceptions, .. } = counts;
        let parts = format!("(Connect: {connect}, Length: {length}, Exceptions: {exceptions})");
        writeln!(out, "<tr {row}><td colspan=4 {cell} >   {parts}</td></tr>")?;
    }
    let (received, sent) = (figures.sum(SeriesSum::BytesIn), figures.sum(SeriesSum::BytesOut));
    if counts.not_2xx > 0 {
        fact(out, look, "Non-2xx responses:", &counts.not_2xx.to_string())?;
    }
    if line.has_keep_alive {
        fact(out, look, "Keep-Alive requests:", &counts.kept_alive.to_string())?;
    }
    fact(out, look, "Total transferred:", &format!("{received} bytes"))?;
    if line.has_body {
        fact(out, look, "Total body sent:", &sent.to_string())?;
    }
    fact(out, look, "HTML transferred:", &format!("{} bytes", figures.sum(SeriesSum::BodyBytes)))?;
    let taken_s = figures.elapsed_s();
    if taken_s > 0.0 {
        let kib_per_s = |bytes: u64| bytes as f64 / 1_024.0 / taken_s;
        fact(out, look, "Requests per second:", &format!("{:.2}", counts.complete as f64 / taken_s))?;
        fact(out, look, "Transfer rate:", &format!("{:.2} kb/s received", kib_per_s(received)))?;
        if line.has_body {
            for (bytes, what) in [(sent, "sent"), (received + sent, "total")] {
                let value = format!("{:.2} kb/s {what}", kib_per_s(bytes));
                writeln!(
                    out,
                    "<tr {row}><td colspan=2 {cell}>&nbsp;</td><td colspan=2 {cell}>{value}</td></tr>"
                )?;
            }
        }
    }
    let all = figures.hist(SeriesHist::Response);
    if !all.is_empty() {
        times(out, figures, look, all)?;
    }
    writeln!(out, "</table>")
}

fn fact(out: &mut String, Html { row, cell, .. }: &Html, name: &str, value: &str) -> std::fmt::Result {
    let (name, value) = (escaped(name), escaped(value));
    writeln!(out, "<tr {row}><th colspan=2 {cell}>{name}</th><td colspan=2 {cell}>{value}</td></tr>")
}

/// Returns a text so that it cannot be read as a tag: the path may come from elsewhere.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn times(out: &mut String, figures: &Figures, look: &Html, all: &Hist) -> std::fmt::Result {
    let Html { row, cell, .. } = look;
    let connections = figures.connection_times();
    let of = |hist: &Hist| {
        let mean_ms = ms(hist.mean().unwrap_or(0.0) as u64);
        [ms(hist.min().unwrap_or(0)), mean_ms, ms(hist.max().unwrap_or(0))]
    };
    let (connect, total) = (of(&connections), of(all));
    // ab subtracts the extremes as well.
    let processing = [0, 1, 2].map(|at| total[at].saturating_sub(connect[at]));
    writeln!(out, "<tr {row}><th {cell} colspan=4>Connection Times (ms)</th></tr>")?;
    writeln!(
        out,
        "<tr {row}><th {cell}>&nbsp;</th> <th {cell}>min</th>   <th {cell}>avg</th>   <th {cell}>max</th></tr>"
    )?;
    for (name, [min, mean, max]) in [("Connect:", connect), ("Processing:", processing), ("Total:", total)] {
        let cells = [min, mean, max].map(|value| format!("<td {cell}>{value:>5}</td>")).concat();
        writeln!(out, "<tr {row}><th {cell}>{name}</th>{cells}</tr>")?;
    }
    Ok(())
}
