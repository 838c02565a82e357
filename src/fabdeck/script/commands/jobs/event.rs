//! The events of `jobs watch`, printed one a line.

use jiff::Zoned;
use serde::Serialize;

use crate::catalogue::failure::Failure;
use crate::operations::jobs::watch_event::{JobWatchEvent, JobWatchFrontEnd, MissingCounts};
use crate::operations::operation::Operation;
use crate::script::context::Context;
use crate::script::event_line::EventFormat;

/// An event with what its list lacks.
#[derive(Serialize)]
struct CountedEvent<'e> {
    #[serde(flatten)]
    event: &'e JobWatchEvent,
    #[serde(flatten)]
    missing: Option<MissingCounts>,
}

impl JobWatchFrontEnd for Context<'_, '_> {
    fn operation(&mut self) -> Operation<'_> {
        Context::operation(self)
    }

    fn report_event(&mut self, event: &JobWatchEvent, missing: Option<MissingCounts>) -> Result<(), Failure> {
        let format = EventFormat {
            schema: "fabdeck.jobs-watch/1",
            json: self.output.json,
            times: !self.options.no_times,
        };
        let counts = missing.as_ref().map(ToString::to_string).unwrap_or_default();
        let words = format!("{event}{counts}");
        Ok(format.write(self.output.out, &Zoned::now(), &CountedEvent { event, missing }, words)?)
    }
}
