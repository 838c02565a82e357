//! `agent`: the host side of dFtree, until a signal or the end of its time.

use std::time::Duration;

use jiff::Zoned;
use serde::Serialize;

use super::args::AgentArgs;
use super::context::Context;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use fabdeck_live::agent::{Agent, AgentError, AgentEvent, AgentOptions, SHUTDOWN_TIMEOUT};
use fabdeck_mad::access::{AgentToken, Clock, MadPort};

/// Defaults of the options.
const HOOK_TIMEOUT: Duration = Duration::from_secs(30);
const MAX_NOTICES_PER_SECOND: u32 = 20;

pub fn run(context: &mut Context<'_, '_>, args: &AgentArgs) -> Result<Exit, Failure> {
    context.refuse_filter("agent")?;
    let source = context.env().named_source()?.to_owned();
    let (port, m_key) = context.outside.port(&source, &context.options.reach)?;
    if port.is_virtual() && args.time.is_none() {
        return Err(Failure::usage(
            "FD-7972: this simulator runs in simulated time, and no other process uses it; give a duration with \
             --for, or serve the simulator (simulate --serve) and give sim:SOCKET,at=NODE",
        ));
    }
    let asked = context.globals.state_dir.clone().or_else(|| context.config.state_dir.clone());
    // The migrations of a simulated host end with this process, so they are not stored.
    let state = asked.or_else(|| context.outside.user_state()).filter(|_| !port.is_virtual());
    let options = AgentOptions {
        hook: args.hook.clone(),
        hook_timeout: args.hook_timeout.unwrap_or(HOOK_TIMEOUT),
        rate: args.rate.unwrap_or(MAX_NOTICES_PER_SECOND),
        dry_run: args.dry_run,
        state,
        m_key,
        time: args.time,
    };
    let name = port.local_port().name.clone();
    let mut agent = Agent::new(port, AgentToken::grant(), options).map_err(agent_failure)?;
    if !context.output.json {
        context.output.print_message(&format!("agent at {name}; Ctrl-C ends it"));
    }
    let stop = context.outside.stop();
    stop.listen_within(SHUTDOWN_TIMEOUT);
    let stopped = stop.listen();
    let mut print_error = None;
    let ran = agent.run(stopped, &mut |event| {
        if let Err(error) = print_event(context, &event) {
            // The agent ends when its output has no reader, and follows no further notice.
            stop.request();
            print_error = Some(error);
        }
    });
    ran.map_err(agent_failure)?;
    print_error.map_or(Ok(Exit::Done), |error| Err(error.into()))
}

#[derive(Serialize)]
struct AgentEventLine<'t> {
    schema: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<String>,
    #[serde(flatten)]
    event: &'t AgentEvent,
}

/// Prints an event as a line at once, because the reader waits for it.
fn print_event(context: &mut Context<'_, '_>, event: &AgentEvent) -> std::io::Result<()> {
    let now = Zoned::now();
    let times = !context.globals.no_times;
    let output = &mut context.output;
    if output.json {
        let time = times.then(|| now.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string());
        let line = AgentEventLine { schema: "fabdeck.agent/1", time, event };
        super::json::write_json(&mut *output.out, &line)?;
        writeln!(output.out)?;
    } else if times {
        writeln!(output.out, "{} {event}", now.strftime("%H:%M:%S"))?;
    } else {
        writeln!(output.out, "{event}")?;
    }
    output.out.flush()
}

fn agent_failure(error: AgentError) -> Failure {
    match error {
        AgentError::NoHook => Failure::usage(error.to_string()),
        AgentError::State(_) => Failure::new(Exit::Failed, error.to_string()),
        AgentError::Port(error) => fabdeck_mad::access::SourceError::from(error).into(),
    }
}
