//! Samples of one port that hold different counters are one sample: tools print an attribute at a time.

use rustc_hash::FxHashMap;

use super::counters::CounterSample;

/// Merges consecutive samples of the same port, unless two samples have a counter in common: those are two moments.
pub fn join_samples(samples: impl IntoIterator<Item = CounterSample>) -> Vec<CounterSample> {
    let mut all: Vec<CounterSample> = Vec::new();
    let mut last = FxHashMap::default();
    for sample in samples {
        let key = (sample.node, sample.lid, sample.port);
        // Without a GUID and a LID it is not known whose counters these are.
        let known = last.get(&key).filter(|_| sample.node.is_some() || sample.lid.is_some());
        if let Some(known) = known.and_then(|at: &usize| all.get_mut(*at))
            && sample.values.iter().all(|(counter, _)| !known.values.has(&counter))
        {
            sample.values.iter().for_each(|(counter, value)| known.values.insert(counter, value));
            known.values.shrink_to_fit();
            continue;
        }
        last.insert(key, all.len());
        all.push(sample);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::Counter::{self, PortXmitData, PortXmitDataExtended, PortXmitWait};
    use super::*;
    use crate::PortNum;

    #[test]
    fn attributes_of_a_port_are_joined_and_moments_are_not() {
        let sample = |lid, port, values: &[(Counter, u64)]| CounterSample {
            lid,
            port: Some(PortNum(port)),
            values: values.iter().map(|(counter, value)| (counter.clone(), Some(*value))).collect(),
            ..CounterSample::default()
        };
        let narrow = |lid, port| sample(lid, port, &[(PortXmitData, 1), (PortXmitWait, 2)]);
        let wide = |lid, port| sample(lid, port, &[(PortXmitDataExtended, 3)]);
        let both =
            |lid, port| sample(lid, port, &[(PortXmitData, 1), (PortXmitWait, 2), (PortXmitDataExtended, 3)]);
        let (a, b) = (Some(7), Some(8));
        let joined = |samples: &[CounterSample]| join_samples(samples.to_vec());
        assert_eq!(
            joined(&[narrow(a, 1), narrow(a, 2), narrow(b, 1), wide(a, 1), wide(b, 1)]),
            [both(a, 1), narrow(a, 2), both(b, 1),]
        );
        // Twice the same: before and after.
        let twice = [narrow(a, 1), wide(a, 1), narrow(a, 1), wide(a, 1)];
        assert_eq!(joined(&twice), [both(a, 1), both(a, 1)]);
        assert_eq!(joined(&joined(&twice)), joined(&twice));
        assert_eq!(joined(&[narrow(None, 1), wide(None, 1)]), [narrow(None, 1), wide(None, 1)]);
    }
}
