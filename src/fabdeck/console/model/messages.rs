//! The messages for the operator, the newest last.

use std::collections::VecDeque;

use crate::catalogue::severity::Severity;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogMessage {
    pub at_ms: u64,
    pub severity: Severity,
    pub text: String,
    /// Whether it says what became of something that the operator decided: no warning of the watch covers it at once.
    pub is_answer: bool,
}

/// For how long an answer stays in the status line beside warnings.
const ANSWER_MS: u64 = 10_000;

impl LogMessage {
    pub fn new(at_ms: u64, severity: Severity, text: impl Into<String>) -> Self {
        Self { at_ms, severity, text: text.into(), is_answer: false }
    }

    /// The line for the message, which begins with the word of its severity.
    pub fn line(&self) -> String {
        match self.severity.word() {
            "" => self.text.clone(),
            word => format!("{word}: {}", self.text),
        }
    }
}

/// Maximum number of messages that are stored; the log file has all of them.
const MAX_MESSAGES: usize = 500;

/// The latest messages.
#[derive(Clone, Debug, Default)]
pub struct MessageLog {
    stored: VecDeque<LogMessage>,
    total: u64,
    /// Number of warnings since the log was last opened.
    unread: usize,
    /// Messages that were not yet taken for the log file.
    unlogged: Vec<LogMessage>,
}

impl MessageLog {
    /// Stores a message. A warning counts as unread if its text is new, because each reading repeats the same notes.
    pub fn push(&mut self, message: LogMessage) {
        let is_new = || self.stored.iter().all(|stored| stored.text != message.text);
        self.unread += usize::from(message.severity == Severity::Warning && is_new());
        if self.stored.len() >= MAX_MESSAGES {
            self.stored.pop_front();
        }
        self.unlogged.push(message.clone());
        self.stored.push_back(message);
        self.total += 1;
    }

    /// Number of warnings that are new since the log was last opened.
    pub fn unread(&self) -> usize {
        self.unread
    }

    /// Resets the number of unread messages, when the log is open.
    pub(crate) fn mark_read(&mut self) {
        self.unread = 0;
    }

    /// Number of all messages, including those that are no longer stored.
    pub fn total_count(&self) -> u64 {
        self.total
    }

    /// Number of messages that are no longer stored.
    pub fn dropped_count(&self) -> u64 {
        self.total - self.stored.len() as u64
    }

    /// The stored messages, the oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &LogMessage> {
        self.stored.iter()
    }

    pub fn last(&self) -> Option<&LogMessage> {
        self.stored.back()
    }

    /// The most severe message after the first `seen`, the latest of equal ones. Routine messages do not hide
    /// severe ones, and for a while only an error hides an answer.
    pub fn most_severe_after(&self, seen: u64) -> Option<&LogMessage> {
        let latest_ms = self.last().map_or(0, |message| message.at_ms);
        let is_fresh =
            |message: &LogMessage| message.is_answer && latest_ms.saturating_sub(message.at_ms) < ANSWER_MS;
        let new = usize::try_from(self.total.saturating_sub(seen)).unwrap_or(usize::MAX);
        let skipped = self.stored.len().saturating_sub(new);
        self.stored
            .iter()
            .skip(skipped)
            .max_by_key(|message| (message.severity == Severity::Error, is_fresh(message), message.severity))
    }

    pub fn is_empty(&self) -> bool {
        self.stored.is_empty()
    }

    pub(crate) fn take_unlogged(&mut self) -> Vec<LogMessage> {
        std::mem::take(&mut self.unlogged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_messages_are_stored_and_all_are_logged() {
        let mut messages = MessageLog::default();
        let message = |at_ms| LogMessage::new(at_ms, Severity::Info, "");
        (0..MAX_MESSAGES as u64 + 3).for_each(|at| messages.push(message(at)));
        assert_eq!((messages.total_count(), messages.dropped_count()), (MAX_MESSAGES as u64 + 3, 3));
        assert_eq!(messages.iter().next(), Some(&message(3)));
        assert_eq!(messages.last(), Some(&message(MAX_MESSAGES as u64 + 2)));
        assert_eq!(messages.take_unlogged().len(), MAX_MESSAGES + 3);
        assert!(messages.take_unlogged().is_empty());
    }

    #[test]
    fn info_messages_do_not_hide_severe_ones() {
        let mut messages = MessageLog::default();
        let mut say = |severity, text: &str| {
            messages.push(LogMessage::new(0, severity, text));
        };
        say(Severity::Error, "seen");
        say(Severity::Warning, "first");
        say(Severity::Warning, "second");
        say(Severity::Info, "routine");
        let gravest = |seen| messages.most_severe_after(seen).map(|message| message.text.as_str());
        assert_eq!([0, 1, 3, 4].map(gravest), [Some("seen"), Some("second"), Some("routine"), None]);
    }

    #[test]
    fn a_new_warning_counts_until_the_log_is_opened() {
        let mut messages = MessageLog::default();
        let message = |text: &str| LogMessage::new(0, Severity::Warning, text);
        messages.push(LogMessage { severity: Severity::Info, ..message("routine") });
        assert_eq!(messages.unread(), 0);
        ["one", "two", "one"].into_iter().for_each(|text| messages.push(message(text)));
        assert_eq!((messages.unread(), messages.total_count()), (2, 4));
        messages.mark_read();
        messages.push(message("one"));
        assert_eq!(messages.unread(), 0);
    }

    #[test]
    fn an_answer_is_covered_by_an_error_only_for_a_while() {
        let mut messages = MessageLog::default();
        let answer = LogMessage { is_answer: true, ..LogMessage::new(1000, Severity::Info, "confirmed") };
        messages.push(answer);
        messages.push(LogMessage::new(2000, Severity::Warning, "waits"));
        let shown = |messages: &MessageLog| messages.most_severe_after(0).unwrap().text.clone();
        assert_eq!(shown(&messages), "confirmed");
        messages.push(LogMessage::new(3000, Severity::Error, "unreadable"));
        assert_eq!(shown(&messages), "unreadable");
        let mut messages = MessageLog::default();
        messages.push(LogMessage { is_answer: true, ..LogMessage::new(1000, Severity::Info, "confirmed") });
        messages.push(LogMessage::new(1000 + ANSWER_MS, Severity::Warning, "waits"));
        assert_eq!(shown(&messages), "waits");
    }
}
