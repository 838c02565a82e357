//! Arguments that several commands about changes share.

use clap::ValueEnum;

use fabdeck_change::SilentHostAction;

/// What to do when hosts do not confirm that they left the base LIDs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SilentHostChoice {
    /// Write nothing, and call back the hosts that left
    Stop,
    /// Ask them again for as long as --confirm-within; `rollback` ends the wait, `confirm --go-on` continues without
    /// them
    Wait,
    /// Continue without them if the plan is safe without phases
    GoOn,
}

impl SilentHostChoice {
    pub fn unanswered(self) -> SilentHostAction {
        match self {
            Self::Stop => SilentHostAction::Stop,
            Self::Wait => SilentHostAction::Wait,
            Self::GoOn => SilentHostAction::GoOn,
        }
    }
}

/// The driver that writes a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DriverChoice {
    /// Management datagrams (MADs) that fabdeck sends itself
    Direct,
    /// The OpenSM in charge, on this machine: it loads a file of tables
    Opensm,
}

/// Makes the path of a pid file absolute, because the guard that reads it has another working directory.
pub fn opensm_process(text: &str) -> Result<String, String> {
    if text.parse::<u32>().is_ok() {
        return Ok(text.to_owned());
    }
    let path = std::path::absolute(text).map_err(|error| error.to_string())?;
    path.into_os_string().into_string().map_err(|_| "a pid file's path is UTF-8 here".to_owned())
}
