//! SETTINGS: those of the client, and those of the server (RFC 9113 section 6.5).

use super::Malformed;
use super::frame::{self, flag, kind};
use super::read::{Outcome, Step};
use super::session::Session;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

const HEADER_TABLE_SIZE: u16 = 1;
const ENABLE_PUSH: u16 = 2;
const MAX_CONCURRENT_STREAMS: u16 = 3;
const INITIAL_WINDOW_SIZE: u16 = 4;
const MAX_FRAME_SIZE: u16 = 5;
/// RFC 8441 section 3.
const ENABLE_CONNECT_PROTOCOL: u16 = 8;

/// Bytes of one setting.
pub(super) const SETTING_BYTES: usize = 6;

/// Initial window of a connection, bytes.
const CONNECTION_WINDOW: u32 = 65_535;

impl Session {
    /// Appends the first bytes of the connection: the preface, the client's SETTINGS, and the connection's window.
    pub fn start(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(PREFACE);
        let config = &self.config;
        let settings = [
            (HEADER_TABLE_SIZE, config.header_table_bytes, 4096),
            (ENABLE_PUSH, 0, 1),
            (INITIAL_WINDOW_SIZE, config.stream_window, CONNECTION_WINDOW),
            (MAX_FRAME_SIZE, config.frame_bytes_max, 16_384),
        ];
        let changed = settings.into_iter().filter(|(_, value, default)| value != default);
        out.extend_from_slice(&frame::head(changed.clone().count() * SETTING_BYTES, kind::SETTINGS, 0, 0));
        for (setting, value, _) in changed {
            out.extend_from_slice(&setting.to_be_bytes());
            out.extend_from_slice(&value.to_be_bytes());
        }
        let more = config.connection_window - CONNECTION_WINDOW;
        if more > 0 {
            frame::put_number(out, kind::WINDOW_UPDATE, 0, more);
        }
    }

    /// Applies a SETTINGS frame of whole settings and acknowledges it.
    pub(super) fn apply_settings(&mut self, payload: &[u8], out: &mut Vec<u8>) -> Step {
        let (settings, _) = payload.as_chunks::<SETTING_BYTES>();
        let mut table_bytes = None;
        for &[high, low, ref value @ ..] in settings {
            let value = frame::number(value);
            match u16::from_be_bytes([high, low]) {
                // The smallest counts, even if a later one is larger (RFC 7541 section 4.2).
                HEADER_TABLE_SIZE => table_bytes = Some(table_bytes.map_or(value, |old: u32| old.min(value))),
                // A server cannot receive pushes.
                ENABLE_PUSH if value != 0 => return Err(Malformed::SettingValue),
                MAX_CONCURRENT_STREAMS => self.server.streams_max = value,
                INITIAL_WINDOW_SIZE => {
                    let initial = i32::try_from(value).map_err(|_| Malformed::SettingWindow)?;
                    self.streams.shift_windows(i64::from(initial) - i64::from(self.flow.initial))?;
                    self.flow.initial = initial;
                }
                MAX_FRAME_SIZE if !(16_384..1 << 24).contains(&value) => return Err(Malformed::SettingValue),
                ENABLE_CONNECT_PROTOCOL => match value {
                    0 if !self.server.allows_connect => {}
                    1 => self.server.allows_connect = true,
                    _ => return Err(Malformed::SettingValue),
                },
                // Unknown settings must be ignored; a larger frame size is never used.
                _ => {}
            }
        }
        if !self.server.has_settings || table_bytes.is_some() {
            self.encoder.settle(table_bytes.unwrap_or(u32::MAX));
        }
        self.server.has_settings = true;
        out.extend_from_slice(&frame::head(0, kind::SETTINGS, flag::ACK, 0));
        Ok(Outcome::Settings)
    }

    /// The server has applied the client's SETTINGS: they limit its header table and its windows.
    pub(super) fn settings_acknowledged(&mut self) {
        if !self.server.has_acknowledged {
            self.server.has_acknowledged = true;
            self.decoder.set_limit(self.config.header_table_bytes);
        }
    }
}
