//! `guard --second`: a small process beside the guard of a change. It takes the change over if the guard does not
//! roll it back.

use super::change_exit::user;
use super::change_store;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::operations::environment::Env;
use fabdeck_change::wait_as_standby;

/// Waits beside the guard of a change. `true`: the guard has ended, and this process has to take the change over.
pub fn wait_for_guard(means: Env<'_>, id: &str, say: &mut dyn FnMut(&str)) -> Result<bool, Failure> {
    let (home, kept) = change_store::find_change(means, id)?;
    let stop = means.outside.stop();
    let waited = wait_as_standby(&home, kept, &user(), &|| stop.is_requested()).map_err(|error| {
        let what = format!("FD-7994: the guard of change {id} hangs and cannot be ended: {error}");
        Failure::new(Exit::RollbackIncomplete, what)
    })?;
    if let Some(replaced) = &waited {
        say(&replaced.0);
    }
    Ok(waited.is_some())
}
