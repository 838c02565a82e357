//! The two observations behind a verdict on counters, and their times.

use jiff::Zoned;

use crate::catalogue::snapshot::Snapshot;
use fabdeck_fabric::observe::Sweep;

/// Time of a sweep.
#[derive(Clone)]
pub enum SweepMoment {
    /// Time of the recording's clock, or of this machine's.
    Clock(String),
    /// Seconds of a simulator's own time.
    Simulated(f64),
    Unknown,
}

impl SweepMoment {
    /// Time of the sweep that was just read.
    pub fn of(snapshot: &Snapshot, sweep: &Sweep) -> Self {
        match (&snapshot.observation.time, &snapshot.observation.reading) {
            (Some(time), _) => Self::Clock(time.clone()),
            (None, Some(reading)) if reading.virtual_time => Self::Simulated(sweep.began.as_secs_f64()),
            (None, Some(_)) => {
                let began = Zoned::now().checked_sub(sweep.took);
                began.map_or(Self::Unknown, |time| {
                    Self::Clock(time.strftime("%Y-%m-%dT%H:%M:%S%.3f%:z").to_string())
                })
            }
            (None, None) => Self::Unknown,
        }
    }

    pub fn words(&self) -> Option<String> {
        match self {
            Self::Clock(time) => Some(time.clone()),
            Self::Simulated(seconds) => Some(format!("{seconds:.1} s")),
            Self::Unknown => None,
        }
    }

    pub fn clock(&self) -> Option<String> {
        self.words().filter(|_| matches!(self, Self::Clock(_)))
    }
}

/// The two observations behind a verdict.
pub enum VerdictBasis {
    /// Two sweeps, and the start of the time over which links are judged, if that time is longer.
    Sweeps { from: SweepMoment, to: SweepMoment, since: Option<LinksSince> },
    /// Two files.
    Files(String, String),
    /// Growth that the source states, and whether it states the duration too.
    Growth { stated: bool },
}

/// Start of the time over which links are judged.
pub enum LinksSince {
    /// The first of the requested sweeps.
    First(SweepMoment),
    /// An earlier sweep of a recording, with its time.
    Recorded(String),
}

impl LinksSince {
    pub fn words(&self) -> String {
        match self {
            Self::First(first) => {
                first.words().map_or("the first sweep".to_owned(), |at| format!("{at}, the first sweep"))
            }
            Self::Recorded(time) => format!("{time}, an earlier sweep of the capture"),
        }
    }

    pub fn clock(&self) -> Option<String> {
        match self {
            Self::First(first) => first.clock(),
            Self::Recorded(time) => Some(time.clone()),
        }
    }
}

impl VerdictBasis {
    pub fn line(&self, seconds: f64) -> (&'static str, String) {
        let words = match self {
            Self::Files(before, after) => {
                format!("the counters in {before} to those in {after}, {seconds:.1} s later (--seconds)")
            }
            Self::Growth { stated } => {
                let time = if *stated { "from --pm_pause_time" } else { "ibdiagnet's default pause" };
                format!("the growth in PM_DELTA, over {seconds:.0} s, {time}")
            }
            Self::Sweeps { from, to, since } => {
                let own = if matches!(from, SweepMoment::Simulated(_)) { " of simulated time" } else { "" };
                let between = match from.words().zip(to.words()) {
                    Some((from, to)) => format!("{from} to {to}{own}, the starts of two sweeps"),
                    None => format!("one sweep to another, {seconds:.1} s later"),
                };
                match since {
                    Some(since) => format!("{between}; links since {}", since.words()),
                    None => between,
                }
            }
        };
        ("from", words)
    }

    /// Times of both sweeps and of the start for links, as far as a clock is known.
    pub fn clocks(&self) -> [Option<String>; 3] {
        match self {
            Self::Sweeps { from, to, since } => {
                [from.clock(), to.clock(), since.as_ref().and_then(LinksSince::clock)]
            }
            Self::Files(..) | Self::Growth { .. } => [None, None, None],
        }
    }
}
