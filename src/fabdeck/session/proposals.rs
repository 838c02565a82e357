//! What engines made of marks, kept while marks come and go: marks that return need no engine, and others begin from
//! what is there.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Look;
use super::whatif::{Asked, Proposal, Took, propose_again};
use fabdeck_fabric::{Faults, Tables};
use fabdeck_routing::{Engine, Past, Pulse, Ran, Refusal, Request};

/// Bytes of tables that are kept at the most, but for the proposal that was asked for last.
const ROOM: usize = 256 << 20;
const MOST: usize = 64;

#[derive(Debug)]
struct Made {
    engine: &'static str,
    marks: Faults,
    request: Request,
    switches: bool,
    proposal: Arc<Proposal>,
}

/// Of one look and the tables in force there.
#[derive(Debug, Default)]
pub struct Proposals {
    /// What was asked for last stands last.
    made: Vec<Made>,
    /// The last run of each engine that can begin from one.
    past: BTreeMap<&'static str, Past>,
}

impl Proposals {
    /// As `propose`. What is asked beside the request is of the look, and the same for all proposals kept here.
    pub fn propose(
        &mut self,
        (look, tables): (&Look, &Tables),
        marks: &Faults,
        engine: &'static Engine,
        asked: Asked<'_>,
        pulse: &dyn Pulse,
    ) -> Result<Arc<Proposal>, Refusal> {
        let Asked { request, switches, .. } = asked;
        let same = |made: &Made| {
            (made.engine, made.switches) == (engine.id, switches)
                && made.marks == *marks
                && made.request == *request
        };
        if let Some(at) = self.made.iter().position(same) {
            let made = self.made.remove(at);
            let again = Proposal { ran: Ran::Kept, took: Took::default(), ..made.proposal.as_ref().clone() };
            self.made.push(made);
            return Ok(Arc::new(again));
        }
        let run = (engine, self.past.get(engine.id));
        let (proposal, past) = propose_again((look, tables), marks, run, asked, pulse)?;
        if let Some(past) = past {
            self.past.insert(engine.id, past);
        }
        let proposal = Arc::new(proposal);
        self.made.push(Made {
            engine: engine.id,
            marks: marks.clone(),
            request: request.clone(),
            switches,
            proposal: proposal.clone(),
        });
        self.make_room();
        Ok(proposal)
    }

    fn make_room(&mut self) {
        let mut room = ROOM;
        let mut kept = 0;
        for made in self.made.iter().rev().take(MOST) {
            let bytes = made.proposal.routes.bytes();
            if kept > 0 && bytes > room {
                break;
            }
            room = room.saturating_sub(bytes);
            kept += 1;
        }
        self.made.drain(..self.made.len() - kept);
    }
}
