//! The compiled place of a value in an event.

use plimsoll_body::json::Path;
use plimsoll_plan::program::Event;
use plimsoll_plan::stream::Place;
use regex_automata::meta::{Config, Regex};
use regex_automata::util::syntax;

/// A compiled [`Place`].
pub(super) enum Finder {
    Id,
    Json(Path),
    /// The matcher of `regex-automata`: captures of `regex` allocate, and this runs for every event.
    Regex(Regex),
}

impl Finder {
    /// # Errors
    /// Returns an error that names the invalid path or expression.
    pub fn compile(place: &Place) -> Result<Finder, String> {
        match place {
            Place::Id => Ok(Finder::Id),
            Place::Json(path) => Ok(Finder::Json(Path::compile(path)?)),
            Place::Regex(pattern) => {
                // Event data is bytes, which may not be valid UTF-8.
                let built = Regex::builder()
                    .syntax(syntax::Config::new().utf8(false))
                    .configure(Config::new().utf8_empty(false))
                    .build(pattern);
                let regex = built.map_err(|error| {
                    let reason = error.syntax_error().map_or(error.to_string(), ToString::to_string);
                    format!("invalid regular expression `{pattern}`: {reason}")
                })?;
                if regex.group_info().group_len(regex_automata::PatternID::ZERO) < 2 {
                    return Err(format!(
                        "missing group in `{pattern}`: put parentheses around the number, such as `seq=(\\d+)`"
                    ));
                }
                Ok(Finder::Regex(regex))
            }
        }
    }

    /// Returns the value in `event`. `room` is overwritten if a value must be unescaped.
    pub fn find<'a>(&self, event: &Event<'a>, room: &'a mut Vec<u8>) -> Option<&'a [u8]> {
        match self {
            Finder::Id => event.event_id,
            Finder::Json(path) => {
                room.clear();
                path.first(event.data, room).then_some(room.as_slice())
            }
            Finder::Regex(regex) => {
                // The whole match and the first group have two slots each.
                let mut slots = [None; 4];
                regex.search_slots(&regex_automata::Input::new(event.data), &mut slots)?;
                let (begin, end) = (slots[2]?.get(), slots[3]?.get());
                event.data.get(begin..end)
            }
        }
    }
}
