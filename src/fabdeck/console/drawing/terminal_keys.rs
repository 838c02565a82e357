//! Converts events of a terminal to events of a session.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use crate::console::event_loop::event::SessionInput;
use crate::console::model::key::{Key, KeyName};
use crate::console::model::layout::Size;

/// Returns `None` for events that no session uses: releases of keys, the mouse, the focus.
pub fn translate_event(event: Event) -> Option<SessionInput> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => {
            self::translate_key(key).map(SessionInput::Key)
        }
        Event::Paste(text) => Some(SessionInput::Paste(text)),
        Event::Resize(width, height) => Some(SessionInput::Resized(Size { width, height })),
        _ => None,
    }
}

fn translate_key(event: KeyEvent) -> Option<Key> {
    let press = match event.code {
        KeyCode::Char(sign) => KeyName::Char(sign),
        KeyCode::Enter => KeyName::Enter,
        KeyCode::Esc => KeyName::Esc,
        KeyCode::Tab => KeyName::Tab,
        KeyCode::BackTab => KeyName::BackTab,
        KeyCode::Backspace => KeyName::Backspace,
        KeyCode::Delete => KeyName::Delete,
        KeyCode::Up => KeyName::Up,
        KeyCode::Down => KeyName::Down,
        KeyCode::Left => KeyName::Left,
        KeyCode::Right => KeyName::Right,
        KeyCode::Home => KeyName::Home,
        KeyCode::End => KeyName::End,
        KeyCode::PageUp => KeyName::PageUp,
        KeyCode::PageDown => KeyName::PageDown,
        KeyCode::F(number) => KeyName::Function(number),
        _ => return None,
    };
    let held = |modifier| event.modifiers.contains(modifier);
    Some(Key { press, ctrl: held(KeyModifiers::CONTROL), alt: held(KeyModifiers::ALT) })
}
