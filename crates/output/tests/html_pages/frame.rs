//! What holds for every page: unique ids, anchors that lead somewhere, charts with tables, nothing that loads, runs or
//! styles itself, and hostile texts that stay text.

use crate::html::dom::Dom;
use crate::html_pages::fixtures::{all, dom, of_audit, of_parts};
use std::collections::BTreeSet;

#[test]
fn every_page_is_whole_and_every_anchor_leads_somewhere() {
    for (name, page) in all() {
        // For eyes: `PLIMSOLL_PAGES=/tmp/pages cargo test -p plimsoll-output --test surface html_pages`.
        if let Some(to) = std::env::var_os("PLIMSOLL_PAGES") {
            let file = std::path::Path::new(&to).join(format!("{}.html", name.replace(' ', "-")));
            std::fs::write(file, page.render().unwrap()).expect("the folder is there");
        }
        let dom = dom(&page);
        assert_eq!(dom.errors(), Vec::<String>::new(), "{name}");
        assert_eq!(dom.all("h1").len(), 1, "{name}");
        let ids: Vec<String> = dom.elements().iter().filter_map(|e| e.attribute("id")).collect();
        let unique: BTreeSet<&String> = ids.iter().collect();
        assert_eq!(unique.len(), ids.len(), "{name}: an id stands twice: {ids:?}");
        for link in dom.all("a").iter().filter_map(|a| a.attribute("href")) {
            let known = link.strip_prefix('#').is_none_or(|id| ids.iter().any(|known| known == id));
            assert!(known, "{name}: nothing at {link}");
        }
        assert!(!page.sections.is_empty(), "{name}");
    }
}

#[test]
fn every_chart_is_shown_once_with_its_table() {
    for (name, page) in all() {
        let dom = dom(&page);
        let figures: Vec<_> = dom.all("figure").into_iter().filter(|f| f.has_class("chart")).collect();
        let shown: BTreeSet<String> = figures.iter().filter_map(|f| f.attribute("data-chart")).collect();
        let known: BTreeSet<String> = page.charts.iter().map(|chart| chart.id.clone()).collect();
        assert_eq!(shown, known, "{name}: what the script knows is what the page shows");
        assert_eq!(figures.len(), known.len(), "{name}");
        for figure in figures {
            assert!(!figure.below("table").is_empty(), "{name}: {:?} has no table", figure.attribute("id"));
        }
    }
}

#[test]
fn each_kind_leads_with_a_picture_of_its_own() {
    let first = |wanted: &str| {
        let (_, page) = all().into_iter().find(|(name, _)| *name == wanted).expect("a page of this name");
        let figure = dom(&page).all("figure").into_iter().find(|f| f.has_class("chart"));
        figure.and_then(|f| f.attribute("data-chart")).unwrap_or_default()
    };
    assert_eq!(first("sweep"), "capacity-users");
    assert_eq!(first("search"), "search");
    assert_eq!(first("slower"), "delta");
    assert_eq!(first("audit"), "audit");
    assert_eq!(first("parts"), "p1-capacity-users");
}

#[test]
fn nothing_is_loaded_and_no_attribute_runs_or_styles() {
    for (name, page) in all() {
        let dom = dom(&page);
        for element in dom.elements() {
            for (attribute, value) in element.attributes() {
                let at = format!("{name}: <{} {attribute}={value:?}>", element.name());
                assert!(!attribute.starts_with("on") && attribute != "style", "{at}");
                let is_address = ["href", "src", "action", "srcset", "data", "poster"].contains(&&*attribute);
                let is_ours = value.starts_with('#') || value.starts_with("./") || value == "data:,";
                assert!(!is_address || is_ours, "{at}");
            }
        }
        for loads in ["iframe", "object", "embed", "form", "base", "img", "video", "audio"] {
            assert!(dom.all(loads).is_empty(), "{name}: <{loads}>");
        }
        assert_eq!((dom.all("script").len(), dom.all("style").len()), (2, 1), "{name}");
    }
}

#[test]
fn hostile_names_and_reports_stay_text() {
    for (name, page) in all().into_iter().filter(|(name, _)| *name == "evil sweep" || *name == "evil audit") {
        let text = page.render_with(None).unwrap();
        let body = Dom::parse(&text).all("main")[0].text();
        assert!(body.contains("<script>alert(1)</script>"), "{name}: present as text");
        assert!(!text.contains('\u{202e}'), "{name}: nothing reverses the text");
    }
}

#[test]
fn a_text_without_numbers_does_not_pass() {
    let page = dom(&of_audit("Nothing here.\n"));
    let head = page.all("main")[0].text();
    assert!(head.to_lowercase().contains("no numbers found"), "{head}");
    assert!(!page.elements().iter().any(|e| e.has_class("badge") && e.has_class("pass")));
}

#[test]
fn every_part_is_answered_first_and_reported_below_and_all_fit_into_one_file() {
    let page = of_parts();
    let text = page.render_with(None).unwrap();
    let dom = Dom::parse(&text);
    let answers = dom.by_id("table-parts").expect("the table of answers");
    for link in answers.below("a") {
        let id = link.attribute("href").unwrap();
        assert_eq!(dom.by_id(&id[1..]).expect("a report").name(), "article");
    }
    assert_eq!(answers.below("a").len(), 4);
    assert!(answers.text().contains("not run yet"));
    assert!(text.len() < 600_000, "{} bytes", text.len());
}
