//! Splits a pasted line into words by the quoting rules of bash, which browsers write for.
//!
//! No library does this: browsers use `$'...'` (ANSI-C quoting), which POSIX splitters lack. Text that a shell would
//! replace (variables, commands, pipes) is rejected, because its value is unknown here.

/// A message and a help line.
pub type WordError = (String, String);

/// Splits a line as bash would.
///
/// # Errors
/// Returns an error if the line needs a shell, or has an unclosed quote.
pub fn split(text: &str) -> Result<Vec<String>, WordError> {
    let mut s = Splitter { rest: text.chars().peekable(), words: Vec::new(), word: None };
    while let Some(c) = s.rest.next() {
        match c {
            ' ' | '\t' | '\r' => s.end_word()?,
            '\n' => {
                s.end_word()?;
                if !s.words.is_empty() && s.rest.clone().any(|c| !c.is_whitespace()) {
                    return Err(wrong(
                        "unexpected second line",
                        "paste one command, and end each line that continues with `\\`",
                    ));
                }
            }
            '#' if s.word.is_none() => while s.rest.next_if(|c| *c != '\n').is_some() {},
            '\\' => match s.rest.next() {
                Some('\n') => {}
                Some('\r') if s.rest.peek() == Some(&'\n') => drop(s.rest.next()),
                Some(c) => s.push(c),
                None => {}
            },
            '\'' => s.single()?,
            '"' => s.double()?,
            '$' => match s.rest.peek().copied() {
                Some('\'') => {
                    s.rest.next();
                    s.ansi_c()?;
                }
                // `$"..."` only asks for a translation.
                Some('"') => {
                    s.rest.next();
                    s.double()?;
                }
                next => s.dollar(next)?,
            },
            '`' => return Err(substitution("`")),
            '^' if matches!(s.rest.peek(), Some('"' | '\n' | '\r' | '\\')) => {
                return Err(wrong(
                    "this line has Windows quoting (`^`)",
                    "choose \"Copy as cURL (bash)\" in the browser",
                ));
            }
            '|' | ';' | '&' | '<' | '>' | '(' | ')' => {
                return Err(wrong(
                    format!("unquoted `{c}` has a meaning for the shell"),
                    "put the value that contains it in quotes, or remove what is not part of the curl command",
                ));
            }
            c => s.push(c),
        }
    }
    s.end_word()?;
    Ok(s.words)
}

fn wrong(message: impl Into<String>, hint: impl Into<String>) -> WordError {
    (message.into(), hint.into())
}

fn unclosed(quote: &str) -> WordError {
    wrong(format!("unclosed quote `{quote}`"), "paste the whole line")
}

fn substitution(what: &str) -> WordError {
    wrong(
        format!("`{what}` requires a shell, so its value is unknown"),
        "paste the value, or remove the quotes around the whole line so that the shell fills it in",
    )
}

struct Splitter<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    words: Vec<String>,
    /// The bytes of the current word, because `$'\xc3\xa9'` writes a character byte by byte; `None` between words.
    word: Option<Vec<u8>>,
}

