//! A tiny terminal: enough to replay what the painter writes and to see what is left on the screen.

pub struct Screen {
    pub rows: Vec<Vec<char>>,
    columns: usize,
    row: usize,
    column: usize,
}

impl Screen {
    pub fn new(columns: usize) -> Screen {
        Screen { rows: vec![Vec::new()], columns, row: 0, column: 0 }
    }

    /// What a person sees, without empty lines at the end.
    pub fn text(&self) -> String {
        let lines: Vec<String> =
            self.rows.iter().map(|r| r.iter().collect::<String>().trim_end().to_owned()).collect();
        lines.join("\n").trim_end().to_owned()
    }

    pub fn write(&mut self, text: &str) {
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            match c {
                '\r' => self.column = 0,
                '\n' => self.down(),
                '\x1b' => {
                    assert_eq!(chars.next(), Some('['), "only CSI sequences are used");
                    let mut number = String::new();
                    let end = chars
                        .by_ref()
                        .find(|c| {
                            let ends = c.is_ascii_alphabetic();
                            if !ends {
                                number.push(*c);
                            }
                            ends
                        })
                        .expect("a sequence ends");
                    match end {
                        'A' => self.row = self.row.saturating_sub(number.parse().unwrap_or(1)),
                        'J' => {
                            self.rows.truncate(self.row + 1);
                            self.rows[self.row].truncate(self.column);
                        }
                        'm' => {}
                        other => panic!("the painter used `{other}`, which this terminal does not know"),
                    }
                }
                c => self.put(c),
            }
        }
    }

    fn put(&mut self, c: char) {
        // As real terminals do: the break comes with the letter that finds no room.
        if self.column >= self.columns {
            self.column = 0;
            self.down();
        }
        let row = &mut self.rows[self.row];
        while row.len() <= self.column {
            row.push(' ');
        }
        row[self.column] = c;
        self.column += 1;
    }

    fn down(&mut self) {
        self.row += 1;
        if self.row == self.rows.len() {
            self.rows.push(Vec::new());
        }
    }
}
