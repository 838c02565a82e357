//! Lists of flows: two ends on each line, then optionally `sl=N` and `gbps=X`; `#` starts a comment. Users name such a
//! file; no folder is searched for one.

use super::FileError;
use super::opensm::{bad_line, no_content};
use super::text::Input;
use fabdeck_fabric::ServiceLevel;

/// A flow by the names of its ends, in the file's order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowLine {
    pub number: u64,
    pub from: String,
    pub to: String,
    pub level: Option<ServiceLevel>,
    pub mbps: Option<u32>,
}

pub fn read(input: Input<'_>) -> Result<Vec<FlowLine>, Box<FileError>> {
    let mut flows = Vec::new();
    for line in input.lines() {
        let line = line?;
        let text = line.text.split('#').next().unwrap_or_default().trim();
        if text.is_empty() {
            continue;
        }
        let Some(flow) = parse_flow(line.number, text) else {
            let expected = "a flow: two ends, then optionally sl=0 to 15 and gbps=X";
            return Err(bad_line(input.line_place(line.number), text, expected));
        };
        flows.push(flow);
    }
    if flows.is_empty() {
        return Err(no_content(input.name, "flow"));
    }
    Ok(flows)
}

pub(super) fn parse_flow(number: u64, text: &str) -> Option<FlowLine> {
    let mut words = text.split_whitespace();
    let (from, to) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut flow = FlowLine { number, from, to, level: None, mbps: None };
    for word in words {
        match word.split_once('=')? {
            ("sl", level) => flow.level = Some(ServiceLevel::new(level.parse().ok()?)?),
            ("gbps", rate) => {
                let mbps = rate.parse::<f64>().ok()? * 1000.0;
                flow.mbps = (1.0..=4e6).contains(&mbps).then_some(Some(mbps as u32))?;
            }
            _ => return None,
        }
    }
    Some(flow)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_two_ends_and_their_options() {
        let read = |text: &str| read(Input::new("t.flows", text.as_bytes()));
        let flows = read("# all\nn1 n5\n n2  n3 sl=1 gbps=0.5 # slow\n").unwrap();
        let fields =
            |flow: &FlowLine| (flow.from.clone(), flow.to.clone(), flow.level.map(|l| l.value()), flow.mbps);
        assert_eq!(fields(&flows[0]), ("n1".into(), "n5".into(), None, None));
        assert_eq!(fields(&flows[1]), ("n2".into(), "n3".into(), Some(1), Some(500)));
        for wrong in ["n1", "n1 n2 n3", "n1 n2 sl=16", "n1 n2 gbps=-1", "n1 n2 gbps=nan", "n1 n2 x=1"] {
            let error = read(&format!("n1 n2\n{wrong}\n")).unwrap_err();
            assert_eq!((error.code, error.place.line), ("FD-2303", Some(2)), "{wrong}");
        }
        assert_eq!(read("# none\n").unwrap_err().code, "FD-2307");
    }
}
