//! `disable` and `enable`: a plan that takes a link out of service, or brings it back.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::catalogue::danger::Danger;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::lanes::lanes_in_force;
use crate::operations::lanes::lanes_in_force::LaneReading;
use crate::operations::plans::link_service::{
    LinkService, ServicePlanError, find_service_element, service_plan,
};
use crate::operations::plans::plan_origin::PlanOrigin;
use crate::operations::plans::proposal_plan::plan_text;
use crate::operations::plans::route_plan::findings_warning;
use crate::script::answer::json_answer;
use crate::script::command_entry::{CommandEntry, CommandFunction};
use crate::script::context::Context;
use crate::script::json_schema::JsonSchema;
use crate::system::output_file;
use fabdeck_change::Plan;
use fabdeck_mad::access::ReadOptions;

pub const DISABLE: CommandEntry = CommandEntry::new(
    "disable",
    "A plan that takes a link out of service",
    "The plan disables one port of a switch, and routes stay as they are. Reroute without the link first \
     (`route --fail`): paths that still use it are findings (exit code 2). `enable` brings the link back, and so does a \
     rollback of the change.",
)
.needs_fabric()
.danger(Danger::WritesFile)
.examples(&["fabdeck --source umad disable 'link:leaf0[3]' -o out.plan"])
.runs(&CommandFunction(disable))
.json(&[JsonSchema::answer::<ServiceAnswer<'_>>("service").titled("disable, enable and undo")]);

pub const ENABLE: CommandEntry = CommandEntry::new(
    "enable",
    "A plan that brings a link back into service",
    "The plan enables the port of a switch that was disabled.",
)
.needs_fabric()
.danger(Danger::WritesFile)
.examples(&["fabdeck --source umad enable 'port:leaf0[3]' -o back.plan"])
.runs(&CommandFunction(enable));

#[derive(Debug, Args)]
pub struct ServiceArgs {
    /// The cable: link:NAME[PORT], port:NAME[PORT] or NAME/PORT
    pub element: String,
    /// New file for the plan; `-` is stdout
    #[arg(short, long, value_name = "PLAN")]
    pub output: PathBuf,
    /// Overwrite an existing file
    #[arg(long)]
    pub force: bool,
}

fn disable(context: &mut Context<'_, '_>, args: &ServiceArgs) -> Result<Exit, Failure> {
    run(context, args, LinkService::Disable)
}

fn enable(context: &mut Context<'_, '_>, args: &ServiceArgs) -> Result<Exit, Failure> {
    run(context, args, LinkService::Enable)
}

fn run(context: &mut Context<'_, '_>, args: &ServiceArgs, service: LinkService) -> Result<Exit, Failure> {
    let word = if service == LinkService::Disable { "disable" } else { "enable" };
    output_file::refuse_unless_forced(&args.output, args.force)?;
    let wanted = ReadOptions { tables: true, ..ReadOptions::default() };
    let (look, in_force) =
        lanes_in_force::read_snapshot(&mut context.operation(), wanted, LaneReading::default())?;
    let found = find_service_element(&look, &args.element);
    let element = context.operation().explain_missing(&look, found)?;
    context.operation().report_guessed_labels(&look, [args.element.as_str()]);
    let made = PlanOrigin::now(context.options);
    let plan = service_plan(&look, element, service, in_force.sent(), made).map_err(failure)?;
    write_plan(context, &args.output, &plan, &look, format!("{word} {}", args.element))
}

/// Writes a plan to its file, and reports what it does and its findings.
pub(super) fn write_plan(
    context: &mut Context<'_, '_>,
    output: &Path,
    plan: &Plan,
    look: &Snapshot,
    what: String,
) -> Result<Exit, Failure> {
    let text = plan_text(plan).map_err(|error| Failure::new(Exit::Failed, error.to_string()))?;
    output_file::write(context.output.out, output, text.as_bytes())?;
    if !output_file::is_stdout(output) {
        let file = output.display().to_string();
        if context.output.json {
            let answer = ServiceAnswer { plan: file, findings: &plan.findings };
            context.write_answer("service", look, answer)?;
        } else {
            let pairs = [("does", what), ("plan", file)];
            context.output.write_pairs(&pairs)?;
        }
    }
    findings_warning(plan).iter().for_each(|line| context.output.print_message(line));
    let concluded = context.conclude(look);
    Ok(if plan.findings.is_empty() { concluded } else { Exit::Findings })
}

fn failure(error: ServicePlanError) -> Failure {
    let words = error.to_string();
    match error {
        ServicePlanError::NoPort(_) => Failure::usage(words),
        ServicePlanError::Refused(refusal) => refusal.into(),
        ServicePlanError::Already(..) | ServicePlanError::Plan(_) => Failure::new(Exit::Failed, words),
    }
}

json_answer! {
    struct ServiceAnswer<'a> {
        plan: String,
        findings: &'a [String],
    }
}
