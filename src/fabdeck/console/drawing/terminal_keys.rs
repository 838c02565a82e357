//! Converts events of a terminal to events of a session.

use crossterm::event::{
    Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};

use crate::console::event_loop::event::SessionInput;
use crate::console::model::key::{Key, KeyName};
use crate::console::model::layout::Size;
use crate::console::model::mouse::{MouseAction, MouseInput};

/// Returns `None` for events that no session uses: releases of keys, moves of the mouse, the focus.
pub fn translate_event(event: Event) -> Option<SessionInput> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => {
            self::translate_key(key).map(SessionInput::Key)
        }
        Event::Mouse(mouse) => translate_mouse(mouse),
        Event::Paste(text) => Some(SessionInput::Paste(text)),
        Event::Resize(width, height) => Some(SessionInput::Resized(Size { width, height })),
        _ => None,
    }
}

fn translate_mouse(event: MouseEvent) -> Option<SessionInput> {
    let action = match event.kind {
        // With Shift the mouse belongs to the terminal, and few terminals pass it on at all. A drag that began without Shift still
        // needs its end.
        MouseEventKind::Down(_) | MouseEventKind::ScrollUp | MouseEventKind::ScrollDown
            if event.modifiers.contains(KeyModifiers::SHIFT) =>
        {
            return None;
        }
        MouseEventKind::Down(MouseButton::Left) => MouseAction::Press,
        MouseEventKind::Drag(MouseButton::Left) => MouseAction::Drag,
        MouseEventKind::Up(MouseButton::Left) => MouseAction::Release,
        MouseEventKind::ScrollUp => MouseAction::WheelUp,
        MouseEventKind::ScrollDown => MouseAction::WheelDown,
        _ => return None,
    };
    // The frame on the screen knows what is there.
    Some(SessionInput::Mouse(MouseInput { action, x: event.column, y: event.row, target: None }))
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

#[cfg(test)]
mod tests {
    use super::*;

    /// With Shift the mouse is the terminal's; only a drag that the session has begun ends in it too.
    #[test]
    fn a_drag_ends_with_shift_held_too() {
        let action =
            |kind, modifiers| match translate_mouse(MouseEvent { kind, column: 1, row: 2, modifiers }) {
                Some(SessionInput::Mouse(mouse)) => Some(mouse.action),
                _ => None,
            };
        let left = MouseButton::Left;
        for (kind, alone, with_shift) in [
            (MouseEventKind::Down(left), Some(MouseAction::Press), None),
            (MouseEventKind::Drag(left), Some(MouseAction::Drag), Some(MouseAction::Drag)),
            (MouseEventKind::Up(left), Some(MouseAction::Release), Some(MouseAction::Release)),
            (MouseEventKind::ScrollUp, Some(MouseAction::WheelUp), None),
            (MouseEventKind::ScrollDown, Some(MouseAction::WheelDown), None),
        ] {
            assert_eq!(action(kind, KeyModifiers::NONE), alone, "{kind:?}");
            assert_eq!(action(kind, KeyModifiers::SHIFT), with_shift, "{kind:?}");
        }
    }
}
