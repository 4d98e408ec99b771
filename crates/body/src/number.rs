//! JSON numbers, compared without loss: IDs of 17 or more digits do not fit into an `f64`, and `9007199254740993` must
//! not equal `9007199254740992` in a check.

/// The parts of a number in the grammar of RFC 8259 section 6. `007` and `+1` are text.
#[derive(Debug, Clone, Copy)]
pub struct Number<'t> {
    text: &'t str,
    negative: bool,
    whole: &'t [u8],
    fraction: &'t [u8],
    exponent: i64,
}

impl<'t> Number<'t> {
    /// Parses a text that is one number. White space around it is ignored.
    pub fn parse(text: &'t [u8]) -> Option<Number<'t>> {
        let text = text.trim_ascii();
        // The first byte excludes most texts that are not numbers.
        if !matches!(text.first(), Some(b'-' | b'0'..=b'9')) {
            return None;
        }
        let form = Form::of(text).filter(|form| form.end == text.len())?;
        let negative = text[0] == b'-';
        let whole = &text[usize::from(negative)..form.whole_end];
        // After the point, which is missing if there is no fraction.
        let fraction = text.get(form.whole_end + 1..form.fraction_end).unwrap_or_default();
        let text = std::str::from_utf8(text).ok()?;
        Some(Number { text, negative, whole, fraction, exponent: form.exponent })
    }

    /// Returns the nearest `f64`; infinite if the number is too large.
    pub fn value(&self) -> f64 {
        // proof: every JSON number is in the grammar of Rust's `f64`, so the fallback is never used.
        self.text.parse().unwrap_or(f64::NAN)
    }

    /// Returns whether two numbers are equal to the last decimal digit: `1` equals `1.0` and `10e-1`.
    pub fn same(&self, other: &Number<'_>) -> bool {
        let zero = |number: &Number<'_>| number.digits().next().is_none();
        if zero(self) || zero(other) {
            return zero(self) && zero(other);
        }
        if self.negative != other.negative || self.magnitude() != other.magnitude() {
            return false;
        }
        let (mut left, mut right) = (self.digits(), other.digits());
        loop {
            match (left.next(), right.next()) {
                (None, None) => return true,
                // With equal magnitudes, trailing zeros change nothing.
                (a, b) if a.unwrap_or(b'0') == b.unwrap_or(b'0') => {}
                _ => return false,
            }
        }
    }

    /// Returns the digits, starting at the first that is not 0.
    fn digits(&self) -> impl Iterator<Item = u8> {
        self.whole.iter().chain(self.fraction).copied().skip_while(|digit| *digit == b'0')
    }

    /// Returns the power of ten of the first nonzero digit: 1 for `1` to `9`, 0 for `0.1`.
    fn magnitude(&self) -> i64 {
        let zeros = self.whole.iter().chain(self.fraction).take_while(|digit| **digit == b'0').count();
        self.whole.len() as i64 - zeros as i64 + self.exponent
    }
}

/// The ends of the parts of a number at the beginning of a text; offsets in bytes.
#[derive(Debug, Clone, Copy)]
pub struct Form {
    pub whole_end: usize,
    /// The same as `whole_end` if there is no fraction.
    fraction_end: usize,
    pub exponent: i64,
    pub end: usize,
}

impl Form {
    /// Returns `None` if the text does not begin with a number.
    #[inline]
    pub fn of(text: &[u8]) -> Option<Form> {
        let begin = usize::from(text.first() == Some(&b'-'));
        let whole_end = digits_end(text, begin);
        if whole_end == begin || (text[begin] == b'0' && whole_end > begin + 1) {
            return None;
        }
        let mut form = Form { whole_end, fraction_end: whole_end, exponent: 0, end: whole_end };
        if text.get(form.end) == Some(&b'.') {
            form.fraction_end = digits_end(text, form.end + 1);
            if form.fraction_end == form.end + 1 {
                return None;
            }
            form.end = form.fraction_end;
        }
        if let Some(b'e' | b'E') = text.get(form.end) {
            let negative = text.get(form.end + 1) == Some(&b'-');
            let from = form.end + 1 + usize::from(negative || text.get(form.end + 1) == Some(&b'+'));
            form.end = digits_end(text, from);
            if form.end == from {
                return None;
            }
            // Saturates far beyond exponents that a comparison distinguishes from infinity or 0.
            let size = text[from..form.end].iter().fold(0i64, |size, digit| {
                size.saturating_mul(10).saturating_add(i64::from(digit - b'0')).min(1 << 50)
            });
            form.exponent = if negative { -size } else { size };
        }
        Some(form)
    }
}

#[inline]
fn digits_end(text: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(b'0'..=b'9') = text.get(at) {
        at += 1;
    }
    at
}
