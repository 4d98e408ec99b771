//! Repaints the live view in place. It needs no thread and no clock, because it paints when a tick arrives. So watching
//! costs the control thread a few kilobytes of text per second and the workers nothing.

use crate::style::Look;
use crate::terminal::live::LiveState;
use plimsoll_record::event::{RunEvent, Sink};
use std::io::{self, Write};

/// A sink that shows [`LiveState`] on a terminal and leaves no trace of it at the end.
pub struct Painter<W: Write> {
    out: W,
    look: Look,
    /// Called before each painting, because windows change their size.
    width: Box<dyn FnMut() -> Option<u16> + Send>,
    state: Option<LiveState>,
    /// Widths of the lines that are on the screen.
    painted: Vec<usize>,
    failure: Option<io::Error>,
}

impl<W: Write> Painter<W> {
    /// Creates a painter. `width` returns the terminal's current columns; with `None`, `look.width` stays.
    pub fn new(out: W, look: Look, width: impl FnMut() -> Option<u16> + Send + 'static) -> Painter<W> {
        Painter { out, look, width: Box::new(width), state: None, painted: Vec::new(), failure: None }
    }

    /// Returns why it stopped painting: the terminal is gone. The run continues without it.
    pub fn failure(&self) -> Option<&io::Error> {
        self.failure.as_ref()
    }

    /// Returns the writer, to inspect the painted text.
    pub fn writer(&self) -> &W {
        &self.out
    }

    /// Removes the view from the screen; the next tick would paint it again. Happens automatically when the run ends.
    pub fn clear(&mut self) {
        self.repaint(false);
    }

    fn repaint(&mut self, show: bool) {
        if self.failure.is_some() {
            return;
        }
        if let Some(width) = (self.width)().filter(|w| *w > 0) {
            self.look.width = width;
        }
        let text = self.frame(show);
        // One write for a whole frame, because several writes flicker.
        if let Err(error) = self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush()) {
            self.failure = Some(error);
        }
    }

    fn frame(&mut self, show: bool) -> String {
        let columns = usize::from(self.look.width).max(1);
        let mut text = String::new();
        // A window that became narrower has wrapped the old lines; all of them must be removed.
        let rows: usize = self.painted.drain(..).map(|w| w.div_ceil(columns).max(1)).sum();
        if rows > 0 {
            text.push_str(&format!("\x1b[{rows}A\r\x1b[J"));
        }
        let Some(state) = self.state.as_ref().filter(|_| show) else { return text };
        // A line as wide as the window moves some cursors to the next line, so one column stays free.
        let look = Look { width: self.look.width.saturating_sub(1), ..self.look };
        for line in state.lines(&look) {
            line.write(&look, &mut text);
            text.push_str("\r\n");
            self.painted.push(line.width());
        }
        text
    }
}

impl<W: Write> Sink for Painter<W> {
    fn event(&mut self, event: &RunEvent) {
        match (&mut self.state, event) {
            (_, RunEvent::Opened(opening)) => self.state = Some(LiveState::new(opening)),
            (Some(state), _) => state.on(event),
            (None, _) => return,
        }
        self.repaint(!matches!(event, RunEvent::Ended(_)));
    }
}

impl<W: Write> Drop for Painter<W> {
    /// However a run ends, the terminal is left as it was before.
    fn drop(&mut self) {
        if !self.painted.is_empty() {
            self.clear();
        }
    }
}
