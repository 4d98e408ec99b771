//! The capabilities of the reader's terminal, and the resulting colors and signs.
//!
//! Color only repeats the meaning of a sign or a word, so a report piped into a file loses nothing.

/// The form of the output, decided once by [`Look::from_env`] or by the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    pub color: bool,
    /// Width in columns, which renderers respect, down to [`NARROWEST`].
    pub width: u16,
    /// If false, only ASCII is written.
    pub unicode: bool,
}

/// Minimum width: narrower terminals are treated as this wide, because tables need some room.
pub const NARROWEST: u16 = 60;
/// Maximum width: longer lines are hard to read, even if the window is wider.
pub const WIDEST: u16 = 120;
/// For files and pipes, and for terminals of unknown width.
pub const DEFAULT_WIDTH: u16 = 100;

impl Look {
    /// Reads the environment: `NO_COLOR` (set and not empty) beats `CLICOLOR_FORCE`, which beats `TERM=dumb`,
    /// `CLICOLOR=0`, and output that is not a terminal. `width` is that of the terminal; without it, `COLUMNS` counts.
    pub fn from_env(get: impl Fn(&str) -> Option<String>, is_terminal: bool, width: Option<u16>) -> Look {
        let value = |name: &str| get(name).filter(|v| !v.is_empty());
        let dumb = value("TERM").is_some_and(|t| t == "dumb");
        let color = if value("NO_COLOR").is_some() {
            false
        } else if value("CLICOLOR_FORCE").is_some_and(|v| v != "0") {
            true
        } else {
            is_terminal && !dumb && value("CLICOLOR").is_none_or(|v| v != "0")
        };
        // In the order of POSIX. Containers often set none of them, although all of their terminals read UTF-8.
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(value);
        let unicode = locale.is_none_or(|l| {
            let l = l.to_ascii_lowercase();
            l.contains("utf-8") || l.contains("utf8")
        });
        let width = width
            .filter(|w| *w > 0)
            .or_else(|| value("COLUMNS").and_then(|c| c.parse().ok()).filter(|w| *w > 0))
            .unwrap_or(DEFAULT_WIDTH);
        Look { color, width, unicode }
    }

    /// Returns the number of columns of a report.
    pub fn columns(&self) -> usize {
        usize::from(self.width.clamp(NARROWEST, WIDEST))
    }

    pub fn signs(&self) -> &'static Signs {
        if self.unicode { &UNICODE } else { &ASCII }
    }
}

/// Returns whether a live view can repaint itself, which needs a terminal that moves its cursor.
pub fn can_repaint(get: impl Fn(&str) -> Option<String>, is_terminal: bool) -> bool {
    is_terminal && get("TERM").is_none_or(|t| t != "dumb" && !t.is_empty())
}

/// The meaning of a piece of text; the palette turns it into a color.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TextStyle {
    #[default]
    Plain,
    /// Headings, and the main value of a line.
    Strong,
    /// Units, labels, and optional text.
    Dim,
    Good,
    Warn,
    Bad,
    Accent,
    BadgeGood,
    BadgeWarn,
    BadgeBad,
}

/// From style to escape codes: the sixteen colors that every theme redefines to readable ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Palette {
    Color,
    Plain,
}

impl Palette {
    pub fn of(look: &Look) -> Palette {
        if look.color { Palette::Color } else { Palette::Plain }
    }

    /// Appends `text` in `ink`. Escape codes never enclose an empty text.
    pub fn paint(self, ink: TextStyle, text: &str, out: &mut String) {
        let code = match ink {
            TextStyle::Plain => "",
            TextStyle::Strong => "1",
            TextStyle::Dim => "2",
            TextStyle::Good => "32",
            TextStyle::Warn => "33",
            TextStyle::Bad => "31",
            TextStyle::Accent => "36",
            TextStyle::BadgeGood => "1;30;42",
            TextStyle::BadgeWarn => "1;30;43",
            TextStyle::BadgeBad => "1;37;41",
        };
        if self == Palette::Plain || code.is_empty() || text.is_empty() {
            out.push_str(text);
        } else {
            out.push_str("\x1b[");
            out.push_str(code);
            out.push('m');
            out.push_str(text);
            out.push_str("\x1b[0m");
        }
    }
}

/// Signs, frames, and blocks. Every ASCII sign is as wide as its Unicode counterpart, so tables line up in both sets.
#[derive(Debug)]
pub struct Signs {
    pub ok: &'static str,
    pub warn: &'static str,
    pub bad: &'static str,
    pub note: &'static str,
    /// Between facts on one line.
    pub between: &'static str,
    pub arrow: &'static str,
    pub cut: &'static str,
    pub times: &'static str,
    pub heavy_rule: &'static str,
    pub rule: &'static str,
    pub side: &'static str,
    pub corners: [&'static str; 4],
    /// Parts of a cell in rising order; the last one fills it.
    pub parts: &'static [&'static str],
    /// An unfilled cell of a bar.
    pub empty: &'static str,
    /// Heights of a sparkline, lowest first.
    pub heights: &'static [&'static str],
    /// A place of a sparkline without a sample.
    pub gap: &'static str,
}

static UNICODE: Signs = Signs {
    ok: "✓ ",
    warn: "! ",
    bad: "✗ ",
    note: "i ",
    between: " · ",
    arrow: "→ ",
    cut: "…",
    times: "×",
    heavy_rule: "━",
    rule: "─",
    side: "│",
    corners: ["╭", "╮", "╰", "╯"],
    parts: &["▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"],
    empty: "░",
    heights: &["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"],
    gap: " ",
};

static ASCII: Signs = Signs {
    ok: "ok",
    warn: "! ",
    bad: "x ",
    note: "i ",
    between: ", ",
    arrow: "> ",
    cut: "~",
    times: "x",
    heavy_rule: "=",
    rule: "-",
    side: "|",
    corners: ["+", "+", "+", "+"],
    parts: &["#"],
    empty: ".",
    heights: &["_", ".", ":", "-", "=", "+", "*", "#"],
    gap: " ",
};
