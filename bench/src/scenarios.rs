//! `scripted` and `mix`: the cost of building every request from values and rows, and of checking its response,
//! compared with the base's plain GET, which does neither. Server, responses, and connections are those of `plain`.

use super::maths::Random;
use super::options::Options;
use super::ratio::{self, Field};
use super::report::Report;
use super::target::RawServer;
use super::tools::{OWN, Roster, experiment_file};
use super::{CONNECTIONS, Context};
use chore::Outcome;
use std::fmt::Write;
use std::path::Path;

/// Rows of the data file of `mix`.
const ROWS: u32 = 50_000;
/// The same rows in every run.
const SEED: u64 = 20_261_121;

/// Nine requests: weight, method and path, body. The target selects the response by the first letter of a path. `a`,
/// `i`, `o`, `p`, and `u` are unknown to it and get the small response.
const MIX: [(u32, &str, &str); 9] = [
    (30, "get: /items/${goods.sku}", ""),
    (20, "get: /users/${goods.id}/profile", ""),
    (15, "get: \"/items?city=${goods.city}&page=2\"", ""),
    (10, "post: /orders", r#"{"sku":"${goods.sku}","email":"${goods.email}","count":1}"#),
    (8, "get: /account/${goods.id}/orders", ""),
    (7, "put: /users/${goods.id}", r#"{"name":"${goods.name}","city":"${goods.city}"}"#),
    (5, "post: /items/${goods.sku}/reviews", r#"{"by":"${goods.email}","stars":5,"text":"as described"}"#),
    (3, "patch: /orders/${goods.id}", r#"{"ship_to":"${goods.city}"}"#),
    (2, "delete: /users/${goods.id}/items/${goods.sku}", ""),
];

pub fn scripted(context: &Context, roster: &Roster, options: &Options, report: &mut Report) -> Outcome {
    let server = RawServer::start(context, false)?;
    save(&experiment_file(&context.folder), &post(&server.url(""), options.secs))?;
    let what = "POST with three random values, a header, and two checks, compared with a plain GET";
    against_plain("scripted", "scripted.ratio", what, &server, true, context, roster, options, report)
}

pub fn mix(context: &Context, roster: &Roster, options: &Options, report: &mut Report) -> Outcome {
    let server = RawServer::start(context, false)?;
    save(&context.folder.join("goods.csv"), &goods())?;
    save(&experiment_file(&context.folder), &nine(&server.url(""), options.secs))?;
    let what = "nine weighted requests with paths and bodies from 50,000 rows, compared with a plain GET";
    against_plain("mix", "mix.ratio", what, &server, false, context, roster, options, report)
}

#[allow(clippy::too_many_arguments)] // Two callers, side by side.
fn against_plain(
    bench: &'static str,
    measure: &'static str,
    what: &str,
    server: &RawServer,
    with_base_script: bool,
    context: &Context,
    roster: &Roster,
    options: &Options,
    report: &mut Report,
) -> Outcome {
    let url = server.url("/");
    let field = Field::new(bench, server, &url);
    let entries = ratio::measure(&field, roster.experiment(with_base_script), context, options, report)?;
    ratio::table(bench, what, None, "", &entries, options, report);
    report.measure(measure, ratio::middle_ratio(OWN, &entries));
    Ok(())
}

fn post(target: &str, secs: u32) -> String {
    format!(
        r#"name: bench scripted
target: {target}
scenarios:
  order:
    - post: /
      headers: {{ Content-Type: application/json }}
      body: '{{"id":"${{uuid}}","count":${{random_int(1, 100000)}},"note":"${{random_string(12)}}"}}'
      check: {{ status: 200, body: benchmark }}
load: {{ users: {CONNECTIONS}, duration: {secs}s }}
"#
    )
}

fn nine(target: &str, secs: u32) -> String {
    let mut text = format!(
        "name: bench mix\ntarget: {target}\ndata:\n  goods: {{ file: goods.csv, sharing: all, order: random }}\n\
         seed: 1\nload: {{ users: {CONNECTIONS}, duration: {secs}s }}\nscenarios:\n"
    );
    for (at, (weight, request, body)) in MIX.iter().enumerate() {
        // Writing into a String cannot fail.
        let _ = write!(text, "  kind_{}:\n    weight: {weight}\n    steps:\n      - {request}\n", at + 1);
        if !body.is_empty() {
            let _ = writeln!(
                text,
                "        headers: {{ Content-Type: application/json }}\n        body: '{body}'"
            );
        }
    }
    text
}

/// A table of goods as a shop would export it: names of different lengths, without anything that needs quotes.
fn goods() -> String {
    const CITIES: [&str; 8] =
        ["Oslo", "Porto", "Kyoto", "Quito", "Bergen", "Wellington", "Thessaloniki", "San Sebastian"];
    let mut random = Random::new(SEED);
    let mut text = String::from("id,sku,name,city,email\n");
    for id in 1..=ROWS {
        let sku = random.next() >> 24;
        let length = 4 + random.next() % 12;
        let name: String = (0..length).map(|_| char::from(b'a' + (random.next() % 26) as u8)).collect();
        let city = CITIES[(random.next() % 8) as usize];
        // Writing into a String cannot fail.
        let _ = writeln!(text, "{id},{sku:010x},{name},{city},{name}.{id}@example.com");
    }
    text
}

fn save(file: &Path, text: &str) -> Outcome {
    std::fs::write(file, text).map_err(|e| format!("cannot write `{}`: {e}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_are_the_same_in_every_run() {
        let text = goods();
        assert_eq!(text.lines().count(), ROWS as usize + 1);
        assert_eq!(text, goods());
        assert!(text.lines().all(|line| line.split(',').count() == 5), "a field holds a comma");
    }

    #[test]
    fn the_nine_weights_are_percentages_and_all_paths_get_the_small_response() {
        assert_eq!(MIX.iter().map(|row| row.0).sum::<u32>(), 100);
        // b, c, d, s, and x select the target's other responses.
        for (_, request, _) in MIX {
            let letter = request.split_once('/').map(|(_, rest)| &rest[..1]);
            assert!(letter.is_some_and(|letter| !"bcdsx".contains(letter)), "{request}");
        }
    }
}
