//! Tables and sentences of published results are read with their units, their rounding and their place.

use plimsoll_audit::foreign::model::{Measure, Row};
use plimsoll_audit::foreign::{Document, table};
use plimsoll_stats::random::SplitMix64;

fn read(text: &str) -> Document {
    let mut document = Document::default();
    table::read("report.md", text, &mut document);
    document
}

fn value(row: &Row, measure: Measure) -> f64 {
    row.figures.get(&measure).unwrap_or_else(|| panic!("{measure:?} in {row:?}")).value
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

const P95: Measure = Measure::Percentile(9_500);

#[test]
fn a_pipe_table_is_read_with_units_from_cells_and_header() {
    let d = read(
        "# Shop\n\n| **Path** | #Samples | Errors | Avg (ms) | p(95) | KB/sec | Throughput |\n\
         |---|--:|--:|--:|--:|--:|--:|\n\
         | [`/a`](http://x/) | 1,234 | 12 (0.97%) | 35±7 | 1.36s | 12.5 | 920.6/s |\n\
         | /b | 12 M | N/A | 41 | 900 ms | - | 30/min |\n",
    );
    assert_eq!(d.tables.len(), 1);
    let (a, b) = (&d.rows[0], &d.rows[1]);
    assert_eq!((a.label.as_str(), a.lines, a.headings.as_slice()), ("/a", (5, 5), &["Shop".to_owned()][..]));
    assert_eq!((value(a, Measure::Requests), value(a, Measure::Errors)), (1234.0, 12.0));
    assert!(close(value(a, Measure::ErrorRatio), 0.0097));
    assert!(close(value(a, Measure::Mean), 0.035) && close(value(a, Measure::StdDev), 0.007));
    let p95 = &a.figures[&P95];
    assert!(
        close(p95.low, 1.355) && close(p95.high, 1.365) && p95.written == "1.36s" && p95.line == 5,
        "{p95:?}"
    );
    let bytes = &a.figures[&Measure::BytesPerS];
    assert!(bytes.low < 12_500.0 && bytes.high > 12_800.0, "1,000 or 1,024 to the KB: {bytes:?}");
    assert!(close(value(a, Measure::Rate), 920.6));
    assert_eq!(value(b, Measure::Requests), 12e6);
    assert!(close(value(b, P95), 0.9) && close(value(b, Measure::Rate), 0.5));
    assert!(!b.figures.contains_key(&Measure::Errors) && d.unread.is_empty());
}

#[test]
fn a_table_without_outer_pipes_and_with_alignment_is_the_same_table() {
    let d = read(
        "Users | RPS | Median ms | 99.9%\n:---: | ---: | :-- | --\n10 | 500 | 12.5 | 80\n20|510|25|160\n",
    );
    assert_eq!(d.rows.len(), 2);
    assert_eq!(value(&d.rows[1], Measure::Users), 20.0);
    assert!(close(value(&d.rows[0], Measure::Percentile(5_000)), 0.0125));
    assert!(close(value(&d.rows[0], Measure::Percentile(9_990)), 0.08), "bare times above 15 are ms");
}

#[test]
fn html_tables_and_delimited_files_are_read_alike() {
    let html = "<table>\n<tr><th>vus</th><th>tps</th><th>avg, s</th></tr>\n\
         <tr><td>8</td><td><b>40.5</b></td><td>0.2</td></tr>\n</table>";
    let d = read(html);
    assert_eq!((d.rows.len(), d.rows[0].lines.0), (1, 3));
    assert!(close(value(&d.rows[0], Measure::Mean), 0.2) && close(value(&d.rows[0], Measure::Rate), 40.5));
    for csv in [
        "vus,tps,avg (s)\n8,40.5,0.2\n",
        "vus\ttps\tavg (s)\n8\t40.5\t0.2\n",
        "vus;tps;avg (s)\n8;40,5;\"0,2\"\n",
    ] {
        let d = read(csv);
        assert_eq!(d.rows.len(), 1, "{csv}");
        assert!(
            close(value(&d.rows[0], Measure::Mean), 0.2) && close(value(&d.rows[0], Measure::Rate), 40.5),
            "{csv}"
        );
        assert_eq!(value(&d.rows[0], Measure::Users), 8.0);
    }
}

#[test]
fn a_cell_with_rate_and_time_becomes_a_row_of_its_configuration() {
    let d = read(
        "| API | 1 Server (TPS @ avg ms) | 2 Servers (TPS @ avg ms) |\n|-|-|-|\n\
         | a | 900.5 @ 41 | 1,700 @ 0.021 s |\n| b | 10 @ 5 ms | |\n",
    );
    assert_eq!(d.tables[0].rows.len(), 3);
    assert_eq!(d.rows[1].label, "a, 2 Servers");
    assert_eq!(value(&d.rows[1], Measure::Servers), 2.0);
    assert!(close(value(&d.rows[1], Measure::Mean), 0.021) && value(&d.rows[1], Measure::Rate) == 1700.0);
    assert!(close(value(&d.rows[2], Measure::Mean), 0.005));
}

#[test]
fn a_table_with_the_quantities_down_the_side_is_turned() {
    let d = read(
        "| | before | after |\n|-|-|-|\n| Throughput (req/s) | 100 | 250 |\n\
         | Average latency (ms) | 80.5 | 31 |\n| Errors | 0 | 4 |\n",
    );
    assert_eq!(d.rows.len(), 2);
    assert_eq!(d.rows[1].label, "after");
    assert!(value(&d.rows[1], Measure::Rate) == 250.0 && close(value(&d.rows[0], Measure::Mean), 0.0805));
}

#[test]
fn the_unit_of_times_may_stand_in_a_sentence_and_is_never_invented() {
    let said = read("All response times are in seconds.\n\n| a | avg | max |\n|-|-|-|\n| x | 20 | 31 |\n");
    assert!(close(value(&said.rows[0], Measure::Mean), 20.0));
    let unsaid = read("| a | rps | avg |\n|-|-|-|\n| x | 100 | 2 |\n");
    assert!(!unsaid.rows[0].figures.contains_key(&Measure::Mean), "2 of what?");
    assert!(unsaid.rows[0].others.contains_key("avg"), "it is kept under its name");
}

#[test]
fn threads_beside_connections_are_the_generators_own() {
    let d = read("| threads | connections | rps |\n|-|-|-|\n| 4 | 100 | 50 |\n");
    assert_eq!(
        (value(&d.rows[0], Measure::GeneratorThreads), value(&d.rows[0], Measure::Users)),
        (4.0, 100.0)
    );
    let alone = read("| threads | rps |\n|-|-|\n| 100 | 50 |\n");
    assert_eq!(value(&alone.rows[0], Measure::Users), 100.0);
}

#[test]
fn figures_in_sentences_know_what_they_are_of() {
    for (text, measure, expected) in [
        ("Number of threads - 600", Some(Measure::Users), 600.0),
        ("Total connections: 10,000", Some(Measure::Users), 10_000.0),
        ("Latency distribution: 310,96ms for the 99% percentile", Some(Measure::Percentile(9_900)), 0.31096),
        ("We saw an average of 6ms response time.", Some(Measure::Mean), 0.006),
        ("Test duration was 9 hours &amp; 20 mins", Some(Measure::Duration), 33_600.0),
        ("The test duration: 29m57s", Some(Measure::Duration), 1_797.0),
        ("The site has 100k visitors a month", None, 100_000.0),
        ("It used 25 % CPU", Some(Measure::Cpu), 0.25),
        ("It ran on two physical machines", Some(Measure::Generators), 2.0),
        ("We sent 500 requests per second", Some(Measure::Rate), 500.0),
        ("Behind it are 4 vCPU", None, 4.0),
    ] {
        let d = read(text);
        let figures: Vec<_> = d.claims.iter().flat_map(|c| &c.figures).collect();
        assert!(
            figures.iter().any(|(m, f)| *m == measure && close(f.value, expected)),
            "{text}: {figures:?}"
        );
    }
}

#[test]
fn names_versions_dates_and_ordinals_are_no_figures() {
    for text in [
        "Go 1.10.3 on c5.large, i7-12700H, 2020-01-17, v2, http/1.1",
        "a 5xx at 20:52, the 12th time",
        "see https://x.y/z/15",
    ] {
        let d = read(text);
        let figures: Vec<_> = d.claims.iter().flat_map(|c| &c.figures).collect();
        assert!(figures.is_empty(), "{text}: {figures:?}");
    }
}

#[test]
fn tables_know_the_sentences_of_their_section() {
    let d = read(
        "**1. First**\n\n- Threads: 600\n\n| a | rps |\n|-|-|\n| x | 1 |\n\n**2. Second**\n\n\
         * Threads: 300\n\n**Part one (8 VMs)**\n\n\
         | a | rps |\n|-|-|\n| x | 2 |\n\n**Part two (8 VMs)**\n\n| a | rps |\n|-|-|\n| x | 3 |\n",
    );
    let threads = |t: usize| -> Vec<f64> {
        let figures = d.tables[t].around.iter().flat_map(|c| &c.figures);
        figures.filter(|(m, _)| *m == Some(Measure::Users)).map(|(_, f)| f.value).collect()
    };
    assert_eq!((threads(0), threads(1), threads(2)), (vec![600.0], vec![300.0], vec![300.0]));
    assert_eq!(d.tables[2].caption, "Part two (8 VMs)");
}

#[test]
fn only_tables_that_look_like_results_are_named_unread() {
    let other = read("| Name | Licence |\n|-|-|\n| a | MIT |\n");
    assert!(
        other.unread.is_empty() && other.tables.is_empty() || other.rows.iter().all(|r| r.figures.is_empty())
    );
    let lost = read("| Name | response thing | response other |\n|-|-|-|\n| a | 5 | 6 |\n");
    assert_eq!(lost.unread.len(), 1, "{lost:?}");
}

#[test]
fn lines_that_a_tools_reader_took_are_left_alone() {
    let mut document = Document::default();
    document.taken.extend([1, 2, 3]);
    table::read("r.md", "| a | rps |\n|-|-|\n| x | 1 |\n\n5 users\n", &mut document);
    assert!(document.rows.is_empty() && document.claims.len() == 1);
}

#[test]
fn no_text_makes_the_reader_fall() {
    let seeds = [
        "| a | rps @ ms |\n|-|-|\n| x±3 | 1 @ 2 |\n<table><tr><td>5 ms</td></tr></table>\n```\n\
         x = 3 / 4 = 5\n```\n# 1,2,3 4m5s é 12:34:56",
        "a,rps,avg\n1,2,3\n\"x\"\"\",5e9,1,35s\n",
        "![x](y.png) [a](b) &amp; 99% percentile 1,35sms ** -5 ms µs 10µs–20µs",
    ];
    let mut random = SplitMix64::new(7);
    let mut below = |n: usize| (random.next_u64() % n as u64) as usize;
    for case in 0..4_000 {
        let mut text: Vec<char> = seeds[case % seeds.len()].chars().collect();
        for _ in 0..=below(8) {
            let at = below(text.len());
            match below(3) {
                0 => drop(text.remove(at)),
                1 => text.insert(at, ['|', '9', '\n', '.', ',', '-', 'é', '<', '(', '@'][below(10)]),
                _ => text.swap(at, 0),
            }
        }
        let text: String = text.into_iter().collect();
        let d = read(&text);
        assert!(d.rows.iter().flat_map(|r| r.figures.values()).all(|f| f.low <= f.high), "{text}");
    }
}
