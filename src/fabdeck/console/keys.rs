//! Converts events of a terminal to events of a session.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use crate::session::interactive::{Happening, Key, Press, Size};

/// Returns `None` for events that no session uses: releases of keys, the mouse, the focus.
pub fn happening(event: Event) -> Option<Happening> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => self::key(key).map(Happening::Key),
        Event::Paste(text) => Some(Happening::Paste(text)),
        Event::Resize(width, height) => Some(Happening::Resized(Size { width, height })),
        _ => None,
    }
}

fn key(event: KeyEvent) -> Option<Key> {
    let press = match event.code {
        KeyCode::Char(sign) => Press::Char(sign),
        KeyCode::Enter => Press::Enter,
        KeyCode::Esc => Press::Esc,
        KeyCode::Tab => Press::Tab,
        KeyCode::BackTab => Press::BackTab,
        KeyCode::Backspace => Press::Backspace,
        KeyCode::Delete => Press::Delete,
        KeyCode::Up => Press::Up,
        KeyCode::Down => Press::Down,
        KeyCode::Left => Press::Left,
        KeyCode::Right => Press::Right,
        KeyCode::Home => Press::Home,
        KeyCode::End => Press::End,
        KeyCode::PageUp => Press::PageUp,
        KeyCode::PageDown => Press::PageDown,
        KeyCode::F(number) => Press::Function(number),
        _ => return None,
    };
    let held = |modifier| event.modifiers.contains(modifier);
    Some(Key { press, ctrl: held(KeyModifiers::CONTROL), alt: held(KeyModifiers::ALT) })
}
