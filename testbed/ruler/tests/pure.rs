//! Basic arithmetic: pauses, units, exact quantiles, the grid.

use ruler::analysis::{grid, quantile};
use ruler::pause::Pause;
use ruler::units::{duration_ns, percent_decoded, probability, size_bytes};

#[test]
fn a_pause_holds_output_that_is_due_in_it_until_its_end() {
    let pause = Pause::parse("1s/10s").unwrap();
    let first = 5_000_000_000;
    let second = 1_000_000_000;
    for (due, out) in [
        (first - 1, first - 1),
        (first, first + second),
        (first + second - 1, first + second),
        (first + second, first + second),
        (first + 10 * second, first + 11 * second),
        (first + 25 * second, first + 25 * second),
    ] {
        assert_eq!(pause.hold(first, due), out, "due {due}");
    }
    assert!(Pause::parse("10s/1s").is_err());
    assert!(Pause::parse("1s").is_err());
}

#[test]
fn quantities_are_read() {
    assert_eq!(duration_ns("500us"), Ok(500_000));
    assert_eq!(duration_ns("1.5ms"), Ok(1_500_000));
    assert_eq!(duration_ns("0"), Ok(0));
    assert_eq!(duration_ns("2m"), Ok(120_000_000_000));
    assert!(duration_ns("5").is_err());
    assert_eq!(size_bytes("683481"), Ok(683_481));
    assert_eq!(size_bytes("64k"), Ok(65_536));
    assert!(size_bytes("-1").is_err());
    assert!(probability("1.1").is_err());
    assert!(probability("nan").is_err());
    assert_eq!(percent_decoded(b"a%20b+c%2F"), Ok("a b c/".into()));
    assert!(percent_decoded(b"%2").is_err());
}

#[test]
fn quantiles_are_order_statistics() {
    let values: Vec<u64> = (1..=100).collect();
    assert_eq!(quantile(&values, 0.5), Some(50));
    assert_eq!(quantile(&values, 0.99), Some(99));
    assert_eq!(quantile(&values, 1.0), Some(100));
    assert_eq!(quantile(&values, 0.0), Some(1));
    assert_eq!(quantile::<u64>(&[], 0.5), None);
}

#[test]
fn the_grid_fits_the_phase_and_shows_deviations() {
    // 1,000/s, with the first 300 us early: the fit removes this from all others.
    let mut stamps: Vec<u64> = (0..101).map(|index| 7_000_000 + index * 1_000_000).collect();
    stamps[0] -= 300_000;
    stamps[50] += 40_000;
    let grid = grid(&stamps, 1000.0);
    assert_eq!(quantile(&grid.off_ns, 0.5), Some(0));
    assert_eq!(quantile(&grid.off_ns, 0.99), Some(40_000));
    assert_eq!(quantile(&grid.off_ns, 1.0), Some(300_000));
    assert_eq!(quantile(&grid.gaps_ns, 0.5), Some(1_000_000));
}
