//! `guard`: the process that holds a change, separate from the command that started it.

use super::args::GuardArgs;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::operations::changes::guard_run::{name_opensm, run_guard_of, take_over};
use crate::operations::changes::standby_guard;
use crate::script::context::Context;
use fabdeck_change::GuardMode;

pub fn run(context: &mut Context<'_, '_>, args: &GuardArgs) -> Result<Exit, Failure> {
    context.refuse_filter("guard")?;
    // A closing terminal ends its session, so the guard makes its own. The call fails only for a session leader,
    // which has one.
    let _ = rustix::process::setsid();
    // Files of the guard are readable by their owner alone, whatever the caller's umask is.
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    let means = context.env();
    let say = &mut |line: &str| context.output.print_message(line);
    if let Some(id) = &args.second {
        return match standby_guard::wait_for_guard(means, id, say)? {
            true => run_guard_of(means, id, GuardMode::TakeOver, say),
            false => Ok(Exit::Done),
        };
    }
    match (&args.begin, &args.keep) {
        (Some(id), _) => run_guard_of(means, id, GuardMode::Apply, say),
        (None, Some(id)) => run_guard_of(means, id, GuardMode::TakeOver, say),
        (None, None) => {
            let named = args.opensm_process.as_ref().map(|process| name_opensm(means, process, say));
            let worst = take_over(means, args.gone.as_deref(), say)?;
            Ok(named.map_or(worst, |named| worst.max(named)))
        }
    }
}
