//! `jobs watch`.

use super::job_args::WatchArgs;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::operations::changes::change_control::driver_options;
use crate::operations::changes::changer::Acceptance;
use crate::operations::jobs::job_watch::{JobWatchRequest, watch_jobs};
use crate::operations::jobs::list_source::JobSource;
use crate::script::changes::args::DriverChoice;
use crate::script::context::Context;
use fabdeck_routing::LaneDependence;

pub fn run(context: &mut Context<'_, '_>, args: &WatchArgs) -> Result<Exit, Failure> {
    context.refuse_filter("jobs watch")?;
    let source = JobSource::from(&args.from).or_configured(context.config.jobs.from.as_ref());
    source.refuse_unnamed()?;
    let choice = &args.applying;
    let through_opensm = choice.via == DriverChoice::Opensm;
    let apply = choice.apply.then(|| {
        let (conf, console) = (choice.opensm_conf.clone(), choice.opensm_console);
        let driver = driver_options(through_opensm, conf, console, choice.beside_manager);
        let (accepted, window) = (Vec::new(), choice.confirm_within);
        (driver, Acceptance { accepted, window, unanswered: choice.unanswered.unanswered() })
    });
    let request = JobWatchRequest {
        source,
        interval: args.interval,
        at_most_every: args.at_most_every,
        gain: args.gain,
        output: args.output.clone(),
        count: args.count,
        lanes_by: if through_opensm { LaneDependence::Destination } else { LaneDependence::Pair },
        phases: choice.phases,
        apply,
    };
    watch_jobs(context, &request)?;
    Ok(Exit::Done)
}
