//! At how many ports the health of links is known. A check reads a few ports of each sweep, so that it costs little, and
//! devices may not answer: without this count, ports that were not judged would pass for healthy ones.

use crate::catalogue::json_type::json_type;
use crate::catalogue::snapshot::Snapshot;
use fabdeck_fabric::counters::WireVerdict;
use fabdeck_fabric::observe::{PortWire, digits_in_groups};

json_type! {
    /// Cabled ports with a verdict on the health of their link, and all of them.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct LinkHealthCoverage {
        pub judged: usize,
        pub ports: usize,
    }
}

impl LinkHealthCoverage {
    /// `None` where no port was asked, or every device refuses the questions: then there is nothing to judge.
    pub fn new(look: &Snapshot) -> Option<Self> {
        let mut coverage = Self { judged: 0, ports: 0 };
        let mut may_be_judged = false;
        for (id, _) in look.fabric().ports().filter(|(_, port)| port.peer.is_some()) {
            coverage.ports += 1;
            let judged = look.wire_judgement(id).verdict != WireVerdict::NotKnown;
            coverage.judged += usize::from(judged);
            let said = look.port_wire(id);
            // A verdict rests on bit errors or a module.
            let refused = |said: &PortWire| said.bit_errors.is_refused() && said.module.is_refused();
            may_be_judged |= said.is_some_and(|said| !refused(said));
        }
        may_be_judged.then_some(coverage)
    }

    pub fn is_complete(self) -> bool {
        self.judged == self.ports
    }

    /// `known at 7 of 64 ports`.
    pub fn words(self) -> String {
        format!("known at {} of {} ports", digits_in_groups(self.judged), digits_in_groups(self.ports))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_both_counts() {
        let coverage = LinkHealthCoverage { judged: 7, ports: 43_904 };
        assert_eq!(coverage.words(), "known at 7 of 43,904 ports");
        assert!(!coverage.is_complete());
    }
}
