//! The severity of a message for the operator.

/// The severity of a message. Each has a word, because no state is shown by colour alone.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Severity {
    Info,
    Warning,
    Error,
}

impl Severity {
    pub fn word(self) -> &'static str {
        match self {
            Self::Info => "",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}
