//! What is known about the terminal, and when output is coloured.

use clap::ValueEnum;

/// Properties of the terminal of this process.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TerminalInfo {
    pub stdin: bool,
    pub stdout: bool,
    pub stderr: bool,
    /// Whether the environment disables colours (`NO_COLOR`, or a terminal without them).
    pub no_color: bool,
    /// Width in columns; `None` if unknown.
    pub columns: Option<usize>,
    /// Whether the terminal shows more than ASCII.
    pub utf8: bool,
    /// Whether stdin and stdout are both terminals, so that the console can start.
    pub console: bool,
    /// Where the log is, or why there is none.
    pub log: String,
}

/// When output is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    Auto,
    Always,
    Never,
}
