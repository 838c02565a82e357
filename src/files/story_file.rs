//! Stories of a simulated fabric: a line for each event, with a time and what happens then. Lines without a time set
//! parameters of the hardware; `#` starts a comment. Users name such a file; no folder is searched for one.

use std::time::Duration;

use super::FileError;
use super::flows::{FlowLine, parse_flow};
use super::opensm::{bad_line, no_content};
use super::text::Input;
use fabdeck_fabric::LinkWidth;

/// An event, with names of nodes and ports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoryAction {
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
    /// The subnet manager ends, or is started again.
    Manager { runs: bool },
    /// The subnet manager reroutes over the links that are up, with this engine.
    Route { engine: String },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoryEvent {
    pub number: u64,
    pub at: Duration,
    pub what: StoryAction,
}

/// Events sorted by time, then by their order in the file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Story {
    pub events: Vec<StoryEvent>,
    /// Most that hosts and switches can send, in Mb/s.
    pub host_limit_mbps: Option<u32>,
    pub switch_limit_mbps: Option<u32>,
    /// Size of an input buffer, in bytes.
    pub buffer: Option<u32>,
}

const EXPECTED: &str = "a time (30s, 500ms or 2m) followed by flow FROM TO [sl=N] [gbps=X], stop FROM TO, down PORT, up PORT, \
                     width PORT 1x, errors PORT N, silent NODE, answers NODE, manager stops, manager starts or route [ENGINE]; or host-limit, switch-limit \
                     (Gb/s) or buffer (bytes) and a number";

pub fn read(input: Input<'_>) -> Result<Story, Box<FileError>> {
    let mut story = Story::default();
    for line in input.lines() {
        let line = line?;
        let text = line.text.split('#').next().unwrap_or_default().trim();
        if text.is_empty() {
            continue;
        }
        if read_hardware(&mut story, text).is_none() {
            let event = parse_event(line.number, text);
            let event = event.ok_or_else(|| bad_line(input.line_place(line.number), text, EXPECTED))?;
            story.events.push(event);
        }
    }
    if story.events.is_empty() {
        return Err(no_content(input.name, "event"));
    }
    story.events.sort_by_key(|event| event.at);
    Ok(story)
}

fn read_hardware(story: &mut Story, text: &str) -> Option<()> {
    let (what, value) = text.split_once(char::is_whitespace)?;
    match what {
        "host-limit" => story.host_limit_mbps = Some(parse_mbps(value)?),
        "switch-limit" => story.switch_limit_mbps = Some(parse_mbps(value)?),
        "buffer" => story.buffer = Some(value.trim().parse().ok().filter(|bytes| *bytes > 0)?),
        _ => return None,
    }
    Some(())
}

fn parse_mbps(gbps: &str) -> Option<u32> {
    let mbps = gbps.trim().parse::<f64>().ok()? * 1000.0;
    (1.0..=4e6).contains(&mbps).then_some(mbps as u32)
}

fn parse_event(number: u64, text: &str) -> Option<StoryEvent> {
    let (at, rest) = text.split_once(char::is_whitespace)?;
    let (what, more) = rest.trim().split_once(char::is_whitespace).unwrap_or((rest.trim(), ""));
    let words: Vec<&str> = more.split_whitespace().collect();
    let what = match (what, words.as_slice()) {
        ("flow", _) => StoryAction::Flow(parse_flow(number, more)?),
        ("stop", [from, to]) => StoryAction::Stop { from: (*from).to_owned(), to: (*to).to_owned() },
        ("down" | "up", [port]) => StoryAction::Link { port: (*port).to_owned(), up: what == "up" },
        ("width", [port, width]) => {
            StoryAction::Width { port: (*port).to_owned(), width: LinkWidth::from_word(width)? }
        }
        ("errors", [port, number]) => {
            StoryAction::Errors { port: (*port).to_owned(), per_minute: number.parse().ok()? }
        }
        ("silent" | "answers", [node]) => {
            StoryAction::Answers { node: (*node).to_owned(), again: what == "answers" }
        }
        ("manager", [then @ ("stops" | "starts")]) => StoryAction::Manager { runs: *then == "starts" },
        ("route", []) => StoryAction::Route { engine: "minhop".to_owned() },
        ("route", [engine]) => StoryAction::Route { engine: (*engine).to_owned() },
        _ => return None,
    };
    Some(StoryEvent { number, at: parse_time(at)?, what })
}

/// Reads a time of at most a day.
fn parse_time(text: &str) -> Option<Duration> {
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

    fn parse(text: &str) -> Result<Story, Box<FileError>> {
        read(Input::new("t.story", text.as_bytes()))
    }

    #[test]
    fn a_line_is_a_time_and_an_event() {
        let story = parse(
            "# all\nhost-limit 12.9\nbuffer 2100 # a packet\n2m route\n500ms down leaf/5\n0s flow n1 n2 sl=1 gbps=0.5\n1s errors a/1 60\n3m manager stops\n",
        )
        .unwrap();
        assert_eq!(
            (story.host_limit_mbps, story.buffer, story.switch_limit_mbps),
            (Some(12_900), Some(2100), None)
        );
        let millis: Vec<u128> = story.events.iter().map(|event| event.at.as_millis()).collect();
        assert_eq!(millis, [0, 500, 1_000, 120_000, 180_000]);
        assert_eq!(story.events[4].what, StoryAction::Manager { runs: false });
        assert_eq!(story.events[1].what, StoryAction::Link { port: "leaf/5".into(), up: false });
        let StoryAction::Flow(flow) = &story.events[0].what else { panic!("{story:?}") };
        assert_eq!((flow.from.as_str(), flow.to.as_str(), flow.mbps), ("n1", "n2", Some(500)));
    }

    #[test]
    fn bad_events_are_refused_by_their_line() {
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
            "5s manager",
            "5s manager sleeps",
            "5s explode a",
            "down a/1",
            "buffer 0",
            "buffer",
            "host-limit nan",
            "5s",
        ] {
            let error = parse(&format!("0s route\n{wrong}\n")).unwrap_err();
            assert_eq!((error.code, error.place.line), ("FD-2303", Some(2)), "{wrong}");
        }
        assert_eq!(parse("# none\nbuffer 100\n").unwrap_err().code, "FD-2307");
    }
}
