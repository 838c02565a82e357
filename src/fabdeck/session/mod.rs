//! The answers about a fabric: fields, filters, rows, traces, certificates, plans and the command table. The
//! console and the script mode share them; nothing here draws or prints.

mod assume;
mod certificate_text;
mod change_row;
mod check;
mod commands;
mod comparison;
mod fabric_events;
mod field;
mod filter;
mod hotspots;
pub mod interactive;
mod job_comparison;
mod job_table;
mod jobs;
mod lanes;
mod link_service;
mod loads;
mod migrations;
mod phases;
mod plan_verdict;
mod preview;
mod proposal_plan;
mod proposals;
mod query;
mod recorded_jobs;
mod rowset;
mod slow_lanes;
mod snapshot;
mod summary;
mod trace;
mod trace_ends;
mod traffic;
mod transition;
mod value;
mod view_id;
mod views;
mod whatif;

pub use assume::{assume, assume_lids};
pub use certificate_text::{
    adaptive_words, group_names, groups_line, job_figures_words, lost_words, report_lines, undecided_finding,
    wrap_pairs, wrap_text,
};
pub use change_row::{
    ChangeRow, change_progress, change_words, countdown, day_and_time, deadline_words, phase_of_five_words,
    seconds_left, silent_words, span_words, time_of_day, waiting_words,
};
pub use check::{
    CertificateReport, LoadBalance, PairsByCause, PairsByKind, UnreachablePair, certificate_report, check,
};
pub use commands::{COMMANDS, Command, Danger, Requirement, command};
pub use comparison::NO_TABLES;
pub use fabdeck_fabric::observe::digits_in_groups;
pub use fabric_events::{
    FABRIC_EVENT_WORDS, fabric_event_label, fabric_event_lines, fabric_event_text, fabric_event_word,
    producer_word, trap_name,
};
pub(crate) use fabric_events::{end_name, manager_port, node_name, weights_words};
pub use field::{Column, Field, Listing, Rows};
pub use filter::{Filter, FilterError, parse_typed_guid};
pub use hotspots::{IntervalVerdict, role_word, verdict_lines};
pub use job_comparison::{JobComparison, JobsUnderRoutes, SIMULATED_JOBS_SEED, simulated_jobs};
pub use job_table::JobTable;
pub use jobs::{JUDGED_LIDS, JobSummary, JobTotals, MissingHost, note_judged_lids, summarize_jobs};
pub use lanes::{CappedRequest, LEVEL_ASSUMED, LevelsInForce, cap_request, check_in_force};
pub use link_service::{LinkService, ServicePlanError, find_service_element, service_plan};
pub use loads::{
    JobFigures, JobGain, JobReport, LoadOptions, LoadReport, RunningJobs, compute_loads, job_figures,
    job_figures_in_force,
};
pub use migrations::{DFTREE, MigrationPlanError, migration_lines, migration_plan, moved_flows};
pub use phases::{LidHalf, PhasedPlanError, leaving_lids, phase_lines, plan_half};
pub use plan_verdict::{
    DriftReport, ExcludedElement, PlanFit, PlanVerdict, RemainingDifference, StalePlan, check_after_change,
    check_plan_fit, current_node_name, excluded_elements, judge_plan, remaining_difference,
};
pub use preview::Preview;
pub use proposal_plan::{PlanCreationError, PlanOrigin, make_plan, plan_text, settle_proposal};
pub use proposals::Proposals;
pub use query::{Columns, Query, QueryError, Selection};
pub use recorded_jobs::RecordedJobs;
pub use rowset::Rowset;
pub use slow_lanes::{
    LaneFlow, LaneSpot, LaneState, LaneStatus, LaneTable, MovePlanError, TableStatus, lane_state,
};
pub use snapshot::Snapshot;
pub use summary::{FabricSummary, count_words, device_words, nothing_to_do};
pub use trace::{LidChoice, Trace, TraceEndpoint, TraceError, TraceHop, TraceOutcome, parse_endpoint};
pub use trace_ends::{TraceEnds, parse_trace_ends};
pub use traffic::{
    DeadlockReport, FlowRate, HostRate, TrafficOptions, TrafficReport, TrafficRoutes, TrafficRunEnd,
    flow_between, simulate,
};
pub use value::{FieldKind, Value, natural_order, rate_in_millions};
pub use view_id::ViewId;
pub use views::{
    Cable, ChangeRows, FlowRows, HISTORIES, HOT_FIELDS, HotPort, HotRole, JobChannel, JobChannelRows,
    JobGainRows, JobRows, LinkUser, ProposedJob, SPARK, Spark, TableRows, UNKNOWN_LEVEL, entries,
    errors_by_port, follows_word, fresh_counters, is_printed_by_jobs, job_channels, level_digits,
    levels_word, link_user_rows, link_users, links, percent_change, table_status_word, unplaced_counters,
};
pub use whatif::{
    Cost, EngineComparison, EngineRow, Proposal, ProposalOptions, ProposalTimes, cut_off_words, drawn_words,
    judge_routes, mark_cost, mark_random, parse_marks, propose, supposed_words,
};
