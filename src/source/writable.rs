//! From the words behind `--source` to whoever may write there.

use crate::access::{
    Identity, MadPort, ReadPort, Seen, SourceError, TokenError, Unwatched, Wanted, WriteToken,
};

use super::live::{LiveActuator, look};
use super::open::{LiveOptions, open_port};

/// What somebody said about writing: whether it was asked for, and the fabrics that the configuration names.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Right {
    pub asked: bool,
    pub opted_in: Vec<Identity>,
}

/// Why nobody writes there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unwritable {
    #[error(transparent)]
    Source(#[from] SourceError),
    #[error(transparent)]
    Token(#[from] TokenError),
    #[error(
        "FD-4111: {0} is no fabric but what was recorded of one, so nothing can be written to it; give umad or sim:SOCKET"
    )]
    NotLive(String),
}

/// Who writes to a fabric that opted in; the simulator always did.
pub fn open_actuator(text: &str, options: &LiveOptions, right: &Right) -> Result<LiveActuator, Unwritable> {
    let Some(mut port) = open_port(text, options)? else { return Err(Unwritable::NotLive(text.to_owned())) };
    let token = token(text, &mut port, options, right)?;
    Ok(LiveActuator::new(text, port.unlock(&token)?, options.policy, options.keys.clone()))
}

fn token(
    text: &str,
    port: &mut ReadPort,
    options: &LiveOptions,
    right: &Right,
) -> Result<WriteToken, Unwritable> {
    if port.local().simulated {
        return Ok(WriteToken::simulation());
    }
    if !right.asked {
        return Err(TokenError::NotAsked.into());
    }
    let guid = port.local().guid;
    let seen = look(text, port, options.policy, &options.keys, Wanted::default(), &mut Unwatched)?;
    let seen = Seen {
        switches: seen.fabric.switches().map(|(_, node)| node.guid()).collect(),
        subnet_prefix: seen.reading.as_ref().and_then(|reading| reading.subnet_prefix),
        manager: seen.subnet_manager.as_ref().map(|manager| manager.guid),
        port: guid,
    };
    Ok(WriteToken::grant(right.asked, &right.opted_in, &seen)?)
}
