//! `guard`: the process that holds a change, separate from the command that started it.

use clap::Args;

use super::args::opensm_process;
use crate::catalogue::danger::Danger;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::operations::changes::guard_run::{name_opensm, run_guard_of, take_over};
use crate::operations::changes::standby_guard;
use crate::script::command_entry::{CommandEntry, CommandFunction};
use crate::script::context::Context;
use fabdeck_change::GuardMode;

pub const GUARD: CommandEntry = CommandEntry::new(
    "guard",
    "Take over changes whose guard has ended",
    "After a crash or a reboot: a change that was written in part is rolled back. A change that waits for \
     confirmation continues to wait, and is rolled back if its deadline is over. Any fabdeck that starts does \
     the same; docs/systemd has a unit for the boot.",
)
.danger(Danger::WritesFabric)
.examples(&["fabdeck guard --resume"])
.runs(&CommandFunction(run))
.resumes_changes();

#[derive(Debug, Args)]
pub struct GuardArgs {
    /// Start a guard for every pending change that has none, and end when the guards work
    #[arg(long, required_unless_present_any = ["begin", "keep", "second"])]
    pub resume: bool,
    /// With --resume: this machine will not come back. Take over its changes in a shared state folder too, once the
    /// subnet manager shows that their guards are gone
    #[arg(long, value_name = "MACHINE", requires = "resume")]
    pub gone: Option<String>,
    /// With --resume, for changes through OpenSM: OpenSM's process from now on, by number or pid file
    #[arg(long, value_name = "PID|FILE", value_parser = opensm_process, requires = "resume")]
    pub opensm_process: Option<String>,
    /// Take over only the change with this id
    #[arg(long, value_name = "ID", hide = true, conflicts_with_all = ["resume", "begin"])]
    pub keep: Option<String>,
    /// Wait beside the guard of the change with this id, and take the change over if the guard hangs or dies
    #[arg(long, value_name = "ID", hide = true, conflicts_with_all = ["resume", "begin", "keep"])]
    pub second: Option<String>,
    /// Apply the change with this id, which was begun just now
    #[arg(long, value_name = "ID", hide = true, conflicts_with = "resume")]
    pub begin: Option<String>,
}

fn run(context: &mut Context<'_, '_>, args: &GuardArgs) -> Result<Exit, Failure> {
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
