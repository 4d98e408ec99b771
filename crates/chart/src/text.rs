//! How wide a text is, without a font at hand: enough to keep words apart.

/// Size of the plain text, px.
pub const SIZE: f64 = 11.0;

/// About the width of a text of 11 px in DejaVu Sans, the widest of the fonts that usually stand in for `sans-serif`:
/// in all others words are only further apart.
pub fn width(text: &str) -> f64 {
    text.chars().map(|c| em(c) * SIZE).sum()
}

/// In bold a tenth more.
pub fn bold(text: &str) -> f64 {
    1.12 * width(text)
}

fn em(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | '\'' | '|' | ' ' | '.' | ',' | ':' | ';' | 'I' => 0.32,
        'f' | 'r' | 't' | '(' | ')' | '/' | '-' => 0.40,
        'm' | 'w' | 'M' | 'W' | '%' | '@' => 0.95,
        'A'..='Z' => 0.70,
        c if c.is_ascii() => 0.62,
        // Wide scripts take a whole square.
        c if u32::from(c) >= 0x1100 => 1.0,
        _ => 0.64,
    }
}

/// As much of it as fits, with a sign where it was cut.
pub fn cut(text: &str, room: f64) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let mut left = room - 0.9 * SIZE;
    let mut out = String::new();
    for c in text.chars() {
        left -= em(c) * SIZE;
        if left < 0.0 {
            break;
        }
        out.push(c);
    }
    out.push('\u{2026}');
    out
}

/// In lines of at most this width, broken at blanks; a longer word is cut.
pub fn wrapped(text: &str, room: f64, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let is_last = lines.len() == most;
        match lines.last_mut() {
            Some(line) if width(line) + width(word) + 4.0 <= room || is_last => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.iter().map(|line| cut(line, room)).collect()
}
