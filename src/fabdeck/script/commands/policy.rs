//! `policy`: stops what policies of `watch` do, lets them go on, and shows what they did.

use clap::Args;
use jiff::Timestamp;

use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::json_type::json_type;
use crate::operations::event_store::fabric_store::FabricStore;
use crate::operations::policy::link_decisions::{IsolatedLink, IsolationStage};
use crate::operations::policy::policy_store::PolicyStore;
use crate::operations::policy::policy_switch::{PolicyStop, find_stop, turn_off, turn_on};
use crate::script::answer::{Lines, json_answer};
use crate::script::command_entry::{CommandEntry, CommandFunction};
use crate::script::context::Context;
use crate::script::json_schema::JsonSchema;

pub const POLICY: CommandEntry = CommandEntry::new(
    "policy",
    "Stop what `watch --policy` does by itself, or let it go on",
    "A watch with a policy takes bad links out of use and drains nodes (docs/monitoring.md). `policy off` stops all policies of \
     this user at once.",
);

pub const POLICY_OFF: CommandEntry = CommandEntry::new(
    "policy off",
    "Stop all policies at once",
    "Writes a file into the state folders that every watch looks for before each step: from then on no policy proposes, \
     applies, confirms, takes back, drains or undrains anything, until `policy on`. It works without a watch, and from any \
     session of the user that runs the watch. A change of a policy that waits is not confirmed any more, so its guard rolls it \
     back at its deadline; `confirm` and `rollback` decide about it as about any other. Links that are out of use stay so; \
     `undo` brings them back.",
)
.examples(&["fabdeck policy off", "fabdeck policy off --why 'cabling work until Friday'"])
.runs(&CommandFunction(run_off))
.json(&[JsonSchema::answer::<PolicyAnswer<'_>>("policy").without_source()]);

pub const POLICY_ON: CommandEntry = CommandEntry::new(
    "policy on",
    "Let policies go on",
    "Removes what `policy off` wrote. A watch that runs goes on with its next sweep.",
)
.examples(&["fabdeck policy on"])
.runs(&CommandFunction(run_on))
.json(&[JsonSchema::answer::<PolicyAnswer<'_>>("policy").without_source()]);

pub const POLICY_SHOW: CommandEntry = CommandEntry::new(
    "policy show",
    "Whether policies are on, and which links they took out of use",
    "Reads the state folders: whether `policy off` stopped policies, by whom and why, and the links that policies took out of \
     use, with their changes.",
)
.examples(&["fabdeck policy show", "fabdeck policy show --json"])
.runs(&CommandFunction(run_show))
.json(&[JsonSchema::answer::<PolicyAnswer<'_>>("policy").without_source()]);

#[derive(Debug, Args)]
pub struct PolicyOffArgs {
    /// Why, for the events of the watch and for `policy show`
    #[arg(long, value_name = "TEXT", default_value = "policy off")]
    pub why: String,
}

json_answer! {
    pub struct PolicyAnswer<'a> {
        on: bool,
        /// Who stopped policies, when and why; null while they are on.
        stopped: Option<StopObject>,
        /// The links that are out of use by a policy.
        rows: Lines<'a, IsolatedObject>,
    }
}

json_type! {
    struct StopObject {
        time: String,
        user: String,
        why: String,
    }

    struct IsolatedObject {
        /// The source that was watched.
        fabric: String,
        link: String,
        /// leaving: the change that takes it out waits; out: it is out of use; returning: the change that takes it back
        /// waits; failed: its change was left incomplete.
        stage: &'static str,
        change: String,
        why: String,
        since: String,
    }
}

fn run_off(context: &mut Context<'_, '_>, args: &PolicyOffArgs) -> Result<Exit, Failure> {
    let files = turn_off(context.env(), &args.why)?;
    for file in files {
        context.output.print_message(&format!(
            "{} stops all policies; 'fabdeck policy on' lets them go on",
            file.display()
        ));
    }
    report(context)
}

fn run_on(context: &mut Context<'_, '_>, _args: &NoPolicyArgs) -> Result<Exit, Failure> {
    if !turn_on(context.env())? {
        context.output.print_message("policies were on already");
    }
    report(context)
}

fn run_show(context: &mut Context<'_, '_>, _args: &NoPolicyArgs) -> Result<Exit, Failure> {
    report(context)
}

/// No argument.
#[derive(Debug, Args)]
pub struct NoPolicyArgs {}

impl IsolatedObject {
    fn new(fabric: &str, link: &IsolatedLink) -> Self {
        let (stage, change) = match &link.stage {
            IsolationStage::Shadow => ("shadow", ""),
            IsolationStage::Leaving { change } => ("leaving", change.id.as_str()),
            IsolationStage::Out { change } if link.is_partly_back => ("partly-back", change.as_str()),
            IsolationStage::Out { change } => ("out", change.as_str()),
            IsolationStage::Returning { change, .. } => ("returning", change.id.as_str()),
            IsolationStage::Failed { change } => ("failed", change.as_str()),
        };
        let since = Timestamp::from_millisecond(link.began_ms).unwrap_or_default();
        Self {
            fabric: fabric.to_owned(),
            link: link.name.clone(),
            stage,
            change: change.to_owned(),
            why: link.why.clone(),
            since: since.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        }
    }

    fn words(&self) -> String {
        let Self { fabric, link, change, why, since, .. } = self;
        let what = match self.stage {
            "leaving" => format!(
                "change {change} takes it out; its guard rolls it back unless the policy or 'fabdeck confirm' confirms it"
            ),
            "returning" => format!(
                "change {change} takes it back; its guard rolls it back unless the policy or 'fabdeck confirm' confirms it"
            ),
            "failed" => format!(
                "change {change} was left incomplete: look at 'fabdeck changes', and settle it with 'fabdeck rollback'"
            ),
            "partly-back" => {
                format!("out of use by change {change}; some paths may cross it again, and the others follow")
            }
            _ => format!("out of use by change {change}"),
        };
        format!("{link} of {fabric}, since {since}: {what} ({why})")
    }
}

/// Prints whether policies are on, and what they did.
fn report(context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    let env = context.env();
    let stopped = find_stop(env);
    let (stores, unread) = FabricStore::list_all(env);
    unread.iter().for_each(|line| context.output.print_message(line));
    let mut rows = Vec::new();
    for store in stores {
        match PolicyStore::in_folder(&store.folder).load() {
            Ok(state) => {
                rows.extend(
                    state.isolated.iter().map(|link| IsolatedObject::new(&store.identity.source, link)),
                );
            }
            Err(error) => context.output.print_message(&format!("{}: {error}", store.place())),
        }
    }
    if context.output.json {
        let stop = stopped.map(|PolicyStop { time, user, why }| StopObject { time, user, why });
        let answer = PolicyAnswer { on: stop.is_none(), stopped: stop, rows: Lines::of(rows) };
        context.write_plain_answer("policy", answer)?;
        return Ok(Exit::Done);
    }
    match stopped {
        None => writeln!(context.output.out, "policies are on")?,
        Some(PolicyStop { time, user, why }) => {
            writeln!(context.output.out, "policies are off since {time}, by {user}: {why}")?;
        }
    }
    for row in &rows {
        writeln!(context.output.out, "{}", row.words())?;
    }
    Ok(Exit::Done)
}
