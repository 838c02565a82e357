//! Exit codes: one table for the process, the docs and the man page.

/// Outcome of a command.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Exit {
    Done,
    Failed,
    Findings,
    Stale,
    Refused,
    RolledBack,
    RollbackIncomplete,
    BadInput,
    Unreachable,
    Usage,
    Bug,
    Hangup,
    Interrupted,
    Terminated,
}

impl Exit {
    pub const ALL: &[Self] = &[
        Self::Done,
        Self::Failed,
        Self::Findings,
        Self::Stale,
        Self::Refused,
        Self::RolledBack,
        Self::RollbackIncomplete,
        Self::BadInput,
        Self::Unreachable,
        Self::Usage,
        Self::Bug,
        Self::Hangup,
        Self::Interrupted,
        Self::Terminated,
    ];

    /// Code, name and meaning of the outcome.
    const fn row(self) -> (u8, &'static str, &'static str) {
        match self {
            Self::Done => {
                (0, "done", "done, without findings; also when the reader of a pipe closes the pipe")
            }
            Self::Failed => (
                1,
                "failed",
                "failed for a reason that has no code of its own; of `health --format nagios`: warnings",
            ),
            Self::Findings => (
                2,
                "findings",
                "findings, or a partial answer under `--strict`. Findings: a problem of `health`, or a change there that is \
                 beyond its deadline; a defect reported by `check`, `hotspots` or `plan check`, for an engine of `whatif`, or \
                 for a plan of `route`, `lanes propose`, `disable`, `enable` or `undo`; tables that `lanes` finds different from what slow lanes need; moves of `lanes propose` \
                 without -o; no engine of `whatif` found routes; `plan diff` differs; `trace` found no path; \
                 `simulate` ended in a deadlock; a row of `reproduce` that must hold does not; a guard or expectation stopped a runbook",
            ),
            Self::Stale => (
                3,
                "stale",
                "a plan is stale, or the fabric drifted from it; `changes --verify`: a confirmed change no longer stands; \
                 `health --format nagios`: the fabric could not be checked",
            ),
            Self::Refused => (
                4,
                "refused",
                "refused: writing is not permitted, another change is pending, another process has the lock, a \
                 finding is not accepted, or the question was not answered with yes",
            ),
            Self::RolledBack => (5, "rolled-back", "applied, not confirmed, rolled back"),
            Self::RollbackIncomplete => (
                6,
                "rollback-incomplete",
                "rollback incomplete, or an overdue change that nothing rolls back: a person is needed",
            ),
            Self::BadInput => (7, "bad-input", "bad input file, with file, line or offset and reason"),
            Self::Unreachable => (
                8,
                "unreachable",
                "source not reachable, or timed out; `changes --verify`: a switch that a change wrote does not answer; `study`: its \
                 folder cannot be read or written",
            ),
            Self::Usage => (64, "usage", "the command line is wrong, and nothing was done"),
            Self::Bug => (101, "bug", "a bug in fabdeck; the message says what to report"),
            Self::Hangup => (129, "hangup", "ended by SIGHUP"),
            Self::Interrupted => (130, "interrupted", "ended by SIGINT"),
            Self::Terminated => (143, "terminated", "ended by SIGTERM"),
        }
    }

    pub const fn code(self) -> u8 {
        self.row().0
    }

    pub const fn name(self) -> &'static str {
        self.row().1
    }

    pub const fn meaning(self) -> &'static str {
        self.row().2
    }
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
