//! Takes Markdown and HTML marks off a piece of text: what is left is what a reader sees.

/// `**[wrk](https://..)** &amp; 3` becomes `wrk & 3`. Pictures become nothing.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let step = match c {
            '!' if rest.starts_with("![") => link(rest, 1).map(|(_, length)| length),
            '[' => link(rest, 0).map(|(shown, length)| {
                out.push_str(&plain(shown));
                length
            }),
            '<' => tag(rest).inspect(|_| out.push(' ')),
            '&' => entity(rest).map(|(shown, length)| {
                out.push_str(shown);
                length
            }),
            '*' | '`' => Some(1),
            '_' if rest.starts_with("__") => Some(2),
            '\\' if rest[1..].starts_with(|n: char| n.is_ascii_punctuation()) => {
                out.push_str(&rest[1..2]);
                Some(2)
            }
            '\u{a0}' | '\u{2009}' | '\u{202f}' => {
                out.push(' ');
                Some(c.len_utf8())
            }
            _ => None,
        };
        let step = step.unwrap_or_else(|| {
            out.push(c);
            c.len_utf8()
        });
        rest = &rest[step..];
    }
    out.trim().to_owned()
}

/// The shown part of `[shown](target)` that begins at `skip`, and the length of the whole.
fn link(text: &str, skip: usize) -> Option<(&str, usize)> {
    let mut depth = 0usize;
    for (i, c) in text.char_indices().skip(skip) {
        match c {
            '[' => depth += 1,
            ']' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    let target = text[i + 1..].strip_prefix('(')?;
                    let close = target.find(')')?;
                    return Some((&text[skip + 1..i], i + 2 + close + 1));
                }
            }
            _ => {}
        }
    }
    None
}

fn tag(text: &str) -> Option<usize> {
    let inner = text[1..].trim_start_matches('/');
    // `< 5 ms` is no tag, `<10` neither.
    if !inner.starts_with(|c: char| c.is_ascii_alphabetic() || c == '!') {
        return None;
    }
    text.find('>').map(|i| i + 1)
}

fn entity(text: &str) -> Option<(&'static str, usize)> {
    const KNOWN: &[(&str, &str)] = &[
        ("&amp;", "&"),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&nbsp;", " "),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&micro;", "µ"),
        ("&plusmn;", "±"),
        ("&times;", "×"),
        ("&sigma;", "σ"),
    ];
    KNOWN.iter().find(|(mark, _)| text.starts_with(mark)).map(|(mark, shown)| (*shown, mark.len()))
}

/// Cells of a pipe row; a pipe in back quotes or behind a backslash belongs to its cell.
pub fn pipe_cells(line: &str) -> Vec<String> {
    let line = line.trim();
    let line = line.strip_prefix('|').unwrap_or(line);
    let mut cells = vec![String::new()];
    let (mut quoted, mut escaped) = (false, false);
    for c in line.chars() {
        match c {
            '|' if escaped => {
                if let Some(last) = cells.last_mut() {
                    last.pop();
                    last.push('|');
                }
            }
            '|' if !quoted => cells.push(String::new()),
            _ => {
                quoted ^= c == '`';
                if let Some(last) = cells.last_mut() {
                    last.push(c);
                }
            }
        }
        escaped = c == '\\';
    }
    if cells.len() > 1 && cells.last().is_some_and(|c| c.trim().is_empty()) && line.trim_end().ends_with('|')
    {
        cells.pop();
    }
    cells.iter().map(|c| plain(c)).collect()
}

/// `| --- | :-: |`, with or without outer pipes.
pub fn is_delimiter_row(line: &str) -> bool {
    let line = line.trim();
    line.contains('|')
        && line.contains('-')
        && line.chars().all(|c| "|-: \t".contains(c))
        && line.trim_matches('|').split('|').all(|cell| cell.contains('-'))
}

/// Cells of an HTML table by row, each with the line on which it begins (counted from `first_line`).
pub fn html_rows(html: &str, first_line: u32) -> Vec<(u32, Vec<String>)> {
    let lower = html.to_ascii_lowercase();
    let mut rows: Vec<(u32, Vec<String>)> = Vec::new();
    let mut at = 0;
    while let Some(open) = lower[at..].find('<').map(|i| i + at) {
        let Some(close) = lower[open..].find('>').map(|i| i + open + 1) else { break };
        at = close;
        let name: String = lower[open + 1..].chars().take_while(char::is_ascii_alphanumeric).collect();
        let line = first_line + html[..open].matches('\n').count() as u32;
        match name.as_str() {
            "tr" => rows.push((line, Vec::new())),
            "td" | "th" => {
                let end = ["</td", "</th", "<td", "<th", "</tr", "<tr", "</table"]
                    .iter()
                    .filter_map(|mark| lower[close..].find(mark))
                    .min()
                    .map_or(lower.len(), |i| i + close);
                if rows.is_empty() {
                    rows.push((line, Vec::new()));
                }
                if let Some((_, cells)) = rows.last_mut() {
                    cells.push(plain(&html[close..end]));
                }
            }
            _ => {}
        }
    }
    rows.retain(|(_, cells)| !cells.is_empty());
    rows
}
