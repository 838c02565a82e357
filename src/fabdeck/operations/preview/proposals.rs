//! A cache of proposals. Marks that return need no new engine run, and other marks start from a previous run.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::whatif::{
    IncrementalProposal, MarkedFabric, Proposal, ProposalOptions, ProposalTimes, propose_incremental,
};
use fabdeck_fabric::Faults;
use fabdeck_routing::{Engine, EngineRefusal, PreviousRun, Request, RouteProgress, RunExtent};

/// Maximum size of the cached tables, in bytes; the newest proposal always stays. The next constant limits
/// the number of proposals.
const MAX_TABLE_BYTES: usize = 256 << 20;
const MAX_PROPOSALS: usize = 64;

#[derive(Debug)]
struct StoredProposal {
    engine: &'static str,
    marks: Faults,
    request: Request,
    switches: bool,
    proposal: Arc<Proposal>,
}

/// Proposals for one snapshot and its tables in force.
#[derive(Debug, Default)]
pub struct Proposals {
    /// Cached proposals, with the most recently used one last.
    made: Vec<StoredProposal>,
    /// The last run of each engine that supports incremental reroutes.
    past: BTreeMap<&'static str, PreviousRun>,
}

impl Proposals {
    /// Returns a cached proposal, or computes it. Options outside the request depend on the snapshot alone,
    /// so cached proposals share them.
    pub fn propose(
        &mut self,
        fabric: MarkedFabric<'_>,
        engine: &'static Engine,
        asked: ProposalOptions<'_>,
        pulse: &dyn RouteProgress,
    ) -> Result<Arc<Proposal>, EngineRefusal> {
        let (ProposalOptions { request, switches, .. }, marks) = (asked, fabric.faults);
        let same = |made: &StoredProposal| {
            (made.engine, made.switches) == (engine.id, switches)
                && made.marks == *marks
                && made.request == *request
        };
        if let Some(at) = self.made.iter().position(same) {
            let made = self.made.remove(at);
            let again = Proposal {
                ran: RunExtent::Kept,
                took: ProposalTimes::default(),
                ..made.proposal.as_ref().clone()
            };
            self.made.push(made);
            return Ok(Arc::new(again));
        }
        let past = self.past.get(engine.id);
        let IncrementalProposal { proposal, past } = propose_incremental(fabric, engine, past, asked, pulse)?;
        if let Some(past) = past {
            self.past.insert(engine.id, past);
        }
        let proposal = Arc::new(proposal);
        self.made.push(StoredProposal {
            engine: engine.id,
            marks: marks.clone(),
            request: request.clone(),
            switches,
            proposal: proposal.clone(),
        });
        self.evict_oldest();
        Ok(proposal)
    }

    fn evict_oldest(&mut self) {
        let mut room = MAX_TABLE_BYTES;
        let mut retained = 0;
        for made in self.made.iter().rev().take(MAX_PROPOSALS) {
            let bytes = made.proposal.routes.memory_bytes();
            if retained > 0 && bytes > room {
                break;
            }
            room = room.saturating_sub(bytes);
            retained += 1;
        }
        self.made.drain(..self.made.len() - retained);
    }
}