impl Splitter<'_> {
    fn push(&mut self, c: char) {
        let mut buffer = [0; 4];
        self.word.get_or_insert_default().extend_from_slice(c.encode_utf8(&mut buffer).as_bytes());
    }

    fn end_word(&mut self) -> Result<(), WordError> {
        if let Some(word) = self.word.take() {
            let word = String::from_utf8(word).map_err(|_| {
                wrong("invalid UTF-8 in a word", "put binary data in a file: `--data-binary @file`")
            })?;
            self.words.push(word);
        }
        Ok(())
    }

    fn single(&mut self) -> Result<(), WordError> {
        self.word.get_or_insert_default();
        loop {
            match self.rest.next() {
                Some('\'') => return Ok(()),
                Some(c) => self.push(c),
                None => return Err(unclosed("'")),
            }
        }
    }

    fn double(&mut self) -> Result<(), WordError> {
        self.word.get_or_insert_default();
        loop {
            match self.rest.next() {
                Some('"') => return Ok(()),
                Some('\\') => match self.rest.next() {
                    Some('\n') => {}
                    Some(c @ ('"' | '\\' | '$' | '`')) => self.push(c),
                    // Before any other character, a backslash is literal.
                    Some(c) => {
                        self.push('\\');
                        self.push(c);
                    }
                    None => return Err(unclosed("\"")),
                },
                Some('$') => {
                    let next = self.rest.peek().copied();
                    self.dollar(next)?;
                }
                Some('`') => return Err(substitution("`")),
                Some(c) => self.push(c),
                None => return Err(unclosed("\"")),
            }
        }
    }

    /// Reads a `$` that does not open a quote. It is literal, unless a name or a bracket follows.
    fn dollar(&mut self, next: Option<char>) -> Result<(), WordError> {
        match next {
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let name: String =
                    self.rest.clone().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
                Err(substitution(&format!("${name}")))
            }
            Some('{') => Err(substitution("${...}")),
            Some('(') => Err(substitution("$(...)")),
            _ => {
                self.push('$');
                Ok(())
            }
        }
    }

    /// Reads the inside of `$'...'`.
    fn ansi_c(&mut self) -> Result<(), WordError> {
        self.word.get_or_insert_default();
        loop {
            match self.rest.next() {
                Some('\'') => return Ok(()),
                Some('\\') => self.escape()?,
                Some(c) => self.push(c),
                None => return Err(unclosed("$'")),
            }
        }
    }

    fn escape(&mut self) -> Result<(), WordError> {
        let Some(c) = self.rest.next() else { return Err(unclosed("$'")) };
        match c {
            'n' => self.push('\n'),
            'r' => self.push('\r'),
            't' => self.push('\t'),
            'a' => self.push('\x07'),
            'b' => self.push('\x08'),
            'e' | 'E' => self.push('\x1b'),
            'f' => self.push('\x0c'),
            'v' => self.push('\x0b'),
            '\\' | '\'' | '"' | '?' => self.push(c),
            'x' => match self.digits(16, 2) {
                Some(byte) => self.byte(byte)?,
                None => {
                    self.push('\\');
                    self.push('x');
                }
            },
            '0'..='7' => {
                let first = c.to_digit(8).unwrap_or_default();
                let more = (0..2).fold(first, |number, _| match self.rest.next_if(|c| c.is_digit(8)) {
                    Some(d) => number * 8 + d.to_digit(8).unwrap_or_default(),
                    None => number,
                });
                self.byte(more & 0xff)?;
            }
            'u' | 'U' => match self.digits(16, if c == 'u' { 4 } else { 8 }) {
                Some(code) => self.code_point(code)?,
                None => {
                    self.push('\\');
                    self.push(c);
                }
            },
            other => {
                self.push('\\');
                self.push(other);
            }
        }
        Ok(())
    }

    fn digits(&mut self, radix: u32, most: usize) -> Option<u32> {
        let mut number = None;
        for _ in 0..most {
            let Some(digit) = self.rest.next_if(|c| c.is_digit(radix)) else { break };
            number = Some(number.unwrap_or(0) * radix + digit.to_digit(radix)?);
        }
        number
    }

    /// Adds a byte. bash ends the text at a zero byte, and arguments of programs cannot contain one.
    fn byte(&mut self, byte: u32) -> Result<(), WordError> {
        if byte == 0 {
            return Err(wrong(
                "an argument cannot contain a zero byte (`\\0`)",
                "put binary data in a file: `--data-binary @file`",
            ));
        }
        self.word.get_or_insert_default().push(byte as u8);
        Ok(())
    }

    /// Adds a character. Browsers write characters above U+FFFF as two escapes, a UTF-16 surrogate pair; this reads
    /// both.
    fn code_point(&mut self, code: u32) -> Result<(), WordError> {
        let mut code = code;
        if (0xd800..0xdc00).contains(&code) {
            let mut ahead = self.rest.clone();
            let low: Option<u32> = (ahead.next() == Some('\\') && ahead.next() == Some('u'))
                .then(|| (0..4).try_fold(0, |n, _| Some(n * 16 + ahead.next()?.to_digit(16)?)))
                .flatten();
            if let Some(low) = low.filter(|low| (0xdc00..0xe000).contains(low)) {
                self.rest = ahead;
                code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
            }
        }
        match char::from_u32(code) {
            Some('\0') => self.byte(0),
            Some(c) => {
                self.push(c);
                Ok(())
            }
            None => Err(wrong(
                format!("invalid character `\\u{code:04x}`"),
                "paste the line exactly as the browser copied it",
            )),
        }
    }
}
