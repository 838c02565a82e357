//! Colours of text output: few, and never the only sign of a state.

use super::terminal_info::Color;
use crate::catalogue::value::Value;
use fabdeck_fabric::PortState;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Paint {
    on: bool,
}

impl Paint {
    /// `terminal`: whether the stream is a terminal with colours.
    pub fn new(asked: Option<Color>, terminal: bool) -> Self {
        let on = match asked.unwrap_or(Color::Auto) {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => terminal,
        };
        Self { on }
    }

    pub fn heading(self, text: &str) -> String {
        self.wrap("1", text)
    }

    /// Colours a cell that is already padded.
    pub fn cell(self, value: &Value<'_>, text: &str) -> String {
        match value {
            Value::Missing => self.wrap("2", text),
            Value::Word { word, .. } if *word == PortState::Down.word() => self.wrap("31", text),
            _ => text.to_owned(),
        }
    }

    fn wrap(self, style: &str, text: &str) -> String {
        if self.on { format!("\x1b[{style}m{text}\x1b[0m") } else { text.to_owned() }
    }
}
