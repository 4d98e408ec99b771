//! Pictures: committed as text, and what each of them must show.

use crate::fixtures;
use crate::golden::check;
use plimsoll_output::chart::{Chart, Form};
use plimsoll_output::figure::{self, Skin, draw};
use plimsoll_record::picture::Picture;

/// What every picture must be: whole, small, alone, and without a number that is none.
fn assert_is_a_picture(id: &str, svg: &str) {
    assert!(id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'), "{id}");
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{svg}");
    assert!(svg.len() < 60_000, "{id}: {} bytes", svg.len());
    for bad in ["NaN", "inf\"", "<script", "href", "url(", "@import", "-0\"", "style=", " id="] {
        assert!(!svg.contains(bad), "`{bad}` in {svg}");
    }
    assert_eq!(svg.matches("<text ").count(), svg.matches("</text>").count());
}

fn all() -> Vec<Chart> {
    let (s, picture) = fixtures::drawn_with_monitors();
    figure::of_run(&s, &picture)
}

fn of(id: &str) -> Chart {
    all().into_iter().find(|chart| chart.id == id).expect("the fixture has something for every chart")
}

#[test]
fn pictures_of_a_run_are_as_committed() {
    let charts = all();
    let ids: Vec<&str> = charts.iter().map(|chart| chart.id.as_str()).collect();
    let expected = [
        "timeline",
        "heat",
        "heat-service",
        "spectrum",
        "spectrum-requests",
        "distribution",
        "phases",
        "monitors-cpu",
        "monitors-memory",
        "monitors-api",
        "monitors-db",
    ];
    assert_eq!(ids, expected);
    for chart in &charts {
        let svg = draw(&figure::titled(chart, "checkout"), Skin::File);
        assert_is_a_picture(&chart.id, &svg);
        check(&format!("figures/{}.svg", chart.id), &svg);
        let page = draw(chart, Skin::Page);
        assert_is_a_picture(&chart.id, &page);
        assert!(!page.contains("<style") && !page.contains('#'), "looks are the page's");
    }
}

#[test]
fn a_run_without_a_picture_has_its_course_and_what_was_watched_on_the_same_axis() {
    for (name, s) in fixtures::all() {
        let charts = figure::of_run(&s, &Picture::default());
        assert_eq!(charts.is_empty(), s.timeline.len() < 3, "{name}");
        for chart in charts {
            let svg = draw(&chart, Skin::File);
            assert_is_a_picture(&chart.id, &svg);
            assert_eq!(chart.group, "time", "{name}");
            assert_eq!(svg.contains("warm-up"), s.totals.warmup_s > 0.0, "{name}");
        }
    }
    let watched = figure::of_run(&fixtures::watched(), &Picture::default());
    assert!(watched.iter().any(|chart| draw(chart, Skin::File).contains(">CPU, cores<")));
}

#[test]
fn nine_hours_of_many_monitors_are_a_small_picture_too() {
    let mut s = fixtures::watched();
    let second = s.timeline[10].clone();
    s.timeline = (0..32_400)
        .map(|tick| plimsoll_record::summary::Second { tick, from_s: f64::from(tick), ..second.clone() })
        .collect();
    let course = s.courses[0].clone();
    s.courses = (0..40)
        .flat_map(|k| ["cpu", "rss"].map(|metric| (k, metric)))
        .map(|(k, metric)| plimsoll_record::summary::Course {
            monitor: format!("process number {k}"),
            metric: metric.into(),
            points: (1..32_400).map(|at| (f64::from(at), f64::from(at * (k + 1) % 977))).collect(),
            ..course.clone()
        })
        .collect();
    for chart in figure::of_run(&s, &Picture::default()) {
        assert_is_a_picture(&chart.id, &draw(&chart, Skin::File));
    }
}

#[test]
fn a_picture_becomes_an_image_with_its_words_on_any_machine() {
    let svg = draw(&of("phases"), Skin::File);
    let png = plimsoll_output::png::of(&svg, 2.0).expect("the drawer's own SVG is read");
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    let side = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().expect("four bytes"));
    assert_eq!(side(16), 1_520);
    // Words take ink: without a font the image would be smaller.
    let mute: String = svg.lines().filter(|line| !line.starts_with("<text")).collect();
    let mute = plimsoll_output::png::of(&mute, 2.0).expect("it is whole without its words");
    assert!(png.len() > mute.len() + 2_000, "{} and {}", png.len(), mute.len());
    for no_picture in ["", "<svg", "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"90000\" height=\"9\"/>"]
    {
        assert!(plimsoll_output::png::of(no_picture, 1.0).is_err(), "{no_picture}");
    }
    if let Some(folder) = std::env::var_os("PLIMSOLL_FIGURES") {
        for chart in all() {
            let png = plimsoll_output::png::of(&draw(&chart, Skin::File), 1.0).expect("as above");
            let path = std::path::Path::new(&folder).join(format!("{}.resvg.png", chart.id));
            std::fs::write(path, png).expect("a folder to look into");
        }
    }
}
