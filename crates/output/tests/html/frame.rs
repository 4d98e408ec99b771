//! Properties of every page: one file that loads nothing, runs only what its policy names, and lists its contents.

use crate::html::dom::Dom;
use crate::html::{dom, dom_of, page, page_of, rendered, runs};
use crate::output::fixtures;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use plimsoll_analysis::picture::Picture;
use plimsoll_analysis::summary::{Outcome, Severity, Spike, Standing, Summary};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::io::Read;

#[test]
fn every_page_is_complete_and_names_its_parts_once() {
    for (name, s, picture) in runs() {
        let dom = dom_of(&s, &picture);
        assert_eq!(dom.errors(), Vec::<String>::new(), "{name}");
        assert_eq!(dom.all("h1").len(), 1, "{name}");
        assert_eq!(dom.all("main").len(), 1, "{name}");
        let ids: Vec<String> = dom.elements().iter().filter_map(|e| e.attribute("id")).collect();
        let unique: BTreeSet<&String> = ids.iter().collect();
        assert_eq!(unique.len(), ids.len(), "{name}: {ids:?}");
    }
}

#[test]
fn every_anchor_leads_somewhere_and_every_section_is_in_the_contents() {
    for (name, s, picture) in runs() {
        let dom = dom_of(&s, &picture);
        let links: BTreeSet<String> = dom.all("a").iter().filter_map(|a| a.attribute("href")).collect();
        for link in &links {
            let id = link.strip_prefix('#').unwrap_or_else(|| panic!("{name}: `{link}` leaves the page"));
            assert!(dom.by_id(id).is_some(), "{name}: nothing at {link}");
        }
        for section in dom.all("section") {
            let id = section.attribute("id").expect("a section has an anchor");
            assert!(links.contains(&format!("#{id}")), "{name}: {id}");
            let title = section.attribute("aria-labelledby").and_then(|id| dom.by_id(&id));
            assert_eq!(title.expect("a section has a title").name(), "h2");
        }
    }
}

#[test]
fn nothing_is_loaded_and_no_attribute_runs_or_styles() {
    for (name, s, picture) in runs() {
        let dom = dom_of(&s, &picture);
        for element in dom.elements() {
            for (attribute, value) in element.attributes() {
                let at = format!("{name}: <{} {attribute}={value:?}>", element.name());
                assert!(!attribute.starts_with("on") && attribute != "style", "{at}");
                let is_address =
                    ["href", "src", "action", "srcset", "data", "poster"].contains(&attribute.as_str());
                assert!(!is_address || value.starts_with('#') || value == "data:,", "{at}");
            }
        }
        for loads in ["iframe", "object", "embed", "form", "base", "img", "video", "audio"] {
            assert!(dom.all(loads).is_empty(), "{name}: <{loads}>");
        }
    }
}

#[test]
fn the_policy_allows_the_one_style_and_the_one_script_by_their_hashes() {
    let dom = dom(&fixtures::fail());
    let policy = dom.all("meta").iter().find(|meta| meta.attribute("http-equiv").is_some()).unwrap().clone();
    let policy = policy.attribute("content").unwrap();
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    let [style] = dom.all("style").try_into().map_err(|_| "one style sheet").unwrap();
    assert!(policy.contains(&format!("style-src {};", hash(&style.text()))), "{policy}");
    let scripts = dom.all("script");
    let running: Vec<_> = scripts.iter().filter(|script| script.attribute("type").is_none()).collect();
    let [script] = running[..] else { panic!("one script") };
    assert!(policy.contains(&format!("script-src {};", hash(&script.text()))), "{policy}");
    assert!(policy.starts_with("default-src 'none';") && !policy.contains("unsafe"), "{policy}");
}

#[test]
fn a_page_without_a_script_says_so_and_allows_none() {
    let text = page(&fixtures::pass()).render_with(None).unwrap();
    let dom = Dom::parse(&text);
    assert!(text.contains("script-src 'none'"));
    assert!(dom.all("script").iter().all(|script| script.attribute("type").is_some()));
    assert!(dom.all("footer")[0].text().contains("made with Node"));
    let moving = Dom::parse(&rendered(&fixtures::pass()));
    assert!(!moving.all("footer")[0].text().contains("Node"));
}

