//! The terminal: its state during a session, and its restoration.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crossterm::clipboard::CopyToClipboard;
use crossterm::cursor::{Hide, Show};
use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::queue;
use crossterm::terminal::{
    BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate, EnterAlternateScreen,
    LeaveAlternateScreen, disable_raw_mode, enable_raw_mode, size,
};
use ratatui::buffer::Buffer;
use ratatui::style::Style;
use tokio::sync::mpsc::UnboundedSender;

use super::frame_diff::{set_background, write_changes};
use super::line_meter::LineMeter;
use super::screen_cast::{CastEnd, ScreenCast};
use super::terminal_ground::GROUND_QUERY;
use super::terminal_writer::{TerminalWriter, write_last};
use super::workers::WorkerMessage;
use crate::console::model::layout::Size;

/// Whether a session has the terminal. A panic in any thread restores it, once.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Whether the terminal reports the mouse.
static MOUSE: AtomicBool = AtomicBool::new(false);

/// The terminal reports buttons, the wheel, and moves with a button pressed, with cells as decimal numbers. Moves without a
/// button are not asked for: each would be an event.
const MOUSE_ON: &[u8] = b"\x1b[?1000h\x1b[?1002h\x1b[?1006h";
const MOUSE_OFF: &[u8] = b"\x1b[?1006l\x1b[?1002l\x1b[?1000l";

pub fn is_taken() -> bool {
    TAKEN.load(Ordering::SeqCst)
}

/// Restores the terminal; does nothing if no session has it.
pub fn restore() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        // Raw mode ends first, because that cannot block: the process may end meanwhile.
        let _ = disable_raw_mode();
        let mut bytes = Vec::new();
        if MOUSE.swap(false, Ordering::SeqCst) {
            bytes.extend_from_slice(MOUSE_OFF);
        }
        let queued = queue!(bytes, EndSynchronizedUpdate, DisableBracketedPaste, LeaveAlternateScreen, Show);
        if queued.is_ok() {
            write_last(bytes);
        }
    }
}

/// Whether this process is in the terminal's foreground group. Without job control it always is.
pub fn is_in_foreground() -> bool {
    let foreground = rustix::termios::tcgetpgrp(io::stdin());
    foreground.is_ok_and(|group| group == rustix::process::getpgrp()) || foreground.is_err()
}

/// The screen of a terminal and the frame on it.
pub struct TerminalScreen {
    line: TerminalWriter,
    /// Bytes that are sent before the next frame.
    pending: Vec<u8>,
    /// Whether the terminal writer still has output to write.
    busy: bool,
    meter: LineMeter,
    /// Whether the terminal clears with the current background colour, as all but the oldest do.
    clears_in_colour: bool,
    /// The recording of what the terminal gets.
    cast: Option<ScreenCast>,
    /// Why a recording ended by itself, until the session receives it.
    cast_end: Option<String>,
    /// Whether the session uses the mouse.
    mouse: bool,
    /// The frame on the screen; `None` if the screen may show anything.
    shown: Option<Buffer>,
}

impl TerminalScreen {
    pub fn take(words: UnboundedSender<WorkerMessage>) -> io::Result<Self> {
        let old = |term: String| ["screen", "vt", "dumb"].iter().any(|old| term.starts_with(old));
        let mut screen = Self {
            line: TerminalWriter::open(words),
            pending: Vec::new(),
            busy: false,
            meter: LineMeter::default(),
            clears_in_colour: !std::env::var("TERM").map_or(true, old),
            cast: None,
            cast_end: None,
            mouse: false,
            shown: None,
        };
        screen.enter()?;
        Ok(screen)
    }

    /// Takes the terminal, at the start and whenever another program may have changed its modes.
    pub fn enter(&mut self) -> io::Result<()> {
        // The program in between left modes of its own; the modes from before the session are stored for the end.
        disable_raw_mode()?;
        enable_raw_mode()?;
        self.invalidate();
        if !TAKEN.swap(true, Ordering::SeqCst) {
            self.pending.clear();
            queue!(self.pending, EnterAlternateScreen)?;
        }
        queue!(self.pending, EnableBracketedPaste, Hide)?;
        self.report_mouse();
        Ok(())
    }

    /// Uses the mouse, or leaves it to the terminal.
    pub fn set_mouse(&mut self, wanted: bool) {
        if self.mouse != wanted {
            self.mouse = wanted;
            self.report_mouse();
        }
    }

