//! The well-known types, which have their own forms in JSON.

use super::{Done, Place, Run, Style, Unread};
use crate::value::escape_from;
use plimsoll_plan::grpc::MessageForm;
use plimsoll_plan::value::Escape;
use plimsoll_wire::proto::DEPTH_MAX;
use std::io::Write;

impl Run<'_> {
    /// Returns the number in field 1 or 2 of a message.
    fn number(&self, mark: usize, field: u32) -> i64 {
        let own = self.found[mark..].iter().filter(|found| found.field == field);
        own.fold(0, |last, found| match found.value {
            Place::Varint(number) => number as i64,
            _ => last,
        })
    }

    pub(super) fn timestamp(&mut self, mark: usize) -> Done {
        let (s, ns) = (self.number(mark, 0), self.number(mark, 1));
        let time = jiff::Timestamp::from_second(s).map_err(|_| Unread::Invalid)?;
        let _ = write!(self.out, "\"{time}");
        // The zone comes last.
        self.out.pop();
        self.fraction(ns)?;
        self.push("Z\"");
        Ok(())
    }

    pub(super) fn duration(&mut self, mark: usize) -> Done {
        let (s, ns) = (self.number(mark, 0), self.number(mark, 1));
        let sign = if s < 0 || ns < 0 { "-" } else { "" };
        let _ = write!(self.out, "\"{sign}{}", s.unsigned_abs());
        self.fraction(ns.saturating_abs())?;
        self.push("s\"");
        Ok(())
    }

    /// Writes nanoseconds with 3, 6, or 9 digits, or nothing for 0.
    fn fraction(&mut self, ns: i64) -> Done {
        if !(0..1_000_000_000).contains(&ns) {
            return Err(Unread::Invalid);
        }
        let _ = match ns {
            0 => Ok(()),
            _ if ns % 1_000_000 == 0 => write!(self.out, ".{:03}", ns / 1_000_000),
            _ if ns % 1_000 == 0 => write!(self.out, ".{:06}", ns / 1_000),
            _ => write!(self.out, ".{ns:09}"),
        };
        Ok(())
    }

    pub(super) fn field_mask(&mut self, mark: usize) -> Done {
        self.push("\"");
        for at in mark..self.found.len() {
            if at > mark {
                self.push(",");
            }
            if let Place::Bytes { begin, end } = self.found[at].value {
                let path = self.base.get(begin as usize..end as usize).ok_or(Unread::Invalid)?;
                std::str::from_utf8(path).map_err(|_| Unread::Invalid)?;
                let begin = self.out.len();
                match self.style {
                    Style::Schema => self.out.extend_from_slice(path),
                    Style::Canonical => camel_case(path, self.out),
                }
                escape_from(self.out, begin, Escape::Json);
            }
        }
        self.push("\"");
        Ok(())
    }

    pub(super) fn any(&mut self, mark: usize) -> Done {
        let part = |field: u32| {
            let own = self.found[mark..].iter().rfind(|found| found.field == field);
            own.map_or(0..0, |found| match found.value {
                Place::Bytes { begin, end } => begin as usize..end as usize,
                _ => 0..0,
            })
        };
        let (url, value) = (part(0), part(1));
        if url.is_empty() {
            self.push("{}");
            return Ok(());
        }
        let bytes = self.base.get(url.clone()).ok_or(Unread::Invalid)?;
        let name = bytes.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        let known = std::str::from_utf8(name).ok().and_then(|name| self.types.by_name.get(name).copied());
        self.push("{\"@type\":");
        self.string(url)?;
        let types = self.types;
        match known.and_then(|of| Some((of, types.messages.get(of)?))) {
            Some((_, message)) if message.form == MessageForm::Object => {
                let mark = self.found.len();
                self.depth += 1;
                if self.depth > DEPTH_MAX {
                    return Err(Unread::Invalid);
                }
                self.find(message, value)?;
                self.members(message, mark, false)?;
                self.found.truncate(mark);
                self.depth -= 1;
            }
            Some((of, _)) => {
                self.push(",\"value\":");
                self.message(of, value)?;
            }
            // The schema does not have the type.
            None => {
                self.push(",\"value\":");
                self.base64(value);
            }
        }
        self.push("}");
        Ok(())
    }
}

/// Appends a path with names in lower camel case.
fn camel_case(path: &[u8], out: &mut Vec<u8>) {
    let mut is_after_line = false;
    for byte in path {
        match byte {
            b'_' => is_after_line = true,
            _ if std::mem::take(&mut is_after_line) => out.push(byte.to_ascii_uppercase()),
            _ => out.push(*byte),
        }
    }
}
