//! Series by family, name, and labels; values of user-defined metrics as cells.

use plimsoll_plan::series::book::SeriesBook;
use plimsoll_plan::series::{Family, SeriesKey, counted, from_ordered, ordered, parts_of};

#[test]
fn a_series_is_found_by_family_name_and_labels_in_any_order() {
    let mut book = SeriesBook::new(3, 10);
    let first = book.find(Family::Counter, "orders", &[("shop", "a"), ("kind", "b")]);
    assert_eq!(first, Some(3), "after the series of the plan");
    assert_eq!(book.find(Family::Counter, "orders", &[("kind", "b"), ("shop", "a")]), first);
    assert_eq!(
        book.find(Family::Trend, "orders", &[("shop", "a"), ("kind", "b")]),
        Some(4),
        "another family"
    );
    assert_eq!(book.find(Family::Counter, "orders", &[("shop", "a")]), Some(5), "fewer labels");
    assert_eq!(
        book.find(Family::Counter, "orders", &[("shop", "b"), ("kind", "a")]),
        Some(6),
        "swapped values"
    );
    // Of two labels with the same name, the last one counts, so the first series is found again.
    assert_eq!(book.find(Family::Counter, "orders", &[("shop", "x"), ("kind", "b"), ("shop", "a")]), first);
    assert_eq!(book.opened().len(), 4);
    let key = SeriesKey::new(Family::Counter, "orders", &[("shop", "a"), ("kind", "b")]);
    assert_eq!(*book.opened()[0], key);
    assert_eq!((key.labels[0].0.as_str(), key.label("shop")), ("kind", Some("a")));
    assert_eq!((book.family(4), book.family(2), book.family(7)), (Some(Family::Trend), None, None));
    assert_eq!(book.take_refused(), 0);
}

#[test]
fn above_the_limit_new_series_are_counted_without_their_labels() {
    let mut book = SeriesBook::new(0, 10_000);
    let mut places = std::collections::BTreeMap::new();
    for number in 0..1_000_000 {
        let text = number.to_string();
        *places.entry(book.find(Family::Counter, "orders", &[("id", &text)])).or_insert(0u64) += 1;
    }
    let base = book.find(Family::Counter, "orders", &[]);
    assert_eq!(
        (book.opened().len(), places.len()),
        (10_001, 10_001),
        "ten thousand, and the series without labels"
    );
    assert_eq!(places[&base], 990_000, "nothing is lost");
    assert_eq!((book.take_refused(), book.take_refused()), (990_000, 0));
    // Without labels, some more names have room, then none has.
    let names = (0..1_000).filter(|n| book.find(Family::Gauge, &format!("name {n}"), &[]).is_some()).count();
    assert!((10..100).contains(&names), "{names}");
    assert_eq!(book.find(Family::Gauge, "other", &[("a", "b")]), None);
    assert_eq!(book.take_refused(), 1_000 - names as u64 + 1);
}

#[test]
fn a_label_as_long_as_data_is_rejected() {
    let mut book = SeriesBook::new(0, 10);
    let long = "x".repeat(10_000);
    let base = book.find(Family::Rate, "ok", &[("body", &long)]);
    assert_eq!(base, book.find(Family::Rate, "ok", &[]));
    assert_eq!(book.find(Family::Rate, &long, &[]), None);
    assert_eq!((book.take_refused(), book.opened().len()), (2, 1));
}

#[test]
fn metric_values_add_up_exactly_and_keep_their_order() {
    let (mut whole, mut billionths) = (0, 0);
    for _ in 0..1_000 {
        let (a, b) = parts_of(0.1).unwrap();
        (whole, billionths) = (whole + a, billionths + b);
    }
    assert_eq!(counted(whole, billionths), 100.0, "a thousand tenths; a sum of doubles would be inexact");
    assert_eq!(parts_of(3.25), Some((3, 250_000_000)));
    assert_eq!([f64::NAN, -1.0, f64::INFINITY, 1e300].map(parts_of), [None; 4]);
    let rising = [f64::MIN, -2.0, -1.0, -1e-300, 0.0, 1e-300, 1.0, 2.0, f64::MAX];
    let bits: Vec<u64> = rising.iter().map(|value| ordered(*value).unwrap()).collect();
    assert!(bits.is_sorted_by(|a, b| a < b), "{bits:x?}");
    assert!(bits.iter().all(|bits| ![0, u64::MAX].contains(bits)), "these are the identities of max and min");
    let back: Vec<f64> = bits.iter().map(|bits| from_ordered(*bits)).collect();
    assert_eq!(back, rising);
    assert_eq!((ordered(-0.0), ordered(f64::NAN)), (ordered(0.0), None));
}
