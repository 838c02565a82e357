//! `undo`: a plan that puts back what a confirmed change wrote.

use std::path::PathBuf;

use clap::Args;

use super::service::write_plan;
use crate::catalogue::danger::Danger;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::operations::changes::undo::{PlannedUndo, find_state, moves_in_force, plan_undo};
use crate::script::command_entry::{CommandEntry, CommandFunction};
use crate::script::context::Context;
use crate::system::output_file;

pub const UNDO: CommandEntry = CommandEntry::new(
    "undo",
    "A plan that undoes a confirmed change",
    "The plan puts back the forwarding tables, SL2VL tables and ports that the change wrote, as far as they are still as it wrote \
     them; what others wrote since stays. Flows that the change moved to another lane move back, and the tables of the \
     slow lane stay. `apply` checks the plan, asks and writes it like any other. A change that is still pending is \
     rolled back by `rollback`.",
)
.needs_fabric()
.danger(Danger::WritesFile)
.examples(&["fabdeck --source umad undo 3f2a91bc -o back.plan"])
.runs(&CommandFunction(run));

#[derive(Debug, Args)]
pub struct UndoArgs {
    /// Id or number of the change, as `apply` and `changes` print it, or at least the first four characters of the id
    pub id: String,
    /// New file for the plan; `-` is stdout
    #[arg(short, long, value_name = "PLAN")]
    pub output: PathBuf,
    /// Overwrite an existing file
    #[arg(long)]
    pub force: bool,
}

fn run(context: &mut Context<'_, '_>, args: &UndoArgs) -> Result<Exit, Failure> {
    output_file::refuse_unless_forced(&args.output, args.force)?;
    let env = context.env();
    let source = env.named_source()?.to_owned();
    let state = find_state(env, &args.id)?;
    let PlannedUndo { plan, remarks, snapshot, undone } = plan_undo(
        env,
        &source,
        &state,
        &|look| moves_in_force(env, &source, look),
        &mut context.operation().begin_reading(),
    )?;
    remarks.iter().for_each(|remark| context.output.print_message(remark));
    let loss = undone.count_loss(&snapshot, &plan, None);
    loss.iter().for_each(|loss| context.output.print_message(&format!("gives up: {}", loss.words())));
    write_plan(context, &args.output, &plan, &snapshot, format!("undo change {}", state.begun.number))
}
