//! The events of `jobs watch`, printed one a line.

use jiff::Zoned;
use serde::Serialize;

use crate::catalogue::failure::Failure;
use crate::operations::jobs::watch_event::{JobWatchEvent, JobWatchFrontEnd, MissingCounts};
use crate::operations::operation::Operation;
use crate::script::context::Context;

#[derive(Serialize)]
struct EventLine<'e> {
    schema: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<String>,
    #[serde(flatten)]
    event: &'e JobWatchEvent,
    #[serde(flatten)]
    missing: Option<MissingCounts>,
}

impl JobWatchFrontEnd for Context<'_, '_> {
    fn operation(&mut self) -> Operation<'_> {
        Context::operation(self)
    }

    /// Prints an event as a line at once, because the reader waits for it.
    fn report_event(&mut self, event: &JobWatchEvent, missing: Option<MissingCounts>) -> Result<(), Failure> {
        let now = Zoned::now();
        let times = !self.options.no_times;
        let output = &mut self.output;
        if output.json {
            let time = times.then(|| now.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string());
            let line = EventLine { schema: "fabdeck.jobs-watch/1", time, event, missing };
            crate::script::json::write_json(&mut *output.out, &line)?;
            writeln!(output.out)?;
        } else {
            if times {
                write!(output.out, "{} ", now.strftime("%H:%M:%S"))?;
            }
            let missing = missing.map(|missing| missing.to_string()).unwrap_or_default();
            writeln!(output.out, "{event}{missing}")?;
        }
        Ok(output.out.flush()?)
    }
}
