//! `guard --second`: a small process beside the guard of a change. It takes the change over if the guard does not
//! roll it back.

use super::home;
use super::means::Means;
use super::told::user;
use crate::script::context::Context;
use crate::script::{Exit, Failure};
use fabdeck_change::wait_beside;

/// Waits beside the guard of a change. `true`: the guard has ended, and this process has to take the change over.
pub fn wait(context: &mut Context<'_, '_>, id: &str) -> Result<bool, Failure> {
    let given = context.given();
    let means = Means { outside: context.outside, given: &given };
    let (home, kept) = home::find(means, id)?;
    let stop = means.outside.stop();
    let waited = wait_beside(&home, kept, &user(), &|| stop.is_asked()).map_err(|error| {
        let what = format!("FD-7994: the guard of change {id} hangs and cannot be ended: {error}");
        Failure::new(Exit::RollbackIncomplete, what)
    })?;
    if let Some(replaced) = &waited {
        context.output.say(&replaced.0);
    }
    Ok(waited.is_some())
}
