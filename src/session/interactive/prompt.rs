//! A line that is being typed.

/// What becomes of the line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// Narrows the list while it is typed.
    Filter,
    /// A word of the palette with what belongs to it.
    Command,
    /// Where a path begins.
    From,
    /// Where it ends.
    To,
    /// The file of a plan.
    PlanFile,
}

impl Purpose {
    pub fn title(self) -> &'static str {
        match self {
            Self::Filter => "filter",
            Self::Command => ":",
            Self::From => "from",
            Self::To => "to",
            Self::PlanFile => "write the plan to",
        }
    }
}

/// What a line could be completed to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Offer {
    /// The whole line.
    pub text: String,
    /// What may follow it.
    pub argument: &'static str,
    pub about: String,
}

/// The line so far. The cursor is a place between signs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Prompt {
    pub purpose: Purpose,
    pub text: String,
    pub cursor: usize,
    /// What stood there before, for Esc.
    pub before: String,
    /// What stands there is a suggestion: the first sign that is typed takes its place.
    pub suggested: bool,
    /// What it could be completed to, the best first.
    pub offers: Vec<Offer>,
    /// Which of them is picked.
    pub picked: Option<usize>,
}

/// No line is longer than this.
const LONGEST: usize = 1000;

impl Prompt {
    pub fn new(purpose: Purpose, text: impl Into<String>) -> Self {
        let text = text.into();
        let (cursor, before) = (text.chars().count(), text.clone());
        let suggested = purpose == Purpose::PlanFile && cursor > 0;
        Self { purpose, cursor, before, text, suggested, offers: Vec::new(), picked: None }
    }

    fn byte(&self, place: usize) -> usize {
        self.text.char_indices().nth(place).map_or(self.text.len(), |(at, _)| at)
    }

    pub fn insert(&mut self, sign: char) {
        if std::mem::take(&mut self.suggested) {
            self.clear();
        }
        if !sign.is_control() && self.text.len() < LONGEST {
            self.text.insert(self.byte(self.cursor), sign);
            self.cursor += 1;
            self.picked = None;
        }
    }

    /// False when there was nothing to take away.
    pub fn backspace(&mut self) -> bool {
        if self.cursor == 0 {
            return !self.text.is_empty();
        }
        self.cursor -= 1;
        self.text.remove(self.byte(self.cursor));
        self.picked = None;
        true
    }

    pub fn delete(&mut self) {
        if self.cursor < self.text.chars().count() {
            self.text.remove(self.byte(self.cursor));
        }
    }

    pub fn step(&mut self, by: isize) {
        self.cursor = self.cursor.saturating_add_signed(by).min(self.text.chars().count());
    }

    pub fn to_end(&mut self) {
        self.cursor = self.text.chars().count();
    }

    pub fn clear(&mut self) {
        self.text.clear();
        self.cursor = 0;
    }

    pub fn replace(&mut self, text: impl Into<String>) {
        self.text = text.into();
        self.to_end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_edited_by_signs_not_bytes() {
        let mut line = Prompt::new(Purpose::Filter, "aü");
        line.insert('ß');
        line.step(-2);
        line.delete();
        assert_eq!((line.text.as_str(), line.cursor), ("aß", 1));
        assert!(line.backspace() && !line.text.is_empty());
        line.insert('\n');
        assert_eq!(line.text, "ß");
        line.to_end();
        assert!(line.backspace());
        assert!(!line.backspace());
    }
}
