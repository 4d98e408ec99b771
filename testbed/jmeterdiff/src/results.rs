//! Files of results: rows of values by the names of their columns.

/// A row.
#[derive(Debug, Clone, Default)]
pub struct Row(Vec<(String, String)>);

impl Row {
    /// Returns the value of a column; empty without it.
    pub fn get(&self, column: &str) -> &str {
        self.0.iter().find(|(name, _)| name == column).map_or("", |(_, value)| value)
    }
}

/// Returns the rows of a file whose first line has the names.
pub fn read(text: &str) -> Vec<Row> {
    let mut records = records(text).into_iter();
    let names = records.next().unwrap_or_default();
    records.map(|record| Row(names.iter().cloned().zip(record).collect())).collect()
}

/// Splits a text into records of fields; quotes around a field may hide line ends.
fn records(text: &str) -> Vec<Vec<String>> {
    let (mut all, mut record, mut field, mut is_quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut signs = text.chars().peekable();
    while let Some(sign) = signs.next() {
        match sign {
            '"' if is_quoted && signs.peek() == Some(&'"') => {
                signs.next();
                field.push('"');
            }
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => record.push(std::mem::take(&mut field)),
            '\n' if !is_quoted => {
                record.push(std::mem::take(&mut field));
                all.push(std::mem::take(&mut record));
            }
            other => field.push(other),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_hide_commas_and_line_ends() {
        let rows = read("label,message\n\"a, \"\"b\"\"\",\"one\ntwo\"\nc,\n");
        let values: Vec<(&str, &str)> =
            rows.iter().map(|row| (row.get("label"), row.get("message"))).collect();
        assert_eq!(values, [("a, \"b\"", "one\ntwo"), ("c", "")]);
    }
}
