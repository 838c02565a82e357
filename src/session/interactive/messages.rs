//! What was said to the operator, newest last.

/// How bad it is. Each has a word of its own, for no state is told by colour alone.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Severity {
    Said,
    Warning,
    Error,
}

impl Severity {
    pub fn word(self) -> &'static str {
        match self {
            Self::Said => "",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    pub at_ms: u64,
    pub severity: Severity,
    pub text: String,
}

impl Message {
    /// As it is shown: its word first, where it has one.
    pub fn line(&self) -> String {
        match self.severity.word() {
            "" => self.text.clone(),
            word => format!("{word}: {}", self.text),
        }
    }
}

/// How many are kept.
pub const KEPT: usize = 500;
