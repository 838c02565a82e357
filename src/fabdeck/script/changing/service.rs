//! `disable` and `enable`: a plan that takes a link out of service, or brings it back.

use jiff::Timestamp;

use super::args::ServiceArgs;
use super::told::user;
use crate::script::context::Context;
use crate::script::table::write_pairs;
use crate::script::{Exit, Failure, levels, plan, target};
use crate::session::{Made, Service, UnservedPlan, plan_text, service_element, service_plan};
use fabdeck_mad::access::Wanted;

pub fn run(context: &mut Context<'_, '_>, args: &ServiceArgs, service: Service) -> Result<Exit, Failure> {
    let word = if service == Service::Disable { "disable" } else { "enable" };
    context.refuse_filter(word)?;
    target::refuse_unless_forced(&args.output, args.force)?;
    let wanted = Wanted { tables: true, ..Wanted::default() };
    let (look, in_force) = levels::look(context, wanted, (None, false))?;
    let found = service_element(&look, &args.element);
    let element = context.among_answers(&look, found)?;
    let times = !context.globals.no_times;
    let made = Made { created: times.then(|| Timestamp::now().to_string()), author: times.then(user) };
    let plan = service_plan(&look, element, service, in_force.sent(), made).map_err(failure)?;
    let text = plan_text(&plan).map_err(|error| Failure::new(Exit::Failed, error.to_string()))?;
    target::write(&mut context.output, &args.output, text.as_bytes())?;
    if !target::is_stdout(&args.output) {
        let file = args.output.display().to_string();
        if context.output.json {
            let mut object = context.object("service", &look)?;
            object.field("plan", &file)?;
            object.field("findings", &plan.findings)?;
            object.end()?;
        } else {
            let what = format!("{word} {}", args.element);
            let pairs = [("does", what), ("plan", file)];
            write_pairs(context.output.out, (context.output.paint, context.output.page), &pairs)?;
        }
    }
    plan::warn(context, &plan);
    let concluded = context.conclude(&look);
    Ok(if plan.findings.is_empty() { concluded } else { Exit::Findings })
}

fn failure(error: UnservedPlan) -> Failure {
    let words = error.to_string();
    match error {
        UnservedPlan::NoPort(_) => Failure::usage(words),
        UnservedPlan::Refused(refusal) => refusal.into(),
        UnservedPlan::Already(..) | UnservedPlan::Plan(_) => Failure::new(Exit::Failed, words),
    }
}
