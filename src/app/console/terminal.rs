//! The terminal while a session has it, and as it was before.

use std::io::{self, BufWriter, Stdout, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::clipboard::CopyToClipboard;
use crossterm::cursor::{Hide, Show};
use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::execute;
use crossterm::queue;
use crossterm::terminal::{
    BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate, EnterAlternateScreen,
    LeaveAlternateScreen, disable_raw_mode, enable_raw_mode, size,
};
use ratatui::buffer::Buffer;

use super::paint::paint;
use crate::session::interactive::Size;

/// Whether a session has the terminal. A panic in any thread gives it back, once.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Gives the terminal back as it was; nothing when nobody has it.
pub fn restore() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        // Whoever hung up has no terminal to restore.
        let _ =
            execute!(io::stdout(), EndSynchronizedUpdate, DisableBracketedPaste, LeaveAlternateScreen, Show);
        let _ = disable_raw_mode();
    }
}

/// A screen of a terminal and what stands on it.
pub struct Screen {
    out: BufWriter<Stdout>,
    /// What stands there; `None` where it may be anything.
    shown: Option<Buffer>,
}

impl Screen {
    pub fn take() -> io::Result<Self> {
        let out = BufWriter::with_capacity(64 * 1024, io::stdout());
        let mut screen = Self { out, shown: None };
        screen.enter()?;
        Ok(screen)
    }

    /// Takes the terminal, for the first time or again.
    pub fn enter(&mut self) -> io::Result<()> {
        enable_raw_mode()?;
        TAKEN.store(true, Ordering::SeqCst);
        self.forget();
        execute!(io::stdout(), EnterAlternateScreen, EnableBracketedPaste, Hide)
    }

    /// What stands there may be anything; the next frame is drawn whole.
    pub fn forget(&mut self) {
        self.shown = None;
    }

    pub fn size() -> Size {
        let (width, height) = size().unwrap_or((80, 24));
        Size { width, height }
    }

    /// Sends what differs from the frame before; nothing when nothing does.
    pub fn show(&mut self, next: Buffer) -> io::Result<()> {
        if !TAKEN.load(Ordering::SeqCst) {
            return Ok(());
        }
        let shown = self.shown.take().filter(|shown| shown.area == next.area);
        if shown.as_ref() != Some(&next) {
            queue!(self.out, BeginSynchronizedUpdate)?;
            if shown.is_none() {
                queue!(self.out, Clear(ClearType::All))?;
            }
            let empty = || Buffer::empty(next.area);
            paint(&mut self.out, &shown.unwrap_or_else(empty), &next)?;
            queue!(self.out, EndSynchronizedUpdate)?;
        }
        self.shown = Some(next);
        self.out.flush()
    }

    pub fn copy(&mut self, text: &str) -> io::Result<()> {
        execute!(self.out, CopyToClipboard::to_clipboard_from(text))
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}
