//! Charts: committed as text, and what each of them must show.

use crate::output::fixtures;
use crate::output::golden::check;
use plimsoll_analysis::picture::Picture;
use plimsoll_analysis::summary::{Course, Summary};
use plimsoll_chart::{Axis, Chart, Form, Mark, MarkKind, Panel, Series, Skin, Unit, draw};
use plimsoll_output::{figure, html};

/// Checks every chart: complete, small, self-contained, and without invalid numbers.
fn assert_is_a_picture(id: &str, svg: &str) {
    assert!(id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'), "{id}");
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{svg}");
    let room = if id.starts_with("heat") { 36_000 } else { 30_000 };
    let style = svg.find("</style>").unwrap_or(0);
    assert!(svg.len() - style < room, "{id}: {} bytes", svg.len());
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
    all().into_iter().find(|chart| chart.id == id).expect("the fixture has data for every chart")
}

#[test]
fn charts_of_a_run_are_as_committed() {
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
        assert!(!page.contains("<style") && !page.contains('#'), "the page defines styles");
    }
}

#[test]
fn a_run_without_a_picture_has_its_timeline_and_monitors_on_the_same_axis() {
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
fn nine_hours_of_many_monitors_make_a_small_chart() {
    let mut s = fixtures::watched();
    let second = s.timeline[10].clone();
    s.timeline = (0..32_400)
        .map(|tick| plimsoll_analysis::summary::Second { tick, from_s: f64::from(tick), ..second.clone() })
        .collect();
    let course = s.courses[0].clone();
    s.courses = (0..40)
        .flat_map(|k| ["cpu", "rss"].map(|metric| (k, metric)))
        .map(|(k, metric)| plimsoll_analysis::summary::Course {
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
fn an_eighth_monitor_is_drawn_and_a_fifteenth_is_mentioned() {
    let (mut s, picture) = fixtures::drawn_with_monitors();
    let course = s.courses[0].clone();
    let mut cpu = |n: usize| {
        let monitor = |at: usize| Course { monitor: format!("m{at}"), ..course.clone() };
        s.courses = (0..n).map(monitor).collect();
        figure::of_run(&s, &picture)
            .into_iter()
            .find(|chart| chart.id == "monitors-cpu")
            .expect("there is CPU")
    };
    let nine = cpu(9);
    let forms: Vec<Form> = nine.panels[0].series.iter().map(|series| series.form).collect();
    assert_eq!(forms.len(), 9);
    assert!(forms[..7].iter().all(|form| *form == Form::Line) && forms[7] == Form::Dashed, "{forms:?}");
    assert!(nine.subtitle.starts_with("9 monitors") && !nine.subtitle.contains("more"), "{}", nine.subtitle);
    let many = cpu(16);
    assert_eq!(many.panels[0].series.len(), 14);
    assert!(many.subtitle.starts_with("14 monitors, 2 more are in the table"), "{}", many.subtitle);
}

#[test]
fn p99_is_drawn_below_correlated_metrics_only() {
    let with = of("monitors-db");
    let last = with.panels.last().expect("it has panels");
    assert_eq!((last.id.as_str(), last.y.unit), ("response-p99", Unit::Nanoseconds));
    assert!(with.subtitle.contains("correlated with p99 (not necessarily the cause): waiting"));
    let (mut s, picture) = fixtures::drawn_with_monitors();
    s.monitors.iter_mut().flat_map(|monitor| &mut monitor.rows).for_each(|row| row.p99_correlation = None);
    let without = figure::of_run(&s, &picture);
    assert!(without.iter().all(|chart| chart.panels.iter().all(|panel| panel.id != "response-p99")));
}

#[test]
fn a_chart_becomes_an_image_with_its_text_on_any_machine() {
    let svg = draw(&of("phases"), Skin::File);
    let png = plimsoll_chart::png::of(&svg, 2.0).expect("the drawer's SVG is valid");
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    let side = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().expect("four bytes"));
    assert_eq!(side(16), 1_520);
    // Text adds ink: without a font, the image would be smaller.
    let mute: String = svg.lines().filter(|line| !line.starts_with("<text")).collect();
    let mute = plimsoll_chart::png::of(&mute, 2.0).expect("it is valid without text");
    assert!(png.len() > mute.len() + 2_000, "{} and {}", png.len(), mute.len());
    for no_picture in ["", "<svg", "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"90000\" height=\"9\"/>"]
    {
        assert!(plimsoll_chart::png::of(no_picture, 1.0).is_err(), "{no_picture}");
    }
    if let Some(folder) = std::env::var_os("PLIMSOLL_FIGURES") {
        for chart in all() {
            let png = plimsoll_chart::png::of(&draw(&chart, Skin::File), 1.0).expect("as above");
            let path = std::path::Path::new(&folder).join(format!("{}.resvg.png", chart.id));
            std::fs::write(path, png).expect("an output directory");
        }
    }
}

#[test]
fn the_required_notice_of_the_fonts_is_included() {
    let notice = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../LICENSE-DEJAVU");
    let notice = std::fs::read_to_string(notice).expect("it is included with the binary");
    let holds = |font: &[u8], text: &str| {
        let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        font.windows(wide.len()).any(|part| part == wide)
    };
    for font in [dejavu::sans::regular(), dejavu::sans::bold()] {
        for line in [
            "Copyright (c) 2003 by Bitstream, Inc. All Rights Reserved.",
            "Copyright (c) 2006 by Tavmjong Bah. All Rights Reserved.",
        ] {
            assert!(holds(font, line) && notice.contains(line), "{line}");
        }
    }
    assert_eq!(notice.matches("this permission notice").count(), 2);
}

/// Checks that a change of the chart changes the picture and the tables.
fn assert_changes(what: &str, chart: &Chart, change: impl Fn(&mut Chart)) {
    let mut other = chart.clone();
    change(&mut other);
    for skin in [Skin::File, Skin::Page] {
        assert_ne!(draw(chart, skin), draw(&other, skin), "{what}");
    }
    assert_ne!(plimsoll_chart::tables(chart), plimsoll_chart::tables(&other), "{what}");
}

#[test]
fn swapped_lines_lost_intervals_and_changed_numbers_are_detected() {
    let chart = of("timeline");
    assert_changes("two lines swapped", &chart, |c| {
        let y = c.panels[1].series[0].y.clone();
        c.panels[1].series[0].y = std::mem::replace(&mut c.panels[1].series[2].y, y);
    });
    assert_changes("two names swapped", &chart, |c| {
        let name = c.panels[1].series[0].name.clone();
        c.panels[1].series[0].name = std::mem::replace(&mut c.panels[1].series[2].name, name);
    });
    assert_changes("one number changed", &chart, |c| {
        c.panels[0].series[0].y[40] = Some(1_700.0);
    });
    assert_changes("a gap closed", &chart, |c| {
        let gap = c.panels[1].series[0].y.iter().position(Option::is_none).expect("the fixture has a gap");
        c.panels[1].series[0].y[gap] = Some(90e6);
    });
    let mut bars = Chart::new("bars", "bars", Axis::new("users", Unit::Plain));
    bars.xs = vec![1.0, 2.0];
    let some = |values: [f64; 2]| values.map(Some).to_vec();
    let series = Series::new("rate", "rate", 0, Form::Marked, some([10.0, 20.0]));
    let series = series.within(some([9.0, 18.0]), some([11.0, 23.0]));
    bars.panels.push(Panel::new("rate", Axis::new("requests", Unit::PerSecond), vec![series]));
    assert_changes("an interval dropped", &bars, |c| c.panels[0].series[0].low[1] = None);
    assert_changes("an interval narrowed", &bars, |c| c.panels[0].series[0].high[0] = Some(10.2));
}

#[test]
fn an_invalid_number_is_a_gap_and_never_a_point() {
    for chart in all() {
        for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, -1e300] {
            let mut chart = chart.clone();
            for series in chart.panels.iter_mut().flat_map(|panel| &mut panel.series) {
                series.y.iter_mut().step_by(3).for_each(|y| *y = Some(odd));
                series.x.iter_mut().flatten().step_by(7).for_each(|x| *x = odd);
            }
            chart.xs.iter_mut().step_by(5).for_each(|x| *x = odd);
            chart.marks.iter_mut().for_each(|mark| mark.at = odd);
            chart.stretches.iter_mut().for_each(|stretch| stretch.to = odd);
            assert_is_a_picture(&chart.id, &draw(&chart, Skin::File));
            let page = html::figure(&chart).into_string();
            assert!(!page.contains("NaN") && !page.contains("data-v=\"inf"), "{page}");
        }
        let third = |y: Option<f64>| {
            let mut chart = chart.clone();
            let all = chart.panels.iter_mut().flat_map(|panel| &mut panel.series);
            all.for_each(|series| series.y.iter_mut().step_by(3).for_each(|value| *value = y));
            (draw(&chart, Skin::Page), plimsoll_chart::tables(&chart))
        };
        for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(third(Some(odd)) == third(None), "{}: {odd} is not a gap", chart.id);
        }
        let mut empty = chart;
        empty.panels.iter_mut().flat_map(|panel| &mut panel.series).for_each(|series| series.y.clear());
        empty.xs.clear();
        assert_is_a_picture(&empty.id, &draw(&empty, Skin::File));
    }
}

#[test]
fn names_from_a_server_are_text_in_charts_and_pages() {
    let hostile = "</title><script>alert(1)</script>\"'><img src=x onerror=alert(1)>\u{1}\u{202e}&";
    for mut chart in all() {
        (chart.title, chart.subtitle) = (hostile.into(), hostile.into());
        chart.x.label = hostile.into();
        chart.marks.iter_mut().for_each(|mark| mark.word = hostile.into());
        chart.stretches.iter_mut().for_each(|stretch| stretch.word = hostile.into());
        for panel in &mut chart.panels {
            panel.y.label = hostile.into();
            panel.series.iter_mut().for_each(|series| series.name = hostile.into());
            panel.limits.iter_mut().for_each(|limit| limit.word = hostile.into());
        }
        for text in [draw(&chart, Skin::File), html::figure(&chart).into_string()] {
            for bad in ["<script", "<img", "\u{1}", "\"'>"] {
                assert!(!text.contains(bad), "{bad} in {text}");
            }
        }
        assert!(!draw(&chart, Skin::Page).contains('\u{202e}'), "text is not reversed");
    }
}

#[test]
fn a_limit_on_one_request_is_drawn_at_the_lines_of_requests_and_not_at_that_of_all() {
    let (mut s, picture) = fixtures::drawn_with_monitors();
    let mut limit =
        s.thresholds.iter().find(|t| t.subject.starts_with("response_time")).expect("it has one").clone();
    let name = s.requests[0].name.clone();
    (limit.subject, limit.text) =
        (format!("response_time{{request: {name}}} p99"), "p99 of one < 5ms".into());
    (limit.limit, limit.is_met) = (5e6, false);
    s.thresholds.push(limit);
    let charts = figure::of_run(&s, &picture);
    let drawn = |id: &str| {
        let chart = charts.iter().find(|chart| chart.id == id).expect("the fixture has it");
        draw(chart, Skin::File).contains("p99 of one")
    };
    assert!(drawn("spectrum-requests") && !drawn("timeline") && !drawn("spectrum") && !drawn("heat"));
}

#[test]
fn service_times_equal_to_response_times_are_mentioned_and_not_drawn_twice() {
    let (s, mut picture) = fixtures::drawn_with_monitors();
    picture.service_heat = picture.response_heat.clone();
    let subtitle = |picture: &Picture| {
        let charts = figure::of_run(&s, picture);
        let heats: Vec<&Chart> = charts.iter().filter(|chart| chart.id.starts_with("heat")).collect();
        assert!(heats[0].id == "heat" && heats.len() < 3);
        (heats.len(), heats[0].subtitle.clone())
    };
    let (count, told) = subtitle(&picture);
    assert!(count == 1 && told.ends_with("service times look the same (all in the same cells)"), "{told}");
    // Some of them were served in less time than they took.
    let (column, row) = (picture.service_heat.counts.iter().enumerate())
        .find_map(|(at, rows)| Some((at, rows.iter().rposition(|n| *n > 0).filter(|row| *row > 0)?)))
        .expect("times were counted");
    let all: u64 = picture.service_heat.counts.iter().flatten().sum();
    picture.service_heat.counts[column][row] += all;
    picture.response_heat.counts[column][row - 1] += all;
    let (count, told) = subtitle(&picture);
    assert!(count == 2 && !told.contains("alike"), "{told}");
}

#[test]
fn iterations_of_several_requests_are_not_compared_with_requests() {
    let (mut s, picture) = fixtures::drawn_with_monitors();
    assert!(s.offered.is_some(), "the fixture uses the open model");
    let panels = |s: &Summary| -> Vec<(String, Vec<String>)> {
        let chart = figure::of_run(s, &picture).swap_remove(0);
        let names = |panel: &Panel| panel.series.iter().map(|one| one.id.clone()).collect();
        chart.panels.iter().map(|panel| (panel.id.clone(), names(panel))).collect()
    };
    let one = s.plan.requests[0].clone();
    s.plan.requests.truncate(1);
    s.plan.workloads.clear();
    let together = panels(&s);
    assert!(together[0].1.contains(&"offered".into()) && together[2].0 != "iterations", "{together:?}");
    s.plan.requests.push(one);
    let apart = panels(&s);
    assert!(!apart[0].1.contains(&"offered".into()), "{apart:?}");
    assert_eq!(apart[2], ("iterations".into(), vec!["offered".into()]));
}

#[test]
fn an_interval_that_covers_the_whole_plot_is_not_a_line_across_it() {
    let chart = |high: f64| {
        let mut chart = Chart::new("bars", "bars", Axis::new("users", Unit::Plain));
        chart.xs = vec![1.0, 2.0];
        let some = |values: [f64; 2]| values.map(Some).to_vec();
        let series = Series::new("p99", "p99", 0, Form::Marked, some([10.0, 20.0]));
        let series = series.within(some([9.0, 0.0]), some([11.0, high]));
        let y = Axis::new("times", Unit::Plain).between(0.0, 40.0);
        chart.panels.push(Panel::new("p99", y, vec![series]));
        chart
    };
    let drawn = |high: f64| {
        let svg = draw(&chart(high), Skin::Page);
        svg.lines().find(|line| line.contains("thin")).expect("there are intervals").to_owned()
    };
    assert_ne!(drawn(40.0), drawn(400.0), "one that ends with the axis ends there");
    assert_eq!(drawn(400.0), drawn(9e9), "however wide it is");
}

#[test]
fn crowded_marks_are_numbered_and_explained_below() {
    let mut chart = of("timeline");
    chart.panels.truncate(2);
    let mark = |k: u32| Mark {
        at: 60.0 + f64::from(k) * 1.5,
        word: format!("stage {} at {} arrivals/s", k + 1, 100 * (k + 1)),
        kind: MarkKind::Stage,
    };
    chart.marks = (0..30).map(mark).collect();
    let svg = draw(&chart, Skin::File);
    assert_is_a_picture(&chart.id, &svg);
    check("figures/crowded.svg", &svg);
    assert!(svg.contains(">60 s: stage 1 at 100 arrivals/s<") && svg.contains("and 6 more"), "{svg}");
}

#[test]
fn tables_of_charts_are_short_and_contain_the_numbers() {
    for chart in all() {
        let tables = plimsoll_chart::tables(&chart);
        assert!(!tables.is_empty(), "{}", chart.id);
        for table in &tables {
            assert!((1..=61).contains(&table.rows.len()), "{}: {} rows", chart.id, table.rows.len());
            assert!(table.rows.iter().all(|row| row.len() == table.heads.len()), "{}", chart.id);
        }
    }
    let page = html::figure(&of("phases")).into_string();
    for text in [
        "id=\"chart-phases\"",
        "data-chart=\"phases\"",
        "<td data-v=\"251100000\">251 ms</td>",
        "above p99.9",
    ] {
        assert!(page.contains(text), "{text} in {page}");
    }
}

#[test]
fn a_live_run_has_the_series_that_its_rows_name() {
    let (s, _) = fixtures::drawn_with_monitors();
    let classes = ["timeout", "status"];
    let charts = figure::live(&s.plan, &classes, &s.courses);
    let row = figure::live_row(&s.timeline[40], &[("timeout", 3), ("status", 1)], &s.courses);
    assert_eq!(row.x, s.timeline[40].from_s + 0.5);
    for (id, values) in &row.values {
        let chart = charts.iter().find(|chart| chart.id == *id).expect("a row names existing charts");
        let known: Vec<&str> =
            chart.panels.iter().flat_map(|panel| &panel.series).map(|series| series.id.as_str()).collect();
        let named = values.keys().filter(|name| known.contains(&name.as_str())).count();
        assert!(named >= 2 && named + 2 >= values.len(), "{known:?} and {values:?}");
    }
    assert_eq!(row.values["timeline"]["timeout"], 3.0);
    // The same ids as in the report, so that a page can continue where the live view ended.
    let report = figure::of_run(&s, &Picture::default());
    let ids = |charts: &[Chart]| -> Vec<String> {
        let memory = charts.iter().filter(|chart| chart.id == "monitors-memory");
        memory.flat_map(|chart| &chart.panels).flat_map(|p| &p.series).map(|s| s.id.clone()).collect()
    };
    assert_eq!(ids(&charts), ids(&report));
}

#[test]
fn a_spark_is_a_line_with_gaps_and_a_description() {
    let values: Vec<Option<f64>> = (0..200).map(|k| (k % 50 != 7).then_some(f64::from(k))).collect();
    let svg = plimsoll_chart::spark(&values, 1, "p99 of <b>");
    assert!(svg.contains("class=\"s1\"") && svg.contains("<title>p99 of &lt;b&gt;</title>"), "{svg}");
    assert!(svg.len() < 700 && !svg.contains("style"), "{} bytes", svg.len());
    assert_eq!(plimsoll_chart::spark(&[None, Some(1.0)], 0, ""), "");
}

#[test]
fn columns_next_to_a_gap_do_not_fill_it() {
    let mut chart = Chart::new("gap", "gap", Axis::new("time", Unit::Seconds));
    // Seconds 20 to 39 have no rows.
    chart.xs = (0..20).chain(40..60).map(f64::from).collect();
    let series = Series::new("failed", "failed", 1, Form::Bars, vec![Some(1.0); 40]);
    chart.panels.push(Panel::new("errors", Axis::new("failed", Unit::PerSecond), vec![series]));
    let svg = draw(&chart, Skin::Page);
    let path = svg.lines().find(|line| line.contains("bars")).expect("a path of columns");
    let number = |part: &str| {
        let end = part.find(|c: char| c.is_ascii_alphabetic() || c == '"').unwrap_or(part.len());
        part[..end].parse::<f64>().ok().map(f64::abs)
    };
    let mut widths: Vec<f64> = path.split('h').skip(1).filter_map(number).collect();
    widths.sort_by(f64::total_cmp);
    let (usual, widest) = (widths[widths.len() / 2], widths[widths.len() - 1]);
    assert!(widest <= 1.5 * usual + 1.0, "a column of {widest} px among others of {usual} px");
}

#[test]
fn pooled_layers_are_those_of_a_real_second() {
    let mut chart = Chart::new("errors", "errors", Axis::new("time", Unit::Seconds));
    // Two seconds, so that no tick of their axis is 10 or 20.
    chart.xs = (0..2_000).map(|k| f64::from(k) / 1_000.0).collect();
    // Each step has ten failures, of one class or of the other.
    let class = |id: &str, odd: u8| {
        let y = (0..2_000_u32).map(|k| Some(if k % 2 == u32::from(odd) { 10.0 } else { 0.0 })).collect();
        Series::new(id, id, odd, Form::Bars, y).highest()
    };
    let axis = Axis::new("failed", Unit::PerSecond);
    let mut panel = Panel::new("errors", axis, vec![class("one", 0), class("other", 1)]);
    panel.stacked = true;
    chart.panels.push(panel);
    let svg = draw(&chart, Skin::Page);
    assert!(svg.contains(">10</text>"), "the axis reaches ten");
    assert!(!svg.contains(">20</text>"), "no second had twenty failures");
}