/// The content of the data block of a page.
pub fn data(s: &Summary, picture: &Picture) -> Value {
    let packed = dom_of(s, picture).by_id("page-data").expect("the page has data").text();
    let mut text = String::new();
    GzDecoder::new(&STANDARD.decode(packed).unwrap()[..]).read_to_string(&mut text).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn the_data_are_the_json_document_and_the_charts() {
    for (name, s, picture) in runs() {
        let data = data(&s, &picture);
        let printed: Value = serde_json::from_str(&plimsoll_output::json::to_string(&s).unwrap()).unwrap();
        assert_eq!(data["document"], printed, "{name}");
        assert_eq!(data["kind"], "run");
        assert_eq!(data["version"], 1);
        let charts = serde_json::to_value(&page_of(&s, &picture).charts).unwrap();
        assert_eq!(data["charts"], charts, "{name}");
    }
}

#[test]
fn the_same_run_makes_the_same_bytes() {
    assert_eq!(rendered(&fixtures::shop()), rendered(&fixtures::shop()));
}

#[test]
fn every_chart_has_a_picture_and_a_table() {
    for (name, s, picture) in runs() {
        let (dom, page) = (dom_of(&s, &picture), page_of(&s, &picture));
        for chart in &page.charts {
            let figure = dom.by_id(&format!("chart-{}", chart.id));
            let figure = figure.unwrap_or_else(|| panic!("{name}: {} is drawn nowhere", chart.id));
            assert_eq!(figure.below("svg").len(), 1, "{name}: {}", chart.id);
            assert!(!figure.below("table").is_empty(), "{name}: {}", chart.id);
            assert!(figure.text().contains(&chart.title), "{name}: {}", chart.id);
        }
        let drawn = dom.all("figure").len();
        assert_eq!(drawn, page.charts.len(), "{name}");
    }
    let (s, picture) = fixtures::drawn();
    assert!(page_of(&s, &picture).charts.len() >= 6, "a run with everything has its pictures");
}

/// Names, reasons, and responses that contain markup.
fn hostile() -> Summary {
    const EVIL: &str =
        "</script></style><script>alert(1)</script><img src=x onerror=alert(2)>\"' \u{202e}gnp\u{7}&amp;";
    let mut s = fixtures::shop();
    for text in [&mut s.name, &mut s.target, &mut s.verdict.sentence, &mut s.thresholds[0].text] {
        *text = EVIL.into();
    }
    s.plan.name = EVIL.into();
    s.plan.question = Some(EVIL.into());
    s.plan.requests[0].path = EVIL.into();
    s.requests[0].name = EVIL.into();
    s.requests[0].tags = vec![(EVIL.into(), EVIL.into())];
    s.groups[0].name = EVIL.into();
    s.checks[0].name = EVIL.into();
    s.streams[0].name = EVIL.into();
    s.failure_examples[0].sample.excerpt = EVIL.into();
    s.failure_examples[0].sample.observed = EVIL.into();
    s.status_codes.insert(EVIL.into(), 1);
    s.environments[0].host = EVIL.into();
    s.environments[0].addresses = vec![EVIL.into()];
    s.generators[0].host = EVIL.into();
    let watched = fixtures::watched();
    (s.monitors, s.system_under_test, s.cautions) =
        (watched.monitors, watched.system_under_test, watched.cautions);
    s.monitors[0].name = EVIL.into();
    s.monitors[0].rows[0].metric = EVIL.into();
    s.system_under_test[0].value = EVIL.into();
    s
}

#[test]
fn text_from_a_server_or_a_file_stays_text() {
    let s = hostile();
    let (evil, tame) = (dom(&s), dom(&fixtures::shop()));
    assert_eq!(evil.all("script").len(), tame.all("script").len());
    assert_eq!(evil.all("style").len(), 1);
    assert!(evil.all("img").is_empty());
    assert_eq!(evil.errors(), Vec::<String>::new());
    let handlers = evil
        .elements()
        .iter()
        .flat_map(|e| e.attributes())
        .filter(|(name, _)| name.starts_with("on"))
        .count();
    assert_eq!(handlers, 0);
    let body = evil.all("body")[0].text();
    assert!(body.contains("<script>alert(1)</script>"), "present as text");
    assert!(!rendered(&s).contains('\u{202e}'), "nothing reverses the text");
}

/// Removes code markup and the first letter, which a sentence capitalizes.
fn plain(advice: &str) -> String {
    advice.replace('`', "").chars().skip(1).collect()
}

#[test]
fn the_first_screen_has_reasons_and_next_steps() {
    let describe = |s: &Summary| {
        // Elements live as long as their page.
        let dom = dom(s);
        let all = dom.elements();
        let of = |class: &str| all.iter().find(|e| e.has_class(class)).map(|e| e.text()).unwrap_or_default();
        (of("reasons") + &of("steps"), of("overrule"))
    };
    for (name, s, _) in runs() {
        let (next, overrule) = describe(&s);
        assert!(!next.is_empty(), "{name}");
        match s.verdict.result {
            Outcome::Inconclusive => {
                let first = s.cautions.iter().find(|c| c.severity == Severity::Inconclusive);
                let (evidence, advice) = first.map(|c| (c.evidence_text(), c.advice())).unwrap_or_default();
                assert!(overrule.contains(&evidence) && next.contains(&plain(&advice)), "{name}: {overrule}");
            }
            _ => assert!(overrule.is_empty(), "{name}: {next}"),
        }
    }
    let mut s = fixtures::fail();
    let said = describe(&s).0;
    assert!(
        said.contains("180 of 252 failures: status 503 (http_status)"),
        "a code follows its words: {said}"
    );
    assert!(
        said.contains(
            "; 60 times: the request timed out before the response was complete (timeout), and 1 more kind"
        ),
        "{said}"
    );
    assert!(said.contains("180 of all failures between 12 s and 13 s"), "{said}");
    assert!(said.contains("Search the logs of the server") && said.contains("plimsoll compare"), "{said}");
    // With a run file, the command to compare names it.
    assert!(said.contains("plimsoll compare runs/a.plim after.plim"), "{said}");
    let checked = describe(&fixtures::shop()).0;
    assert!(checked.contains("The check ") && checked.contains("with what the check expects"), "{checked}");
    let mut behind = fixtures::fail();
    behind.thresholds.retain(|t| t.subject.starts_with("achieved"));
    (behind.thresholds[0].is_met, behind.thresholds[0].standing) = (false, Standing::Missed);
    let said_behind = describe(&behind).0;
    assert!(said_behind.contains("of 30,012 arrivals, 312 waited for a connection"), "{said_behind}");
    assert!(said_behind.contains("plimsoll find"), "{said_behind}");
    // A threshold that did not decide is not a reason.
    s.thresholds.retain(|t| !t.subject.starts_with("error_rate"));
    let said = describe(&s).0;
    assert!(!said.contains("http_status") && said.contains("while it was slow"), "{said}");
}

#[test]
fn periodic_slowness_is_reported_with_its_period() {
    let spike = |from_s: f64| Spike {
        from_s,
        to_s: from_s + 1.0,
        slow_s: 1.0,
        baseline_p95_ns: 2_000_000,
        peak_p95_ns: 385_000_000,
        recovered_after_s: Some(1.0),
    };
    let with = |from: &[f64]| {
        let mut s = fixtures::fail();
        s.thresholds.retain(|t| t.subject.starts_with("response_time"));
        s.saturated_resources.clear();
        s.spikes = from.iter().map(|from_s| spike(*from_s)).collect();
        let dom = dom(&s);
        let all = dom.elements();
        all.iter()
            .filter(|e| e.has_class("reasons") || e.has_class("steps"))
            .map(|e| e.text())
            .collect::<String>()
    };
    let paced = with(&[4.0, 9.0, 14.0, 18.4]);
    let told = "p95 rose from 2.00 ms to 385 ms in 4 spikes, about one every 5 s (4 s of 30 s).";
    assert!(paced.contains(told), "{paced}");
    assert!(paced.contains("Find what runs every 5 s"), "{paced}");
    // Two spikes have no period, and neither do three at irregular times.
    for from in [&[4.0, 9.0][..], &[4.0, 9.0, 21.0]] {
        let odd = with(from);
        assert!(odd.contains("spikes, the first at 4 s (") && !odd.contains("every"), "{odd}");
    }
    assert!(with(&[7.0]).contains("in 1 spike at 7 s (1 s of 30 s)"));
    assert!(!with(&[]).contains("It was slow"));
}
