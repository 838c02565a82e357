//! The command table: every command once. The command line, its help, the man pages, `docs/commands.md`, the schemas
//! and the refusals of options that do not apply are made from the entries, each of which stands beside its function.

mod agent;
mod cabling;
mod capture;
mod capture_rewrite;
mod changes;
mod check;
pub(crate) mod convert;
mod events;
mod export;
mod generate;
mod health;
mod health_answer;
mod hotspots;
mod identity;
mod jobs;
mod lanes;
mod ledger;
mod metrics;
mod module_metrics;
pub(crate) mod overview;
mod plan;
mod policy;
mod record;
mod report;
mod reproduce;
mod route;
mod route_args;
mod run_command;
mod sensor_metrics;
mod shell;
mod show;
mod simulate;
mod sources;
mod staged_commands;
mod study;
mod trace;
mod traffic;
mod watch;
mod whatif;

use super::command_entry::CommandEntry;

/// Every command, in the order of help and documentation. Commands of a group follow it.
pub const COMMANDS: &[CommandEntry] = &[
    sources::SOURCES,
    health::HEALTH,
    watch::command::WATCH,
    events::EVENTS,
    ledger::LEDGER,
    policy::POLICY,
    policy::POLICY_OFF,
    policy::POLICY_ON,
    policy::POLICY_SHOW,
    cabling::CABLING,
    cabling::CABLING_EXPORT,
    report::REPORT,
    show::SHOW,
    show::SHOW_FABRIC,
    show::SHOW_SWITCHES,
    show::SHOW_HOSTS,
    show::SHOW_LINKS,
    show::SHOW_PORTS,
    show::SHOW_TABLES,
    show::SHOW_USERS,
    show::SHOW_COUNTERS,
    show::SHOW_LANES,
    show::SHOW_MODULES,
    show::SHOW_SENSORS,
    show::SHOW_ADAPTIVE,
    show::SHOW_PARTITIONS,
    show::SHOW_GROUPS,
    show::SHOW_AGGREGATION,
    show::SHOW_ROUTERS,
    show::SHOW_IBDIAGNET,
    show::SHOW_JOBS,
    trace::TRACE,
    check::CHECK,
    hotspots::HOTSPOTS,
    lanes::LANES,
    lanes::LANES_PROPOSE,
    jobs::JOBS,
    jobs::JOBS_CHANNELS,
    jobs::watch::JOBS_WATCH,
    whatif::WHATIF,
    route::ROUTE,
    plan::PLAN,
    plan::PLAN_SHOW,
    plan::PLAN_CHECK,
    plan::PLAN_DIFF,
    changes::service::DISABLE,
    changes::service::ENABLE,
    changes::apply::APPLY,
    run_command::command::RUN,
    changes::decision_commands::CONFIRM,
    changes::decision_commands::EXTEND,
    changes::decision_commands::ROLLBACK,
    changes::undo::UNDO,
    changes::decision_commands::CHANGES,
    changes::guard::GUARD,
    generate::GENERATE,
    convert::CONVERT,
    simulate::SIMULATE,
    study::group::STUDY,
    study::listing::STUDY_LIST,
    study::listing::STUDY_SHOW,
    study::run::STUDY_RUN,
    study::listing::STUDY_STATUS,
    study::table::STUDY_TABLE,
    study::plot::STUDY_PLOT,
    study::slurm::STUDY_SLURM,
    reproduce::REPRODUCE,
    record::RECORD,
    agent::AGENT,
    capture::CAPTURE,
    capture::CAPTURE_INFO,
    capture_rewrite::CAPTURE_CUT,
    export::CAPTURE_EXPORT,
    capture_rewrite::CAPTURE_ANONYMIZE,
    capture_rewrite::CAPTURE_NOTE,
    shell::COMPLETIONS,
    shell::MAN,
];

/// The command with these words.
pub fn find_command(name: &str) -> Option<&'static CommandEntry> {
    COMMANDS.iter().find(|entry| entry.name == name)
}
