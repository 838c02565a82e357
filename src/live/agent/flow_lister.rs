//! Lists the open flows of this host for machines that watch the fabric. A program of the site knows them (`--flows`); a
//! simulated host says them itself.

use std::path::PathBuf;
use std::time::Duration;

use super::hook::{HookExit, HookProcess};
use fabdeck_mad::access::AddressedMad;
use fabdeck_mad::{HostFlows, Method};

/// A list holds this long; then the program runs again.
const HOLDS: Duration = Duration::from_secs(2);
const TIMEOUT: Duration = Duration::from_secs(1);
/// Queries that wait for the program; more are dropped, and their senders ask again.
const MAX_WAITING: usize = 64;

/// A flow: the LID that it goes to, and its service level.
type Flow = (u16, u8);

/// The lists of this host.
#[derive(Debug, Default)]
pub struct FlowLister {
    program: Option<PathBuf>,
    running: Option<HookProcess>,
    listed: Option<(Vec<Flow>, Duration)>,
    waiting: Vec<AddressedMad>,
    /// What went wrong the last time.
    trouble: Option<String>,
}

impl FlowLister {
    pub fn new(program: Option<PathBuf>) -> Self {
        Self { program, ..Self::default() }
    }

    /// Whether the program runs.
    pub fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// Takes a query. Without a program it gets no answer: nothing is known.
    pub fn add_query(&mut self, query: AddressedMad) {
        if self.program.is_some() && self.waiting.len() < MAX_WAITING {
            self.waiting.push(query);
        }
    }

    /// The answers that are ready, and a failure of the program unless it is the one before. A failed program leaves the
    /// queries without an answer.
    pub fn poll(&mut self, now: Duration) -> (Vec<AddressedMad>, Option<String>) {
        if self.waiting.is_empty() && self.running.is_none() {
            return (Vec::new(), None);
        }
        if let Some((flows, since)) = self.listed.as_ref().filter(|_| self.running.is_none())
            && now.saturating_sub(*since) < HOLDS
        {
            let answers = self.waiting.drain(..).map(|query| answer(query, flows)).collect();
            return (answers, None);
        }
        let listed = match (&mut self.running, &self.program) {
            (Some(running), _) => running.poll_exit().map(list_of),
            (None, Some(program)) => match HookProcess::start(program, &[], TIMEOUT) {
                Ok(running) => {
                    self.running = Some(running);
                    None
                }
                Err(error) => Some(Err(format!("cannot be started: {error}"))),
            },
            (None, None) => None,
        };
        match listed {
            None => (Vec::new(), None),
            Some(Ok(flows)) => {
                (self.running, self.trouble, self.listed) = (None, None, Some((flows, now)));
                self.poll(now)
            }
            Some(Err(trouble)) => {
                (self.running, self.listed) = (None, None);
                self.waiting.clear();
                let is_new = self.trouble.as_ref() != Some(&trouble);
                self.trouble = Some(trouble.clone());
                (Vec::new(), is_new.then_some(trouble))
            }
        }
    }
}

/// The answer to a query.
pub fn answer(mut query: AddressedMad, flows: &[Flow]) -> AddressedMad {
    let first = query.mad.header().modifier.get() as usize;
    *query.mad.host_flows_mut() = HostFlows::page(flows, first);
    query.mad.header_mut().method = Method::GET_RESPONSE.0;
    query
}

/// The list that the program printed: a line for each flow, with the LID and, if it is known, the service level.
fn list_of(exit: HookExit) -> Result<Vec<Flow>, String> {
    if let Some(trouble) = exit.trouble {
        return Err(trouble);
    }
    let mut flows = Vec::new();
    for (number, line) in exit.said.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let flow = flow_of(line).ok_or_else(|| {
            format!("line {}: '{line}' is no LID, and no LID with a service level", number + 1)
        })?;
        flows.push(flow);
    }
    Ok(flows)
}

fn flow_of(line: &str) -> Option<Flow> {
    let mut words = line.split_whitespace();
    let lid = words.next()?;
    let lid = match lid.strip_prefix("0x") {
        Some(digits) => u16::from_str_radix(digits, 16).ok()?,
        None => lid.parse().ok()?,
    };
    let level = words.next().map_or(Some(0), |word| word.parse().ok())?;
    (fabdeck_fabric::Lid::new(lid.into()).is_some() && level < 16 && words.next().is_none())
        .then_some((lid, level))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_mad::Mad;
    use fabdeck_mad::access::MadAddress;

    fn exit(said: &str) -> HookExit {
        HookExit { trouble: None, said: said.to_owned(), took: Duration::ZERO }
    }

    fn query(first: u32) -> AddressedMad {
        let mad = Mad::query_flows(first);
        let lid = fabdeck_fabric::Lid::new(9).unwrap();
        AddressedMad { address: MadAddress::for_class(lid, mad.class()), mad }
    }

    fn run(script: &str) -> (Vec<AddressedMad>, Option<String>) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("flows");
        std::fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
        let mut lister = FlowLister::new(Some(file));
        lister.add_query(query(0));
        loop {
            let found = lister.poll(Duration::from_secs(7));
            if !lister.is_running() {
                return found;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn lines_are_lids_with_service_levels() {
        let flows = list_of(exit("# to\n17\n0x12 3   # storage\n\n"));
        assert_eq!(flows, Ok(vec![(17, 0), (18, 3)]));
        for wrong in ["0", "x", "17 16", "17 3 4", "0xC000", "17;"] {
            let why = list_of(exit(&format!("5\n{wrong}"))).unwrap_err();
            assert!(why.starts_with("line 2: "), "{why}");
        }
    }

    #[test]
    fn queries_are_answered_when_the_program_has_ended() {
        let (answers, trouble) = run("echo 17; echo 18");
        assert_eq!((answers.len(), trouble), (1, None));
        let page = answers[0].mad.host_flows();
        let lids: Vec<u16> = page.entries().iter().map(|flow| flow.lid.get()).collect();
        assert_eq!((lids, answers[0].mad.method()), (vec![17, 18], Method::GET_RESPONSE));
    }

    #[test]
    fn a_program_that_fails_answers_nothing() {
        let (answers, trouble) = run("echo 17; exit 3");
        assert!(answers.is_empty() && trouble.unwrap().contains('3'));
        let mut without = FlowLister::new(None);
        without.add_query(query(0));
        assert_eq!(without.poll(Duration::ZERO), (Vec::new(), None));
    }
}
