//! The input line.

/// The purpose of the line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// Filters the list during typing.
    Filter,
    /// Runs an action by its palette word, with its argument.
    Command,
    /// Sets the start of a path.
    From,
    /// Sets the end of a path.
    To,
    /// Names the file for a plan.
    PlanFile,
    /// Names the file of a plan to apply.
    ApplyFile,
    /// Takes the note of an acknowledgement.
    Acknowledge,
    /// Asks whether an acknowledgement is taken back.
    TakeBack,
    /// Filters the help during typing.
    Search,
}

impl Purpose {
    pub fn title(self) -> &'static str {
        match self {
            Self::Filter => "filter",
            Self::Command => ":",
            Self::From => "from",
            Self::To => "to",
            Self::PlanFile => "write the plan to",
            Self::ApplyFile => "apply the plan in",
            Self::Acknowledge => "acknowledge, with a note or none",
            Self::TakeBack => "acknowledged; a new note, or none to take that back",
            Self::Search => "search",
        }
    }
}

/// A completion of the line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Completion {
    /// The whole line after completion.
    pub text: String,
    /// The argument that may follow.
    pub argument: &'static str,
    /// The description, or the reason why the action cannot run now.
    pub about: String,
    /// Whether the action cannot run now.
    pub blocked: bool,
}

impl Completion {
    pub fn new(text: String, about: impl Into<String>) -> Self {
        Self { text, argument: "", about: about.into(), blocked: false }
    }

    /// Whether the completion needs more text; an argument in brackets is optional.
    pub fn needs_argument(&self) -> bool {
        self.text.ends_with('[') || !(self.argument.is_empty() || self.argument.starts_with('['))
    }

    /// The line after completion, with a space where an argument may follow.
    pub fn line_start(&self) -> String {
        let room = if self.argument.is_empty() { "" } else { " " };
        format!("{}{room}", self.text)
    }
}

/// The text so far. The cursor is a position between characters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Prompt {
    pub purpose: Purpose,
    pub text: String,
    pub cursor: usize,
    /// The text before, which Esc restores.
    pub before: String,
    /// Whether the text is a suggestion, which the first typed character replaces.
    pub suggested: bool,
    /// The completions, the best first.
    pub offers: Vec<Completion>,
    /// The index of the selected completion.
    pub picked: Option<usize>,
}

/// Maximum length of a line, in bytes.
const MAX_LENGTH: usize = 1000;

impl Prompt {
    pub fn new(purpose: Purpose, text: impl Into<String>) -> Self {
        let text = text.into();
        let (cursor, before) = (text.chars().count(), text.clone());
        let suggested = matches!(purpose, Purpose::PlanFile | Purpose::From | Purpose::To) && cursor > 0;
        Self { purpose, cursor, before, text, suggested, offers: Vec::new(), picked: None }
    }

    /// An empty line for a value that exists; the value stays until something is typed.
    pub fn with_suggestion(purpose: Purpose, before: impl Into<String>) -> Self {
        Self { before: before.into(), ..Self::new(purpose, "") }
    }

    /// Whether the text before can be recalled.
    pub fn can_recall(&self) -> bool {
        matches!(self.purpose, Purpose::Filter | Purpose::Search)
            && self.text.is_empty()
            && !self.before.is_empty()
    }

    fn byte_index(&self, place: usize) -> usize {
        self.text.char_indices().nth(place).map_or(self.text.len(), |(at, _)| at)
    }

    pub fn insert(&mut self, sign: char) {
        if std::mem::take(&mut self.suggested) {
            self.clear();
        }
        if !sign.is_control() && self.text.len() < MAX_LENGTH {
            self.text.insert(self.byte_index(self.cursor), sign);
            self.cursor += 1;
            self.picked = None;
        }
    }

    /// Deletes the character before the cursor; returns false when the line is empty.
    pub fn backspace(&mut self) -> bool {
        if self.cursor == 0 {
            return !self.text.is_empty();
        }
        self.cursor -= 1;
        self.text.remove(self.byte_index(self.cursor));
        self.picked = None;
        true
    }

    pub fn delete(&mut self) {
        if self.cursor < self.text.chars().count() {
            self.text.remove(self.byte_index(self.cursor));
        }
    }

    pub fn move_cursor(&mut self, by: isize) {
        self.cursor = self.cursor.saturating_add_signed(by).min(self.text.chars().count());
    }

    pub fn move_to_end(&mut self) {
        self.cursor = self.text.chars().count();
    }

    pub fn clear(&mut self) {
        self.text.clear();
        self.cursor = 0;
    }

    /// The line after completion as far as all completions agree; `None` when that adds nothing. Completions
    /// that begin with the line take precedence over others.
    pub fn common_completion(&self) -> Option<String> {
        let going_on: Vec<&Completion> =
            self.offers.iter().filter(|offer| offer.text.starts_with(self.text.as_str())).collect();
        let offers = if going_on.is_empty() { self.offers.iter().collect() } else { going_on };
        let (first, others) = offers.split_first()?;
        let text = match others {
            [] => first.line_start(),
            others => others.iter().fold(first.text.clone(), |shared, offer| {
                let same = shared.chars().zip(offer.text.chars()).take_while(|(a, b)| a == b);
                same.map(|(sign, _)| sign).collect()
            }),
        };
        // Completions that match elsewhere share no longer beginning, so one has to be selected.
        (text.len() > self.text.len()).then_some(text)
    }

    pub fn replace(&mut self, text: impl Into<String>) {
        self.text = text.into();
        self.picked = None;
        self.move_to_end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_completed_as_far_as_completions_agree() {
        let offer = |text: &str| Completion::new(text.to_owned(), "");
        let mut line = Prompt::new(Purpose::Command, "s");
        line.offers = ["screen-map", "screen-links", "users"].map(offer).to_vec();
        assert_eq!(line.common_completion().as_deref(), Some("screen-"));
        line.replace("screen-");
        assert_eq!(line.common_completion(), None, "the next is picked");
        line.offers = vec![Completion { argument: "COUNT", ..offer("random") }];
        assert!(line.offers[0].needs_argument());
        line.replace("ra");
        assert_eq!(line.common_completion().as_deref(), Some("random "));
    }

    #[test]
    fn a_line_is_edited_by_characters_not_bytes() {
        let mut line = Prompt::new(Purpose::Filter, "aü");
        line.insert('ß');
        line.move_cursor(-2);
        line.delete();
        assert_eq!((line.text.as_str(), line.cursor), ("aß", 1));
        assert!(line.backspace() && !line.text.is_empty());
        line.insert('\n');
        assert_eq!(line.text, "ß");
        line.move_to_end();
        assert!(line.backspace());
        assert!(!line.backspace());
    }
}
