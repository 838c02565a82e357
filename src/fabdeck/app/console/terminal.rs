//! The terminal while a session has it, and as it was before.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

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

use super::line::{Line, farewell};
use super::paint::{ground, paint};
use super::threads::Word;
use crate::session::interactive::Size;

/// Whether a session has the terminal. A panic in any thread gives it back, once.
static TAKEN: AtomicBool = AtomicBool::new(false);

pub fn is_taken() -> bool {
    TAKEN.load(Ordering::SeqCst)
}

/// Gives the terminal back as it was; nothing when nobody has it.
pub fn restore() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        // First what no line can hold up: the process may end meanwhile.
        let _ = disable_raw_mode();
        let mut bytes = Vec::new();
        let queued = queue!(bytes, EndSynchronizedUpdate, DisableBracketedPaste, LeaveAlternateScreen, Show);
        if queued.is_ok() {
            farewell(bytes);
        }
    }
}

/// Whether the shell lets this process have the terminal. Where there are no jobs nobody else has it.
pub fn in_foreground() -> bool {
    let foreground = rustix::termios::tcgetpgrp(io::stdin());
    foreground.is_ok_and(|group| group == rustix::process::getpgrp()) || foreground.is_err()
}

/// A screen of a terminal and what stands on it.
pub struct Screen {
    line: Line,
    /// What goes out before the next frame.
    pending: Vec<u8>,
    /// The line has not taken everything yet.
    busy: bool,
    /// Whether it clears in the ground that is set, as all but the oldest do.
    clears_in_colour: bool,
    /// What stands there; `None` where it may be anything.
    shown: Option<Buffer>,
}

impl Screen {
    pub fn take(words: UnboundedSender<Word>) -> io::Result<Self> {
        let old = |term: String| ["screen", "vt", "dumb"].iter().any(|old| term.starts_with(old));
        let mut screen = Self {
            line: Line::open(words),
            pending: Vec::new(),
            busy: false,
            clears_in_colour: !std::env::var("TERM").map_or(true, old),
            shown: None,
        };
        screen.enter()?;
        Ok(screen)
    }

    /// Takes the terminal: for the first time, again, or once more when somebody may have changed it.
    pub fn enter(&mut self) -> io::Result<()> {
        // Whoever had it in between left modes of his own; those from before are kept for the end.
        disable_raw_mode()?;
        enable_raw_mode()?;
        self.forget();
        if !TAKEN.swap(true, Ordering::SeqCst) {
            self.pending.clear();
            queue!(self.pending, EnterAlternateScreen)?;
        }
        queue!(self.pending, EnableBracketedPaste, Hide)
    }

    /// What stands there may be anything; the next frame is drawn whole.
    pub fn forget(&mut self) {
        self.shown = None;
    }

    pub fn size() -> Size {
        let (width, height) = size().unwrap_or((80, 24));
        Size { width, height }
    }

    /// Whether a frame would go out now. A slow line gets the latest frame when it is ready, not all of them.
    pub fn is_ready(&self) -> bool {
        is_taken() && !self.busy
    }

    /// The line took what it was given.
    pub fn sent(&mut self) {
        self.busy = false;
    }

    /// Sends what differs from the frame before; nothing when nothing does. `blank` is how nothing looks.
    pub fn show(&mut self, next: Buffer, blank: Style) -> io::Result<()> {
        let mut bytes = std::mem::take(&mut self.pending);
        let shown = self.shown.take().filter(|shown| shown.area == next.area);
        if shown.as_ref() != Some(&next) {
            queue!(bytes, BeginSynchronizedUpdate)?;
            let mut cleared = Buffer::empty(next.area);
            if shown.is_none() {
                if self.clears_in_colour {
                    cleared.set_style(next.area, blank);
                    ground(&mut bytes, blank)?;
                }
                queue!(bytes, Clear(ClearType::All))?;
                bytes.extend_from_slice(b"\x1b[0m");
            }
            paint(&mut bytes, &shown.unwrap_or(cleared), &next)?;
            queue!(bytes, EndSynchronizedUpdate)?;
        }
        self.shown = Some(next);
        if !bytes.is_empty() {
            self.busy = true;
            self.line.send(bytes);
        }
        Ok(())
    }

    pub fn copy(&mut self, text: &str) -> io::Result<()> {
        queue!(self.pending, CopyToClipboard::to_clipboard_from(text))
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}
