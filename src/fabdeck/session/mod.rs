//! The answers about a fabric: fields, filters, rows, traces, certificates, plans and the command table. The
//! console and the script mode share them; nothing here draws or prints.

mod assume;
mod browse;
mod changes;
mod check;
mod commands;
mod field;
mod filter;
mod hotspots;
pub mod interactive;
mod job_table;
mod jobs;
mod judged_plan;
mod lanes;
mod loads;
mod look;
mod migrations;
mod news;
mod passage;
mod phases;
mod preview;
mod proposals;
mod query;
mod recorded_jobs;
mod rowset;
mod service;
mod slow_lanes;
mod summary;
mod trace;
mod trace_ends;
mod traffic;
mod value;
mod views;
mod weighed;
mod weighed_jobs;
mod whatif;
mod wording;
mod written_plan;

pub use assume::{assume, assume_lids};
pub use browse::Browse;
pub use changes::{
    ChangeRow, change_progress, change_words, countdown, day_and_time, phase_of_five_words, seconds_left,
    silent_words, span_words, time_of_day, until_words, waits_words,
};
pub use check::{Balance, ByCause, ByKind, Lost, Report, check, report};
pub use commands::{COMMANDS, Command, Danger, Needs, command};
pub use fabdeck_fabric::observe::digits_in_groups;
pub use field::{Column, Field, Listing, Rows};
pub use filter::{Filter, FilterError, typed_guid};
pub use hotspots::{Watched, role_word, watched_lines};
pub use job_table::JobTable;
pub use jobs::{JUDGED_LIDS, JobSeen, JobTotals, MissingHost, jobs_seen, note_judged_lids};
pub use judged_plan::{
    Ahead, DriftReport, Failed, Fit, Judged, Stale, ahead, check_behind, failed, fit, judge, named_now,
};
pub use lanes::{Capped, LEVEL_ASSUMED, Sent, capped, check_in_force};
pub use loads::{
    JobFigures, JobGain, JobReport, LoadReport, LoadsWanted, Running, job_figures, job_figures_in_force,
    loads,
};
pub use look::Look;
pub use migrations::{DFTREE, UnmigratedPlan, migration_lines, migration_plan, moved_by};
pub use news::{NEWS_WORDS, news_label, news_lines, news_text, news_word, producer_word, trap_name};
pub(crate) use news::{end_name, manager_port, node_name, weights_words};
pub use phases::{Half, Unphased, leaving, phase_lines, plan_of_half};
pub use preview::Preview;
pub use proposals::Proposals;
pub use query::{Columns, Query, QueryError, Selection};
pub use recorded_jobs::RecordedJobs;
pub use rowset::Rowset;
pub use service::{Service, UnservedPlan, service_element, service_plan};
pub use slow_lanes::{
    LaneFlow, LaneSpot, LaneStanding, LaneState, LaneTable, TableStanding, Unmoved, lane_state,
};
pub use summary::{Summary, counted, devices};
pub use trace::{Ending, Hop, LidChoice, Trace, TraceError, Traced, endpoint};
pub use trace_ends::{TraceEnds, trace_ends};
pub use traffic::{
    Course, DeadlockFound, Ended, FlowRate, HostRate, TrafficAsked, TrafficReport, flow_between, simulate,
};
pub use value::{Kind, Value, natural_order, rate_in_millions};
pub use views::{
    Cable, ChangeRows, FlowRows, HISTORIES, HOT_FIELDS, HotPort, HotRole, JobChannel, JobChannelRows,
    JobGains, JobRows, JobThen, SPARK, Spark, TableRows, UNTOLD, User, change_in_hundred, entries,
    errors_by_port, follows_word, fresh_counters, job_channels, levels_word, links, printed_of_jobs,
    standing_word, steps, unplaced_counters, user_rows, users,
};
pub use weighed::NO_TABLES;
pub use weighed_jobs::{JobsOver, MADE_SEED, WeighedJobs, made_jobs};
pub use whatif::{
    Asked, Comparison, Cost, EngineRow, Proposal, Took, cost, drawn_words, judged, mark_random, marks,
    propose, supposed_words,
};
pub use wording::{
    adaptive_words, group_names, groups_line, job_figures_words, lost_words, paired, report_lines,
    undecided_finding, wrap,
};
pub use written_plan::{Made, UnwrittenPlan, plan_of, plan_text, settled};