    fn report_mouse(&mut self) {
        let reported = MOUSE.swap(self.mouse, Ordering::SeqCst);
        match self.mouse {
            // The program in between may have turned it off.
            true => self.pending.extend_from_slice(MOUSE_ON),
            false if reported => self.pending.extend_from_slice(MOUSE_OFF),
            false => {}
        }
    }

    /// Asks the terminal for the colour of its ground, with the next frame.
    pub fn ask_ground(&mut self) {
        self.pending.extend_from_slice(GROUND_QUERY.as_bytes());
    }

    /// Forgets the frame on the screen, so that the next one is drawn completely.
    pub fn invalidate(&mut self) {
        self.shown = None;
    }

    pub fn size() -> Size {
        let (width, height) = size().unwrap_or((80, 24));
        Size { width, height }
    }

    /// Whether a frame can be sent now. A slow terminal gets only the latest frame, when it is ready.
    pub fn is_ready(&self) -> bool {
        is_taken() && !self.busy
    }

    /// Marks the last output as written. Returns whether the line counts as slow, where that changes.
    pub fn mark_ready(&mut self) -> Option<bool> {
        self.busy = false;
        self.meter.end_frame(Instant::now())
    }

    /// Shows what comes next at once, also over a slow line.
    pub fn expect_answer(&mut self) {
        self.meter.expect_answer(Instant::now());
    }

    /// Time until a frame of readings may be sent over a slow line; `None` where it may be sent now.
    pub fn hold_time(&self) -> Option<Duration> {
        self.meter.hold_time(Instant::now())
    }

    /// Sends the cells that differ from the frame before, if any do. `blank` is the style of an empty cell.
    pub fn show(&mut self, next: Buffer, blank: Style) -> io::Result<()> {
        let mut bytes = std::mem::take(&mut self.pending);
        let before = bytes.len();
        let shown = self.shown.take().filter(|shown| shown.area == next.area);
        let is_resized = shown.is_none();
        if shown.as_ref() != Some(&next) {
            queue!(bytes, BeginSynchronizedUpdate)?;
            let mut cleared = Buffer::empty(next.area);
            if shown.is_none() {
                if self.clears_in_colour {
                    cleared.set_style(next.area, blank);
                    set_background(&mut bytes, blank)?;
                }
                queue!(bytes, Clear(ClearType::All))?;
                bytes.extend_from_slice(b"\x1b[0m");
            }
            write_changes(&mut bytes, &shown.unwrap_or(cleared), &next)?;
            queue!(bytes, EndSynchronizedUpdate)?;
        }
        self.record_frame(&bytes[before..], next.area, is_resized);
        self.shown = Some(next);
        self.meter.begin_frame(bytes.len(), Instant::now());
        if !bytes.is_empty() {
            self.busy = true;
            self.line.send(bytes);
        }
        Ok(())
    }

    /// Records the bytes of a frame. Bytes for the terminal alone, such as those of the clipboard, are left out.
    fn record_frame(&mut self, bytes: &[u8], area: ratatui::layout::Rect, is_complete: bool) {
        let Some(cast) = self.cast.as_mut().filter(|_| !bytes.is_empty()) else { return };
        let size = Size { width: area.width, height: area.height };
        let sized = if is_complete { cast.add_size(size) } else { Ok(()) };
        if let Err(CastEnd(why)) = sized.and_then(|()| cast.add_output(bytes)) {
            (self.cast, self.cast_end) = (None, Some(why));
        }
    }

    /// Begins to record what the terminal gets, from a complete frame on.
    pub fn begin_cast(&mut self, cast: ScreenCast) {
        self.cast = Some(cast);
        self.invalidate();
    }

    /// Ends the recording, and returns it if there was one.
    pub fn end_cast(&mut self) -> Option<ScreenCast> {
        self.cast.take()
    }

    /// Whether the terminal is recorded.
    pub fn is_cast(&self) -> bool {
        self.cast.is_some()
    }

    /// Why a recording ended by itself since the last call.
    pub fn take_cast_end(&mut self) -> Option<String> {
        self.cast_end.take()
    }

    pub fn copy_to_clipboard(&mut self, text: &str) -> io::Result<()> {
        queue!(self.pending, CopyToClipboard::to_clipboard_from(text))
    }
}

impl Drop for TerminalScreen {
    fn drop(&mut self) {
        restore();
    }
}
