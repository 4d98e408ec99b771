//! Estimates the width of a text without a font, well enough to keep texts apart.

/// Size of normal text, px.
pub const SIZE: f64 = 11.0;

/// Returns the approximate width of a text at 11 px in DejaVu Sans. It is the widest of the usual `sans-serif` fonts,
/// so any other font only leaves more space.
pub fn width(text: &str) -> f64 {
    text.chars().map(|c| em(c) * SIZE).sum()
}

/// Returns the width in bold, about a tenth more.
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
        // Characters of wide scripts fill a square.
        c if u32::from(c) >= 0x1100 => 1.0,
        _ => 0.64,
    }
}

/// Returns as much of the text as fits, with an ellipsis if it was cut.
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

/// Breaks a text at spaces into lines of at most this width; a longer word is cut.
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
