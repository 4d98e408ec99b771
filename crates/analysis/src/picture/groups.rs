//! The ticks that form a row or a column: few enough to draw, never ticks of the warm-up together with ticks of the
//! measured part, and never ticks before a gap together with ticks after it.

use plimsoll_plan::Outline;

/// Widths in ticks: round lengths.
const WIDTHS: [u32; 22] = [
    1, 2, 5, 10, 15, 20, 30, 60, 90, 120, 150, 180, 240, 300, 600, 900, 1_200, 1_800, 3_600, 7_200, 14_400,
    43_200,
];

/// See the module.
pub(super) struct Groups {
    width: u32,
    /// First ticks of groups, rising.
    begins: Vec<u32>,
}

impl Groups {
    /// The least width at which there are at most `most` groups of these ticks, which rise.
    pub fn of(plan: &Outline, ticks: &[u32], most: usize) -> Groups {
        let at = |width: u32, breaks: bool| Groups { width, begins: begins(plan, ticks, width, breaks) };
        let fits = |groups: &Groups| groups.begins.len() <= most;
        let split = WIDTHS.iter().map(|width| at(*width, true)).find(fits);
        // With a gap in every other second there are as many groups as seconds, however wide they are.
        let whole = || WIDTHS.iter().map(|width| at(*width, false)).find(fits);
        split.or_else(whole).unwrap_or_else(|| at(u32::MAX, false))
    }

    /// Ticks of a group, where none is missing.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Whether a group begins with this tick.
    pub fn begins(&self, tick: u32) -> bool {
        self.begins.binary_search(&tick).is_ok()
    }
}

fn begins(plan: &Outline, ticks: &[u32], width: u32, breaks: bool) -> Vec<u32> {
    // Counted from the start of the measured part, so that it does not start with a short group.
    let first_measured = ticks.iter().copied().find(|tick| !plan.is_warmup(*tick)).unwrap_or(0);
    let group = |tick: u32| match plan.is_warmup(tick) {
        true => (true, tick / width),
        false => (false, tick.saturating_sub(first_measured) / width),
    };
    let mut begins = Vec::new();
    let mut last: Option<u32> = None;
    for tick in ticks.iter().copied() {
        let goes_on = last
            .is_some_and(|last| group(last) == group(tick) && (!breaks || last.saturating_add(1) == tick));
        if !goes_on {
            begins.push(tick);
        }
        last = Some(tick);
    }
    begins
}
