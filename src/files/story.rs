//! Stories of a simulated fabric: a line for each event, with a time and what happens then. Lines without a time set
//! parameters of the hardware; `#` starts a comment. Users name such a file; no folder is searched for one.

use std::time::Duration;

use super::FileError;
use super::flows::{FlowLine, flow};
use super::opensm::{bad_line, nothing};
use super::text::Input;
use fabdeck_fabric::LinkWidth;

/// An event, with names of nodes and ports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Happens {
    /// A flow begins; without a rate it sends as much as possible.
    Flow(FlowLine),
    /// A flow ends.
    Stop { from: String, to: String },
    /// A link goes down or comes up.
    Link { port: String, up: bool },
    /// A link changes to this width.
    Width { port: String, width: LinkWidth },
    /// A port counts this many symbol errors a minute.
    Errors { port: String, per_minute: u32 },
    /// A node becomes silent, or answers again.
    Answers { node: String, again: bool },
    /// The subnet manager reroutes over the links that are up, with this engine.
    Route { engine: String },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    pub number: u64,
    pub at: Duration,
    pub what: Happens,
}

/// Events sorted by time, then by their order in the file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Story {
    pub events: Vec<Event>,
    /// Most that hosts and switches can send, in Mb/s.
    pub host_limit_mbps: Option<u32>,
    pub switch_limit_mbps: Option<u32>,
    /// Size of an input buffer, in bytes.
    pub buffer: Option<u32>,
}

const MEANT: &str = "a time as 30s, 500ms or 2m and then flow FROM TO [sl=N] [gbps=X], stop FROM TO, down PORT, up PORT, \
                     width PORT 1x, errors PORT N, silent NODE, answers NODE or route [ENGINE]; or host-limit, switch-limit \
                     (Gb/s) or buffer (bytes) and a number";

pub fn read(input: Input<'_>) -> Result<Story, Box<FileError>> {
    let mut story = Story::default();
    for line in input.lines() {
        let line = line?;
        let text = line.text.split('#').next().unwrap_or_default().trim();
        if text.is_empty() {
            continue;
        }
        if hardware(&mut story, text).is_none() {
            let event = event(line.number, text);
            let event = event.ok_or_else(|| bad_line(input.place(line.number), text, MEANT))?;
            story.events.push(event);
        }
    }
    if story.events.is_empty() {
        return Err(nothing(input.name, "event"));
    }
    story.events.sort_by_key(|event| event.at);
    Ok(story)
}

fn hardware(story: &mut Story, text: &str) -> Option<()> {
    let (what, value) = text.split_once(char::is_whitespace)?;
    match what {
        "host-limit" => story.host_limit_mbps = Some(mbps(value)?),
        "switch-limit" => story.switch_limit_mbps = Some(mbps(value)?),
        "buffer" => story.buffer = Some(value.trim().parse().ok().filter(|bytes| *bytes > 0)?),
        _ => return None,
    }
    Some(())
}

fn mbps(gbps: &str) -> Option<u32> {
    let mbps = gbps.trim().parse::<f64>().ok()? * 1000.0;
    (1.0..=4e6).contains(&mbps).then_some(mbps as u32)
}

fn event(number: u64, text: &str) -> Option<Event> {
    let (at, rest) = text.split_once(char::is_whitespace)?;
    let (what, more) = rest.trim().split_once(char::is_whitespace).unwrap_or((rest.trim(), ""));
    let words: Vec<&str> = more.split_whitespace().collect();
    let what = match (what, words.as_slice()) {
        ("flow", _) => Happens::Flow(flow(number, more)?),
        ("stop", [from, to]) => Happens::Stop { from: (*from).to_owned(), to: (*to).to_owned() },
        ("down" | "up", [port]) => Happens::Link { port: (*port).to_owned(), up: what == "up" },
        ("width", [port, width]) => {
            Happens::Width { port: (*port).to_owned(), width: LinkWidth::from_word(width)? }
        }
        ("errors", [port, number]) => {
            Happens::Errors { port: (*port).to_owned(), per_minute: number.parse().ok()? }
        }
        ("silent" | "answers", [node]) => {
            Happens::Answers { node: (*node).to_owned(), again: what == "answers" }
        }
        ("route", []) => Happens::Route { engine: "minhop".to_owned() },
        ("route", [engine]) => Happens::Route { engine: (*engine).to_owned() },
        _ => return None,
    };
    Some(Event { number, at: time(at)?, what })
}

/// Reads a time of at most a day.
fn time(text: &str) -> Option<Duration> {
    let unit = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(unit);
    let number: u64 = number.parse().ok()?;
    let millis = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        _ => return None,
    };
    number.checked_mul(millis).filter(|millis| *millis <= 86_400_000).map(Duration::from_millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Result<Story, Box<FileError>> {
        read(Input::new("t.story", text.as_bytes()))
    }

    #[test]
    fn a_line_is_a_time_and_what_happens_then() {
        let story = told(
            "# all\nhost-limit 12.9\nbuffer 2100 # a packet\n2m route\n500ms down leaf/5\n0s flow n1 n2 sl=1 gbps=0.5\n1s errors a/1 60\n",
        )
        .unwrap();
        assert_eq!(
            (story.host_limit_mbps, story.buffer, story.switch_limit_mbps),
            (Some(12_900), Some(2100), None)
        );
        let millis: Vec<u128> = story.events.iter().map(|event| event.at.as_millis()).collect();
        assert_eq!(millis, [0, 500, 1_000, 120_000]);
        assert_eq!(story.events[1].what, Happens::Link { port: "leaf/5".into(), up: false });
        let Happens::Flow(flow) = &story.events[0].what else { panic!("{story:?}") };
        assert_eq!((flow.from.as_str(), flow.to.as_str(), flow.mbps), ("n1", "n2", Some(500)));
    }

    #[test]
    fn what_is_no_event_is_refused_by_its_line() {
        for wrong in [
            "5 down a/1",
            "5s down",
            "5s down a b",
            "s down a/1",
            "5h down a/1",
            "99999999m down a/1",
            "5s flow a",
            "5s width a/1 3x",
            "5s errors a/1 many",
            "5s explode a",
            "down a/1",
            "buffer 0",
            "buffer",
            "host-limit nan",
            "5s",
        ] {
            let error = told(&format!("0s route\n{wrong}\n")).unwrap_err();
            assert_eq!((error.code, error.place.line), ("FD-2303", Some(2)), "{wrong}");
        }
        assert_eq!(told("# none\nbuffer 100\n").unwrap_err().code, "FD-2307");
    }
}
