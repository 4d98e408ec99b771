//! The difference between two texts.

use std::fmt::Write as _;

/// More lines than any plan of the collection makes.
const LINES_MAX: usize = 1_000;

/// Returns the lines that only one of two texts has, around their longest common sequence.
pub fn difference(a: &str, b: &str) -> String {
    let (a, b): (Vec<&str>, Vec<&str>) =
        (a.lines().take(LINES_MAX).collect(), b.lines().take(LINES_MAX).collect());
    // `longest[i][j]`: of `a[i..]` and `b[j..]`.
    let mut longest = vec![vec![0_usize; b.len() + 1]; a.len() + 1];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            longest[i][j] = match a[i] == b[j] {
                true => longest[i + 1][j + 1] + 1,
                false => longest[i + 1][j].max(longest[i][j + 1]),
            };
        }
    }
    let (mut i, mut j, mut out) = (0, 0, String::new());
    while i < a.len() || j < b.len() {
        // Writing to a string cannot fail.
        if i < a.len() && j < b.len() && a[i] == b[j] {
            (i, j) = (i + 1, j + 1);
        } else if j >= b.len() || i < a.len() && longest[i + 1][j] >= longest[i][j + 1] {
            let _ = writeln!(out, "    JMeter   {}", a[i]);
            i += 1;
        } else {
            let _ = writeln!(out, "    plimsoll {}", b[j]);
            j += 1;
        }
    }
    out
}
