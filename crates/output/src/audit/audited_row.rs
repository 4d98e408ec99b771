//! Findings brought back to the rows that they are about: what a picture and a table of the audited text show.

use plimsoll_audit::foreign::{Document, Figure, Row};
use plimsoll_audit::{Audit, Grade};

/// A published row and what was found about it.
pub struct AuditedRow<'a> {
    pub file: &'a str,
    pub row: &'a Row,
    /// Places in [`Audit::findings`] of those that quote one of its lines, gravest first.
    pub findings: Vec<usize>,
    /// The gravest of them; `None`: nothing was found.
    pub grade: Option<Grade>,
}

/// Every row in the order of the texts. What is missing from a text is said of the text, not of a row.
pub fn rows<'a>(audit: &Audit, documents: &'a [Document]) -> Vec<AuditedRow<'a>> {
    let mut out = Vec::new();
    for document in documents {
        for row in &document.rows {
            let is_about = |(at, finding): (usize, &plimsoll_audit::Finding)| {
                let quoted = finding.quotes.iter().any(|q| q.file == document.name && holds(row, q.line));
                (finding.grade != Grade::Missing && quoted).then_some(at)
            };
            let findings: Vec<usize> = audit.findings.iter().enumerate().filter_map(is_about).collect();
            let grade = findings.iter().map(|at| audit.findings[*at].grade).min();
            out.push(AuditedRow { file: &document.name, row, findings, grade });
        }
    }
    out
}

fn holds(row: &Row, line: u32) -> bool {
    (row.lines.0..=row.lines.1).contains(&line) || row.figures.values().any(|figure| figure.line == line)
}

impl AuditedRow<'_> {
    /// `/pick, 80 connections`, or its line.
    pub fn label(&self) -> String {
        match self.row.label.trim() {
            "" => format!("line {}", self.row.lines.0),
            label => label.to_owned(),
        }
    }

    /// The gravest grade of the findings that quote just this figure.
    pub fn of(&self, figure: &Figure, audit: &Audit) -> Option<Grade> {
        let is_meant = |at: &&usize| {
            audit.findings[**at].quotes.iter().any(|quote| {
                quote.file == self.file
                    && quote.line == figure.line
                    && quote.text.trim() == figure.written.trim()
            })
        };
        self.findings.iter().filter(is_meant).map(|at| audit.findings[*at].grade).min()
    }
}
