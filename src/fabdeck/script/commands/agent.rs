//! `agent`: the host side of dFtree, until a signal or the end of its time.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use jiff::Zoned;

use crate::catalogue::danger::Danger;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::script::argument_values::{duration, long_duration};
use crate::script::command_entry::{CommandEntry, CommandFunction};
use crate::script::context::Context;
use crate::script::event_line::EventFormat;
use crate::script::json_schema::JsonSchema;
use fabdeck_live::agent::{Agent, AgentError, AgentEvent, AgentOptions, SHUTDOWN_TIMEOUT};
use fabdeck_mad::access::{AgentToken, Clock, MadPort};

pub const AGENT: CommandEntry = CommandEntry::new(
    "agent",
    "Follow notices at a host",
    "Runs on a host. It subscribes at the subnet manager to the notices about flows that leave the fast lane \
     or return to it. For each notice about this host it runs the site's program (--hook). It accepts notices \
     from the subnet manager alone, at a limited rate, and each notice once. It answers requests for its \
     state, and unsubscribes when it ends. It sends nothing else: InformInfo to the manager, answers to its \
     reports, answers to those requests. A machine that watches may ask where this host has flows open; a program \
     of the site lists them (--flows). At a simulated host (sim:SOCKET,at=NODE) it moves the flows of that \
     host itself. A line for each event goes to stdout; with --json an object for each.",
)
.needs_fabric()
.danger(Danger::RunsProgram)
.examples(&[
    "fabdeck --source sim:demo,at=node05 agent --for 5s",
    "fabdeck --source umad agent --hook /usr/local/sbin/move-flows",
])
.runs(&CommandFunction(run))
.json(&[JsonSchema::events("agent")]);

/// Arguments of `agent`: how a host handles notices.
#[derive(Debug, Args)]
pub struct AgentArgs {
    /// The program that moves the flows of this host, run without a shell for each notice. Its environment has
    /// FABDECK_HOT_SPOT_LID, FABDECK_SERVICE_LEVEL, FABDECK_DIRECTION (slow or fast; in five phases high or base), FABDECK_NUMBER, FABDECK_LID,
    /// FABDECK_PORT and FABDECK_PORT_GUID. Its exit code 0 means that the flows have moved
    #[arg(long, value_name = "PROGRAM")]
    pub hook: Option<PathBuf>,
    /// The program that lists the open flows of this host: a line each, with the LID and, after a blank, the service
    /// level. It runs without a shell when a machine that watches asks, at most every two seconds, for a second at most
    #[arg(long, value_name = "PROGRAM")]
    pub flows: Option<PathBuf>,
    /// Timeout after which the program of --hook is ended (default: 30s)
    #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true)]
    pub hook_timeout: Option<Duration>,
    /// Largest number of notices per second that the agent follows; more are dropped and reported (default: 20)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rate: Option<u32>,
    /// Print what the agent would do, and run no program
    #[arg(long)]
    pub dry_run: bool,
    /// Duration: 90s, 10m (default: until Ctrl-C)
    #[arg(long = "for", value_name = "TIME", value_parser = long_duration, allow_hyphen_values = true)]
    pub time: Option<Duration>,
}

/// Defaults of the options.
const HOOK_TIMEOUT: Duration = Duration::from_secs(30);
const MAX_NOTICES_PER_SECOND: u32 = 20;

fn run(context: &mut Context<'_, '_>, args: &AgentArgs) -> Result<Exit, Failure> {
    let source = context.env().named_source()?.to_owned();
    let (port, m_key) = context.outside.port(&source, &context.options.reach)?;
    if port.is_virtual() && args.time.is_none() {
        return Err(Failure::usage(
            "FD-7972: this simulator runs in simulated time, and no other process uses it; give a duration with \
             --for, or serve the simulator (simulate --serve) and give sim:SOCKET,at=NODE",
        ));
    }
    let asked = context.options.state_dir.clone();
    // The migrations of a simulated host end with this process, so they are not stored.
    let state = asked.or_else(|| context.outside.user_state()).filter(|_| !port.is_virtual());
    let options = AgentOptions {
        hook: args.hook.clone(),
        flows: args.flows.clone(),
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

fn print_event(context: &mut Context<'_, '_>, event: &AgentEvent) -> std::io::Result<()> {
    let format = EventFormat {
        schema: "fabdeck.agent/1",
        json: context.output.json,
        times: !context.options.no_times,
    };
    format.write(context.output.out, &Zoned::now(), event, event)
}

fn agent_failure(error: AgentError) -> Failure {
    match error {
        AgentError::NoHook => Failure::usage(error.to_string()),
        AgentError::State(_) => Failure::new(Exit::Failed, error.to_string()),
        AgentError::Port(error) => fabdeck_mad::access::SourceError::from(error).into(),
    }
}
